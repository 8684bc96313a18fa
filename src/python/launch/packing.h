// Kernel arguments: conversion of Python objects to the bytes that a kernel's signature expects.
#pragma once

#include <memory>
#include <vector>

#include "PyGPU/runtime/axes.h"
#include "python/launch/parameters.h"

namespace PyGPU::python {

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

enum class Packing {
  done,
  done_after_python,  // the argument is packed, and Python code ran that may have freed others
  needs_handler,      // not packed: the memory of In, Out or InOut must be prepared before
};

// Pack an argument. ArgumentError if it does not fit.
Packing pack(PyObject* argument, const KernelParameter& parameter, std::size_t index, char* to);
Packing pack_declared(PyObject* argument, ValueType declared, const KernelParameter& parameter,
                      std::size_t index, char* to);
void pack_declared(Index number, ValueType declared, const KernelParameter& parameter,
                   std::size_t index, char* to);
// Pack the addresses of arrays and allocations again, after other arguments ran Python code. Throws
// if memory was freed.
void pack_addresses_again(PyObject* const* arguments, std::size_t count,
                          const std::vector<KernelParameter>& parameters, PackedArguments& packed);
// Throw ArgumentError if a type declared by prepare() does not fit the parameter.
void check_declaration(ValueType declared, const KernelParameter& parameter, std::size_t index);
// Pack the device address of a handler.
void pack_handler(PyObject* handler, const KernelParameter& parameter, std::size_t index, char* to);

// Return the dtype code, the row in PYGPU_DTYPES, of a NumPy scalar; -1 for other objects.
int numpy_scalar_dtype(PyObject* object);

}  // namespace PyGPU::python
