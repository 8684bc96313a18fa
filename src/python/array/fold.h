// Reductions: the kernels by key and their launches, for operands that are ready.
#pragma once

#include "PyGPU/reduction_plan.h"
#include "python/array/map.h"

namespace PyGPU::python {

// Not-a-number gives way in min and max, and wins in minimum and maximum, as in NumPy's ufuncs;
// these four stand together.
enum class Fold : unsigned char {
  sum,
  prod,
  mean,
  min,
  max,
  minimum,
  maximum,
  any,
  all,
  dot,
  nansum,
  nanprod
};
inline constexpr const char* fold_names[] = {"sum",     "prod", "mean", "min", "max",    "minimum",
                                             "maximum", "any",  "all",  "dot", "nansum", "nanprod"};
inline bool is_extreme(Fold fold) { return fold >= Fold::min && fold <= Fold::maximum; }
static_assert(std::size(fold_names) <= 16 && dtype_count <= 16, "keys have 4 bits for each");

constexpr int max_inputs = 3;  // two operands; or indices, and the arrays that they choose from

// What kernels are made for.
struct FoldKey {
  FoldKey(Fold fold_, int inputs_) : fold(fold_), inputs(inputs_) {}

  Fold fold;
  int codes[max_inputs] = {};  // of the operands in memory
  int inputs = 0;              // operands that are gone through
  int tables = 0;              // behind them: arrays that the input, an index array, chooses from
  int compute = 0;             // the dtype of the result as well
  int vector_width = 1, kept = 0, folded = 0;  // axes; none kept: all operands are contiguous
  bool by_output = false;                      // as of an AxisReduction
  int outputs = 1;                             // of a thread
  bool index64 = true;
};

struct FoldRequest {
  StreamRef stream;
  py::object allocator;
  const GPUArray* out = nullptr;
};

// All elements of operands that are contiguous alike, or what they choose from tables. `order` has
// the memory of operands and result.
void fold_linear(FoldKey fold_key, const void* const* addresses, Index n, const Array& result,
                 const FoldRequest& request, StreamOrder& order);
// Some axes of an array of any strides, to results in the order of the kept axes' strides.
void fold_axes(FoldKey fold_key, AxisReduction plan, const Array& array, const Array& result,
               const FoldRequest& request, StreamOrder& order);

}  // namespace PyGPU::python
