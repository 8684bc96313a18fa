// Making GPUArrays: their dtypes, their memory, their views. See gpuarray.h.
#include "python/array/gpuarray.h"

namespace PyGPU::python {

namespace {

PyTypeObject* gpuarray_type() {
  static auto* const type = reinterpret_cast<PyTypeObject*>(py::type::of<GPUArray>().ptr());
  return type;
}

}  // namespace

void add_memory(StreamOrder& order, PyObject* const* objects, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const GPUArray* const array = gpuarray_in(objects[i]);
    if (array) order.uses(array->core.storage());
    if (!array && py::isinstance<DeviceAllocation>(objects[i]))
      order.uses(py::handle(objects[i]).cast<const DeviceAllocation&>().storage);
  }
}

GPUArray* made_array(PyObject* object) {
  if (!is_made(object)) return nullptr;
  auto* const instance = reinterpret_cast<py::detail::instance*>(object);
  return static_cast<GPUArray*>(instance->get_value_and_holder().value_ptr());
}

GPUArray* gpuarray_in(PyObject* object) {
  if (!PyObject_TypeCheck(object, gpuarray_type())) return nullptr;
  if (GPUArray* const made = made_array(object)) return made;
  throw py::type_error("this object was not made: its __init__ failed or was not called");
}

py::object wrap(GPUArray&& array, PyObject* like) {
  PyTypeObject* const type =
      like && PyObject_TypeCheck(like, gpuarray_type()) ? Py_TYPE(like) : gpuarray_type();
  if (type != gpuarray_type()) return instance_of(type, std::move(array));
  // As pybind11 makes an instance of a class that has no bases, without a look into its tables.
  auto made = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
  if (!made) throw py::error_already_set();
  auto* const instance = reinterpret_cast<py::detail::instance*>(made.ptr());
  instance->owned = instance->simple_layout = true;
  hold(made.ptr(), std::move(array));
  return made;
}

namespace {
destructor pybind_dealloc = nullptr;
}

void give_quick_end(PyHeapTypeObject* type) {
  pybind_dealloc = type->ht_type.tp_base->tp_dealloc;
  type->ht_type.tp_dealloc = [](PyObject* self) {
    auto* const instance = reinterpret_cast<py::detail::instance*>(self);
    PyTypeObject* const own = Py_TYPE(self);
    const bool simple = instance->simple_layout && instance->simple_holder_constructed &&
                        !instance->simple_instance_registered && !instance->has_patients;
    if (own != gpuarray_type() || !simple) return pybind_dealloc(self);
    PyObject_GC_UnTrack(self);
    if (instance->weakrefs) PyObject_ClearWeakRefs(self);
    {
      const py::error_scope kept;
      delete static_cast<GPUArray*>(instance->simple_value_holder[0]);
    }
    own->tp_free(self);
    Py_DECREF(own);
  };
}

py::object dtype_of(const py::object& any) {
  // NumPy looks for numpy.float32 and the like among all its types; the last one is often the next.
  static py::object& last_type = *new py::object;  // leaked on purpose
  static py::object& last_dtype = *new py::object;
  if (any.is(last_type)) return last_dtype;
  constexpr std::uint64_t has_object = 1;  // NPY_ITEM_HASOBJECT
  const py::dtype dtype = py::dtype::from_args(any);
  if (std::uint64_t(dtype.flags()) & has_object)
    throw py::type_error("dtype " + py::repr(dtype).cast<std::string>() +
                         " holds Python objects, which have no meaning on a device");
  if (dtype.itemsize() > 0) {
    constexpr int first_flexible = 17;
    if (dtype.num() < first_flexible && PyType_Check(any.ptr()) &&
        py::object(dtype.attr("type")).is(any)) {
      last_type = any;
      last_dtype = dtype;
    }
    return dtype;
  }
  // 'S', 'U' and 'V' without a length: NumPy's arrays of them have items of one character.
  return py::module_::import("numpy").attr("empty")(0, dtype).attr("dtype");
}

Axes shape_with_subarray(Axes shape, py::object& dtype) {
  while (py::reinterpret_borrow<py::dtype>(dtype).kind() == 'V' &&
         !dtype.attr("subdtype").is_none()) {
    const py::tuple parts = dtype.attr("subdtype");
    dtype = parts[0];
    for (Index length : axes_of(parts[1], "dtype")) shape.push_back(length);
  }
  return shape;
}

std::size_t itemsize_of(const py::object& dtype) {
  return std::size_t(py::reinterpret_borrow<py::dtype>(dtype).itemsize());
}

GPUArray new_array(const Layout& layout, const py::object& dtype, const py::object& allocator) {
  // Strides of the caller's may leave gaps or run backwards: take all that they reach.
  const auto [low, high] = layout.extent();
  const auto nbytes = std::size_t(high - low);
  GPUArray array({}, dtype, allocator);
  if (nbytes == 0) {
    array.core = Array::borrow(layout, nullptr);
  } else if (allocator.is_none() && low == 0 && nbytes == layout.nbytes()) {
    array.core = Array::empty(layout);
  } else if (allocator.is_none()) {
    array.core = Array::empty(Layout({high - low}, 1)).view(layout, -low);
  } else {
    array.gpudata = allocator(nbytes);
    char* const start = static_cast<char*>(address_of(array.gpudata, "allocator's result"));
    array.core = Array::borrow(layout, start - low);
  }
  return array;
}

GPUArray view_at(const py::object& self, const GPUArray& array, const Layout& layout,
                 Index offset) {
  constexpr int most_bases = 1000;
  const bool deep = array.depth >= most_bases;
  return {array.core.view(layout, offset), array.dtype, array.allocator,
          deep ? array.base : self,        {},          deep ? array.depth : array.depth + 1};
}

GPUArray view_of(const py::object& self, const Layout& layout, Index offset) {
  return view_at(self, self.cast<const GPUArray&>(), layout, offset);
}

}  // namespace PyGPU::python
