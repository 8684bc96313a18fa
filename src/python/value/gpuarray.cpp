// Creation of GPUArrays: their dtypes, their memory, their views. See gpuarray.h.
#include "python/value/gpuarray.h"

namespace PyGPU::python {

std::shared_ptr<Storage> storage_in(PyObject* object) {
  if (const GPUArray* const array = gpuarray_in(object)) return array->core.storage();
  const auto* const allocation = find<DeviceAllocation>(object);
  return allocation ? allocation->storage : nullptr;
}

void* address_in(const DeviceAllocation& allocation, const char* argument) {
  if (!allocation.storage->alive())
    throw DeviceError(argument, {cudaErrorInvalidValue, "this DeviceAllocation was freed"});
  return reinterpret_cast<void*>(allocation.address);
}

void keep_for_this_graph(const GPUArray& array) {
  const GPUArray* owner = &array;  // the array that has the gpudata, not a view of it
  while (!owner->gpudata && gpuarray_in(owner->base.ptr())) owner = gpuarray_in(owner->base.ptr());
  const bool is_ours = !owner->gpudata || find<DeviceAllocation>(owner->gpudata.ptr());
  if (!is_ours) keep_for_graph(owner->gpudata);
}

void keep_for_callers_graph(const GPUArray& scratch, const StreamRef& stream) {
  if (!stream.handle || Capture::current() || !is_captured(stream.handle)) return;
  static auto& never_freed = *new std::vector<GPUArray>;
  never_freed.push_back(scratch);
}

GPUArray scratch_array(const Layout& layout, const py::object& dtype, const StreamRef& stream,
                       const py::object& allocator) {
  GPUArray scratch = new_array(layout, dtype, allocator);
  keep_for_callers_graph(scratch, stream);
  return scratch;
}

bool may_change_address(const py::object& gpudata) {
  const PyTypeObject* const type = Py_TYPE(gpudata.ptr());
  const bool is_number =
      PyIndex_Check(gpudata.ptr()) || (type->tp_as_number && type->tp_as_number->nb_int);
  if (!is_number || PyLong_Check(gpudata.ptr()) ||
      !PyType_HasFeature(Py_TYPE(gpudata.ptr()), Py_TPFLAGS_HEAPTYPE))
    return false;
  const auto module = text_of(py::type::of(gpudata).attr("__module__")) + ".";
  return module.rfind("PyGPU.", 0) != 0;
}

void refresh_address(GPUArray& array) {
  if (array.layout().nbytes() == 0) return;
  const py::object gpudata = array.gpudata;
  // Reading the address runs Python code, which may use the array itself.
  void* const now = without_refresh(array, [&] { return address_of(gpudata, "gpudata"); });
  if (array.gpudata.is(gpudata) && now != array.core.address())
    array.core = Array::borrow(array.layout(), now);
}

py::object wrap(GPUArray&& array, PyObject* like) {
  PyTypeObject* const type = like && is<GPUArray>(like) ? Py_TYPE(like) : type_of<GPUArray>;
  return instance_of(type, std::move(array));
}

py::object dtype_of(const py::object& any) {
  // numpy.dtype() searches all types for a class such as numpy.float32. Calls often repeat a class,
  // so the last dtype is cached.
  static py::object& last_type = *new py::object;  // leaked on purpose
  static py::object& last_dtype = *new py::object;
  if (any.is(last_type)) return last_dtype;
  const np::dtype dtype = np::dtype::from_args(any);
  if (dtype.has_object())
    throw py::type_error("dtype " + repr_of(dtype) +
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
  // For 'S', 'U' and 'V' without a length, NumPy creates arrays with items of one character.
  return module_::import("numpy").attr("empty")(0, dtype).attr("dtype");
}

Axes shape_with_subarray(Axes shape, py::object& dtype) {
  while (py::reinterpret_borrow<np::dtype>(dtype).kind() == 'V' &&
         !dtype.attr("subdtype").is_none()) {
    const py::tuple parts = dtype.attr("subdtype");
    dtype = parts[0];
    for (Index length : axes_of(parts[1], "dtype")) shape.push_back(length);
  }
  return shape;
}

std::size_t itemsize_of(const py::object& dtype) {
  return std::size_t(py::reinterpret_borrow<np::dtype>(dtype).itemsize());
}

DeviceGuard use_device_of(const Array& array) {
  return array.address() ? use_device(array.device()) : DeviceGuard();
}

void raise_other_device(const Array& array, int device) {
  throw py::type_error("operands on devices " + std::to_string(device) + " and " +
                       std::to_string(array.device()) + ": copy one to the other's device first");
}

GPUArray new_array(const Layout& layout, const py::object& dtype, const py::object& allocator,
                   bool may_lack_memory) {
  // Strides from the caller may leave gaps or be negative: allocate every byte that they reach.
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
    keep_for_graph(array);
    char* start = nullptr;
    if (!may_lack_memory || !array.gpudata.is_none())
      start = static_cast<char*>(address_of(array.gpudata, "allocator's result"));
    if (!start && !may_lack_memory)
      throw DeviceError("allocator(" + std::to_string(nbytes) + ")",
                        {cudaErrorMemoryAllocation, "the allocator returned address 0"});
    array.core = Array::borrow(layout, start ? start - low : nullptr);
  }
  return array;
}

GPUArray view_at(const py::object& self, const GPUArray& array, const Layout& layout,
                 Index offset) {
  constexpr int max_view_depth = 1000;
  const bool deep = array.depth >= max_view_depth;
  GPUArray view(array.core.view(layout, offset), array.dtype, array.allocator,
                deep ? array.base : self, {}, deep ? array.depth : array.depth + 1);
  view.has_hidden_fields = array.has_hidden_fields;
  return view;
}

GPUArray view_of(const py::object& self, const Layout& layout, Index offset) {
  return view_at(self, held<GPUArray>(self), layout, offset);
}

}  // namespace PyGPU::python
