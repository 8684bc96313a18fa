// The class GPUArray: construction, views, transfers.
#include "python/array/methods.h"
#include "python/array/operators.h"

namespace PyGPU::python {
namespace {

py::object dtype_or_float64(const py::object& dtype) {
  static const auto& float64 = *new py::object(py::dtype("float64"));  // leaked on purpose
  return dtype.is_none() ? float64 : dtype_of(dtype);
}

GPUArray make_gpuarray(py::handle, const py::object& shape, const py::object& dtype,
                       const py::object& allocator, const py::object& base,
                       const py::object& gpudata, const py::object& strides, Order order) {
  // The first PyGPU's form: an array in place of a shape is sent to the device.
  if (dtype.is_none() && gpudata.is_none() && py::isinstance<py::array>(shape) &&
      py::reinterpret_borrow<py::array>(shape).ndim() > 0)
    return to_gpu(shape, allocator, nullptr);
  py::object type = dtype_or_float64(dtype);
  const Axes lengths = shape_with_subarray(axes_of(shape, "shape"), type);
  const Layout layout = strides.is_none()
                            ? Layout(lengths, itemsize_of(type), order)
                            : Layout(lengths, axes_of(strides, "strides"), itemsize_of(type));
  if (gpudata.is_none()) {
    if (!base.is_none()) throw py::value_error("base: only an array with gpudata can have one");
    return new_array(layout, type, allocator);
  }
  layout.extent();  // refuses strides that reach beyond any memory
  GPUArray array(Array::borrow(layout, address_of(gpudata, "gpudata")), type, allocator, base,
                 gpudata);
  array.rereads_address = may_change_address(gpudata);
  return array;
}

// GPUArray(...) without the way through the type's call, which costs as much again.
GPUArray empty(const py::object& shape, const py::object& dtype, const py::object& allocator,
               const py::object& base, const py::object& gpudata, const py::object& strides,
               Order order) {
  return make_gpuarray({}, shape, dtype, allocator, base, gpudata, strides, order);
}

py::object reshape(const py::object& self, const py::tuple& shape, Order order) {
  const bool one = shape.size() == 1;
  if (shape.empty()) throw py::index_error("reshape: a shape is needed");
  const Axes lengths = axes_of(one ? py::object(shape[0]) : py::object(shape), "shape");
  const Layout& layout = held<GPUArray>(self).layout();
  const Layout shaped = layout.reshape(lengths, order);
  const bool same = shaped.shape() == layout.shape() && shaped.strides() == layout.strides();
  return same ? self : wrap(view_of(self, shaped));
}

GPUArray view_as(const py::object& self, const py::object& dtype) {
  const auto& array = held<GPUArray>(self);
  const py::object type = dtype.is_none() ? array.dtype : dtype_of(dtype);
  if (!type.attr("subdtype").is_none())
    throw py::type_error("view: a dtype with a shape of its own is not possible, got " +
                         text_of(type));
  GPUArray view = view_of(self, array.layout().view(itemsize_of(type)));
  view.dtype = type;
  return view;
}

py::object get(const GPUArray& array, const py::object& out, bool pagelocked, bool async,
               const StreamRef& stream) {
  return get_to_host(array, out, pagelocked, async ? &stream : nullptr);
}

void set(const GPUArray& array, const py::object& source, bool async, const StreamRef& stream) {
  const StreamRef* const where = async ? &stream : nullptr;
  if (const GPUArray* const given = gpuarray_in(source.ptr()))
    return set_from_device(array, reshaped_like(array, *given, where), where);
  if (!py::isinstance<py::array>(source))
    throw py::type_error("set: ary: expected a numpy.ndarray or a GPUArray, got " +
                         repr_of(py::type::of(source)));
  set_from_host(array, py::reinterpret_borrow<py::array>(source), where);
}

// Arrays may be part of reference cycles (base, gpudata and allocator are any objects).
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!instance_at<GPUArray>(self)->made) return 0;
  const GPUArray& array = *instance_at<GPUArray>(self)->value();
  for (const py::object* member : {&array.base, &array.gpudata, &array.allocator})
    Py_VISIT(member->ptr());
  return 0;
}

int clear(PyObject* self) {
  if (!instance_at<GPUArray>(self)->made) return 0;
  GPUArray& array = *instance_at<GPUArray>(self)->value();
  array.core = {};  // before what keeps its memory
  for (py::object* member : {&array.base, &array.gpudata, &array.allocator}) *member = py::none();
  return 0;
}

py::object as_buffer(const py::object& memory, py::ssize_t size, py::ssize_t offset) {
  if (size < 0)
    throw py::value_error("size: expected a number of bytes, got " + std::to_string(size));
  char* const start = static_cast<char*>(address_of(memory, "memory")) + offset;
  const py::array bytes(py::dtype("uint8"), {size}, {1}, start, memory);
  return py::reinterpret_steal<py::object>(PyMemoryView_FromObject(bytes.ptr()));
}

void bind_helpers(py::module_& m) {
  const auto number = [](const DeviceAllocation& self) { return self.address; };
  const py::object allocation =
      new_class<DeviceAllocation>(m, "DeviceAllocation", "Device memory: an int-like address.");
  method(allocation, "__int__", number);
  method(allocation, "__index__", [](const DeviceAllocation& self) {
    return number_of(address_in(self, "DeviceAllocation"));
  });
  method(
      allocation, "free",
      [](DeviceAllocation& self) {
        if (!self.storage->alive())
          throw DeviceError("DeviceAllocation.free",
                            {cudaErrorInvalidValue, "the memory was freed before"});
        check("cudaFree", self.storage->free());
      },
      "Free the memory now. The arrays that use it must not be used again.");
  method(
      allocation, "as_buffer", &as_buffer,
      "The bytes at the address as a memoryview: for managed memory, which the host can reach, or\n"
      "for an MPI that knows device addresses. It keeps the memory.",
      {{"size"}, {"offset", 0}});
  def(m, "_as_buffer", &as_buffer, "", {{"memory"}, {"size"}, {"offset"}});
  method(allocation, "__repr__", [](const DeviceAllocation& self) {
    return "<DeviceAllocation " + hex(reinterpret_cast<void*>(self.address)) + ">";
  });
}

void bind_views(const py::object& c) {
  method(c, "reshape", &reshape,
         "A view of the same memory, read in `order`. RuntimeError unless contiguous.",
         {{"*shape"}, {"order", "C"}});
  method(
      c, "ravel",
      [](const py::object& self) { return view_of(self, held<GPUArray>(self).layout().ravel()); },
      "The elements in memory order as a 1-D view. RuntimeError unless contiguous.");
  method(c, "view", &view_as,
         "The same memory as another dtype; the axis of smallest stride changes its length.",
         {{"dtype", py::none()}});
  method(c, "transpose", &transpose, "The view with permuted axes.", {{"axes", py::none()}});
  method(
      c, "squeeze",
      [](const py::object& self) { return view_of(self, held<GPUArray>(self).layout().squeeze()); },
      "The view without axes of length one.");
}

void bind_transfers(const py::object& c) {
  method(c, "get", &get,
         "Copy to the host: to a new ndarray with the axes in the same order, or to `ary`.",
         {{"ary", py::none()}, {"pagelocked", false}, {"async_", false}, {"stream", py::none()}});
  method(c, "get_async",
         [](const GPUArray& a, const StreamRef& stream, const py::object& out) {
           return get_to_host(a, out, true, &stream);
         },
         "get() in the stream's order, to page-locked memory; complete once the stream is.",
         {{"stream", py::none()}, {"ary", py::none()}});
  method(c, "set", &set, "Copy the elements of an ndarray or GPUArray of the same size and dtype.",
         {{"ary"}, {"async_", false}, {"stream", py::none()}});
  method(c, "set_async",
         [](const GPUArray& a, const py::object& source, const StreamRef& stream) {
           set(a, source, true, stream);
         },
         "set() in the stream's order. `ary` should be page-locked and stay until it is done.",
         {{"ary"}, {"stream", py::none()}});
  method(
      c, "copy", [](const GPUArray& a) { return copy_of(a); },
      "A contiguous copy with the axes in the same order.");
  method(c, "__copy__", [](const GPUArray& a) { return copy_of(a); });
  method(c, "__deepcopy__", [](const GPUArray& a, const py::object&) { return copy_of(a); });
  method(
      c, "__reduce__",
      [](const GPUArray& a) {
        return py::make_tuple(hook(Hook::restored),
                              py::make_tuple(get_to_host(a, py::none(), false, nullptr)));
      },
      "Pickled as a copy on the host.");
}

}  // namespace

void bind_gpuarray(py::module_& m) {
  bind_helpers(m);
  Slots slots{{Py_tp_init, as_slot(&init_slot<GPUArray>)},
              {Py_tp_traverse, as_slot(&traverse)},
              {Py_tp_clear, as_slot(&clear)}};
  add_operators(slots);
  add_indexing(slots);
  const py::object c = new_class<GPUArray>(
      m, "GPUArray",
      "An array in device memory.\n\n"
      "Parameters\n----------\n"
      "shape : int or sequence of int\n"
      "dtype : anything numpy.dtype accepts, without Python objects; None is float64\n"
      "allocator : callable(nbytes) that returns an address, or None for the pool\n"
      "base : object to keep alive along with gpudata\n"
      "gpudata : memory to use instead of new memory; an address, or an object with one, which is\n"
      "    asked again at each use if its class is the caller's, with __index__ or __int__\n"
      "strides : bytes from one element to the next along each axis\n"
      "order : 'C' or 'F'\n",
      std::move(slots), Py_TPFLAGS_HAVE_GC);
  const py::object none = py::none();
  const Parameters parameters{{"shape"},      {"dtype", none},   {"allocator", none},
                              {"base", none}, {"gpudata", none}, {"strides", none},
                              {"order", "C"}};
  constructor_of<GPUArray> =
      new Callable(constructor_by(c, init_signature(&make_gpuarray), parameters));
  def(m, "empty", &empty, "An uninitialised array: GPUArray(...).", parameters);
  bind_attributes(m, c);
  bind_views(c);
  bind_transfers(c);
  bind_conversions(c);
  bind_operators(m, c);
  bind_results(c);
  bind_fused(m);
  bind_reductions(m);
  bind_gather(m);
  bind_joining(m);
  bind_dlpack(m, c);
  bind_creation(m);
}

}  // namespace PyGPU::python
