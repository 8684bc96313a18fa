// The class GPUArray: construction and transfers.
#include "python/array/given_device.h"
#include "python/array/slots.h"
#include "python/binders.h"
#include "python/operations/copies.h"

namespace PyGPU::python {
namespace {

py::object dtype_or_float64(const py::object& dtype) {
  static const auto& float64 = *new py::object(np::dtype("float64"));  // leaked on purpose
  return dtype.is_none() ? float64 : dtype_of(dtype);
}

GPUArray make_gpuarray(py::handle, const py::object& shape, const py::object& dtype,
                       const py::object& allocator, const py::object& base,
                       const py::object& gpudata, const py::object& strides, Order order,
                       const GivenDevice& device) {
  // An ndarray in place of the shape is copied to the device, as in the first version of PyGPU.
  if (dtype.is_none() && gpudata.is_none() && py::isinstance<np::array>(shape) &&
      py::reinterpret_borrow<np::array>(shape).ndim() > 0)
    return to_gpu(shape, allocator, nullptr, device.is_given);
  py::object type = dtype_or_float64(dtype);
  const Axes lengths = shape_with_subarray(axes_of(shape, "shape"), type);
  const Layout layout = strides.is_none()
                            ? Layout(lengths, itemsize_of(type), order)
                            : Layout(lengths, axes_of(strides, "strides"), itemsize_of(type));
  if (gpudata.is_none()) {
    if (!base.is_none())
      throw py::value_error("base=" + repr_of(base) +
                            ": an array without gpudata owns its memory; expected None");
    return new_array(layout, type, allocator, true);
  }
  if (device.is_given)
    throw py::value_error("device: an array of given memory is on its device; expected None");
  layout.extent();  // raises if the strides exceed the address space
  GPUArray array(Array::borrow(layout, address_of(gpudata, "gpudata")), type, allocator, base,
                 gpudata);
  array.rereads_address = may_change_address(gpudata);
  return array;
}

// Same as GPUArray(...), but skips the call of the type, which takes as long as the rest.
GPUArray empty(const py::object& shape, const py::object& dtype, const py::object& allocator,
               const py::object& base, const py::object& gpudata, const py::object& strides,
               Order order, const GivenDevice& device) {
  return make_gpuarray({}, shape, dtype, allocator, base, gpudata, strides, order, device);
}

py::object get(const GPUArray& array, const py::object& out, bool pagelocked, bool async,
               const StreamRef& stream) {
  return get_to_host(array, out, pagelocked, async ? &stream : nullptr);
}

void set(const GPUArray& array, const py::object& source, bool async, const StreamRef& stream) {
  const StreamRef* const where = async ? &stream : nullptr;
  if (const GPUArray* const given = gpuarray_in(source.ptr()))
    return set_from_device(array, reshaped_like(array, *given, where), where);
  if (!py::isinstance<np::array>(source))
    throw py::type_error("set: ary: expected a numpy.ndarray or a GPUArray, got " +
                         repr_of(py::type::of(source)));
  set_from_host(array, py::reinterpret_borrow<np::array>(source), where);
}

// The garbage collector visits base, gpudata and allocator: each is any object, and may refer to
// the array.
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
  array.core = {};  // before `base`, which may own its memory
  for (py::object* member : {&array.base, &array.gpudata, &array.allocator}) *member = py::none();
  return 0;
}

void bind_transfers(const py::object& c) {
  method(c, "get", &get,
         R"doc(Copy the array to the host.

ary: [numpy.ndarray, optional]
    Destination, writable, of the array's dtype and size. None allocates an ndarray with the axes in
    the same memory order.
pagelocked: [bool, optional] Allocate the ndarray in page-locked memory.
async_: [bool, optional]
    Enqueue the copy on ``stream``; the ndarray is complete once the stream is. False blocks.
stream: [PyGPU.driver.Stream, int or None, optional]
    Stream of an asynchronous copy; None is the null stream.
-> [numpy.ndarray] ``ary`` or the new ndarray.
Raises TypeError: If ``ary`` is no ndarray or has another dtype.
Raises ValueError: If ``ary`` is read-only or has another size.
See get_async: Enqueue the copy on a stream.
)doc",
         {{"ary", py::none()}, {"pagelocked", false}, {"async_", false}, {"stream", py::none()}});
  method(c, "get_async",
         [](const GPUArray& a, const StreamRef& stream, const py::object& out) {
           return get_to_host(a, out, true, &stream);
         },
         R"doc(Enqueue a copy to the host on a stream.

stream: [PyGPU.driver.Stream, int or None, optional] Stream of the copy; None is the null stream.
ary: [numpy.ndarray, optional]
    Destination, of the array's dtype and size, preferably in page-locked memory. None allocates a
    page-locked ndarray.
-> [numpy.ndarray] ``ary`` or the new ndarray, complete once the stream is.
See get: Copy and wait.
)doc",
         {{"stream", py::none()}, {"ary", py::none()}});
  method(c, "set", &set, R"doc(Copy the elements of another array to this one.

ary: [numpy.ndarray or GPUArray] Source of the same size and dtype.
async_: [bool, optional] Enqueue the copy on ``stream``. False blocks for an ndarray.
stream: [PyGPU.driver.Stream, int or None, optional]
    Stream of an asynchronous copy; None is the null stream.
Raises TypeError: If ``ary`` is no ndarray and no GPUArray.
Raises ValueError: If ``ary`` has another size or dtype.
See set_async: Enqueue the copy on a stream.
)doc",
         {{"ary"}, {"async_", false}, {"stream", py::none()}});
  method(c, "set_async",
         [](const GPUArray& a, const py::object& source, const StreamRef& stream) {
           set(a, source, true, stream);
         },
         R"doc(Enqueue a copy of the elements of another array on a stream.

ary: [numpy.ndarray or GPUArray]
    Source of the same size and dtype. An ndarray should be page-locked, and must stay alive and
    unchanged until the stream is done.
stream: [PyGPU.driver.Stream, int or None, optional] Stream of the copy; None is the null stream.
See set: Copy and wait.
)doc",
         {{"ary"}, {"stream", py::none()}});
  method(c, "copy",
         [](const GPUArray& a, const std::string& order) { return copy_of(a, nullptr, order); },
         R"doc(Return a contiguous copy.

order: [{'K', 'A', 'C', 'F'}, optional]
    Order of the axes in memory. 'K' keeps the array's order. 'A' is 'F' for an array that is
    contiguous in that order alone, else 'C'.
-> Copy on the same device, from the array's allocator.
)doc",
         {{"order", "K"}});
}

}  // namespace

namespace {

// Find the address of an array or an allocation; see set_address_of_arrays.
bool address_of_array(PyObject* object, void** address) {
  if (const GPUArray* const array = gpuarray_in(object)) {
    array->core.require_alive();
    *address = array->core.exposed_address();
    return true;
  }
  const auto* const allocation = find<DeviceAllocation>(object);
  if (allocation) *address = address_in(*allocation, "DeviceAllocation");
  return allocation;
}

}  // namespace

py::object bind_gpuarray(module_& m) {
  set_address_of_arrays(&address_of_array);
  Slots slots{{Py_tp_init, as_slot(&init_slot<GPUArray>)},
              {Py_tp_traverse, as_slot(&traverse)},
              {Py_tp_clear, as_slot(&clear)}};
  add_operators(slots);
  add_indexing(slots);
  const py::object c = new_class<GPUArray>(
      m, "GPUArray",
      "GPUArray(shape, dtype=None, allocator=None, base=None, gpudata=None, strides=None, "
      "order='C', *, device=None)\n--\n\n"
      R"doc(An N-dimensional array in device memory.

The array is on the device that was current when it was created. Only explicit calls copy elements
to the host, such as ``get()``, ``item()`` and ``print(a)``.

Arithmetic, comparisons, indexing and NumPy's functions follow NumPy. With
``PYGPU_COMPARISONS=pycuda``, comparison operators return 0 and 1 in the arrays' dtype.

Parameters
----------
shape : int or sequence of int
    Lengths of the axes. An ndarray with axes, as the only argument, is copied to the device.
dtype : numpy.dtype or anything numpy.dtype accepts, optional
    Dtype of the elements, without Python objects; None is float64.
allocator : callable, optional
    Function of a number of bytes that returns an address; None uses the memory pool.
base : object, optional
    Object to keep alive as long as the array; only with ``gpudata``.
gpudata : int or object with an address, optional
    Memory to use instead of new memory. An object of a caller's class with ``__index__`` or
    ``__int__`` is converted again at each use, so that its address may change.
strides : sequence of int, optional
    Bytes from one element to the next along each axis; None is contiguous in ``order``.
order : {'C', 'F'}, optional
    Order of the axes in memory: row-major or column-major.
device : int or Device, optional
    Device of new memory; None is the current device.

See Also
--------
PyGPU.gpuarray.to_gpu : Copy an ndarray to the device.
PyGPU.gpuarray.zeros : Return a new array of zeros.

Examples
--------
>>> import numpy as np
>>> import PyGPU.gpuarray as gpuarray
>>> a = gpuarray.to_gpu(np.arange(6, dtype=np.float32))
>>> b = gpuarray.GPUArray(6, np.float32)
>>> b.set(a)
>>> a + b
array([ 0.,  2.,  4.,  6.,  8., 10.], dtype=float32)
>>> b.reshape(2, 3).T.shape
(3, 2)
)doc",
      std::move(slots), Py_TPFLAGS_HAVE_GC);
  const py::object none = py::none();
  const Parameters parameters{
      {"shape"},         {"dtype", none},   {"allocator", none}, {"base", none},
      {"gpudata", none}, {"strides", none}, {"order", "C"},      {"*"},
      {"device", none}};
  constructor_of<GPUArray> =
      new Callable(constructor_by(c, init_signature(&make_gpuarray), parameters));
  def(m, "empty", &empty, R"doc(Return a new array without initializing its elements.

shape: [int or sequence of int] Lengths of the axes.
dtype: [numpy.dtype or anything numpy.dtype accepts, optional]
    Dtype of the elements; None is float64.
base: [object, optional] Object to keep alive as long as the array; only with ``gpudata``.
gpudata: [int or object with an address, optional] Memory to use instead of new memory.
strides: [sequence of int, optional]
    Bytes from one element to the next along each axis; None is contiguous in ``order``.
order: [{'C', 'F'}, optional] Order of the axes in memory: row-major or column-major.
device: [int or Device, optional] Device of new memory; None is the current device.
-> New array of the given shape and dtype.
See zeros: Return a new array of zeros.

>>> import PyGPU.gpuarray as gpuarray
>>> a = gpuarray.empty((2, 3), "int32")
>>> a.shape, a.dtype, a.nbytes
((2, 3), dtype('int32'), 24)
)doc",
      parameters);
  bind_transfers(c);
  return c;
}

}  // namespace PyGPU::python
