// Copies between NumPy and GPUArray. The core copies between host memory of any layout and a dense
// array, in chunks. An array with gaps is copied through a dense image on the device. Copies on a
// stream need host memory with the layout of that image: contiguous elements, with the axes in the
// array's own order and direction.
#include "python/operations/copies.h"

#include <cstring>

#include "PyGPU/runtime/copy_plan.h"
#include "PyGPU/runtime/host_blocks.h"
#include "python/launch/specializations.h"
#include "python/operations/map.h"
#include "python/value/fields.h"

namespace PyGPU::python {
namespace {

using Lengths = std::vector<py::ssize_t>;

Lengths lengths(const Axes& axes) { return Lengths(axes.begin(), axes.end()); }

// Not a function-local static: its guard and the GIL could deadlock.
py::object numpy() { return module_::import("numpy"); }

// Return the dense layout of the array's elements on the device: the array's own, or that of a copy
// if the array has gaps.
View image_of(const GPUArray& gpu) {
  if (gpu.layout().dense()) return gpu.layout().dense_layout();
  return {gpu.layout().k_order(), 0};
}

// Allocate a page-locked ndarray with the layout of the image. Null without elements.
py::object new_pagelocked(const GPUArray& gpu) {
  const View image = image_of(gpu);
  auto memory = std::make_unique<Memory>();
  {
    const NoGil without = release_gil();
    check("cudaMallocHost", allocate_memory(*memory, MemoryKind::pinned, gpu.layout().nbytes()));
  }
  char* const start = static_cast<char*>(memory->get().address);
  const py::capsule owner(memory.get(), [](void* block) { delete static_cast<Memory*>(block); });
  (void)memory.release();  // after the capsule, whose creation may fail
  if (!start) return {};
  return np::array(py::reinterpret_borrow<np::dtype>(gpu.dtype), lengths(image.layout.shape()),
                   lengths(image.layout.strides()), start + image.offset, owner);
}

// Memory of large results, kept for the next results.
const np::Allocator kept_blocks{
    "PyGPU",
    1,
    nullptr,
    [](void*, std::size_t nbytes) { return host_blocks::take(nbytes); },
    [](void*, std::size_t count, std::size_t nbytes) -> void* {
      std::size_t all = 0;
      if (__builtin_mul_overflow(count, nbytes, &all)) return nullptr;
      void* const block = host_blocks::take(all);
      return block ? std::memset(block, 0, all) : nullptr;
    },
    [](void*, void* block, std::size_t nbytes) { return host_blocks::retake(block, nbytes); },
    [](void*, void* block, std::size_t) { host_blocks::give(block); }};

np::array new_result(const GPUArray& gpu) {
  const Layout fresh = gpu.layout().k_order();
  const auto dtype = py::reinterpret_borrow<np::dtype>(gpu.dtype);
  const Lengths shape = lengths(fresh.shape()), strides = lengths(fresh.strides());
  if (fresh.nbytes() < host_blocks::kept_from) return np::array(dtype, shape, strides);
  return np::array::allocated_by(kept_blocks, dtype, shape, strides);
}

Axes shape_of(const np::array& array) {
  Axes shape;
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) shape.push_back(array.shape(axis));
  return shape;
}

void warn(PyObject* category, const std::string& text) {
  hook(Hook::warn)(text, py::handle(category));
}

std::string shapes(const np::array& host, const GPUArray& gpu) {
  return shape_of(host).text() + " and " + gpu.layout().shape().text();
}

// Return `host` in the shape of `gpu`. A different shape is reshaped, with a warning as in PyCUDA.
np::array reshaped_like(const GPUArray& gpu, const np::array& host, PyObject* category,
                        const char* call) {
  if (host.size() != gpu.layout().size())
    throw py::value_error(std::string(call) +
                          ": the ndarray and the GPUArray have different sizes: shapes " +
                          shapes(host, gpu));
  if (shape_of(host) == gpu.layout().shape()) return host;
  warn(category, std::string(call) + ": reshaping between different shapes: " + shapes(host, gpu));
  np::array same = numpy().attr("reshape")(host, tuple_of(gpu.layout().shape()));
  return same;
}

std::string type_text(const char* call, const np::array& host, const GPUArray& gpu) {
  return std::string(call) + ": the ndarray has dtype " + text_of(host.dtype()) +
         ", the GPUArray " + text_of(gpu.dtype);
}

// Return a new array on the device of `array`, which need not be the current device.
GPUArray new_array_on_device_of(const GPUArray& array, const Layout& layout,
                                const py::object& allocator) {
  const DeviceGuard here = use_device_of(array.core);
  return new_array(layout, array.dtype, allocator);
}
GPUArray scratch_on_device_of(const GPUArray& array, const Layout& layout,
                              const StreamRef* stream) {
  GPUArray scratch = new_array_on_device_of(array, layout, py::none());
  if (stream) keep_for_callers_graph(scratch, *stream);
  return scratch;
}

// Return a dense scratch array, through which an array with gaps is copied.
GPUArray new_image(const GPUArray& gpu, const StreamRef* stream) {
  return scratch_on_device_of(gpu, image_of(gpu).layout, stream);
}

template <class Byte>
using Transfer = void (*)(const GPUArray& gpu, Byte* first, const Layout& host,
                          const StreamRef* stream);

// Smallest image, in bytes, that is halved where there is no memory for it: a large array would
// otherwise become millions of copies.
constexpr std::size_t smallest_halved = std::size_t(64) << 10;

// Run `work` with the image of an array with gaps. If the device has no memory for the image,
// transfer the two halves of the array, which need a smaller image.
template <class Byte, class Work>
void by_image(Transfer<Byte> transfer, const GPUArray& gpu, Byte* first, const Layout& host,
              const StreamRef* stream, Work work) {
  try {
    return work(new_image(gpu, stream));
  } catch (const DeviceError& error) {
    if (error.status.code != cudaErrorMemoryAllocation || stream ||
        gpu.layout().nbytes() < smallest_halved)
      throw;
  }
  int axis = 0;
  for (const int outer : gpu.layout().strides().by_falling_size()) {
    axis = outer;
    if (gpu.layout().shape()[axis] > 1) break;
  }
  Axes shape = gpu.layout().shape();
  const Index length = shape[axis], middle = length / 2;
  for (const Index start : {Index(0), middle}) {
    shape[axis] = start ? length - middle : middle;
    GPUArray half = gpu;
    half.core = gpu.core.view(Layout(shape, gpu.layout().strides(), gpu.layout().itemsize()),
                              start * gpu.layout().strides()[axis]);
    const Layout part(shape, host.strides(), host.itemsize());
    transfer(half, first + start * host.strides()[axis], part, stream);
  }
}

// With a stream, the host memory has the layout of the image.
void upload(const GPUArray& gpu, const char* first, const Layout& host, const StreamRef* stream) {
  if (gpu.layout().dense()) {
    const NoGil without = release_gil();
    if (!stream) return gpu.core.upload(first, host);
    return gpu.core.upload_async(first - image_of(gpu).offset, *stream);
  }
  by_image(&upload, gpu, first, host, stream, [&](const GPUArray& image) {
    upload(image, first, host, stream);
    set_from_device(gpu, image, stream);
  });
  if (stream || !gpu.core.address()) return;
  const DeviceGuard here = use_device(gpu.core.device());
  wait_for({});
}

void download(const GPUArray& gpu, char* first, const Layout& host, const StreamRef* stream) {
  if (gpu.layout().dense()) {
    const NoGil without = release_gil();
    if (!stream) return gpu.core.download(first, host);
    return gpu.core.download_async(first - image_of(gpu).offset, *stream);
  }
  by_image(&download, gpu, first, host, stream, [&](const GPUArray& image) {
    set_from_device(image, gpu, stream);
    download(image, first, host, stream);
  });
}

// Return the stream of the copy. Host memory with another layout than the image must be gathered or
// scattered, which no stream does: wait for the stream and return null.
const StreamRef* stream_for(const GPUArray& gpu, const Layout& host, const StreamRef* stream) {
  if (!stream || host.same_strides(image_of(gpu).layout)) return stream;
  wait_for(*stream);
  return nullptr;
}

// A few plain copies are as fast as a kernel. Pitched copies have less than half of its speed.
constexpr std::size_t few_calls = 4;

}  // namespace

Layout layout_of(const np::array& host, std::size_t itemsize) {
  Axes strides;
  for (py::ssize_t axis = 0; axis < host.ndim(); ++axis) strides.push_back(host.strides(axis));
  return Layout(shape_of(host), strides, itemsize);
}

void set_from_host(const GPUArray& array, const np::array& source, const StreamRef* stream) {
  if (!source.dtype().equal(array.dtype)) throw py::value_error(type_text("set", source, array));
  const np::array host = reshaped_like(array, source, PyExc_UserWarning, "set");
  if (array.has_hidden_fields) {
    for (const auto& [field, part] : fields_with_values(array, host))
      set_from_host(field, part, stream);
    return;
  }
  keep_for_graph(host);
  keep_for_graph(array);
  const GPUArray now = array;  // a snapshot: another thread may set the gpudata of `array`
  const Layout layout = layout_of(host, now.layout().itemsize());
  const char* const first = static_cast<const char*>(host.data());
  upload(now, first, layout, stream_for(now, layout, stream));
}

GPUArray reshaped_like(const GPUArray& array, const GPUArray& source, const StreamRef* stream) {
  if (!source.dtype.equal(array.dtype))
    throw py::value_error("set: the source has dtype " + text_of(source.dtype) + ", the array " +
                          text_of(array.dtype));
  const Axes& shape = array.layout().shape();
  if (source.layout().shape() == shape) return source;
  const std::string texts = source.layout().shape().text() + " and " + shape.text();
  if (source.layout().size() != array.layout().size())
    throw py::value_error("set: the arrays have different sizes: shapes " + texts);
  warn(PyExc_UserWarning, "set: reshaping between different shapes: " + texts);
  GPUArray ordered = source;
  if (!source.layout().c_contiguous()) {
    const Layout contiguous(source.layout().shape(), source.layout().itemsize());
    ordered = scratch_on_device_of(source, contiguous, stream);
    set_from_device(ordered, source, stream);
  }
  ordered.core = ordered.core.view(ordered.layout().reshape(shape, Order::c));
  return ordered;
}

void set_from_device(const GPUArray& array, const GPUArray& source, const StreamRef* stream) {
  if (array.has_hidden_fields) {
    const std::vector<GPUArray> sources = each_field(source);
    std::size_t k = 0;
    for (const GPUArray& field : each_field(array)) set_from_device(field, sources[k++], stream);
    return;
  }
  keep_for_graph(array);
  keep_for_graph(source);
  if (array.core.overlaps(source.core)) {
    const GPUArray apart = scratch_on_device_of(source, source.layout().k_order(), stream);
    set_from_device(apart, source, stream);
    return set_from_device(array, apart, stream);
  }
  const CopyPlan plan = plan_copy(array.layout(), source.layout());
  const bool is_plain = plan.rows <= 1 && plan.calls() <= few_calls;
  const bool kernel_reaches = array.core.device() == source.core.device() &&
                              array.layout().ndim() < Axes::capacity && array.layout().itemsize();
  if (!is_plain && kernel_reaches && array.core.address() &&
      with_compiler([&] { copy_by_kernel(array, source, stream ? *stream : default_stream()); }))
    return;
  const Array to = array.core, from = source.core;  // other threads may set gpudata meanwhile
  const NoGil without = release_gil();
  to.copy_from(from, stream ? *stream : default_stream());
}

// Return true for a view of several fields of an ndarray, with bytes of others between them.
bool hides_fields(const np::array& host) {
  if (host.dtype().kind() != 'V') return false;
  const py::object base = host.attr("base");
  return py::isinstance<np::array>(base) && !py::object(base.attr("dtype")).equal(host.dtype());
}

py::object get_to_host(const GPUArray& array, const py::object& out, bool pagelocked,
                       const StreamRef* stream) {
  const auto fill = [&](np::array& host) {
    keep_for_graph(host);
    keep_for_graph(array);
    const GPUArray now = array;  // a snapshot: another thread may set the gpudata of `array`
    const Layout layout = layout_of(host, now.layout().itemsize());
    download(now, static_cast<char*>(host.mutable_data()), layout, stream_for(now, layout, stream));
  };
  if (out.is_none()) {
    py::object made = pagelocked ? new_pagelocked(array) : py::object();
    if (!made) made = new_result(array);
    auto host = py::reinterpret_borrow<np::array>(made);
    fill(host);
    return made;
  }
  if (!py::isinstance<np::array>(out))
    throw py::type_error("get: ary: expected a numpy.ndarray, got " + repr_of(py::type::of(out)));
  const auto target = py::reinterpret_borrow<np::array>(out);
  if (!target.dtype().equal(array.dtype)) throw py::type_error(type_text("get", target, array));
  if (!target.writeable())
    throw py::value_error("get: ary is read-only; expected a writable ndarray");
  if (hides_fields(target)) {
    numpy().attr("copyto")(target, get_to_host(array, py::none(), pagelocked, stream));
    return target;
  }
  np::array host = reshaped_like(array, target, PyExc_DeprecationWarning, "get");
  if (!host.is(target) && array.layout().size() > 0 &&
      !numpy().attr("may_share_memory")(host, target).cast<bool>())
    throw py::value_error(
        "get: ary of shape " + shape_of(target).text() +
        " cannot be reshaped without a copy; pass an array of the GPUArray's shape");
  fill(host);
  return host;
}

Layout layout_like(const Layout& other, const Axes& shape, std::size_t itemsize,
                   const std::string& order) {
  if (order == "K") {
    if (shape.size() != other.ndim()) return Layout(shape, itemsize);
    return Layout(shape, other.strides(), itemsize).k_order(itemsize);
  }
  if (order != "A") return Layout(shape, itemsize, order_of(py::str(order)));
  const bool is_fortran = other.f_contiguous() && !other.c_contiguous();
  return Layout(shape, itemsize, is_fortran ? Order::f : Order::c);
}

GPUArray copy_of(const GPUArray& array, const StreamRef* stream, const std::string& order) {
  const Layout& own = array.layout();
  const Layout layout = layout_like(own, own.shape(), own.itemsize(), order);
  GPUArray copy = new_array_on_device_of(array, layout, array.allocator);
  set_from_device(copy, array, stream);
  return copy;
}

py::object as_ndarray(const py::object& source) {
  if (py::isinstance<np::array>(source)) return source;
  PyObject* const object = source.ptr();
  const bool is_value = PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object) ||
                        PyList_Check(object) || PyTuple_Check(object) ||
                        py::isinstance(source, numpy().attr("generic"));
  return is_value ? numpy().attr("asarray")(source) : py::object();
}

GPUArray to_gpu(const py::object& source, const py::object& allocator, const StreamRef* stream,
                bool is_device_given) {
  if (const GPUArray* const array = gpuarray_in(source.ptr())) {
    if (!is_device_given) return copy_of(*array, stream);
    const GPUArray copy = new_array(array->layout().k_order(), array->dtype, allocator);
    set_from_device(copy, *array, stream);
    return copy;
  }
  // A copy on a stream needs memory that outlives the call.
  const bool is_ready = stream && py::isinstance<np::array>(source);
  const py::object given = stream ? (is_ready ? source : py::object()) : as_ndarray(source);
  if (!given)
    throw py::type_error("to_gpu: ary: expected a numpy.ndarray, got " +
                         repr_of(py::type::of(source)) + "; use numpy.asarray() first");
  const auto host = py::reinterpret_borrow<np::array>(given);
  const py::object dtype = dtype_of(host.dtype());
  const GPUArray array = new_array(layout_of(host, itemsize_of(dtype)).k_order(), dtype, allocator);
  set_from_host(array, host, stream);
  return array;
}

}  // namespace PyGPU::python
