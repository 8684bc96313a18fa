// Kernels and launches of reductions. See fold.h.
#include "python/operations/fold.h"

#include <algorithm>
#include <atomic>

#include "python/launch/launch.h"
#include "python/launch/specializations.h"
#include "python/operations/elementwise.h"
#include "python/operations/shared_parts.h"

namespace PyGPU::python {
namespace {

// Kernels of one key on a device, and the memory for their blocks' parts, with a counter for each
// column of blocks.
struct FoldKernels {
  FoldKernels(const std::shared_ptr<Module>& module, std::size_t part_bytes_, Index counters_)
      : first(module, "first"),
        last(module, "last"),
        part_bytes(part_bytes_),
        registers(first.attribute(number_of_registers)),
        counters(capabilities.launch_runs_kernel ? 0 : counters_) {}
  bool alive() const { return first.module().alive(); }

  static constexpr int number_of_registers = 4;
  Kernel first, last;
  std::size_t part_bytes;
  int registers;  // per thread
  Index counters;
  SharedParts shared;
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
};
constexpr Index max_columns = 2048;  // columns of blocks with a counter
constexpr Index max_parts = 16;      // parts per thread: more take longer than a second launch

FoldKernels& kernels_for(const FoldKey& fold_key, int device) {
  static auto& cache = *new Specializations<FoldKernels>;
  SpecializationKey key;
  const int arrays = fold_key.inputs + fold_key.tables;
  key.add<std::size(fold_names)>(unsigned(fold_key.fold));
  key.add<max_inputs>(unsigned(fold_key.inputs));
  key.add<max_inputs>(unsigned(fold_key.tables));
  for (int i = 0; i < arrays; ++i) key.add<dtype_count>(unsigned(fold_key.codes[i]));
  key.add<dtype_count>(unsigned(fold_key.compute));
  key.add<max_vector_width>(unsigned(fold_key.vector_width));
  key.add<LoopAxes<1>::most>(unsigned(fold_key.output_axes));
  key.add<LoopAxes<1>::most>(unsigned(fold_key.reduced_axes));
  key.add<1>(fold_key.by_output);
  key.add<INT_MAX>(unsigned(fold_key.outputs));
  key.add<1>(fold_key.index64);
  key.add<max_device>(unsigned(device));
  return cache.at(key, [&] {
    py::tuple inputs(fold_key.inputs), tables(fold_key.tables);
    for (int i = 0; i < arrays; ++i)
      (i < fold_key.inputs ? inputs : tables)[i < fold_key.inputs ? i : i - fold_key.inputs] =
          dtype_object(fold_key.codes[i]);
    const py::tuple made = hook(Hook::reduction_module)(
        fold_names[int(fold_key.fold)], inputs, tables, dtype_object(fold_key.compute),
        fold_key.vector_width, fold_key.output_axes, fold_key.reduced_axes, fold_key.by_output,
        fold_key.outputs, fold_key.index64);
    return std::make_unique<FoldKernels>(held<Module>(made[0]), made[1].cast<std::size_t>(),
                                         fold_key.output_axes == 0 ? 1 : max_columns);
  });
}

// Fold `rows` parts of each output.
void fold_last(FoldKernels& kernels, const void* parts, Index rows, Index outputs,
               const Array& result, Index count, const StreamRef& stream) {
  KernelArguments arguments;
  arguments.add(parts, rows, outputs, result.address(), count);
  const LastLaunch launch = fold_parts(properties_of(result.device()), rows, outputs);
  enqueue(kernels.last, launch.grid, launch.block, arguments, stream);
}

constexpr std::size_t max_cached_parts_bytes =
    1 << 18;  // larger buffers of parts are freed after the launch

// Call `work` with the addresses of a buffer for parts and of the counters. With counters, the last
// block to finish folds the parts of all blocks; if their address is null, a second launch does.
template <class Work>
void with_parts(Launch& launch, FoldKernels& kernels, std::size_t nbytes, bool may_count,
                const FoldRequest& request, Work work) {
  const auto with_scratch = [&](void* counters) {  // bytes without a dtype
    const GPUArray parts =
        scratch_array(Layout({Index(nbytes)}, 1), py::none(), launch.stream(), request.allocator);
    launch.writes(parts);
    launch.run([&] { work(parts.core.address(), counters); });
  };
  // The shared memory may be in use: by another thread, or by this one, if Python code that it
  // called started a launch.
  if (launch.stream().handle || !kernels.counters || kernels.busy.test_and_set())
    return with_scratch(nullptr);
  try {
    void* const counters = may_count ? kernels.shared.counters(kernels.counters) : nullptr;
    if (nbytes > max_cached_parts_bytes)
      with_scratch(counters);
    else
      launch.run([&] { work(kernels.shared.parts(nbytes), counters); });
  } catch (...) {
    kernels.busy.clear();
    throw;
  }
  kernels.busy.clear();
}

}  // namespace

void fold_linear(Launch& launch, FoldKey fold_key, const void* const* addresses, Index n,
                 const Array& result, const FoldRequest& request) {
  const int arrays = fold_key.inputs + fold_key.tables;
  require_aligned(result, fold_key.compute);
  const DeviceProperties properties = properties_of(result.device());
  if (has_structures(fold_key.fold)) fold_key.index64 = n > properties.index32;
  Index head = 0;
  if (properties.threads == 1) {
    fold_key.outputs = 0;
  } else if (fold_key.tables == 0) {
    // Vectors of 16 bytes start at the first element from which all operands are aligned for them.
    std::size_t widest = 1;
    for (int i = 0; i < fold_key.inputs; ++i)
      widest = std::max(widest, dtypes[fold_key.codes[i]].itemsize);
    const Index width = 16 / Index(widest);
    head = -1;
    for (int i = 0; i < fold_key.inputs; ++i) {
      const auto itemsize = Index(dtypes[fold_key.codes[i]].itemsize);
      const auto address = reinterpret_cast<Index>(addresses[i]);
      const Index own = address % itemsize ? -1 : (width - address / itemsize % width) % width;
      if (i > 0 && own != head) head = -1;
      if (i == 0) head = own;
      if (head < 0) break;
    }
    fold_key.vector_width = head < 0 ? 1 : int(width);
    head = std::min(std::max<Index>(head, 0), n);
  }
  FoldKernels& kernels = kernels_for(fold_key, result.device());
  const LinearReduction linear(properties, kernels.part_bytes, kernels.registers,
                               capabilities.reduction.linear_unroll);
  const auto sizes = linear.over((n - head) / fold_key.vector_width);
  const auto first = [&](const void* parts, const void* done) {
    KernelArguments arguments;
    for (int i = 0; i < arrays; ++i) arguments.add(addresses[i]);
    arguments.add(n, head, sizes.chunk, parts, result.address(), n - request.degrees, done);
    enqueue(kernels.first, sizes.blocks, linear.threads(), arguments, launch.stream());
  };
  if (sizes.blocks == 1) return launch.run([&] { first(nullptr, nullptr); });
  // Count only if all blocks run at once. Otherwise counting delays the start of the next blocks.
  const bool may_count = sizes.blocks <= linear.resident_blocks();
  with_parts(launch, kernels, std::size_t(sizes.blocks) * kernels.part_bytes, may_count, request,
             [&](void* parts, void* done) {
               first(parts, done);
               if (!done)
                 fold_last(kernels, parts, sizes.blocks, 1, result, n - request.degrees,
                           launch.stream());
             });
}

void fold_axes(Launch& launch, FoldKey fold_key, AxisReduction plan, const Array& array,
               const Array& result, const FoldRequest& request) {
  const Index outputs = plan.outputs.size(), count = plan.folded.size();
  const auto itemsize = array.layout().itemsize();
  const void* const address = static_cast<char*>(array.address()) + plan.offset;
  const bool contiguous = plan.folded.ndim == 1 && plan.folded.strides[0][0] == Index(itemsize);
  if (outputs == 1 && (contiguous || count < 2))
    return fold_linear(launch, fold_key, &address, count, result, request);
  require_aligned(result, fold_key.compute);
  if (plan.by_output && number_of(result.address()) % 16)
    plan.vector_width = 1;                              // results are written in vectors too
  if (plan.by_output && has_structures(fold_key.fold))  // which fill a thread's registers
    plan.vector_width = std::min(plan.vector_width, 4);
  const DeviceProperties properties = properties_of(result.device());
  const LoopAxes<1> kept = plan.kept_vectors(), folded = plan.folded_vectors();
  const auto sizes = plan.launch(properties);
  fold_key.vector_width = plan.vector_width;
  fold_key.output_axes = kept.ndim;
  fold_key.reduced_axes = folded.ndim;
  fold_key.by_output = plan.by_output;
  fold_key.outputs = sizes.outputs;
  fold_key.index64 = plan.index64(properties);
  FoldKernels& kernels = kernels_for(fold_key, result.device());
  // struct { outputs, length, share; kept[], their strides; folded[], their strides; } of 64 bits.
  Index loop[3 + 4 * LoopAxes<1>::most];
  int numbers = 0;
  const auto put = [&](const Index* values, int some) {
    for (int i = 0; i < some; ++i) loop[numbers++] = values[i];
  };
  const Index head[] = {kept.size(), folded.size(), sizes.share};
  put(head, 3);
  for (const LoopAxes<1>* axes : {&kept, &folded}) {
    put(axes->shape, axes->ndim);
    put(axes->strides[0], axes->ndim);
  }
  const Index rows = sizes.grid.y;
  const auto first = [&](const void* parts, const void* done) {
    KernelArguments arguments;
    arguments.add_address_of(loop);
    arguments.add(address, parts, result.address(), count - request.degrees, done);
    enqueue(kernels.first, sizes.grid, sizes.block, arguments, launch.stream());
  };
  if (rows == 1) return launch.run([&] { first(nullptr, nullptr); });
  // The last block of a column folds the column's parts alone, so there must be few.
  const Index lanes = plan.by_output ? sizes.block.y : sizes.block.x;
  const Index totals = plan.by_output ? plan.vector_width : sizes.outputs;
  const bool may_count =
      rows * totals <= max_parts * lanes && Index(sizes.grid.x) <= kernels.counters &&
      sizes.grid.x * rows <= blocks_at_once(properties, sizes.block, kernels.registers);
  with_parts(launch, kernels, std::size_t(rows * outputs) * kernels.part_bytes, may_count, request,
             [&](void* parts, void* done) {
               first(parts, done);
               if (!done)
                 fold_last(kernels, parts, rows, outputs, result, count - request.degrees,
                           launch.stream());
             });
}

}  // namespace PyGPU::python
