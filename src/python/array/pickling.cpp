// Arrays made from pickles, and arrays that become objects of a Python subclass.
#include "python/binders.h"
#include "python/operations/copies.h"

namespace PyGPU::python {
namespace {

bool is_there(int device) {
  int count = 0;
  check("cudaGetDeviceCount", cudaGetDeviceCount(&count));
  return 0 <= device && device < count;
}

// Return the elements of `ary` on a device, or on the current device if the machine has no such
// device.
GPUArray from_pickle(const np::array& ary, int device) {
  if (forked()) {
    // An exception would end the worker of a multiprocessing.Pool before it can report one.
    const py::object dtype = python::dtype_of(ary.dtype());
    const Layout layout(axes_of(ary.attr("shape"), "shape"),
                        axes_of(ary.attr("strides"), "strides"), itemsize_of(dtype));
    return {Array::unusable(layout), dtype, py::none()};
  }
  const DeviceGuard here = is_there(device) ? use_device(device) : DeviceGuard();
  return to_gpu(ary, py::none(), nullptr);
}

// Return a new object of a class that shares the memory of `array`. The class's __init__ is not
// called.
py::object of_class(const GPUArray& array, const py::object& kind) {
  auto* const type = reinterpret_cast<PyTypeObject*>(kind.ptr());
  if (!PyType_Check(kind.ptr()) || !PyType_IsSubtype(type, type_of<GPUArray>))
    throw py::type_error("kind: expected a subclass of GPUArray, got " + repr_of(kind));
  return instance_of(type, GPUArray(array));
}

}  // namespace

void bind_pickling(module_& m) {
  def(m, "_from_pickle", &from_pickle, "Return an array from the elements in its pickle.",
      {{"ary"}, {"device"}});
  def(m, "_of_class", &of_class, "Return an object of a subclass that shares the array's memory.",
      {{"array"}, {"kind"}});
}

}  // namespace PyGPU::python
