// One kernel over several arrays and numbers. The text of each is made once, by
// PyGPU/_kernels/elementwise.py, for the operation, the dtypes and the kind of loop; it is kept
// here.
#pragma once

#include "PyGPU/loop.h"
#include "python/array/gpuarray.h"
#include "python/hooks.h"

namespace PyGPU::python {

// NumPy's dtype object of a place in PYGPU_DTYPES, and the place of a dtype object. ValueError for
// what has no arithmetic; `find_code` answers -1.
const py::object& dtype_object(int code);
int find_code(const py::object& dtype);
int code_of(const py::object& dtype);

// What stands on one side of an operator, or is given to a function.
struct Operand {
  const GPUArray* array = nullptr;
  py::object number;  // a Python number, or NumPy's scalar
  int code = -1;      // of the dtype; -1 for a Python number, whose type is weak
};
// False: nothing that arithmetic is done with.
bool read_operand(PyObject* object, Operand& operand);
// A weak integer that no dtype holds, as the infinity that compares alike.
py::object beyond_all(py::handle integer);

// NumPy 1: do types depend on the values of scalars?
bool promotes_by_value();

// The shape that operands give together. ShapeError.
Axes broadcast_or_raise(const Axes& a, const Axes& b);
// A new array for what operands of these shapes give, beside the first array and, if none is given,
// from its allocator.
GPUArray result_array(const Operand* operands, int count, int code,
                      const py::object& allocator = py::none());

// Operations by their names in PyGPU/_kernels/operations.py.
using Operation = int;
Operation operation_named(const std::string& name);
const std::string& operation_name(Operation operation);

// One run of a kernel. Operands are stretched to the shape of the results, and converted to their
// types of computation.
struct Run {
  Run(Operation operation_, int operands_, int results_)
      : operation(operation_), operands(operands_), results(results_) {}

  Operation operation;
  int operands, results;
  Operand operand[max_operands];
  int compute[max_operands];
  const GPUArray* result[max_results];
};
void run(const Run& work, const StreamRef& stream);

// Do `work`, which needs kernels. False, and nothing done, where there is no compiler for them.
template <class Work>
bool with_compiler(Work work) {
  try {
    work();
    return true;
  } catch (py::error_already_set& error) {
    if (!error.matches(hook(Hook::compiler_missing))) throw;
    return false;
  }
}

// Copy elements of one shape, item size and device, whatever they are and however they lie.
void copy_by_kernel(const GPUArray& to, const GPUArray& from, const StreamRef& stream);

}  // namespace PyGPU::python
