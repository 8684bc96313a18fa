// Kernel arguments: conversion of Python objects to the bytes that a kernel's signature expects.
#pragma once

#include <memory>
#include <vector>

#include "PyGPU/runtime/axes.h"
#include "python/arguments.h"
#include "python/launch/parameters.h"

namespace PyGPU::python {

// Argument types declared by prepare().
struct Prepared {
  std::vector<ValueType> declared;
  std::vector<KernelParameter> parameters;  // only if the kernel's own are unknown
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
// Throw ArgumentError if a type declared by prepare() does not fit the parameter.
void check_declaration(ValueType declared, const KernelParameter& parameter, std::size_t index);

// Arguments of one call, packed as they are added: Python objects, which must stay alive until the
// call, numbers, and addresses of memory that the call may use.
class Arguments {
 public:
  // `prepared` has the types that prepare() declared; null: the parameters' own are used.
  Arguments(const std::string& function, const std::vector<KernelParameter>& parameters,
            std::shared_ptr<const Prepared> prepared = nullptr);
  Arguments(const Arguments&) = delete;  // pointers_ and objects_ may point into this object
  Arguments& operator=(const Arguments&) = delete;

  // Throw ArgumentError if the function takes another number of arguments.
  void require_count(std::size_t count) const;
  Packing add(PyObject* argument);
  void add(Index number);
  void add_address(const void* address) { add(Index(number_of(address))); }
  // Pack the device address of a handler, the argument that was added last.
  void pack_handler();
  // After Python code ran: pack the addresses of arrays and allocations again. Throws if memory was
  // freed.
  void pack_addresses_again();

  std::size_t count() const { return count_; }
  PyObject* object(std::size_t i) const { return objects_[i]; }  // null for a number
  // Return the address in a pointer parameter, or null.
  const void* address(std::size_t i) const {
    const bool is_pointer = parameters_[i].kind == Kind::pointer;
    return is_pointer ? *static_cast<const void* const*>(pointers_[i]) : nullptr;
  }
  char* value(std::size_t i) { return static_cast<char*>(pointers_[i]); }
  void** pointers() { return pointers_; }

 private:
  std::size_t next() {
    if (count_ == parameters_.size()) require_count(count_ + 1);
    return count_++;
  }

  // On the stack unless the arguments are many or large.
  static constexpr std::size_t inline_count = 32, inline_bytes = 512;
  const std::string& function_;
  const std::vector<KernelParameter>& parameters_;
  std::shared_ptr<const Prepared> prepared_;
  std::size_t count_ = 0;
  bool has_run_python_ = false;
  void** pointers_ = own_pointers_;
  PyObject** objects_ = own_objects_;
  void* own_pointers_[inline_count];
  PyObject* own_objects_[inline_count];
  alignas(16) char own_bytes_[inline_bytes];
  std::vector<void*> more_pointers_;
  std::vector<PyObject*> more_objects_;
  std::unique_ptr<char[]> more_bytes_;
};

// Return the dtype code, the row in PYGPU_DTYPES, of a NumPy scalar; -1 for other objects.
int numpy_scalar_dtype(PyObject* object);

}  // namespace PyGPU::python
