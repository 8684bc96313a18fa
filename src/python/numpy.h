// NumPy's arrays and dtypes as C++ sees them, by the two layouts of structures that NumPy's ABI
// promises (numpy/ndarraytypes.h), so that nothing of NumPy is needed to build.
#pragma once

#include <vector>

#include "python/objects.h"

namespace PyGPU::python::py {

bool is_dtype(PyObject* object);
bool is_array(PyObject* object);
// Which takes result types from the values of scalars as well. The first call of this, or of
// anything below, must come while the module is made: it imports NumPy in a static's guard, for
// which threads would wait with the GIL.
bool is_numpy_1();

class dtype : public object {
 public:
  PYBIND11_OBJECT_DEFAULT(dtype, object, is_dtype)
  explicit dtype(const std::string& name);
  // Of anything that NumPy takes for one.
  static dtype from_args(const object& any);

  char kind() const { return head()->kind; }
  char byteorder() const { return head()->byteorder; }
  int num() const { return head()->number; }
  ssize_t itemsize() const;
  bool has_object() const;

 private:
  struct Head {  // what NumPy 1 and 2 have in common
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

class array : public object {
 public:
  PYBIND11_OBJECT(array, object, is_array)
  // New memory, or that at `start`, which `owner` keeps. No strides: in C order.
  array(const dtype& type, const std::vector<ssize_t>& shape,
        const std::vector<ssize_t>& strides = {}, void* start = nullptr, handle owner = {});

  ssize_t ndim() const { return fields()->ndim; }
  ssize_t shape(ssize_t axis) const { return fields()->shape[axis]; }
  ssize_t strides(ssize_t axis) const { return fields()->strides[axis]; }
  ssize_t size() const;
  python::py::dtype dtype() const { return reinterpret_borrow<python::py::dtype>(fields()->dtype); }
  bool writeable() const { return fields()->flags & writeable_flag; }
  const void* data() const { return fields()->data; }
  void* mutable_data() const;

 private:
  static constexpr int writeable_flag = 0x400;
  struct Fields {
    PyObject_HEAD char* data;
    int ndim;
    Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
  };
  const Fields* fields() const { return reinterpret_cast<const Fields*>(ptr()); }
};

}  // namespace PyGPU::python::py
