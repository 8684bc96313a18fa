// Calls of NumPy's C API. See numpy.h.
#include "python/binding/numpy.h"

namespace PyGPU::python::np {
namespace {

// Entries of NumPy's C API, looked up once and never released: arrays may outlive the modules.
struct NumPy {
  PyTypeObject *dtype, *array;
  bool is_1, are_subclasses_weak;
  PyObject* (*new_array)(PyTypeObject*, PyObject* dtype, int ndim, const Py_ssize_t* shape,
                         const Py_ssize_t* strides, void* start, int flags, PyObject* like);
  int (*set_base)(PyObject* array, PyObject* base);
  int (*to_dtype)(PyObject* any, PyObject** dtype);
  PyObject* (*set_allocator)(PyObject* capsule);  // returns the one before
};

const NumPy& numpy() {
  static const NumPy found = [] {
    const module_ numpy = module_::import("numpy");
    const auto type = [&](const char* name) {
      return reinterpret_cast<PyTypeObject*>(py::object(numpy.attr(name)).release().ptr());
    };
    const auto version = numpy.attr("__version__").cast<std::string>();
    const bool is_1 = version[0] == '1';
    const module_ core =
        module_::import(is_1 ? "numpy.core._multiarray_umath" : "numpy._core._multiarray_umath");
    auto** const table = static_cast<void**>(
        PyCapsule_GetPointer(py::object(core.attr("_ARRAY_API")).ptr(), nullptr));
    if (!table) throw py::error_already_set();
    // These indices of the API table are part of NumPy's ABI.
    return NumPy{type("dtype"),
                 type("ndarray"),
                 is_1,
                 is_1 || version.rfind("2.0.", 0) == 0,
                 reinterpret_cast<decltype(NumPy::new_array)>(table[94]),
                 reinterpret_cast<decltype(NumPy::set_base)>(table[282]),
                 reinterpret_cast<decltype(NumPy::to_dtype)>(table[174]),
                 reinterpret_cast<decltype(NumPy::set_allocator)>(table[304])};
  }();
  return found;
}

}  // namespace

bool is_numpy_1() { return numpy().is_1; }
bool are_subclasses_weak() { return numpy().are_subclasses_weak; }

bool is_dtype(PyObject* object) { return PyObject_TypeCheck(object, numpy().dtype); }
bool is_array(PyObject* object) { return PyObject_TypeCheck(object, numpy().array); }
bool is_plain_array(PyObject* object) { return Py_TYPE(object) == numpy().array; }

dtype::dtype(const std::string& name) : dtype(from_args(py::str(name))) {}

dtype dtype::from_args(const py::object& any) {
  PyObject* found = nullptr;
  if (!numpy().to_dtype(any.ptr(), &found) || !found) throw py::error_already_set();
  return py::reinterpret_steal<dtype>(found);
}

py::ssize_t dtype::itemsize() const {
  return numpy().is_1 ? reinterpret_cast<const Tail1*>(ptr())->itemsize
                      : reinterpret_cast<const Tail2*>(ptr())->itemsize;
}

bool dtype::has_object() const {
  constexpr std::uint64_t flag = 1;
  const std::uint64_t flags = numpy().is_1 ? static_cast<unsigned char>(head()->flags_1)
                                           : reinterpret_cast<const Tail2*>(ptr())->flags;
  return flags & flag;
}

array::array(const np::dtype& type, const std::vector<py::ssize_t>& shape,
             const std::vector<py::ssize_t>& strides, void* start, py::handle owner)
    : py::object(py::reinterpret_steal<py::object>(
          numpy().new_array(numpy().array, np::dtype(type).release().ptr(), int(shape.size()),
                            shape.data(), strides.empty() ? nullptr : strides.data(), start,
                            start ? writeable_flag : 0, nullptr))) {
  if (!ptr()) throw py::error_already_set();
  if (owner && numpy().set_base(ptr(), py::handle(owner).inc_ref().ptr()))
    throw py::error_already_set();
}

array array::allocated_by(const Allocator& allocator, const np::dtype& type,
                          const std::vector<py::ssize_t>& shape,
                          const std::vector<py::ssize_t>& strides) {
  const auto set = [](const py::object& capsule) {
    auto before = py::reinterpret_steal<py::object>(numpy().set_allocator(capsule.ptr()));
    if (!before) throw py::error_already_set();
    return before;
  };
  // An array keeps the capsule alive.
  const auto capsule = py::reinterpret_steal<py::object>(
      PyCapsule_New(const_cast<Allocator*>(&allocator), "mem_handler", nullptr));
  if (!capsule) throw py::error_already_set();
  const py::object before = set(capsule);
  try {
    array made(type, shape, strides);
    set(before);
    return made;
  } catch (const py::error_already_set&) {
    set(before);
    throw;
  }
}

py::ssize_t array::size() const {
  py::ssize_t count = 1;
  for (py::ssize_t axis = 0; axis < ndim(); ++axis) count *= shape(axis);
  return count;
}

void* array::mutable_data() const {
  if (!writeable()) throw py::value_error("the array is read-only");
  return fields()->data;
}

}  // namespace PyGPU::python::np
