// Concatenation and stacking of arrays.
#include "python/binders.h"
#include "python/binding/errors.h"
#include "python/binding/fast_functions.h"
#include "python/launch/launch.h"
#include "python/launch/specializations.h"
#include "python/operations/copies.h"
#include "python/operations/elementwise.h"

namespace PyGPU::python {
namespace {

// Return the dtype to which NumPy promotes the dtypes of the arrays.
py::object common_dtype(const std::vector<const GPUArray*>& arrays) {
  const py::object& first = arrays[0]->dtype;
  bool same = true;
  py::tuple dtypes(arrays.size());
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    same = same && arrays[k]->dtype.equal(first);
    dtypes[k] = arrays[k]->dtype;
  }
  return same ? first : module_::import("numpy").attr("result_type")(*dtypes);
}

// Copy `source` to `part`, cast as in C if the dtypes differ.
void put(const GPUArray& source, const GPUArray& part) {
  static const Operation copy = operation_named("copy");
  if (source.dtype.equal(part.dtype)) return set_from_device(part, source, nullptr);
  const int code = code_of(source.dtype);
  launch(Map(copy, {&source, {}, code}, code, part), default_stream());
}

constexpr std::size_t max_joined = 8, max_words = 0xffffff00;

// Return the size in bytes up to which a kernel that moves words of this size is faster than the
// runtime's copies.
std::size_t max_kernel_bytes(std::size_t word) {
  constexpr std::size_t unit = 1 << 20, host_words = 512;
  if (capabilities.launch_runs_kernel) return word * host_words;
  return word < 8 ? unit * word * word : word * max_words;
}

// Return the number of rows that a thread writes in vectors, if each array contributes one word to
// a row. 1 if the arrays are not aligned for vectors.
std::size_t rows_a_thread(std::size_t word, std::size_t count, std::uintptr_t from,
                          const void* to) {
  const std::size_t most = 16 / word;
  const bool in_one_store = (count & (count - 1)) == 0 && most / count > 1;
  const std::size_t rows = in_one_store ? most / count : most;
  return from % (word * rows) == 0 && number_of(to) % 16 == 0 ? rows : 1;
}

// Join a few arrays in one launch, in the largest words that fit all of them. Return false if the
// arrays do not allow it, or if the runtime's copies are faster.
bool join(const std::vector<const GPUArray*>& arrays, const GPUArray& out, int axis) {
  static auto& cache = *new Specializations<SpecializedKernel>;
  const int device = out.core.device();
  if (arrays.size() > max_joined) return false;
  std::size_t runs[max_joined] = {};
  std::uintptr_t from = 0, bits = 16 | number_of(out.core.address());
  bool interleaved = !capabilities.launch_runs_kernel;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const GPUArray& array = *arrays[k];
    const Layout& layout = array.layout();
    std::size_t& run = runs[k] = layout.itemsize();
    for (int i = axis; i < layout.ndim(); ++i) run *= std::size_t(layout.shape()[i]);
    if (run == 0 || !layout.c_contiguous() || !array.dtype.equal(out.dtype) ||
        array.core.device() != device)
      return false;
    from |= number_of(array.core.address());
    bits |= run | from;
    interleaved = interleaved && run == runs[0];
  }
  const std::size_t word = bits & (~bits + 1);  // lowest set bit
  const std::size_t nbytes = out.layout().nbytes();
  interleaved = interleaved && word == runs[0];
  if (!interleaved && nbytes > max_kernel_bytes(word)) return false;
  const std::size_t in_thread =
      interleaved ? rows_a_thread(word, arrays.size(), from, out.core.address()) : 0;
  unsigned loop[1 + max_joined];
  Index rows = Index(nbytes / word / arrays.size());
  KernelArguments arguments;
  void* const to = out.core.address();
  Launch launch(default_stream(), device);
  launch.writes(out);
  arguments.add_address_of(interleaved ? static_cast<void*>(&rows) : loop);
  arguments.add(to);
  std::size_t end = 0;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    end += runs[k] / word;
    loop[1 + k] = unsigned(end);
    arguments.add(arrays[k]->core.address());
    launch.reads(*arrays[k]);
  }
  loop[0] = unsigned(nbytes / word);
  SpecializationKey key;
  key.add<max_joined>(arrays.size());
  key.add<max_itemsize>(word);
  key.add<max_itemsize>(in_thread);
  key.add<max_device>(unsigned(device));
  const auto make = [&] {
    return std::make_unique<SpecializedKernel>(
        held<Module>(hook(Hook::join_module)(arrays.size(), word, in_thread)), "join");
  };
  constexpr unsigned threads = 256;
  const Kernel& kernel = cache.at(key, make).kernel;
  const Index all = interleaved ? divided_up(rows, Index(in_thread)) : loop[0];
  launch.run(kernel, divided_up(all, threads), threads, arguments);
  return true;
}

// Return the arrays of a sequence. `all` keeps them alive in a tuple of our own, because an
// allocator may run Python code that changes a list.
std::vector<const GPUArray*> arrays_in(PyObject* given, py::object& all) {
  all = py::reinterpret_steal<py::object>(PySequence_Tuple(given));
  if (!all) throw py::error_already_set();
  std::vector<const GPUArray*> arrays;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(all.ptr()); ++k) {
    const std::string name = "arrays[" + std::to_string(k) + "]";
    arrays.push_back(&require_array(name.c_str(), PyTuple_GET_ITEM(all.ptr(), k)));
  }
  if (arrays.empty()) throw py::value_error("arrays: expected at least one GPUArray, got none");
  return arrays;
}

[[noreturn]] void raise_shape_mismatch(const std::vector<const GPUArray*>& arrays, std::size_t k,
                                       const std::string& expected) {
  raise_shape_error("arrays[" + std::to_string(k) + "] has shape " +
                    arrays[k]->layout().shape().text() + ", arrays[0] " +
                    arrays[0]->layout().shape().text() + ": expected the same shape" + expected);
}

// Join arrays of matching shapes into a new array of shape `shape`.
py::object joined(const std::vector<const GPUArray*>& arrays, int axis, const Axes& shape,
                  const py::object& allocator) {
  const GPUArray& first = *arrays[0];
  for (const GPUArray* const array : arrays) require_device(array->core, first.core.device());
  const DeviceGuard here = use_device_of(first.core);
  const py::object dtype = common_dtype(arrays);
  const Layout whole(shape, itemsize_of(dtype));
  GPUArray out = new_array(whole, dtype, allocator.is_none() ? first.allocator : allocator);
  bool is_done = false;
  if (out.layout().size()) with_compiler([&] { is_done = join(arrays, out, axis); });
  if (is_done) return wrap(std::move(out));
  Index start = 0;
  for (const GPUArray* const array : arrays) {
    Axes part = shape;
    part[axis] = array->layout().shape()[axis];
    const Layout layout(part, whole.strides(), whole.itemsize());
    if (layout.size())
      put(*array, {out.core.view(layout, start * whole.strides()[axis]), dtype, py::none()});
    start += part[axis];
  }
  return wrap(std::move(out));
}

// _concatenate(arrays, axis, allocator): join arrays along an existing axis.
py::object concatenate(PyObject* const* given) {
  py::object all;
  const std::vector<const GPUArray*> arrays = arrays_in(given[0], all);
  Axes shape = arrays[0]->layout().shape();
  const int ndim = shape.size();
  if (ndim == 0)
    throw py::value_error(
        "arrays[0] has no axis to join along; use stack() for zero-dimensional arrays");
  const int axis = axis_index(given[1], ndim);
  shape[axis] = 0;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    Axes own = arrays[k]->layout().shape();
    const Index length = own.size() == ndim ? own[axis] : 0;
    if (own.size() == ndim) own[axis] = shape[axis];
    if (own != shape) raise_shape_mismatch(arrays, k, " except along axis " + std::to_string(axis));
    shape[axis] += length;
  }
  return joined(arrays, axis, shape, py::reinterpret_borrow<py::object>(given[2]));
}

// _stack(arrays, axis, allocator): join arrays along a new axis.
py::object stack(PyObject* const* given) {
  py::object all;
  const std::vector<const GPUArray*> arrays = arrays_in(given[0], all);
  const Axes& own = arrays[0]->layout().shape();
  const int axis = axis_index(given[1], own.size() + 1);
  const auto with_axis = [axis](const Axes& axes, Index value) {
    Axes more;
    for (int i = 0; i <= axes.size(); ++i) {
      if (i == axis) more.push_back(value);
      if (i < axes.size()) more.push_back(axes[i]);
    }
    return more;
  };
  std::vector<GPUArray> views;
  std::vector<const GPUArray*> parts;
  views.reserve(arrays.size());  // views must not be reallocated
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const GPUArray& array = *arrays[k];
    const Layout& layout = array.layout();
    if (layout.shape() != own) raise_shape_mismatch(arrays, k, "");
    views.push_back(array);
    views.back().core = array.core.view(
        Layout(with_axis(layout.shape(), 1), with_axis(layout.strides(), 0), layout.itemsize()));
    parts.push_back(&views.back());
  }
  const Axes shape = with_axis(own, Index(arrays.size()));
  return joined(parts, axis, shape, py::reinterpret_borrow<py::object>(given[2]));
}

}  // namespace

void bind_joining(module_& m) {
  static PyMethodDef methods[] = {PYGPU_FAST(_concatenate, concatenate, arrays, axis, allocator),
                                  PYGPU_FAST(_stack, stack, arrays, axis, allocator),
                                  {nullptr, nullptr, 0, nullptr}};
  add_functions(m, methods);
}

}  // namespace PyGPU::python
