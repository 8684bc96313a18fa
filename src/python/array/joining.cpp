// Arrays joined along an axis.
#include "python/array/map.h"
#include "python/array/methods.h"
#include "python/launch/enqueue.h"
#include "python/launch/packing.h"
#include "python/launch/specializations.h"

namespace PyGPU::python {
namespace {

// The dtype to which NumPy promotes those of the arrays.
py::object common_dtype(const std::vector<const GPUArray*>& arrays) {
  const py::object& first = arrays[0]->dtype;
  bool same = true;
  py::tuple dtypes(arrays.size());
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    same = same && arrays[k]->dtype.equal(first);
    dtypes[k] = arrays[k]->dtype;
  }
  return same ? first : py::module_::import("numpy").attr("result_type")(*dtypes);
}

// Copy, cast as in C where the dtypes differ.
void put(const GPUArray& source, const GPUArray& part) {
  static const Operation copy = operation_named("copy");
  if (source.dtype.equal(part.dtype)) return set_from_device(part, source, nullptr);
  Map map(copy, 1, 1);
  map.operand[0].array = &source;
  map.operand[0].code = map.compute[0] = code_of(source.dtype);
  map.result[0] = &part;
  launch(map, default_stream());
}

constexpr std::size_t most_joined = 8, few_bytes = 1 << 20, word = 16;

// A few small arrays in one launch, by words. False: they are not so.
bool join(const std::vector<const GPUArray*>& arrays, const GPUArray& out, int axis) {
  static auto& kept = *new Specializations<SpecializedKernel>;
  const int device = out.core.device();
  if (arrays.size() > most_joined || out.layout().nbytes() > few_bytes ||
      !is_aligned(Layout(), out.core.address(), word))
    return false;
  unsigned loop[1 + most_joined];
  KernelArguments arguments;
  void* const to = out.core.address();
  const StreamRef stream = default_stream();
  StreamOrder order(stream);
  uses(order, out);
  arguments.add_struct(loop);
  arguments.add(to);
  std::size_t end = 0;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const GPUArray& array = *arrays[k];
    const Layout& layout = array.layout();
    std::size_t run = layout.itemsize();
    for (int i = axis; i < layout.ndim(); ++i) run *= std::size_t(layout.shape()[i]);
    if (run == 0 || run % word || !layout.c_contiguous() || !array.dtype.equal(out.dtype) ||
        !is_aligned(Layout(), array.core.address(), word) || array.core.device() != device)
      return false;
    array.core.require_alive();
    end += run / word;
    loop[1 + k] = unsigned(end);
    arguments.add(array.core.address());
    uses(order, array);
  }
  loop[0] = unsigned(out.layout().nbytes() / word);
  SpecializationKey key;
  key.add(unsigned(arrays.size()), 4);
  key.add(unsigned(device), 8);
  const auto make = [&] {
    return std::make_unique<SpecializedKernel>(held<Module>(hook(Hook::join_module)(arrays.size())),
                                               "join");
  };
  constexpr unsigned threads = 256;
  const Kernel& kernel = kept.at(key, make).kernel;
  order.run([&] {
    enqueue(kernel, dim3((loop[0] + threads - 1) / threads, 1, 1), dim3(threads, 1, 1), arguments,
            stream);
  });
  return true;
}

// _concatenate(arrays, axis, allocator)
PyObject* concatenate(PyObject*, PyObject* const* given, Py_ssize_t count) {
  return guarded([&] {
    require_count("_concatenate", count, 3);
    std::vector<const GPUArray*> arrays;
    // A tuple of our own: an allocator may change a list.
    const auto all = py::reinterpret_steal<py::object>(PySequence_Tuple(given[0]));
    if (!all) throw py::error_already_set();
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(all.ptr()); ++k) {
      const std::string name = "arrays[" + std::to_string(k) + "]";
      arrays.push_back(&require_array(name.c_str(), PyTuple_GET_ITEM(all.ptr(), k)));
    }
    if (arrays.empty()) throw py::value_error("arrays: expected at least one GPUArray, got none");
    Axes shape = arrays[0]->layout().shape();
    const int ndim = shape.size();
    if (ndim == 0) throw py::value_error("arrays[0] has no axis to join along; see stack()");
    if (!PyIndex_Check(given[1]))
      throw py::type_error("axis: expected an integer, got " +
                           py::repr(given[1]).cast<std::string>());
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(given[1]));
    if (!number) throw py::error_already_set();
    const Py_ssize_t asked = PyNumber_AsSsize_t(number.ptr(), nullptr);
    if (asked < -ndim || asked >= ndim)
      throw py::value_error("axis " + py::str(number).cast<std::string>() +
                            " is out of bounds for arrays of " + std::to_string(ndim) +
                            " dimensions");
    const int axis = int(asked < 0 ? asked + ndim : asked);
    shape[axis] = 0;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      Axes own = arrays[k]->layout().shape();
      const Index length = own.size() == ndim ? own[axis] : 0;
      if (own.size() == ndim) own[axis] = shape[axis];
      if (own != shape)
        raise_shape_error("arrays[" + std::to_string(k) + "] has shape " +
                          arrays[k]->layout().shape().text() + ", arrays[0] " +
                          arrays[0]->layout().shape().text() + ": expected the same but for axis " +
                          std::to_string(axis));
      shape[axis] += length;
    }
    const GPUArray& first = *arrays[0];
    const DeviceGuard here = first.core.address() ? use_device(first.core.device()) : DeviceGuard();
    const py::object dtype = common_dtype(arrays);
    const Layout whole(shape, itemsize_of(dtype));
    const auto allocator = py::reinterpret_borrow<py::object>(given[2]);
    GPUArray out = new_array(whole, dtype, allocator.is_none() ? first.allocator : allocator);
    bool joined = false;
    if (out.layout().size()) with_compiler([&] { joined = join(arrays, out, axis); });
    if (joined) return wrap(std::move(out)).release().ptr();
    Index start = 0;
    for (const GPUArray* const array : arrays) {
      Axes part = shape;
      part[axis] = array->layout().shape()[axis];
      const Layout layout(part, whole.strides(), whole.itemsize());
      if (layout.size())
        put(*array, {out.core.view(layout, start * whole.strides()[axis]), dtype, py::none()});
      start += part[axis];
    }
    return wrap(std::move(out)).release().ptr();
  });
}

}  // namespace

void bind_joining(py::module_& m) {
  static PyMethodDef methods[] = {{"_concatenate", as_method(&concatenate), METH_FASTCALL,
                                   PYGPU_SIGNATURE("_concatenate(arrays, axis, allocator)")},
                                  {nullptr, nullptr, 0, nullptr}};
  add_functions(m, methods);
}

}  // namespace PyGPU::python
