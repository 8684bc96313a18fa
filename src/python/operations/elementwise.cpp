// Elementwise operations on arrays of any layouts. See elementwise.h.
#include "python/operations/elementwise.h"

#include "python/binding/hooks.h"
#include "python/operations/copies.h"

namespace PyGPU::python {

Array contiguous_copy(const GPUArray& array, const StreamRef& stream, const Layout* layout) {
  GPUArray copy = array;
  copy.core = Array::empty(layout ? *layout : array.layout().k_order());
  keep_for_callers_graph(copy, stream);
  set_from_device(copy, array, &stream);
  return copy.core;
}

void require_aligned(const Array& result, int code) {
  if (!is_aligned(result, code))
    throw py::value_error(
        "out: the elements are not aligned to their size; expected aligned memory");
}

Array aligned(const GPUArray& array, int code, const StreamRef& stream) {
  return is_aligned(array.core, code) ? array.core : contiguous_copy(array, stream);
}

namespace {

// Launch with copies of the operands that need them, after a check of a power's exponents. Copies
// and checks may release the GIL, so this function first takes a snapshot of all arrays.
void launch_with_copies(const Map& map, const StreamRef& stream) {
  std::vector<GPUArray> snapshot;
  snapshot.reserve(max_arrays);  // the snapshot must not be reallocated
  const auto add = [&](const GPUArray& array) { return &snapshot.emplace_back(array); };
  Map copied = map;
  for (int i = 0; i < map.results; ++i) copied.result[i] = add(*map.result[i]);
  for (int i = 0; i < map.operands; ++i) {
    Operand& operand = copied.operand[i];
    if (!operand.array) continue;
    GPUArray* const own = add(*operand.array);
    operand.array = own;
    if (!needs_copy(copied, operand)) continue;
    require_device(own->core, copied.result[0]->core.device());
    own->core = contiguous_copy(*own, stream);
  }
  if (has_signed_exponents(copied)) {
    const DeviceGuard here = use_device_of(copied.operand[1].array->core);
    hook(Hook::check_exponents)(wrap(GPUArray(*copied.operand[1].array)), number_of(stream.handle));
  }
  launch_if_ready(copied, stream);
}

// Launch with aligned arrays in place of the results that are not aligned, such as fields of packed
// structures, and copy them there. A kernel writes every element of its results.
void launch_apart(const Map& map, const StreamRef& stream) {
  std::vector<GPUArray> snapshot;
  snapshot.reserve(2 * max_arrays);
  const auto add = [&](const GPUArray& array) { return &snapshot.emplace_back(array); };
  Map apart = map;
  for (int i = 0; i < map.operands; ++i)
    if (map.operand[i].array) apart.operand[i].array = add(*map.operand[i].array);
  const GPUArray* results[max_results];
  for (int i = 0; i < map.results; ++i) {
    const GPUArray& result = *(results[i] = add(*map.result[i]));
    const bool is_ready = is_aligned(result.core, code_of(result.dtype));
    apart.result[i] =
        is_ready ? results[i] : add(scratch_array(result.layout().k_order(), result.dtype, stream));
  }
  launch(apart, stream);
  for (int i = 0; i < map.results; ++i)
    if (apart.result[i] != results[i]) set_from_device(*results[i], *apart.result[i], &stream);
}

}  // namespace

void launch(const Map& map, const StreamRef& stream) {
  if (!has_signed_exponents(map) && launch_if_ready(map, stream)) return;
  for (int i = 0; i < map.results; ++i)
    if (!is_aligned(map.result[i]->core, code_of(map.result[i]->dtype)))
      return launch_apart(map, stream);
  launch_with_copies(map, stream);
}

}  // namespace PyGPU::python
