// Kernel arguments: from Python objects to the bytes that a kernel's signature expects.
#pragma once

#include <string>
#include <vector>

#include "python/bindings.h"

namespace PyGPU::python {

enum class Kind : char {
  unknown = '?',  // only the size is known
  pointer = 'P',
  integer = 'i',
  unsigned_integer = 'u',  // unsigned
  floating_point = 'f',
  bfloat = 'B',  // the upper half of a float; NumPy has no dtype for it
  boolean = 'b',
  complex = 'c',
  bytes = 's',  // a structure
};

// One parameter of a kernel.
struct KernelParameter {
  std::string name;  // in the source; empty if not known
  Kind kind = Kind::unknown;
  std::size_t nbytes = 0;  // 0: not known
  std::size_t offset = 0;  // where its value lies among the packed arguments
  // What a pointer points to, if that is a number; see checks.h.
  Kind pointee = Kind::unknown;
  std::size_t pointee_nbytes = 0;
  mutable py::object compared;  // the last dtype of elements that go there
  mutable bool has_warned = false;
};

// What prepare() declared of an argument.
struct DeclaredArgument {
  Kind kind;
  std::size_t nbytes;
};

// Room for the arguments of one launch: on the stack while they are inline_count and inline_bytes.
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

// Lay the values out one behind the other, each at a multiple of 16.
void assign_offsets(std::vector<KernelParameter>& parameters);

// All raise PyGPU.errors.ArgumentError for what does not fit. False: an ArgumentHandler (In, Out,
// InOut ...), which has work to do before its address can be packed.
bool pack(PyObject* argument, const KernelParameter& parameter, std::size_t index, char* to);
void pack_declared(PyObject* argument, const DeclaredArgument& declared,
                   const KernelParameter& parameter, std::size_t index, char* to);
// Does what prepare() declared fit the parameter?
void check_declaration(const DeclaredArgument& declared, const KernelParameter& parameter,
                       std::size_t index);
[[noreturn]] void raise_argument_error(const std::string& text);
// Raises PyGPU.errors.ShapeError.
[[noreturn]] void raise_shape_error(const std::string& text);

// The address that a handler has on the device.
void pack_handler(PyObject* handler, const KernelParameter& parameter, std::size_t index, char* to);

// The assign_offsets in PYGPU_DTYPES of the dtype of a NumPy scalar; -1 for anything else.
int numpy_scalar_dtype(PyObject* object);

void bind_packing();

}  // namespace PyGPU::python
