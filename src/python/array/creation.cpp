// Functions that create GPUArrays.
#include "python/array/given_device.h"
#include "python/binders.h"
#include "python/launch/specializations.h"
#include "python/operations/copies.h"
#include "python/operations/map.h"
#include "python/operations/operators.h"

namespace PyGPU::python {
namespace {

// A kernel zeroes large memory faster than the runtime does.
bool zero_by_kernel(const GPUArray& array) {
  constexpr std::size_t large = 16 << 20, word = 4;
  const std::size_t nbytes = array.layout().nbytes();
  if (capabilities.launch_runs_kernel || nbytes < large || nbytes % word) return false;
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
               Order order, const GivenDevice&) {
  py::object type = dtype_of(dtype);
  const Axes lengths = shape_with_subarray(axes_of(shape, "shape"), type);
  return zeroed(new_array(Layout(lengths, itemsize_of(type), order), type, allocator));
}

GPUArray empty_like(const py::object& other, const py::object& dtype, const std::string& order,
                    const py::object& shape) {
  const GPUArray* const array = gpuarray_in(other.ptr());
  const py::object host = array ? py::object() : as_ndarray(other);
  if (!array && !host)
    throw py::type_error("other_ary: expected a GPUArray or an array_like, got " + repr_of(other));
  const py::object own = array ? array->dtype : dtype_of(host.attr("dtype"));
  const py::object type = dtype.is_none() ? own : dtype_of(dtype);
  if (!type.attr("subdtype").is_none())
    throw py::type_error("dtype=" + text_of(type) +
                         ": a subarray dtype; expected a dtype without a shape of its own");
  const Layout model = array ? array->layout()
                             : layout_of(py::reinterpret_borrow<np::array>(host), itemsize_of(own));
  const Axes lengths = shape.is_none() ? model.shape() : axes_of(shape, "shape");
  const Layout layout = layout_like(model, lengths, itemsize_of(type), order);
  const DeviceGuard here = array ? use_device_of(array->core) : DeviceGuard();
  return new_array(layout, type, array ? array->allocator : py::none(), true);
}

}  // namespace

void bind_creation(module_& m) {
  const py::object none = py::none();
  def(m, "to_gpu",
      [](const py::object& ary, const py::object& allocator, const GivenDevice& device) {
        return to_gpu(ary, allocator, nullptr, device.is_given);
      },
      R"doc(Copy an ndarray to the device.

ary: [array_like or GPUArray]
    Source of any dtype without Python objects, and of any strides: an ndarray, a number, or nested
    lists of numbers, of which numpy.asarray makes one.
device: [int or Device, optional]
    Device of the copy. None is the current device, and the array's own for a GPUArray.
-> Contiguous copy of the same shape and dtype, with the axes in the same memory order.
Raises TypeError: If ``ary`` is none of these, or its dtype holds Python objects.
See to_gpu_async: Enqueue the copy on a stream.
See PyGPU.gpuarray.asarray: Convert anything, without a copy if possible.

>>> import PyGPU.gpuarray as gpuarray
>>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
>>> a.get()
array([[1, 2],
       [3, 4]])
)doc",
      {{"ary"}, {"allocator", none}, {"*"}, {"device", none}});
  def(m, "to_gpu_async",
      [](const py::object& ary, const py::object& allocator, const StreamRef& stream,
         const GivenDevice& device) { return to_gpu(ary, allocator, &stream, device.is_given); },
      R"doc(Enqueue a copy of an ndarray to the device on a stream.

ary: [numpy.ndarray or GPUArray]
    Source. An ndarray should be page-locked, and must stay alive and unchanged until the stream is
    done.
stream: [PyGPU.driver.Stream, int or None, optional] Stream of the copy; None is the null stream.
device: [int or Device, optional]
    Device of the copy and of the stream. None is the current device, and the array's own for a
    GPUArray.
-> Contiguous copy, complete once the stream is.
See to_gpu: Copy and wait.

>>> import PyGPU.driver as driver
>>> import PyGPU.gpuarray as gpuarray
>>> host = driver.pagelocked_zeros(3, "float32")
>>> stream = driver.Stream()
>>> a = gpuarray.to_gpu_async(host, stream=stream)
>>> stream.synchronize()
>>> a.get()
array([0., 0., 0.], dtype=float32)
)doc",
      {{"ary"}, {"allocator", none}, {"stream", none}, {"*"}, {"device", none}});
  def(m, "zeros", &zeros, R"doc(Return a new array of zeros.

shape: [int or sequence of int] Lengths of the axes.
dtype: [numpy.dtype or anything numpy.dtype accepts, optional] Dtype of the elements.
order: [{'C', 'F'}, optional] Order of the axes in memory: row-major or column-major.
device: [int or Device, optional] Device of the array; None is the current device.
-> New array of the given shape and dtype.
See empty: Return a new array without initializing its elements.
See zeros_like: Return an array of zeros with the shape of another array.

>>> import PyGPU.gpuarray as gpuarray
>>> gpuarray.zeros((2, 2), "int32")
array([[0, 0],
       [0, 0]], dtype=int32)
)doc",
      {{"shape"},
       {"dtype", "float64"},
       {"allocator", none},
       {"order", "C"},
       {"*"},
       {"device", none}});
  def(m, "empty_like", &empty_like,
      R"doc(Return a new array with the shape of another array, without initializing its elements.

other_ary: [GPUArray or array_like] Array whose shape, device and allocator the new array has.
dtype: [numpy.dtype or anything numpy.dtype accepts, optional]
    Dtype of the elements; None is the dtype of ``other_ary``.
order: [{'K', 'A', 'C', 'F'}, optional]
    Order of the axes in memory. 'K' keeps the order of ``other_ary``; it is 'C' for a shape with
    another number of axes. 'A' is 'F' for an array that is contiguous in that order alone, else
    'C'.
shape: [int or sequence of int, optional]
    Shape of the new array; None is the shape of ``other_ary``.
-> New contiguous array.
Raises TypeError: If ``dtype`` is a subarray dtype.
See zeros_like: Return an array of zeros with the shape of another array.

>>> import PyGPU.gpuarray as gpuarray
>>> a = gpuarray.zeros((2, 3), "float32", order="F")
>>> b = gpuarray.empty_like(a, "int32")
>>> b.shape, b.dtype, b.flags.f_contiguous
((2, 3), dtype('int32'), True)
)doc",
      {{"other_ary"}, {"dtype", none}, {"order", "K"}, {"shape", none}});
  def(m, "zeros_like",
      [](const py::object& other, const py::object& dtype, const std::string& order,
         const py::object& shape) { return zeroed(empty_like(other, dtype, order, shape)); },
      R"doc(Return a new array of zeros with the shape of another array.

other_ary: [GPUArray or array_like] Array whose shape, device and allocator the new array has.
dtype: [numpy.dtype or anything numpy.dtype accepts, optional]
    Dtype of the elements; None is the dtype of ``other_ary``.
order: [{'K', 'A', 'C', 'F'}, optional] Order of the axes in memory; see empty_like.
shape: [int or sequence of int, optional]
    Shape of the new array; None is the shape of ``other_ary``.
-> New contiguous array.
See empty_like: Return an array of the same shape without initializing its elements.

>>> import PyGPU.gpuarray as gpuarray
>>> gpuarray.zeros_like(gpuarray.empty(3, "int32"))
array([0, 0, 0], dtype=int32)
)doc",
      {{"other_ary"}, {"dtype", none}, {"order", "K"}, {"shape", none}});
}

}  // namespace PyGPU::python
