// Copies between NumPy and GPUArray. On the device side whole blocks move; on the host side NumPy
// arranges the elements. Between them stands the array's image: the elements side by side in the
// array's own axis order and direction. An ndarray that already looks like the image is used as it
// is.
#include <cstring>

#include "PyGPU/copy_plan.h"
#include "PyGPU/graph.h"
#include "python/array/map.h"

namespace PyGPU::python {
namespace {

using Lengths = std::vector<py::ssize_t>;

Lengths lengths(const Axes& axes) { return Lengths(axes.begin(), axes.end()); }

// Not kept in a static: its guard and the GIL could wait for each other.
py::object numpy() { return py::module_::import("numpy"); }

// Wait for what was put on a stream; a null `stream` means that the work was done in the call.
void finish(const StreamRef* stream) {
  if (!stream) return;
  refuse_waiting("cudaStreamSynchronize");
  const NoGil without = let_gil_go();
  check("cudaStreamSynchronize", cudaStreamSynchronize(stream->handle));
}

// Host memory in the shape of an image.
struct Image {
  py::array array;  // the elements, as NumPy sees them
  void* start;      // the lowest address
};

Image image_at(const GPUArray& gpu, void* start, const py::object& owner) {
  const View image = gpu.layout().dense_layout();
  void* const first = static_cast<char*>(start) + image.offset;
  return {py::array(py::reinterpret_borrow<py::dtype>(gpu.dtype), lengths(image.layout.shape()),
                    lengths(image.layout.strides()), first, owner),
          start};
}

// Fresh memory: NumPy's own where the array can own it as it is, page-locked if asked.
Image new_image(const GPUArray& gpu, bool pagelocked) {
  const View image = gpu.layout().dense_layout();
  if (pagelocked) {
    auto memory = std::make_unique<Memory>();
    {
      const NoGil without = let_gil_go();
      check("cudaMallocHost", take_memory(*memory, MemoryKind::pinned, gpu.layout().nbytes()));
    }
    void* const start = memory->get().address;
    const py::capsule owner(memory.release(),
                            [](void* block) { delete static_cast<Memory*>(block); });
    if (start) return image_at(gpu, start, owner);
  } else if (image.offset == 0) {
    py::array array(py::reinterpret_borrow<py::dtype>(gpu.dtype), lengths(image.layout.shape()),
                    lengths(image.layout.strides()));
    void* const start = array.mutable_data();
    return {std::move(array), start};
  }
  py::array bytes(py::dtype("uint8"),
                  Lengths{py::ssize_t(std::max<std::size_t>(gpu.layout().nbytes(), 1))});
  return image_at(gpu, bytes.mutable_data(), bytes);
}

bool looks_like(const py::array& array, const View& image) {
  for (int axis = 0; axis < image.layout.ndim(); ++axis)
    if (image.layout.shape()[axis] > 1 && array.strides(axis) != image.layout.strides()[axis])
      return false;
  return true;
}

Axes shape_of(const py::array& array) {
  Axes shape;
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) shape.push_back(array.shape(axis));
  return shape;
}

void warn(PyObject* category, const std::string& text) {
  if (PyErr_WarnEx(category, text.c_str(), 1) < 0) throw py::error_already_set();
}

std::string shapes(const py::array& host, const GPUArray& gpu) {
  return shape_of(host).text() + " and " + gpu.layout().shape().text();
}

// `host` in the shape of `gpu`; of another shape it is reshaped, with a warning as PyCUDA gives it.
py::array in_shape_of(const GPUArray& gpu, const py::array& host, PyObject* category,
                      const char* call) {
  if (host.size() != gpu.layout().size())
    throw py::value_error(std::string(call) +
                          ": the array and the GPUArray have different sizes: shapes " +
                          shapes(host, gpu));
  if (shape_of(host) == gpu.layout().shape()) return host;
  warn(category, std::string(call) + ": reshaping between different shapes: " + shapes(host, gpu));
  py::array same = numpy().attr("reshape")(host, tuple_of(gpu.layout().shape()));
  return same;
}

std::string type_text(const char* call, const py::array& host, const GPUArray& gpu) {
  return std::string(call) + ": the ndarray has dtype " +
         py::str(host.dtype()).cast<std::string>() + ", the GPUArray " +
         py::str(gpu.dtype).cast<std::string>();
}

// Host memory that captured work reaches stays as long as the graph.
void keep_for_graph(const py::object& memory) {
  if (Capture* const capture = Capture::current())
    capture->keep({py::object(memory).release().ptr(), [](const void* owner) {
                     drop(static_cast<PyObject*>(const_cast<void*>(owner)));
                   }});
}

void download(const GPUArray& gpu, void* start, const StreamRef* stream) {
  const NoGil without = let_gil_go();
  stream ? gpu.core.download_async(start, *stream) : gpu.core.download(start);
}

// New memory on the device of `array`, which need not be the current one.
GPUArray new_array_beside(const GPUArray& array, const Layout& layout,
                          const py::object& allocator) {
  if (!array.core.address()) return new_array(layout, array.dtype, allocator);
  const DeviceGuard guard = use_device(array.core.device());
  return new_array(layout, array.dtype, allocator);
}

void upload(const GPUArray& gpu, const void* start, const StreamRef* stream) {
  if (!gpu.layout().dense()) {
    const GPUArray image = new_array_beside(gpu, gpu.layout().dense_layout().layout, py::none());
    upload(image, start, stream);
    set_from_device(gpu, image, stream);
    if (stream || !gpu.core.address()) return;
    const DeviceGuard here = use_device(gpu.core.device());
    const StreamRef null_stream;
    return finish(&null_stream);
  }
  const NoGil without = let_gil_go();
  stream ? gpu.core.upload_async(start, *stream) : gpu.core.upload(start);
}

// Few pitched copies of long rows are quicker than a kernel.
constexpr std::size_t few_calls = 4, long_row = 256;

}  // namespace

void set_from_host(const GPUArray& array, const py::array& source, const StreamRef* stream) {
  if (!source.dtype().equal(array.dtype)) throw py::value_error(type_text("set", source, array));
  const py::array host = in_shape_of(array, source, PyExc_UserWarning, "set");
  const View image = array.layout().dense_layout();
  keep_for_graph(host);
  if (looks_like(host, image))
    return upload(array, static_cast<const char*>(host.data()) - image.offset, stream);
  const Image arranged = new_image(array, false);
  numpy().attr("copyto")(arranged.array, host);
  upload(array, arranged.start, stream);
  finish(stream);  // before the copy on the way goes
}

GPUArray in_shape_of(const GPUArray& array, const GPUArray& source, const StreamRef* stream) {
  if (!source.dtype.equal(array.dtype))
    throw py::value_error("set: the source has dtype " + py::str(source.dtype).cast<std::string>() +
                          ", the array " + py::str(array.dtype).cast<std::string>());
  const Axes& shape = array.layout().shape();
  if (source.layout().shape() == shape) return source;
  const std::string texts = source.layout().shape().text() + " and " + shape.text();
  if (source.layout().size() != array.layout().size())
    throw py::value_error("set: the arrays have different sizes: shapes " + texts);
  warn(PyExc_UserWarning, "set: reshaping between different shapes: " + texts);
  GPUArray ordered = source;
  if (!source.layout().c_contiguous()) {
    const Layout contiguous(source.layout().shape(), source.layout().itemsize());
    ordered = new_array_beside(source, contiguous, py::none());
    set_from_device(ordered, source, stream);
  }
  ordered.core = ordered.core.view(ordered.layout().reshape(shape, Order::c));
  return ordered;
}

void set_from_device(const GPUArray& array, const GPUArray& source, const StreamRef* stream) {
  array.core.require_alive();
  source.core.require_alive();
  if (array.core.overlaps(source.core)) {
    const GPUArray apart = new_array_beside(source, source.layout().k_order(), py::none());
    set_from_device(apart, source, stream);
    return set_from_device(array, apart, stream);
  }
  const CopyPlan plan = plan_copy(array.layout(), source.layout());
  const bool by_rows = plan.calls() <= few_calls && (plan.rows <= 1 || plan.width >= long_row);
  const bool kernel_reaches = array.core.device() == source.core.device() &&
                              array.layout().ndim() < Axes::capacity && array.layout().itemsize();
  if (!by_rows && kernel_reaches && array.core.address() &&
      with_compiler([&] { copy_by_kernel(array, source, stream ? *stream : default_stream()); }))
    return;
  const NoGil without = let_gil_go();
  array.core.copy_from(source.core, stream ? *stream : default_stream());
}

py::object get_to_host(const GPUArray& array, const py::object& out, bool pagelocked,
                       const StreamRef* stream) {
  if (!array.layout().dense()) {
    const GPUArray dense = new_array_beside(array, array.layout().k_order(), py::none());
    set_from_device(dense, array, stream);
    return get_to_host(dense, out, pagelocked, stream);
  }
  if (out.is_none()) {
    const Image image = new_image(array, pagelocked);
    keep_for_graph(image.array);
    download(array, image.start, stream);
    const bool plain = stream || pagelocked || array.layout().dense_layout().offset == 0;
    return plain ? py::object(image.array) : image.array.attr("copy")("K");
  }
  if (!py::isinstance<py::array>(out))
    throw py::type_error("get: ary: expected a numpy.ndarray, got " +
                         py::repr(py::type::of(out)).cast<std::string>());
  const auto target = py::reinterpret_borrow<py::array>(out);
  if (!target.dtype().equal(array.dtype)) throw py::type_error(type_text("get", target, array));
  if (!target.writeable()) throw py::value_error("get: ary is read-only");
  py::array host = in_shape_of(array, target, PyExc_DeprecationWarning, "get");
  if (!numpy().attr("may_share_memory")(host, target).cast<bool>() && array.layout().size() > 0)
    throw py::value_error("get: ary of shape " + shape_of(target).text() +
                          " cannot be reshaped without a copy");
  const View image = array.layout().dense_layout();
  keep_for_graph(host);
  if (looks_like(host, image)) {
    download(array, static_cast<char*>(host.mutable_data()) - image.offset, stream);
    return host;
  }
  const Image arranged = new_image(array, false);
  download(array, arranged.start, stream);
  finish(stream);
  numpy().attr("copyto")(host, arranged.array);
  return host;
}

GPUArray copy_of(const GPUArray& array, const StreamRef* stream) {
  GPUArray copy = new_array_beside(array, array.layout().k_order(), array.allocator);
  set_from_device(copy, array, stream);
  return copy;
}

GPUArray to_gpu(const py::object& source, const py::object& allocator, const StreamRef* stream) {
  if (const GPUArray* const array = gpuarray_in(source.ptr())) return copy_of(*array, stream);
  if (!py::isinstance<py::array>(source))
    throw py::type_error("to_gpu: ary: expected a numpy.ndarray, got " +
                         py::repr(py::type::of(source)).cast<std::string>() +
                         "; use numpy.asarray() first");
  const auto host = py::reinterpret_borrow<py::array>(source);
  Axes shape, strides;
  for (py::ssize_t axis = 0; axis < host.ndim(); ++axis) {
    shape.push_back(host.shape(axis));
    strides.push_back(host.strides(axis));
  }
  const py::object dtype = dtype_of(host.dtype());
  const GPUArray array =
      new_array(Layout(shape, strides, itemsize_of(dtype)).k_order(), dtype, allocator);
  set_from_host(array, host, stream);
  return array;
}

}  // namespace PyGPU::python
