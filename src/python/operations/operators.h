// Operators of GPUArray: NumPy's result types, new results, and in-place operations.
#pragma once

#include "python/value/gpuarray.h"

namespace PyGPU::python {

// Binary operations, by NumPy's name and Python's slots: X(name, slot, in-place slot).
#define PYGPU_BINARY_OPERATIONS(X)                          \
  X(add, nb_add, nb_inplace_add)                            \
  X(subtract, nb_subtract, nb_inplace_subtract)             \
  X(multiply, nb_multiply, nb_inplace_multiply)             \
  X(divide, nb_true_divide, nb_inplace_true_divide)         \
  X(floor_divide, nb_floor_divide, nb_inplace_floor_divide) \
  X(remainder, nb_remainder, nb_inplace_remainder)          \
  X(power, nb_power, nb_inplace_power)                      \
  X(bitwise_and, nb_and, nb_inplace_and)                    \
  X(bitwise_or, nb_or, nb_inplace_or)                       \
  X(bitwise_xor, nb_xor, nb_inplace_xor)                    \
  X(left_shift, nb_lshift, nb_inplace_lshift)               \
  X(right_shift, nb_rshift, nb_inplace_rshift)
#define PYGPU_COMPARISONS(X) \
  X(less) X(less_equal) X(equal) X(not_equal) X(greater) X(greater_equal)  // Python's order
#define PYGPU_UNARY_OPERATIONS(X) X(copy) X(negative) X(absolute) X(invert)

enum class Op : unsigned char {
#define PYGPU_OP(name, ...) name,
  PYGPU_BINARY_OPERATIONS(PYGPU_OP) PYGPU_COMPARISONS(PYGPU_OP) PYGPU_UNARY_OPERATIONS(PYGPU_OP)
#undef PYGPU_OP
};

// True if comparison operators, sums and products return PyCUDA's dtypes, and index arrays must be
// of bools: the setting PYGPU_COMPARISONS.
extern bool compares_as_pycuda;

// Return `a op b` as a new array, or NotImplemented. At least one operand is a GPUArray.
py::object operate(Op op, PyObject* a, PyObject* b);
// Compute `self op= other` in the dtype of `self`.
py::object operate_in_place(Op op, PyObject* self, PyObject* other);
// Return a new array, of another dtype if needed (absolute of complex numbers).
py::object operate_on(Op op, PyObject* self);
py::object cast_to(const py::object& self, const py::object& dtype, const StreamRef& stream);
void fill(const GPUArray& array, const py::object& value, const StreamRef& stream);

// _apply(operation, operands, stream, allocator, out): return new arrays of NumPy's dtypes, or
// `out`. NotImplemented if `out` has another dtype or the operation has more than one result.
PyObject* apply(PyObject*, PyObject* const* arguments, Py_ssize_t count);

}  // namespace PyGPU::python
