// GPUArray, the value inside Python's class: a core array and the Python objects that belong to it.
#pragma once

#include "PyGPU/arrays/array.h"
#include "PyGPU/runtime/graph.h"
#include "python/runtime/call.h"

namespace PyGPU::python {

struct GPUArray {
  GPUArray(Array core_, py::object dtype_, py::object allocator_, py::object base_ = py::none(),
           py::object gpudata_ = {}, int depth_ = 0)
      : base(std::move(base_)),
        core(std::move(core_)),
        dtype(std::move(dtype_)),
        allocator(std::move(allocator_)),
        gpudata(std::move(gpudata_)),
        depth(depth_) {}

  // `base` owns the memory of a view or of borrowed memory; None otherwise. It is declared before
  // `core` and so destroyed after it: destroying `core` may wait for work on the memory.
  py::object base;
  Array core;
  py::object dtype;                // numpy.dtype
  py::object allocator;            // callable(nbytes), or None for the pool
  py::object gpudata;              // the memory given or allocated; null until Python reads it
  int depth = 0;                   // number of bases below a view
  bool rereads_address = false;    // read the address of gpudata again at each use
  bool covers_base = false;        // a permuted view of all of `base`, which shares its gpudata
  bool has_hidden_fields = false;  // a view of several fields: other fields are between them

  const Layout& layout() const { return core.layout(); }
};

// Return true if `gpudata` is of a class outside PyGPU, which may return another address at any
// time.
bool may_change_address(const py::object& gpudata);
[[gnu::cold]] void refresh_address(GPUArray& array);
inline void before_use(GPUArray& array) {
  if (array.rereads_address) refresh_address(array);
}
// A method's `self` at its last known address. Attributes that do not depend on the address use it
// to skip refresh_address.
struct NotRefreshed {
  GPUArray& array;
  const Layout& layout() const { return array.layout(); }
};
template <>
struct ArgumentConverter<NotRefreshed> {
  static NotRefreshed read(PyObject* self, const ArgumentPosition&) {
    return {*find_without_refresh<GPUArray>(self)};
  }
};
// Return the result of `work`, which uses the array at its last known address.
template <class Work>
auto without_refresh(GPUArray& array, Work work) {
  const py::object gpudata = array.gpudata;
  const bool rereads_address = std::exchange(array.rereads_address, false);
  const auto end = [&] {
    if (array.gpudata.is(gpudata)) array.rereads_address = rereads_address;
  };
  try {
    auto result = work();
    end();
    return result;
  } catch (...) {
    end();
    throw;
  }
}

// Return the array in `object`, or null for an object of another class. TypeError if its __init__
// was not called.
inline GPUArray* gpuarray_in(PyObject* object) { return find<GPUArray>(object); }
// Wrap an array in a new Python object, of the class of `like` if that is a subclass.
py::object wrap(GPUArray&& array, PyObject* like = nullptr);

// Memory that PyGPU allocated, as Python's gpudata: an int-like address that can be freed early.
struct DeviceAllocation {
  std::shared_ptr<Storage> storage;
  std::uintptr_t address;
};

// Return the address of the allocation. DeviceError if the memory was freed.
void* address_in(const DeviceAllocation& allocation, const char* argument);

// Return the storage that PyGPU allocated for an array or an allocation, or null.
std::shared_ptr<Storage> storage_in(PyObject* object);

// Keep the memory that an allocator returned for an array alive as long as the graph that this
// thread captures.
void keep_for_this_graph(const GPUArray& array);
inline void keep_for_graph(const GPUArray& array) {
  if (Capture::current()) keep_for_this_graph(array);
}
// Keep scratch memory of work on a stream. If another library captures the stream, the memory is
// never freed, because the graph may run at any time.
void keep_for_callers_graph(const GPUArray& scratch, const StreamRef& stream);

// Return the numpy.dtype of anything that numpy.dtype() accepts. TypeError for dtypes that hold
// Python objects.
py::object dtype_of(const py::object& any);
// Append the shape of a subarray dtype to the shape of the array, as NumPy does. `dtype` becomes
// the dtype of the items.
Axes shape_with_subarray(Axes shape, py::object& dtype);
std::size_t itemsize_of(const py::object& dtype);

// Make the device of an array current. An array without elements leaves the current device.
DeviceGuard use_device_of(const Array& array);
// If `may_lack_memory`, the allocator may return 0 or None: the caller sets `gpudata` later.
GPUArray new_array(const Layout& layout, const py::object& dtype, const py::object& allocator,
                   bool may_lack_memory = false);
// Return a new array that only work on `stream` uses.
GPUArray scratch_array(const Layout& layout, const py::object& dtype, const StreamRef& stream,
                       const py::object& allocator = py::none());
// Return a view of `array`, which `self` holds. The view keeps `self` alive. If the chain of bases
// is too deep, the view keeps the base of `self` instead, because destroying a chain recurses once
// per base.
GPUArray view_at(const py::object& self, const GPUArray& array, const Layout& layout, Index offset);
// Return a view of `self`, which the view keeps alive.
GPUArray view_of(const py::object& self, const Layout& layout, Index offset = 0);

// Return the array in an argument. TypeError for other objects.
inline const GPUArray& require_array(const char* name, PyObject* object) {
  if (const GPUArray* const array = gpuarray_in(object)) return *array;
  throw py::type_error(std::string(name) + ": expected a GPUArray, got " +
                       name_of_class(Py_TYPE(object)) +
                       "; call to_gpu() to copy an ndarray to the device");
}
// Throw TypeError if the array has elements on another device.
[[noreturn]] void raise_other_device(const Array& array, int device);
inline void require_device(const Array& array, int device) {
  if (array.address() && array.device() != device) raise_other_device(array, device);
}

}  // namespace PyGPU::python
