// Masks: a[mask] and a[mask] = value. Small masks use one block; large masks are split into chunks.
// A single value for all items is assigned by an elementwise kernel.
#include "python/operations/masks.h"

#include <algorithm>

#include "python/launch/launch.h"
#include "python/launch/specializations.h"
#include "python/operations/elements.h"
#include "python/operations/elementwise.h"
#include "python/operations/report.h"

namespace PyGPU::python {
namespace {

constexpr unsigned mask_threads = capabilities.launch_runs_kernel ? 1 : 1024;

// Return true for items of 1, 2, 4, 8 or 16 bytes and a mask of the array's shape, both in C order.
bool has_words(const GPUArray& a, const GPUArray& mask) {
  const Layout& layout = a.layout();
  const std::size_t itemsize = layout.itemsize();
  const bool is_word = itemsize && itemsize <= 16 && (itemsize & (itemsize - 1)) == 0;
  return is_word && layout.shape() == mask.layout().shape() && layout.size() != 0 &&
         layout.c_contiguous() && mask.layout().c_contiguous() &&
         is_aligned(Layout(), a.core.address(), itemsize);
}

bool is_for_block(const GPUArray& a, const GPUArray& mask) {
  return a.layout().size() <= max_items_for_one_block && has_words(a, mask);
}

// The two kernels of a mask module.
struct MaskKernels {
  explicit MaskKernels(const std::shared_ptr<Module>& module)
      : select(module, "select_items"), assign(module, "assign_items") {}
  bool alive() const { return select.module().alive(); }
  Kernel select, assign;
};

const MaskKernels& mask_kernels(std::size_t itemsize, int device) {
  static auto& cache = *new Specializations<MaskKernels>;
  SpecializationKey key;
  key.add<max_itemsize>(itemsize);
  key.add<max_device>(unsigned(device));
  return cache.at(key, [&] {
    const py::object module = hook(Hook::mask_module)(itemsize, mask_threads);
    return std::make_unique<MaskKernels>(held<Module>(module));
  });
}

// Run one block. Return the number that it reports.
Index run_block(const Kernel& kernel, Launch& launch, KernelArguments& arguments) {
  Report report(Report::Kind::always);
  arguments.add(report.word());
  launch.run(kernel, 1, mask_threads, arguments);
  return report.read(launch.stream());
}

// Kernels that split the mask into chunks. The first kernel counts the selected items of each chunk
// and finds where they begin in the result. The result is allocated once the total is known.
struct CompactionKernels {
  CompactionKernels(const std::shared_ptr<Module>& module, const py::tuple& sizes)
      : count(module, "count_true"),
        select(module, "select_true"),
        assign(module, "assign_true"),
        threads(sizes[1].cast<unsigned>()),
        chunk(sizes[2].cast<Index>()),
        chunks(sizes[3].cast<Index>()) {}
  bool alive() const { return count.module().alive(); }
  Kernel count, select, assign;
  unsigned threads;
  Index chunk, chunks;  // elements of a chunk; chunks of a block
};

constexpr Index max_items_for_one_round = 1 << 22;  // above, a warp works in several rounds

const CompactionKernels& compaction_kernels(std::size_t itemsize, Index size, int device) {
  static auto& cache = *new Specializations<CompactionKernels>;
  SpecializationKey key;
  key.add<max_itemsize>(itemsize);
  key.add<max_device>(unsigned(device));
  key.add<1>(size <= max_items_for_one_round);
  return cache.at(key, [&] {
    const py::tuple made = hook(Hook::compaction_module)(itemsize, size <= max_items_for_one_round);
    return std::make_unique<CompactionKernels>(held<Module>(made[0]), made);
  });
}

// A large mask, whose true elements are counted by the constructor, and the array that it selects
// from. Both are snapshots, because allocators and hooks may change the arrays.
class Compaction {
 public:
  Compaction(const GPUArray& whole, const GPUArray& mask)
      : whole_(whole),
        mask_(mask),
        kernels_(compaction_kernels(whole_.layout().itemsize(), whole_.layout().size(), device())),
        chunks_(divided_up(mask_.layout().size(), kernels_.chunk)),
        counts_(new_array(Layout({chunks_ + 1}, sizeof(Index)), py::none(), py::none())) {
    Report report(Report::Kind::always);
    Launch launch(stream_, device());
    launch.writes(counts_);
    KernelArguments arguments;
    add_mask(launch, arguments);
    arguments.add(report.checks(), report.word());
    run(launch, kernels_.count, arguments);
    number_ = report.read(stream_);
  }
  Index number() const { return number_; }
  // Copy the selected items to `packed`, one after another, or back.
  void select(const GPUArray& packed) const { copy(kernels_.select, packed); }
  void assign(const GPUArray& packed) const { copy(kernels_.assign, packed); }

 private:
  int device() const { return whole_.core.device(); }
  void add_mask(Launch& launch, KernelArguments& arguments) const {
    launch.reads(mask_);
    arguments.add(mask_.layout().size(), mask_.core.address(), counts_.core.address());
  }
  void run(Launch& launch, const Kernel& kernel, KernelArguments& arguments) const {
    launch.run(kernel, divided_up(chunks_, kernels_.chunks), kernels_.threads, arguments);
  }
  void copy(const Kernel& kernel, const GPUArray& packed) const {
    if (number_ == 0) return;
    Launch launch(stream_, device());
    for (const GPUArray* const array : {&counts_, &whole_, &packed}) launch.reads(*array);
    KernelArguments arguments;
    add_mask(launch, arguments);
    arguments.add(whole_.core.address(), packed.core.address());
    run(launch, kernel, arguments);
  }

  const GPUArray whole_, mask_;
  const CompactionKernels& kernels_;
  const StreamRef stream_ = default_stream();
  Index chunks_, number_ = 0;
  GPUArray counts_;
};

// On the host machine the general gather is faster.
bool is_for_chunks(const GPUArray& a, const GPUArray& mask) {
  return !capabilities.launch_runs_kernel && a.layout().size() > max_items_for_one_block &&
         has_words(a, mask);
}

bool select_by_chunks(const GPUArray& a, const GPUArray& mask, GPUArray& out) {
  if (!is_for_chunks(a, mask)) return false;
  const std::size_t itemsize = a.layout().itemsize();
  const DeviceGuard here = use_device(a.core.device());
  const Compaction chosen(a, mask);
  GPUArray items = new_array(Layout({chosen.number()}, itemsize), a.dtype, a.allocator);
  if (!is_aligned(Layout(), items.core.address(), itemsize)) return false;
  chosen.select(items);
  out = std::move(items);
  return true;
}

// Return true if no two elements share bytes. Views with strides from the user may share them.
bool has_elements_apart(const Layout& layout) {
  const Layout sorted = layout.canonical().layout;
  Index reach = Index(sorted.itemsize());
  for (int axis = sorted.ndim() - 1; axis >= 0; --axis) {
    if (sorted.strides()[axis] < reach) return false;
    reach += (sorted.shape()[axis] - 1) * sorted.strides()[axis];
  }
  return true;
}

}  // namespace

// For a small mask, memory for all items is allocated before the number of selected items is known.
bool select_by_mask(const GPUArray& a, const GPUArray& mask, GPUArray& out) {
  if (!is_for_block(a, mask)) return select_by_chunks(a, mask, out);
  const std::size_t itemsize = a.layout().itemsize();
  const int device = a.core.device();
  const DeviceGuard here = use_device(device);
  const Index size = a.layout().size();
  Launch launch(default_stream(), device);
  launch.reads(mask);
  launch.reads(a);
  KernelArguments arguments;
  arguments.add(mask.core.address(), a.core.address());
  GPUArray buffer = new_array(Layout({size}, itemsize), a.dtype, a.allocator);
  if (!is_aligned(Layout(), buffer.core.address(), itemsize)) return false;
  launch.writes(buffer);
  arguments.add(buffer.core.address(), size);
  const Index number = run_block(mask_kernels(itemsize, device).select, launch, arguments);
  buffer.core = buffer.core.view(Layout({number}, itemsize));
  out = std::move(buffer);
  return true;
}

bool assign_by_mask(const GPUArray& a, const GPUArray& mask, const GPUArray& values) {
  const std::size_t itemsize = a.layout().itemsize();
  const Index number = values.layout().size();
  const bool by_block = is_for_block(a, mask);
  if (values.layout().ndim() != 1 || number < 2 || !values.layout().c_contiguous() ||
      !(by_block || is_for_chunks(a, mask)) ||
      !is_aligned(Layout(), values.core.address(), itemsize) || a.core.overlaps(values.core) ||
      a.core.overlaps(mask.core))
    return false;
  const int device = a.core.device();
  const DeviceGuard here = use_device(device);
  if (!by_block) {
    const GPUArray packed = values;
    const Compaction chosen(a, mask);
    if (chosen.number() == number) chosen.assign(packed);
    return chosen.number() == number;
  }
  Launch launch(default_stream(), device);
  launch.reads(mask);
  launch.reads(values);
  launch.writes(a);
  KernelArguments arguments;
  arguments.add(mask.core.address(), values.core.address(), a.core.address(), a.layout().size(),
                number);
  return run_block(mask_kernels(itemsize, device).assign, launch, arguments) == number;
}

bool fill_by_mask(const GPUArray& a, const GPUArray& mask, const py::object& value) {
  // First, because the value's __float__ or __index__ may change the arrays.
  const np::array element = element_of(a.dtype, value);
  static const Operation where = operation_named("where");
  const std::size_t itemsize = a.layout().itemsize();
  const bool is_integer = itemsize && itemsize <= 8 && (itemsize & (itemsize - 1)) == 0;
  const int own = find_code(a.dtype);
  // Copy as integers, so that all bits are preserved. Complex numbers of 16 bytes preserve them as
  // well.
  const std::size_t part = is_integer ? itemsize : 8;
  const Axes &shape = a.layout().shape(), &masked = mask.layout().shape();
  if ((!is_integer && own < 0) || a.layout().size() == 0 || masked.size() > shape.size() ||
      !std::equal(masked.begin(), masked.end(), shape.begin()) ||
      !is_aligned(a.layout(), a.core.address(), part) || !has_elements_apart(a.layout()))
    return false;
  Axes whole = masked, strides = mask.layout().strides();
  while (whole.size() < shape.size()) {
    whole.push_back(1);
    strides.push_back(0);
  }
  const GPUArray chosen{mask.core.view(Layout(whole, strides, 1)), mask.dtype, py::none(),
                        mask.base, mask.gpudata};
  const GPUArray target = is_integer ? as_units(a, itemsize) : a;
  Map map(where, 3, 1);
  map.operand[0].array = &chosen;
  map.operand[0].code = map.compute[0] = code_of(mask.dtype);
  map.operand[2].array = map.result[0] = &target;
  map.operand[2].code = map.compute[1] = map.compute[2] = code_of(target.dtype);
  if (is_integer) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, element.data(), itemsize);  // little-endian
    map.operand[1].number = py::reinterpret_steal<py::object>(PyLong_FromUnsignedLongLong(bits));
  } else {
    map.operand[1].number = element.attr("__getitem__")(py::tuple());
  }
  return with_compiler([&] { launch(map, default_stream()); });
}

}  // namespace PyGPU::python
