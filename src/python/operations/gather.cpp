// Gathers and scatters: the functions that Python calls, and the frequent cases take, put,
// a[indices] and a[indices] = value.
#include "python/operations/gather.h"

#include <algorithm>

#include "PyGPU/arrays/gather_plan.h"
#include "PyGPU/arrays/loop.h"
#include "python/binders.h"
#include "python/binding/fast_functions.h"
#include "python/launch/launch.h"
#include "python/launch/specializations.h"
#include "python/operations/elements.h"
#include "python/operations/masks.h"
#include "python/operations/operators.h"
#include "python/operations/report.h"

namespace PyGPU::python {
namespace {

// Treatment of wrong indices: see MODES in PyGPU/_kernels/text/gather.py.
enum class Mode : unsigned char { raise, report, poll, poll_block, checked, clip, wrap };
constexpr const char* mode_names[] = {"raise",   "report", "poll", "poll block",
                                      "checked", "clip",   "wrap"};
constexpr Index max_in_block = 1024;  // words, one per thread of a block

Mode mode_named(PyObject* name) {
  for (const Mode mode : {Mode::raise, Mode::clip, Mode::wrap})
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, mode_names[int(mode)]) == 0)
      return mode;
  throw py::value_error("mode=" + repr_of(name) + ": expected one of 'raise', 'clip', 'wrap'");
}

const Kernel& kernel_for(const Gather& gather, const GatherPlan& plan, Mode mode, int words,
                         int device) {
  static auto& cache = *new Specializations<SpecializedKernel, std::string, std::hash<std::string>>;
  // The key has no fixed length, because there may be as many index arrays as axes.
  std::string key{
      char(plan.word), char(plan.ndim), char(plan.index64), char(gather.mask.address != nullptr),
      char(mode),      char(words > 1), char(device)};
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
    const unsigned threads = mode == Mode::poll_block ? max_in_block : capabilities.gather.threads;
    const py::object module = hook(Hook::gather_module)(
        plan.word, plan.ndim, plan.index64, gather.mask.address != nullptr, types, counted,
        mode_names[int(mode)], threads, words);
    return std::make_unique<SpecializedKernel>(held<Module>(module), "gather");
  };
  return cache.at(key, make).kernel;
}

// Return the fastest of the modes that check the indices.
Mode checking_mode(const GatherPlan& plan, const StreamRef& stream) {
  if (capabilities.launch_runs_kernel) return Mode::report;
  if (plan.size <= max_in_block) return Mode::poll_block;
  return stream.handle ? Mode::report : Mode::poll;
}
Report::Kind report_of(Mode mode) {
  return mode == Mode::report ? Report::Kind::errors_only : Report::Kind::always;
}

void run(Launch& launch, const Gather& gather, GatherPlan& plan, Mode mode,
         const Report* report = nullptr) {
  const bool by_block = mode == Mode::poll_block;
  const int words =
      by_block || plan.size < capabilities.gather.many ? 1 : capabilities.gather.words;
  const unsigned threads =
      by_block ? unsigned(plan.size + 63) / 64 * 64 : capabilities.gather.threads;
  const Kernel& kernel = kernel_for(gather, plan, mode, words, launch.device());
  KernelArguments arguments;
  arguments.add_address_of(plan.loop.data());
  arguments.add(gather.target.address, gather.source.address);
  if (gather.mask.address) arguments.add(gather.mask.address);
  for (std::size_t k = 0; k < plan.indices.size(); ++k) {
    arguments.add_address_of(plan.indices[k].data());
    arguments.add(gather.indices[k].address);
  }
  if (mode == Mode::poll || mode == Mode::checked) arguments.add(report->checks());
  if (mode == Mode::report || mode == Mode::poll || by_block) arguments.add(report->word());
  const Index blocks = divided_up(plan.size, Index(threads) * words);
  launch.run(kernel, blocks, threads, arguments);
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

// _gather(shape, itemsize, target, source, indices, mask, mode, stream, arrays). Each of target,
// source and mask is (address, strides); mask may be None. Each index array is (array, strides,
// lengths, steps, scatters, offset). `arrays` own the memory of target, source and mask.
py::object gather_items(PyObject* const* given) {
  Gather gather;
  gather.shape = axes_of(given[0], "shape");
  gather.itemsize = PyLong_AsSize_t(given[1]);
  gather.target = pointer_of(given[2]);
  gather.source = pointer_of(given[3]);
  if (given[5] != Py_None) gather.mask = pointer_of(given[5]);
  Launch launch(stream_of(given[7]), current_device());
  for (const py::handle& item : py::reinterpret_borrow<py::sequence>(given[4])) {
    const auto row = py::reinterpret_borrow<py::tuple>(item);
    const GPUArray& array = require_array("index", py::object(row[0]).ptr());
    launch.reads(array);
    IndexArray index;
    index.address = array.core.address();
    index.type = index_type(array.dtype);
    index.strides = axes_of(py::object(row[1]), "strides");
    index.lengths = axes_of(py::object(row[2]), "lengths");
    index.steps = axes_of(py::object(row[3]), "steps");
    index.scatters = row[4].cast<bool>();
    index.offset = row[5].cast<Index>();
    gather.indices.push_back(index);
  }
  if (Layout(gather.shape, gather.itemsize).nbytes() == 0) return py::none();
  const auto arrays = py::reinterpret_borrow<py::sequence>(given[8]);
  for (const py::handle& item : arrays) launch.reads(require_array("array", item.ptr()));
  GatherPlan plan = plan_gather(gather);
  run(launch, gather, plan, mode_named(given[6]));
  return py::none();
}

[[noreturn]] void out_of_bounds(Index wrong, int axis, Index length) {
  throw py::index_error("index " + std::to_string(wrong) + " is out of bounds for axis " +
                        std::to_string(axis) + " with size " + std::to_string(length));
}

// Run a kernel that searches a contiguous index array for an index which, with `offset` added,
// is outside of -count ... count - 1.
void run_check(const GPUArray& indices, int type, Index offset, Index count,
               const StreamRef& stream, bool polled, const Report& report) {
  static auto& cache = *new Specializations<SpecializedKernel>;
  SpecializationKey key;
  key.add<std::size(index_types)>(unsigned(type));
  key.add<1>(polled);
  key.add<max_device>(unsigned(indices.core.device()));
  const auto make = [&] {
    const py::object module = hook(Hook::check_module)(
        index_types[type], capabilities.gather.threads, capabilities.gather.checked, polled);
    return std::make_unique<SpecializedKernel>(held<Module>(module), "check");
  };
  Launch launch(stream, current_device());
  launch.reads(indices);
  const Index size = indices.layout().size();
  KernelArguments arguments;
  arguments.add(indices.core.address(), size, offset, count);
  if (polled) arguments.add(report.checks());
  arguments.add(report.word());
  constexpr Index tile = Index(capabilities.gather.threads) * capabilities.gather.checked;
  launch.run(cache.at(key, make).kernel, divided_up(size, tile), capabilities.gather.threads,
             arguments);
}

// Describe the loop over the items that `indices` select along `axis`, or in the flat array if
// `axis` is -1; `positions` are the items' addresses. Return false for a case that Python handles.
bool find_positions(const GPUArray& a, const GPUArray& indices, int axis, Gather& gather,
                    StridedPointer& positions) {
  const int type = index_type(indices.dtype);
  const Axes &shape = a.layout().shape(), &own = indices.layout().shape();
  const int before = axis < 0 ? 0 : axis, after = axis < 0 ? shape.size() : axis + 1;
  if (type < 0 || axis >= shape.size() ||
      before + own.size() + shape.size() - after > Axes::capacity)
    return false;
  const std::size_t part = dtypes[find_code(indices.dtype)].itemsize;
  if (!is_aligned(indices.layout(), indices.core.address(), part)) return false;
  IndexArray index;
  index.address = indices.core.address();
  index.type = type;
  positions.address = static_cast<char*>(a.core.address());
  const auto add = [&](Index length, Index stride, Index index_stride) {
    gather.shape.push_back(length);
    positions.strides.push_back(stride);
    index.strides.push_back(index_stride);
  };
  for (int i = 0; i < before; ++i) add(shape[i], a.layout().strides()[i], 0);
  for (int i = 0; i < own.size(); ++i) add(own[i], 0, indices.layout().strides()[i]);
  for (int i = after; i < shape.size(); ++i) add(shape[i], a.layout().strides()[i], 0);
  for (int i = before; i < after; ++i) {
    index.lengths.push_back(shape[i]);
    index.steps.push_back(a.layout().strides()[i]);
  }
  gather.itemsize = a.layout().itemsize();
  gather.indices.push_back(index);
  return true;
}

// Return true if a separate check of the indices is faster. If the blocks of a launch do not all
// run at once, the launch reads its last index late; a check of not too many indices reads nothing
// else and reports sooner.
bool is_checked_first(const GatherPlan& plan, const GPUArray& indices) {
  constexpr Index at_once = 1 << 18, most = 1 << 21;  // threads; indices
  const Index threads =
      plan.size < capabilities.gather.many ? plan.size : plan.size / capabilities.gather.words;
  return threads >= at_once && indices.layout().size() <= most && indices.layout().contiguous();
}

// Gather the items that `indices` select. With Mode::raise, a wrong index is an IndexError.
void run_checked(Launch& launch, const Gather& gather, GatherPlan& plan, const GPUArray& indices,
                 int axis, Mode mode) {
  if (mode != Mode::raise) return run(launch, gather, plan, mode);
  const StreamRef& stream = launch.stream();
  const IndexArray& index = gather.indices[0];
  const Mode checking = checking_mode(plan, stream);
  const bool polled = checking == Mode::poll;
  // A scatter writes only after all indices were checked. A launch of one block checks them itself,
  // before it writes.
  const bool is_checked =
      index.scatters ? checking != Mode::poll_block : polled && is_checked_first(plan, indices);
  Report report(report_of(checking));
  if (is_checked) run_check(indices, index.type, 0, index.count(), stream, polled, report);
  if (polled || !is_checked)
    run(launch, gather, plan, is_checked ? Mode::checked : checking, &report);
  if (const Index wrong = report.read(stream))
    out_of_bounds(wrong, std::max(axis, 0), index.count());
  if (is_checked && !polled) run(launch, gather, plan, Mode::raise);
}

// Gather the elements at `indices` into a new array `out`. Return false for a case that Python
// handles.
bool take(const GPUArray& a, const GPUArray& given, int axis, Mode mode, const StreamRef& stream,
          GPUArray& out) {
  const GPUArray indices = given;  // a snapshot: the allocator may change the array
  Gather gather;
  if (!find_positions(a, indices, axis, gather, gather.source)) return false;
  const Index length = gather.indices[0].count();
  const Layout layout(gather.shape, gather.itemsize);
  const bool is_nothing = length == 0 || layout.nbytes() == 0;
  if (is_nothing && indices.layout().size()) return false;  // every index may be wrong
  const DeviceGuard here = use_device_of(a.core);
  Launch launch(stream, current_device());
  launch.reads(a);
  launch.reads(indices);
  out = new_array(layout, a.dtype, a.allocator);
  if (layout.nbytes() == 0) return true;
  launch.writes(out);
  gather.target = pointer_to(out.core);
  GatherPlan plan = plan_gather(gather);
  run_checked(launch, gather, plan, indices, axis, mode);
  return true;
}

// _take(a, indices, axis, mode, stream): return a new array, or NotImplemented for a case that
// Python handles.
py::object take_items(PyObject* const* given) {
  const GPUArray* const indices = gpuarray_in(given[1]);
  const GPUArray& a = require_array("a", given[0]);
  const bool is_flat = given[2] == Py_None;
  const Index axis = !is_flat && PyLong_CheckExact(given[2]) ? PyLong_AsSsize_t(given[2]) : -1;
  if (axis == -1 && PyErr_Occurred()) PyErr_Clear();  // too large for an axis
  GPUArray out({}, py::none(), py::none());
  const Mode mode = mode_named(given[3]);
  if (!indices || (!is_flat && (axis < 0 || axis >= a.layout().ndim())) ||
      !take(a, *indices, int(axis), mode, stream_of(given[4]), out))
    return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  return wrap(std::move(out));
}

// Return a device array of one element.
GPUArray single_element(const py::object& dtype, const py::object& number,
                        const StreamRef& stream) {
  GPUArray one = scratch_array(Layout(Axes(), itemsize_of(dtype)), dtype, stream);
  fill(one, element_of(dtype, number).attr("__getitem__")(py::tuple()), stream);
  return one;
}

// Scatter `values` of the dtype of `a`, or `number` if `values` is null, to the positions that
// `indices` select. If an index is wrong, nothing is written. Return false for a case that Python
// handles.
bool put_at(const GPUArray& a, const GPUArray& given, int axis, const GPUArray* values,
            const py::object& number, Mode mode, const StreamRef& stream) {
  Gather gather;
  const GPUArray indices = given;  // a snapshot, as in take()
  if (!find_positions(a, indices, axis, gather, gather.target)) return false;
  IndexArray& index = gather.indices[0];
  if (a.has_hidden_fields || index.count() == 0 ||
      Layout(gather.shape, gather.itemsize).nbytes() == 0 || !indices.layout().contiguous() ||
      a.core.overlaps(indices.core) ||
      (values ? !is_broadcastable_to(values->layout().shape(), gather.shape) ||
                    a.core.overlaps(values->core)
              : find_code(a.dtype) < 0))
    return false;
  const int device = a.core.device();
  const DeviceGuard here = use_device(device);
  Launch launch(stream, device);
  launch.writes(a);
  launch.reads(indices);
  if (values) launch.reads(*values);
  if (mode == Mode::raise) Report::require_waiting();  // before anything is enqueued
  const GPUArray source = values ? *values : single_element(a.dtype, number, stream);
  index.scatters = true;
  gather.source = {static_cast<char*>(source.core.address()),
                   broadcast_to(source.layout(), gather.shape).strides()};
  if (!values) launch.reads(source);
  GatherPlan plan = plan_gather(gather);
  run_checked(launch, gather, plan, indices, axis, mode);
  return true;
}

// _put(a, indices, values, mode, stream) scatters to the flat array. `values` is an array or one
// element. Return False for a case that Python handles.
py::object put_items(PyObject* const* given) {
  const GPUArray& a = require_array("a", given[0]);
  const GPUArray *const indices = gpuarray_in(given[1]), *const values = gpuarray_in(given[2]);
  const Mode mode = mode_named(given[3]);
  // NumPy repeats values of another shape, which is not broadcasting: a case for Python.
  const bool fits =
      indices && (!values || (values->dtype.equal(a.dtype) &&
                              (values->layout().shape() == indices->layout().shape() ||
                               values->layout().shape() == Axes{1})));
  const auto number = py::reinterpret_borrow<py::object>(given[2]);
  return py::bool_(fits && put_at(a, *indices, -1, values, number, mode, stream_of(given[4])));
}

// _find_invalid_index(indices, count, offset, stream): return an index outside of -count ... count
// - 1, or 0.
py::object find_invalid_index(PyObject* const* given) {
  const GPUArray& indices = require_array("indices", given[0]);
  const auto count = PyLong_AsLongLong(given[1]), offset = PyLong_AsLongLong(given[2]);
  if (PyErr_Occurred()) throw py::error_already_set();
  const StreamRef stream = stream_of(given[3]);
  const Mode checking =
      capabilities.launch_runs_kernel || stream.handle ? Mode::report : Mode::poll;
  Report report(report_of(checking));
  run_check(indices, index_type(indices.dtype), offset, count, stream, checking == Mode::poll,
            report);
  return to_python(report.read(stream));
}

bool is_mask(const GPUArray& array) {
  return py::reinterpret_borrow<np::dtype>(array.dtype).kind() == 'b';
}

// Return the key if it is one array that selects elements or rows on the device of `array`. Null
// for other keys.
const GPUArray* selecting_array(const GPUArray& array, PyObject* key) {
  const GPUArray* const chosen = gpuarray_in(key);
  if (!chosen || array.layout().ndim() == 0 || chosen->layout().ndim() == 0) return nullptr;
  if (compares_as_pycuda && !is_mask(*chosen)) return nullptr;  // Python raises the error
  if (array.core.address()) require_device(chosen->core, array.core.device());
  return chosen;
}

// _select_numbers(a, mask): return a[mask], or None for a case that Python handles.
py::object select_numbers(PyObject* const* given) {
  GPUArray out({}, py::none(), py::none());
  if (!select_by_mask(require_array("a", given[0]), require_array("mask", given[1]), out))
    return py::none();
  return wrap(std::move(out));
}

}  // namespace

bool select_by_array(const GPUArray& array, PyObject* key, GPUArray& out) {
  const GPUArray* const chosen = selecting_array(array, key);
  if (!chosen) return false;
  if (is_mask(*chosen)) return select_by_mask(array, *chosen, out);
  return take(array, *chosen, 0, Mode::raise, default_stream(), out);
}

bool assign_by_array(const GPUArray& array, PyObject* key, const py::object& value) {
  const GPUArray* const chosen = selecting_array(array, key);
  if (!chosen || value.is_none() || py::isinstance<py::list>(value)) return false;
  const GPUArray* const values = gpuarray_in(value.ptr());
  if (values
          ? !values->dtype.equal(array.dtype)
          : py::isinstance<np::array>(value) && py::reinterpret_borrow<np::array>(value).ndim() > 0)
    return false;
  if (is_mask(*chosen))
    return values ? assign_by_mask(array, *chosen, *values) : fill_by_mask(array, *chosen, value);
  return put_at(array, *chosen, 0, values, value, Mode::raise, default_stream());
}

void bind_gather(module_& m) {
  static PyMethodDef methods[] = {
      PYGPU_FAST(_gather, gather_items, shape, itemsize, target, source, indices, mask, mode,
                 stream, arrays),
      PYGPU_FAST(_take, take_items, a, indices, axis, mode, stream),
      PYGPU_FAST(_put, put_items, a, indices, values, mode, stream),
      PYGPU_FAST(_select_numbers, select_numbers, a, mask),
      PYGPU_FAST(_find_invalid_index, find_invalid_index, indices, count, offset, stream),
      {nullptr, nullptr, 0, nullptr}};
  add_functions(m, methods);
  def(m, "_override_index32", &override_index32,
      "For tests: set the largest count for which gathers use 32-bit indices; 0: the default.",
      {{"most"}});
}

}  // namespace PyGPU::python
