// GPUArray as Python sees it: the core array and the Python objects that belong to it.
#pragma once

#include "PyGPU/graph.h"
#include "python/bindings.h"

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

  // What a view or borrowed memory keeps alive, or None. Outlives `core`, whose end may wait for
  // work on the memory.
  py::object base;
  Array core;
  py::object dtype;              // numpy.dtype
  py::object allocator;          // callable(nbytes), or None for the pool
  py::object gpudata;            // as given or as allocated; null: made when asked for
  int depth = 0;                 // of views: how many bases lie below
  bool rereads_address = false;  // is gpudata asked for its address at each use?
  bool covers_base = false;  // of its base, another way: gpudata, when it is made, is the base's
  bool is_comparison_result =
      false;  // made of comparisons' 0 and 1, as numbers: no indices are meant

  const Layout& layout() const { return core.layout(); }
};

// An object of the caller's class may give another address at any time.
bool may_change_address(const py::object& gpudata);
[[gnu::cold]] void refresh_address(GPUArray& array);
inline void before_use(GPUArray& array) {
  if (array.rereads_address) refresh_address(array);
}
// An array as it was at the last use: for what says nothing about where its memory is.
struct NotRefreshed {
  GPUArray& array;
  const Layout& layout() const { return array.layout(); }
};
template <>
struct ArgumentOf<NotRefreshed> {
  static NotRefreshed read(PyObject* self, const Place&) {
    return {*find_as_it_is<GPUArray>(self)};
  }
};
// What `work` returns, for which the array is what it was at the last use.
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

// The array in any object, or null. TypeError for one whose __init__ was not called.
inline GPUArray* gpuarray_in(PyObject* object) { return find<GPUArray>(object); }
// A new object around an array: of the class of `like`, if that is a subclass.
py::object wrap(GPUArray&& array, PyObject* like = nullptr);

// What an array's memory is to Python when PyGPU took it: an int-like that can be freed early.
struct DeviceAllocation {
  std::shared_ptr<Storage> storage;
  std::uintptr_t address;
};

// DeviceError if it was freed.
void* address_in(const DeviceAllocation& allocation, const char* argument);

// The memory of ours in an array or an allocation, or null.
std::shared_ptr<Storage> storage_in(PyObject* object);

// While this thread captures, memory that the work reaches stays as long as the graph: host memory,
// and what an allocator lent to an array.
void keep_for_graph(const py::object& memory);
void keep_for_graph(const GPUArray& array);
// Memory of ours that work on a stream needs besides: where another library captures the stream, it
// stays for good, because nobody knows when the graph runs.
void keep_for_others_graph(const GPUArray& scratch, const StreamRef& stream);
inline void uses(StreamOrder& order, const GPUArray& array) {
  order.uses(array.core.storage());
  keep_for_graph(array);
}

// numpy.dtype of anything that NumPy accepts; TypeError for Python objects.
py::object dtype_of(const py::object& any);
// As in NumPy: of a dtype with a shape of its own, the array takes over the shape.
Axes shape_with_subarray(Axes shape, py::object& dtype);
std::size_t itemsize_of(const py::object& dtype);
// A value as an ndarray of one element, without axes, converted as NumPy assigns it.
py::array element_of(const py::object& dtype, const py::object& value);

// Work on the device of an array; of one without elements, on the current one.
DeviceGuard use_device_of(const Array& array);
GPUArray new_array(const Layout& layout, const py::object& dtype, const py::object& allocator);
// One that only the work on a stream uses.
GPUArray scratch_array(const Layout& layout, const py::object& dtype, const StreamRef& stream,
                       const py::object& allocator = py::none());
// A view of `array`, which `self` holds and which stays alive with it. Where bases lie too deep
// (each goes inside its view's end), its own base does for it.
GPUArray view_at(const py::object& self, const GPUArray& array, const Layout& layout, Index offset);
// A view of `self`, which stays alive with it.
GPUArray view_of(const py::object& self, const Layout& layout, Index offset = 0);

// Copies, whatever the layouts of both sides. `stream` null: those with a host side block, those
// between arrays are queued on the null stream.
void set_from_host(const GPUArray& array, const py::array& source, const StreamRef* stream);
// `source` in the shape of `array`, reshaped with a warning, or a ValueError.
GPUArray reshaped_like(const GPUArray& array, const GPUArray& source, const StreamRef* stream);
void set_from_device(const GPUArray& array, const GPUArray& source, const StreamRef* stream);
py::object get_to_host(const GPUArray& array, const py::object& out, bool pagelocked,
                       const StreamRef* stream);
GPUArray copy_of(const GPUArray& array, const StreamRef* stream = nullptr);
GPUArray to_gpu(const py::object& source, const py::object& allocator, const StreamRef* stream);

GPUArray transpose(const py::object& self, const py::object& axes);

void add_indexing(Slots& slots);

void bind_attributes(py::module_& m, const py::object& c);
void bind_conversions(const py::object& c);
void bind_creation(py::module_& m);
void bind_dlpack(py::module_& m, const py::object& c);

}  // namespace PyGPU::python
