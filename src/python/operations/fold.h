// Reductions of operands that are ready: kernels by key, and their launches.
#pragma once

#include "PyGPU/arrays/reduction_plan.h"
#include "PyGPU/runtime/dtypes.h"
#include "python/launch/launch.h"

namespace PyGPU::python {

// Reduction operations. min and max ignore NaN unless every element is NaN; minimum and maximum
// return NaN if any element is NaN, as NumPy's ufuncs do. These four are adjacent, for is_extreme.
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
  nanprod,
  argmin,
  argmax,
  var,
  std
};
inline constexpr const char* fold_names[] = {
    "sum", "prod", "mean",   "min",     "max",    "minimum", "maximum", "any",
    "all", "dot",  "nansum", "nanprod", "argmin", "argmax",  "var",     "std"};
inline bool is_extreme(Fold fold) { return fold >= Fold::min && fold <= Fold::maximum; }
// Operations whose result is the place of an element. They take one axis, in its own direction.
inline bool is_place(Fold fold) { return fold == Fold::argmin || fold == Fold::argmax; }
inline bool is_variance(Fold fold) { return fold == Fold::var || fold == Fold::std; }
// Operations whose accumulator is a structure.
inline bool has_structures(Fold fold) { return is_place(fold) || is_variance(fold); }

constexpr int max_inputs = 3;  // two operands; or indices and up to two tables

// Key of a reduction's kernels.
struct FoldKey {
  FoldKey(Fold fold_, int inputs_) : fold(fold_), inputs(inputs_) {}

  Fold fold;
  int codes[max_inputs] = {};  // dtypes of inputs, then of tables
  int inputs = 0;              // operands that the kernel iterates over
  int tables = 0;   // arrays, after the inputs, that the input indexes (subset reductions)
  int compute = 0;  // dtype of the computation and of the result
  int vector_width = 1;
  int output_axes = 0, reduced_axes = 0;  // no output_axes: all operands are contiguous
  bool by_output = false;                 // see AxisReduction::by_output
  int outputs = 1;                        // outputs of a thread
  bool index64 = true;
};

struct FoldRequest {
  StreamRef stream;
  py::object allocator;
  const GPUArray* out = nullptr;
  Index degrees = 0;  // of freedom that a variance's divisor is reduced by
};

// Reduce all elements of operands that are contiguous in the same order, or the table elements that
// they index. `launch` already has operands and result.
void fold_linear(Launch& launch, FoldKey fold_key, const void* const* addresses, Index n,
                 const Array& result, const FoldRequest& request);
// Reduce some axes of an array of any strides. The results are in the order of the kept axes'
// strides.
void fold_axes(Launch& launch, FoldKey fold_key, AxisReduction plan, const Array& array,
               const Array& result, const FoldRequest& request);

}  // namespace PyGPU::python
