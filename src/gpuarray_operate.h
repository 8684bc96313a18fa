// Elementwise operations on GPUArrays: types as NumPy has them, one kernel for each combination.
#pragma once

#include "PyGPU/elementwise.h"
#include "gpuarray.h"

namespace PyGPU::python {

// X(name, method, reversed, in place): NumPy's name and Python's. PyGPU/_kernels.py has the text.
#define PYGPU_BINARY_OPERATIONS(X)                                  \
  X(add, "__add__", "__radd__", "__iadd__")                         \
  X(subtract, "__sub__", "__rsub__", "__isub__")                    \
  X(multiply, "__mul__", "__rmul__", "__imul__")                    \
  X(divide, "__truediv__", "__rtruediv__", "__itruediv__")          \
  X(floor_divide, "__floordiv__", "__rfloordiv__", "__ifloordiv__") \
  X(remainder, "__mod__", "__rmod__", "__imod__")                   \
  X(power, "__pow__", "__rpow__", "__ipow__")                       \
  X(bitwise_and, "__and__", "__rand__", "__iand__")                 \
  X(bitwise_or, "__or__", "__ror__", "__ior__")                     \
  X(bitwise_xor, "__xor__", "__rxor__", "__ixor__")                 \
  X(left_shift, "__lshift__", "__rlshift__", "__ilshift__")         \
  X(right_shift, "__rshift__", "__rrshift__", "__irshift__")
#define PYGPU_COMPARISONS(X) \
  X(equal, "__eq__")         \
  X(not_equal, "__ne__")     \
  X(less, "__lt__") X(less_equal, "__le__") X(greater, "__gt__") X(greater_equal, "__ge__")
#define PYGPU_UNARY_OPERATIONS(X) X(copy) X(negative) X(absolute) X(invert)

enum class Op : unsigned char {
#define PYGPU_OP(name, ...) name,
  PYGPU_BINARY_OPERATIONS(PYGPU_OP) PYGPU_COMPARISONS(PYGPU_OP) PYGPU_UNARY_OPERATIONS(PYGPU_OP)
#undef PYGPU_OP
};

// `a op b` as a new array, or NotImplemented; one of the two is a GPUArray.
py::object operate(Op op, const py::object& a, const py::object& b);
// `self op= other` in the dtype of self.
py::object operate_in_place(Op op, const py::object& self, const py::object& other);
// A new array of another dtype where that is needed (absolute of complex numbers).
py::object operate_on(Op op, const py::object& self);
py::object cast_to(const py::object& self, const py::object& dtype, const StreamRef& stream);
void fill(const GPUArray& array, const py::object& value, const StreamRef& stream);

void bind_operators(py::class_<GPUArray>& c);

}  // namespace PyGPU::python
