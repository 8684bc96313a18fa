// NumPy arrays and dtypes in C++, read through the two structure layouts that NumPy's ABI promises
// (numpy/ndarraytypes.h). So building needs no NumPy headers.
#pragma once

#include <vector>

#include "python/binding/objects.h"

namespace PyGPU::python::np {

bool is_dtype(PyObject* object);
bool is_array(PyObject* object);
bool is_plain_array(PyObject* object);  // of no subclass
// Return whether NumPy is version 1, whose result types also depend on the values of scalars. The
// first call of this function, or of anything below, must happen while the module is created: it
// imports NumPy inside the guard of a static, on which other threads would wait with the GIL held.
bool is_numpy_1();
// Return whether subclasses of int and float count as Python's numbers in result types, as until
// NumPy 2.0.
bool are_subclasses_weak();

class dtype : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(dtype, py::object, is_dtype)
  explicit dtype(const std::string& name);
  // Dtype from anything that numpy.dtype accepts.
  static dtype from_args(const py::object& any);

  char kind() const { return head()->kind; }
  char byteorder() const { return head()->byteorder; }
  int num() const { return head()->number; }
  py::ssize_t itemsize() const;
  bool has_object() const;

 private:
  struct Head {  // common start in NumPy 1 and 2
    PyObject_HEAD PyTypeObject* scalar;
    char kind, letter, byteorder, flags_1;
    int number;
  };
  struct Tail1 {
    Head head;
    int itemsize;
  };
  struct Tail2 {
    Head head;
    std::uint64_t flags;
    Py_ssize_t itemsize;
  };
  const Head* head() const { return reinterpret_cast<const Head*>(ptr()); }
};

// Functions that allocate the memory of arrays: the structure of NumPy's ABI for them. The arrays
// use it as long as they live.
struct Allocator {
  char name[127];
  std::uint8_t version;
  void* context;
  void* (*malloc)(void* context, std::size_t nbytes);
  void* (*calloc)(void* context, std::size_t count, std::size_t nbytes);
  void* (*realloc)(void* context, void* block, std::size_t nbytes);
  void (*free)(void* context, void* block, std::size_t nbytes);
};

class array : public py::object {
 public:
  PYBIND11_OBJECT(array, py::object, is_array)
  // Array in new memory, or over memory at `start` that `owner` keeps alive. Empty strides mean C
  // order.
  array(const dtype& type, const std::vector<py::ssize_t>& shape,
        const std::vector<py::ssize_t>& strides = {}, void* start = nullptr, py::handle owner = {});
  // Array in new memory of the allocator, which must exist until the process ends.
  static array allocated_by(const Allocator& allocator, const np::dtype& type,
                            const std::vector<py::ssize_t>& shape,
                            const std::vector<py::ssize_t>& strides);

  py::ssize_t ndim() const { return fields()->ndim; }
  py::ssize_t shape(py::ssize_t axis) const { return fields()->shape[axis]; }
  py::ssize_t strides(py::ssize_t axis) const { return fields()->strides[axis]; }
  py::ssize_t size() const;
  np::dtype dtype() const { return py::reinterpret_borrow<np::dtype>(fields()->dtype); }
  bool writeable() const { return fields()->flags & writeable_flag; }
  bool is_contiguous() const {
    return fields()->flags & contiguous_flags;
  }  // in C or Fortran order
  const void* data() const { return fields()->data; }
  void* mutable_data() const;

 private:
  static constexpr int writeable_flag = 0x400, contiguous_flags = 0x1 | 0x2;
  struct Fields {
    PyObject_HEAD char* data;
    int ndim;
    Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
  };
  const Fields* fields() const { return reinterpret_cast<const Fields*>(ptr()); }
};

}  // namespace PyGPU::python::np
