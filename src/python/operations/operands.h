// Operands of operations, and the dtypes that they promote to.
#pragma once

#include "PyGPU/arrays/loop.h"
#include "python/operations/dtype_codes.h"
#include "python/operations/operation.h"
#include "python/value/gpuarray.h"

namespace PyGPU::python {

// An operand of an operator, or an argument of a function: an array or a number.
struct Operand {
  const GPUArray* array = nullptr;
  py::object number;  // a Python number, or NumPy's scalar
  int code = -1;      // code of the dtype; -1 for a Python number, whose type is weak
};
// Read an operand. Return false for an object without arithmetic.
bool read_operand(PyObject* object, Operand& operand);

// Return the broadcast shape of two operands. ShapeError if they do not broadcast.
Axes broadcast_or_raise(const Axes& a, const Axes& b);

// Dtypes of an operation: of its computation and of its results. NumPy is asked once for each
// combination of operands (PyGPU/_kernels/promotion.py).
struct Types {
  signed char compute[max_operands] = {}, result[max_results] = {};
  int results = 0;
};
Types types_of(Operation operation, const Operand* operands, int count);
// Replace an integer that the other operand's dtype cannot hold by an infinity: the comparison has
// the same result for every element.
void compare_as_infinity(Operation operation, Operand* operands);

// Convert a number to bool if the computation is in bool.
void convert_to_bool(Operand& operand, int compute);

}  // namespace PyGPU::python
