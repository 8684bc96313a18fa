// Elementwise operations on arrays and numbers: operands, NumPy's result types, one kernel and its
// launch. Python generates the text of a kernel once for each operation, dtypes and plan.
#pragma once

#include "PyGPU/arrays/loop.h"
#include "PyGPU/runtime/dtypes.h"
#include "python/array/gpuarray.h"
#include "python/binding/hooks.h"

namespace PyGPU::python {

// Conversions between a dtype object and its code, the row number in PYGPU_DTYPES. For a dtype
// without arithmetic, code_of throws ValueError and find_code returns -1.
const py::object& dtype_object(int code);
int find_code(const py::object& dtype);
int code_of(const py::object& dtype);

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
// Return a new array for the result of an operation on these operands, on the device of the first
// array and, if `allocator` is None, from its allocator. Its class is that of `like`. If that class
// has its own constructor or _new_like_me, and the result has the shape of `like`, that function
// creates the result.
py::object result_array(const Operand* operands, int count, int code, PyObject* like,
                        const py::object& allocator = py::none());
// Return a new array of a given layout, on the device of `model`.
py::object result_array(const Layout& layout, const GPUArray& model, int code, PyObject* like,
                        const py::object& allocator = py::none());
void bind_results(const py::object& c);

// Numbers of the operations that PyGPU/_kernels/operations.py defines by name.
using Operation = int;
Operation operation_named(const std::string& name);
const std::string& operation_name(Operation operation);
// Return the operation whose number is in a Python object. ValueError for unknown numbers.
Operation operation_in(PyObject* number);
// Bits of an operation's number in the keys of kernels.
constexpr int operation_bits = 20;

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
void launch(const Map& map, const StreamRef& stream);
// Check the shapes. ShapeError if results differ in shape, or if an operand does not broadcast to
// it.
void check_shapes(const Map& map);
// Return true if the result would overwrite elements of the operand before they are read.
bool is_overwritten(const Array& operand, const Array& result);
// Store the bytes of a number converted to a dtype, as passed to kernels. ArgumentError if the
// number is not in the dtype's domain.
void put_number(py::handle number, int code, char* to);
// Fused operations: see fused.cpp.
void bind_fused(module_& m);

// Run `work`, which needs kernels. Return false, with nothing done, if there is no compiler for
// them.
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

// Return a view of the array as unsigned integers, or as complex numbers of 16 bytes. If an item
// consists of several units, the view has an additional axis.
GPUArray as_units(const GPUArray& array, std::size_t unit);
// Copy elements with a kernel. Both arrays have the same shape, item size and device; any dtypes
// and layouts are allowed.
void copy_by_kernel(const GPUArray& to, const GPUArray& from, const StreamRef& stream);
// Return the array, or a contiguous copy, made on the stream, if its elements are not aligned.
Array aligned(const GPUArray& array, int code, const StreamRef& stream);
// Throw ValueError if the elements of a result are not aligned.
void require_aligned(const Array& result, int code);
// Return a contiguous copy, made on the stream.
Array contiguous_copy(const GPUArray& array, const StreamRef& stream,
                      const Layout* layout = nullptr);

// Throw TypeError if the array has elements on another device.
void require_device(const Array& array, int device);

}  // namespace PyGPU::python
