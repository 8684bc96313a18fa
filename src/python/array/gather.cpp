// Gathers and scatters as Python calls them, and what of them runs often: take, a[indices],
// a[mask] of few elements, concatenate.
#include "PyGPU/gather_plan.h"
#include "python/array/map.h"
#include "python/array/methods.h"
#include "python/array/report.h"
#include "python/launch/enqueue.h"
#include "python/launch/specializations.h"

namespace PyGPU::python {
namespace {

enum class Mode : unsigned char { raise, report, poll, clip, wrap };
constexpr const char* mode_names[] = {"raise", "report", "poll", "clip", "wrap"};
constexpr unsigned gather_threads = 256;

Mode mode_named(PyObject* name) {
  for (const Mode mode : {Mode::raise, Mode::clip, Mode::wrap})
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, mode_names[int(mode)]) == 0)
      return mode;
  throw py::value_error("mode=" + py::repr(name).cast<std::string>() +
                        ": expected one of 'raise', 'clip', 'wrap'");
}

const Kernel& kernel_for(const Gather& gather, const GatherPlan& plan, Mode mode, int device) {
  static auto& kept = *new Specializations<SpecializedKernel, std::string, std::hash<std::string>>;
  // Index arrays may be as many as axes: their key has no fixed length.
  std::string key{char(plan.word),    char(plan.ndim),
                  char(plan.index64), char(gather.mask.address != nullptr),
                  char(mode),         char(device)};
  for (std::size_t k = 0; k < gather.indices.size(); ++k) {
    key += char(gather.indices[k].type);
    key += char(plan.counted[k]);
  }
  const auto make = [&] {
    py::tuple types(gather.indices.size()), counted(gather.indices.size());
    for (std::size_t k = 0; k < gather.indices.size(); ++k) {
      types[k] = index_types[gather.indices[k].type];
      counted[k] = plan.counted[k];
    }
    const py::object module = hook(Hook::gather_module)(plan.word, plan.ndim, plan.index64,
                                                        gather.mask.address != nullptr, types,
                                                        counted, mode_names[int(mode)]);
    return std::make_unique<SpecializedKernel>(held<Module>(module), "gather");
  };
  return kept.at(key, make).kernel;
}

// `report`: where mode `report` reports, in memory that the host reads. True: and says that it is
// done, as one block can.
bool launch(const Gather& gather, Mode mode, int device, const StreamRef& stream,
            StreamOrder& order, Index* report = nullptr) {
  GatherPlan plan = plan_gather(gather);
  unsigned threads = gather_threads;
  if (mode == Mode::report && !launch_runs_kernel && plan.size <= 1024) {
    mode = Mode::poll;
    threads = unsigned(plan.size + 63) / 64 * 64;
  }
  const Kernel& kernel = kernel_for(gather, plan, mode, device);
  KernelArguments arguments;
  arguments.add_struct(plan.loop.data());
  arguments.add(gather.target.address);
  arguments.add(gather.source.address);
  if (gather.mask.address) arguments.add(gather.mask.address);
  for (std::size_t k = 0; k < plan.indices.size(); ++k) {
    arguments.add_struct(plan.indices[k].data());
    arguments.add(gather.indices[k].address);
  }
  if (report) arguments.add(report);
  const Index blocks = (plan.size + threads - 1) / threads;
  order.run([&] {
    enqueue(kernel, dim3(unsigned(blocks), 1, 1), dim3(threads, 1, 1), arguments, stream);
  });
  return mode == Mode::poll;
}

int index_type(const py::object& dtype) {
  const int code = find_code(dtype);
  for (int type = 0; code >= 0 && type < int(std::size(index_types)); ++type)
    if (std::strcmp(dtypes[code].name, index_types[type]) == 0) return type;
  return -1;
}

StridedPointer pointer_to(const Array& array) {
  return {static_cast<char*>(array.address()), array.layout().strides()};
}

StridedPointer pointer_of(const py::handle& pair) {
  const auto given = py::reinterpret_borrow<py::tuple>(pair);
  return {static_cast<char*>(address_of(given[0], "address")), axes_of(given[1], "strides")};
}

// _gather(shape, itemsize, target, source, indices, mask, mode, stream, arrays): each of target,
// source and mask is (address, strides) or None, each index array (array, strides, lengths, steps,
// scatters, offset); `arrays` are those whose memory is used.
PyObject* gather_items(PyObject*, PyObject* const* given, Py_ssize_t count) {
  return guarded([&] {
    require_count("_gather", count, 9);
    Gather gather;
    gather.shape = axes_of(given[0], "shape");
    gather.itemsize = PyLong_AsSize_t(given[1]);
    gather.target = pointer_of(given[2]);
    gather.source = pointer_of(given[3]);
    if (given[5] != Py_None) gather.mask = pointer_of(given[5]);
    const StreamRef stream = stream_of(given[7]);
    StreamOrder order(stream);
    for (const py::handle item : py::reinterpret_borrow<py::sequence>(given[4])) {
      const auto row = py::reinterpret_borrow<py::tuple>(item);
      const GPUArray& array = require_array("index", py::object(row[0]).ptr());
      array.core.require_alive();
      require_device(array.core, current_device());
      IndexArray index;
      index.address = array.core.address();
      index.type = index_type(array.dtype);
      index.strides = axes_of(py::object(row[1]), "strides");
      index.lengths = axes_of(py::object(row[2]), "lengths");
      index.steps = axes_of(py::object(row[3]), "steps");
      index.scatters = row[4].cast<bool>();
      index.offset = row[5].cast<Index>();
      gather.indices.push_back(index);
      uses(order, array);
    }
    if (Layout(gather.shape, gather.itemsize).nbytes() == 0) Py_RETURN_NONE;
    const auto arrays = py::reinterpret_borrow<py::sequence>(given[8]);
    for (const py::handle item : arrays) {
      const GPUArray& array = require_array("array", item.ptr());
      array.core.require_alive();
      require_device(array.core, current_device());
      uses(order, array);
    }
    launch(gather, mode_named(given[6]), current_device(), stream, order);
    Py_RETURN_NONE;
  });
}

[[noreturn]] void out_of_bounds(Index wrong, int axis, Index length) {
  throw py::index_error("index " + std::to_string(wrong) + " is out of bounds for axis " +
                        std::to_string(axis) + " with size " + std::to_string(length));
}

// The elements at indices along `axis`, or of the flat array (-1). False: a case for Python.
bool take(const GPUArray& a, const GPUArray& indices, int axis, Mode mode, const StreamRef& stream,
          GPUArray& out) {
  const int type = index_type(indices.dtype);
  const Axes &shape = a.layout().shape(), &own = indices.layout().shape();
  const int before = axis < 0 ? 0 : axis, after = axis < 0 ? shape.size() : axis + 1;
  if (type < 0 || axis >= shape.size() ||
      before + own.size() + shape.size() - after > Axes::capacity)
    return false;
  a.core.require_alive();
  indices.core.require_alive();
  const std::size_t part = dtypes[find_code(indices.dtype)].itemsize;
  if (!is_aligned(indices.layout(), indices.core.address(), part)) return false;
  Gather gather;
  IndexArray index;
  index.address = indices.core.address();
  index.type = type;
  gather.source.address = static_cast<char*>(a.core.address());
  const auto add = [&](Index length, Index stride, Index index_stride) {
    gather.shape.push_back(length);
    gather.source.strides.push_back(stride);
    index.strides.push_back(index_stride);
  };
  for (int i = 0; i < before; ++i) add(shape[i], a.layout().strides()[i], 0);
  for (int i = 0; i < own.size(); ++i) add(own[i], 0, indices.layout().strides()[i]);
  for (int i = after; i < shape.size(); ++i) add(shape[i], a.layout().strides()[i], 0);
  for (int i = before; i < after; ++i) {
    index.lengths.push_back(shape[i]);
    index.steps.push_back(a.layout().strides()[i]);
  }
  const Index length = index.count();
  gather.itemsize = a.layout().itemsize();
  const Layout layout(gather.shape, gather.itemsize);
  const bool is_nothing = length == 0 || layout.nbytes() == 0;
  if (is_nothing && indices.layout().size()) return false;  // all of them may be wrong
  const DeviceGuard here = a.core.address() ? use_device(a.core.device()) : DeviceGuard();
  out = new_array(layout, a.dtype, a.allocator);
  if (layout.nbytes() == 0) return true;
  const int device = out.core.device();
  require_device(a.core, device);
  require_device(indices.core, device);
  gather.target = pointer_to(out.core);
  gather.indices.push_back(index);
  StreamOrder order(stream);
  uses(order, out);
  uses(order, a);
  uses(order, indices);
  if (mode != Mode::raise) {
    launch(gather, mode, device, stream, order);
    return true;
  }
  const Report report;
  const bool polls = launch(gather, Mode::report, device, stream, order, report.word());
  if (const Index wrong = report.read(stream, polls)) out_of_bounds(wrong, before, length);
  return true;
}

// _take(a, indices, axis, mode, stream): a new array, or NotImplemented.
PyObject* take_items(PyObject*, PyObject* const* given, Py_ssize_t count) {
  return guarded([&] {
    require_count("_take", count, 5);
    const GPUArray* const indices = gpuarray_in(given[1]);
    const GPUArray& a = require_array("a", given[0]);
    const int axis = given[2] == Py_None ? -1 : py::handle(given[2]).cast<int>();
    GPUArray out({}, py::none(), py::none());
    if (!indices || !take(a, *indices, axis, mode_named(given[3]), stream_of(given[4]), out))
      Py_RETURN_NOTIMPLEMENTED;
    return wrap(std::move(out)).release().ptr();
  });
}

// _report_wrong(indices, count, offset, stream): an index beyond -count ... count - 1, or 0.
PyObject* report_wrong(PyObject*, PyObject* const* given, Py_ssize_t number) {
  return guarded([&] {
    require_count("_report_wrong", number, 4);
    static auto& kept = *new Specializations<SpecializedKernel>;
    const GPUArray& indices = require_array("indices", given[0]);
    indices.core.require_alive();
    require_device(indices.core, current_device());
    const Index size = indices.layout().size();
    const auto count = PyLong_AsLongLong(given[1]), offset = PyLong_AsLongLong(given[2]);
    if (PyErr_Occurred()) throw py::error_already_set();
    const StreamRef stream = stream_of(given[3]);
    SpecializationKey key;
    key.add(unsigned(index_type(indices.dtype)), 2);
    key.add(unsigned(indices.core.device()), 8);
    const Kernel& kernel =
        kept.at(key,
                [&] {
                  return std::make_unique<SpecializedKernel>(
                      held<Module>(hook(Hook::check_module)(indices.dtype)), "check");
                })
            .kernel;
    const Report report;
    KernelArguments arguments;
    arguments.add(indices.core.address());
    arguments.add(size);
    arguments.add(offset);
    arguments.add(count);
    arguments.add(report.word());
    const Index blocks = std::min<Index>((size + gather_threads - 1) / gather_threads, 1024);
    StreamOrder order(stream);
    uses(order, indices);
    order.run([&] {
      enqueue(kernel, dim3(unsigned(blocks), 1, 1), dim3(gather_threads, 1, 1), arguments, stream);
    });
    return PyLong_FromLongLong(report.read(stream, false));
  });
}

constexpr Index few_items = 1 << 14;

// The items where a mask of the array's shape is true, by one block: memory for all of them is
// taken before their number is known. False: a case for Python.
bool select(const GPUArray& a, const GPUArray& mask, GPUArray& out) {
  static auto& kept = *new Specializations<SpecializedKernel>;
  const Layout& layout = a.layout();
  const std::size_t itemsize = layout.itemsize();
  const bool is_word = itemsize && itemsize <= 16 && (itemsize & (itemsize - 1)) == 0;
  if (!is_word || layout.shape() != mask.layout().shape() || layout.size() == 0 ||
      layout.size() > few_items || !layout.c_contiguous() || !mask.layout().c_contiguous() ||
      reinterpret_cast<std::uintptr_t>(a.core.address()) % itemsize)
    return false;
  const int device = a.core.device();
  a.core.require_alive();
  mask.core.require_alive();
  const DeviceGuard here = use_device(device);
  constexpr unsigned threads = launch_runs_kernel ? 1 : 1024;
  SpecializationKey key;
  key.add(unsigned(itemsize), 5);
  key.add(unsigned(device), 8);
  const Kernel& kernel =
      kept.at(key,
              [&] {
                const py::object module = hook(Hook::select_module)(itemsize, threads);
                return std::make_unique<SpecializedKernel>(held<Module>(module), "select_items");
              })
          .kernel;
  GPUArray room = new_array(Layout({layout.size()}, itemsize), a.dtype, a.allocator);
  if (reinterpret_cast<std::uintptr_t>(room.core.address()) % itemsize) return false;
  const Report report;
  KernelArguments arguments;
  arguments.add(mask.core.address());
  arguments.add(a.core.address());
  arguments.add(room.core.address());
  arguments.add(layout.size());
  arguments.add(report.word());
  enqueue(kernel, dim3(1, 1, 1), dim3(threads, 1, 1), arguments, {});
  const Index number = report.read({}, true);
  room.core = room.core.view(Layout({number}, itemsize));
  out = std::move(room);
  return true;
}

}  // namespace

bool select_by_array(const GPUArray& array, PyObject* key, GPUArray& out) {
  const GPUArray* const chosen = gpuarray_in(key);
  if (!chosen) return false;
  if (array.core.address()) require_device(chosen->core, array.core.device());
  const char kind = py::reinterpret_borrow<py::dtype>(chosen->dtype).kind();
  if (kind == 'b') return select(array, *chosen, out);
  return array.layout().ndim() > 0 && chosen->layout().ndim() > 0 &&
         take(array, *chosen, 0, Mode::raise, default_stream(), out);
}

void bind_gather(py::module_& m) {
  static PyMethodDef methods[] = {
      {"_gather", as_method(&gather_items), METH_FASTCALL,
       PYGPU_SIGNATURE(
           "_gather(shape, itemsize, target, source, indices, mask, mode, stream, arrays)")},
      {"_take", as_method(&take_items), METH_FASTCALL,
       PYGPU_SIGNATURE("_take(a, indices, axis, mode, stream)")},
      {"_report_wrong", as_method(&report_wrong), METH_FASTCALL,
       PYGPU_SIGNATURE("_report_wrong(indices, count, offset, stream)")},
      {nullptr, nullptr, 0, nullptr}};
  add_functions(m, methods);
  def(m, "_pretend_index32", &pretend_index32,
      "For tests: what gathers count in 32 bits; 0: as is best.", {{"most"}});
}

}  // namespace PyGPU::python
