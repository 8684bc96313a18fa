// One operation on arrays and numbers, and the launch of its kernel. Python generates the text of a
// kernel once for each operation, dtypes and plan.
#pragma once

#include "python/operations/operands.h"

namespace PyGPU::python {

// An operation on operands, which are broadcast to the shape of the results and converted to the
// dtypes of the computation.
struct Map {
  Map(Operation operation_, int operands_, int results_)
      : operation(operation_), operands(operands_), results(results_) {}
  Map(Operation operation_, const Operand& of, int compute_, const GPUArray& to)
      : Map(operation_, 1, 1) {
    operand[0] = of;
    compute[0] = compute_;
    result[0] = &to;
  }

  Operation operation;
  int operands, results;
  Operand operand[max_operands];
  int compute[max_operands];
  const GPUArray* result[max_results];
};

// Launch the kernel of an operation. Return false, with nothing done, if an array must be copied
// first: its elements are not aligned, or a result would overwrite an operand before it is read.
bool launch_if_ready(const Map& map, const StreamRef& stream);
// Check the shapes. ShapeError if results differ in shape, or if an operand does not broadcast to
// that shape.
void check_shapes(const Map& map);
// Return true if the elements are aligned to their size, or to that of a complex number's part.
bool is_aligned(const Array& array, int code);
// Return true if the result would overwrite elements of the operand before they are read.
bool is_overwritten(const Array& operand, const Array& result);
// Return true if the operand must be copied before the launch.
bool needs_copy(const Map& map, const Operand& operand);

// Return true if an array's exponents may be integers below 0, which must be looked for.
bool has_signed_exponents(const Map& map);

// Return a view of the array as unsigned integers, or as complex numbers of 16 bytes. If an item
// consists of several units, the view has an additional axis.
GPUArray as_units(const GPUArray& array, std::size_t unit);
// Copy elements with a kernel. Both arrays have the same shape, item size and device, and share no
// bytes; any dtypes and layouts are allowed.
void copy_by_kernel(const GPUArray& to, const GPUArray& from, const StreamRef& stream);

}  // namespace PyGPU::python
