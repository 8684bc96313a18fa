// Functions that make GPUArrays.
#include "python/array/map.h"
#include "python/array/operators.h"

namespace PyGPU::python {
namespace {

// A kernel writes much memory quicker than the runtime does.
bool zero_by_kernel(const GPUArray& array) {
  constexpr std::size_t much = 16 << 20, word = 4;
  const std::size_t nbytes = array.layout().nbytes();
  if (launch_runs_kernel || nbytes < much || nbytes % word) return false;
  const Layout words({Index(nbytes / word)}, word);
  if (!is_aligned(words, array.core.address(), word)) return false;
  const GPUArray whole = as_units({array.core.view(words), array.dtype, py::none()}, word);
  return with_compiler([&] { fill(whole, py::int_(0), default_stream()); });
}

GPUArray zeroed(GPUArray array) {
  if (!zero_by_kernel(array)) array.core.zero();
  return array;
}

GPUArray zeros(const py::object& shape, const py::object& dtype, const py::object& allocator,
               Order order) {
  py::object type = dtype_of(dtype);
  const Axes lengths = shape_with_subarray(axes_of(shape, "shape"), type);
  return zeroed(new_array(Layout(lengths, itemsize_of(type), order), type, allocator));
}

GPUArray empty_like(const GPUArray& other, const py::object& dtype, const std::string& order) {
  const py::object type = dtype.is_none() ? other.dtype : dtype_of(dtype);
  if (!type.attr("subdtype").is_none())
    throw py::type_error("dtype: a dtype with a shape of its own is not possible here, got " +
                         text_of(type));
  const std::size_t itemsize = itemsize_of(type);
  const Layout& layout = other.layout();
  Layout like;
  if (order == "K") {
    like = layout.k_order(itemsize);
  } else if (order == "A") {
    const bool fortran = layout.f_contiguous() && !layout.c_contiguous();
    like = Layout(layout.shape(), itemsize, fortran ? Order::f : Order::c);
  } else {
    like = Layout(layout.shape(), itemsize, order_of(py::str(order)));
  }
  const DeviceGuard here = use_device_of(other.core);
  return new_array(like, type, other.allocator);
}

}  // namespace

void bind_creation(py::module_& m) {
  const py::object none = py::none();
  def(m, "to_gpu",
      [](const py::object& ary, const py::object& allocator) {
        return to_gpu(ary, allocator, nullptr);
      },
      "A copy of a numpy.ndarray of any strides on the device, the axes in the same order.",
      {{"ary"}, {"allocator", none}});
  def(m, "to_gpu_async",
      [](const py::object& ary, const py::object& allocator, const StreamRef& stream) {
        return to_gpu(ary, allocator, &stream);
      },
      "to_gpu in the stream's order. `ary` should be page-locked and stay until it is done.",
      {{"ary"}, {"allocator", none}, {"stream", none}});
  def(m, "zeros", &zeros, "A new array of zeros.",
      {{"shape"}, {"dtype", "float64"}, {"allocator", none}, {"order", "C"}});
  def(m, "empty_like", &empty_like, "An uninitialised array of the same shape; order K, A, C or F.",
      {{"other_ary"}, {"dtype", none}, {"order", "K"}});
  def(m, "zeros_like",
      [](const GPUArray& other, const py::object& dtype, const std::string& order) {
        return zeroed(empty_like(other, dtype, order));
      },
      "An array of zeros of the same shape; order K, A, C or F.",
      {{"other_ary"}, {"dtype", none}, {"order", "K"}});
}

}  // namespace PyGPU::python
