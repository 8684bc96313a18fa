// Elementwise operations on arrays and numbers: operands, NumPy's types, one kernel and its launch.
// The text of each kernel is made once, in Python, for the operation, the dtypes and the plan.
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

// The shape that operands give together. ShapeError.
Axes broadcast_or_raise(const Axes& a, const Axes& b);
// A new array for what operands of these shapes give, beside the first array and, if none is given,
// from its allocator. Of the class of `like`: where that has a constructor or _new_like_me of its
// own, and the result its shape, this makes it.
py::object result_array(const Operand* operands, int count, int code, PyObject* like,
                        const py::object& allocator = py::none());
// The same, of a layout that is known, beside an array.
py::object result_array(const Layout& layout, const GPUArray& beside, int code, PyObject* like,
                        const py::object& allocator = py::none());
void bind_results(const py::object& c);

// Operations by their names in PyGPU/_kernels/operations.py.
using Operation = int;
Operation operation_named(const std::string& name);
const std::string& operation_name(Operation operation);
// Their numbers have so many bits in the keys of kernels.
constexpr int operation_bits = 20;

// The dtypes in which an operation is computed, and of its results. NumPy is asked, once for each
// combination (PyGPU/_kernels/promotion.py).
struct Types {
  signed char compute[max_operands] = {}, result[max_results] = {};
  int results = 0;
};
Types types_of(Operation operation, const Operand* operands, int count);
// A comparison with an integer that the other operand's dtype does not hold: it is compared as an
// infinity, which has the same answer for every element.
void compare_as_infinity(Operation operation, Operand* operands);

// Any number is true or false, where that is what is computed with.
void convert_to_bool(Operand& operand, int compute);

// An operation on operands, broadcast to the shape of the results and converted to the types of its
// computation.
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
// ShapeError for results that differ in shape, and operands that do not stretch to it.
void check_shapes(const Map& map);
// Would the operand's elements be overwritten before they are read?
bool is_overwritten(const Array& operand, const Array& result);
// The bytes of a number in a dtype, as kernels are given it. ArgumentError where it is not in the
// dtype's domain.
void put_number(py::handle number, int code, char* to);
// Operations that are put together from others: see fused.cpp.
void bind_fused(py::module_& m);

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

// The same memory as unsigned integers, or complex numbers of 16 bytes: an item of several has an
// axis of its own.
GPUArray as_units(const GPUArray& array, std::size_t unit);
// Copy elements of one shape, item size and device, whatever they are and however they lie.
void copy_by_kernel(const GPUArray& to, const GPUArray& from, const StreamRef& stream);
// The array, or a contiguous copy, in the order of the stream, of one whose elements do not lie at
// multiples of their size.
Array aligned(const GPUArray& array, int code, const StreamRef& stream);
// ValueError for a result whose elements do not lie at multiples of their size.
void require_aligned(const Array& result, int code);
// A contiguous copy, in the order of the stream.
Array contiguous_copy(const GPUArray& array, const StreamRef& stream,
                      const Layout* layout = nullptr);

// TypeError for an array with elements on another device.
void require_device(const Array& array, int device);

}  // namespace PyGPU::python
