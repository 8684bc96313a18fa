// Kernel arguments: conversion of Python objects to the bytes that a kernel's signature expects.
#pragma once

#include <string>
#include <vector>

#include "python/runtime/call.h"

namespace PyGPU::python {

enum class Kind : char {
  unknown = '?',  // only the size is known
  pointer = 'P',
  integer = 'i',
  unsigned_integer = 'u',
  floating_point = 'f',
  bfloat = 'B',  // the upper half of a float; NumPy has no dtype for it
  boolean = 'b',
  complex = 'c',
  bytes = 's',  // a structure
};

// One parameter of a kernel.
struct KernelParameter {
  std::string name;  // name in the source; empty if unknown
  Kind kind = Kind::unknown;
  std::size_t nbytes = 0;  // 0: unknown
  std::size_t offset = 0;  // of its value among the packed arguments
  // Type of the elements that a pointer points to, if they are numbers, vectors of `pointee_count`
  // numbers, or structures; see checks.h.
  Kind pointee = Kind::unknown;
  std::size_t pointee_nbytes = 0;
  std::size_t pointee_count = 1;
  bool is_writable = false;     // a pointer to elements that are surely not const
  mutable py::object compared;  // the last array dtype that was accepted
  mutable bool has_warned = false;
};

// Type of an argument, as declared by prepare().
struct DeclaredArgument {
  Kind kind;
  std::size_t nbytes;
};

// Packed arguments of one launch. They are on the stack unless they are many or large.
class PackedArguments {
 public:
  explicit PackedArguments(const std::vector<KernelParameter>& parameters);
  void** pointers() { return pointers_; }
  char* value(std::size_t index) { return static_cast<char*>(pointers_[index]); }

 private:
  static constexpr std::size_t inline_count = 32, inline_bytes = 512;
  void* own_pointers_[inline_count];
  alignas(16) char own_bytes_[inline_bytes];
  std::vector<void*> more_pointers_;
  std::unique_ptr<char[]> more_bytes_;
  void** pointers_ = own_pointers_;
};

// Assign the offsets of the values, one after another at multiples of 16.
void assign_offsets(std::vector<KernelParameter>& parameters);

enum class Packing {
  done,
  ran_python,  // done; the argument may have run Python code, which may have freed other arguments
  is_handler,  // not done: an ArgumentHandler (In, Out, InOut ...) must prepare its memory before
};

// Pack an argument. ArgumentError if it does not fit.
Packing pack(PyObject* argument, const KernelParameter& parameter, std::size_t index, char* to);
Packing pack_declared(PyObject* argument, const DeclaredArgument& declared,
                      const KernelParameter& parameter, std::size_t index, char* to);
// Pack the addresses of arrays and allocations again, after other arguments ran Python code. Throws
// if memory was freed.
void pack_addresses_again(PyObject* const* arguments, std::size_t count,
                          const std::vector<KernelParameter>& parameters, PackedArguments& packed);
// Throw ArgumentError if a type declared by prepare() does not fit the parameter.
void check_declaration(const DeclaredArgument& declared, const KernelParameter& parameter,
                       std::size_t index);
// "1 argument", "2 arguments"
std::string counted_arguments(std::size_t number);
[[noreturn]] void raise_argument_error(const std::string& text);
// Throw PyGPU.errors.ShapeError.
[[noreturn]] void raise_shape_error(const std::string& text);

// Pack the device address of a handler.
void pack_handler(PyObject* handler, const KernelParameter& parameter, std::size_t index, char* to);

// Return the dtype code, the row in PYGPU_DTYPES, of a NumPy scalar; -1 for other objects.
int numpy_scalar_dtype(PyObject* object);

void bind_packing();

}  // namespace PyGPU::python
