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
  natural = 'u',  // unsigned
  real = 'f',
  bfloat = 'B',  // the upper half of a float; NumPy has no dtype for it
  boolean = 'b',
  complex = 'c',
  bytes = 's',  // a structure
};

// One parameter of a kernel.
struct Slot {
  std::string name;  // in the source; empty if not known
  Kind kind = Kind::unknown;
  std::size_t nbytes = 0;   // 0: not known
  std::size_t storage = 0;  // where its value lies among the packed arguments
  // What a pointer points to, if that is a number; see checks.h.
  Kind pointee = Kind::unknown;
  std::size_t pointee_nbytes = 0;
  mutable py::object compared;  // the last dtype of elements that go there
  mutable bool has_warned = false;
};

// What prepare() promises of an argument.
struct Promise {
  Kind kind;
  std::size_t nbytes;
};

// Room for the arguments of one launch: on the stack while they are few and small.
class Packed {
 public:
  explicit Packed(const std::vector<Slot>& slots);
  void** pointers() { return pointers_; }
  char* value(std::size_t index) { return static_cast<char*>(pointers_[index]); }

 private:
  static constexpr std::size_t few = 32, small = 512;
  void* own_pointers_[few];
  alignas(16) char own_bytes_[small];
  std::vector<void*> more_pointers_;
  std::unique_ptr<char[]> more_bytes_;
  void** pointers_ = own_pointers_;
};

// Lay the values out one behind the other, each at a multiple of 16.
void place(std::vector<Slot>& slots);

// All raise PyGPU.errors.ArgumentError for what does not fit. False: an ArgumentHandler (In, Out,
// InOut ...), which has work to do before its address can be packed.
bool pack(PyObject* argument, const Slot& slot, std::size_t index, char* to);
void pack_promised(PyObject* argument, const Promise& promise, const Slot& slot, std::size_t index,
                   char* to);
// Does what prepare() promises fit the parameter?
void check_promise(const Promise& promise, const Slot& slot, std::size_t index);
[[noreturn]] void raise_argument_error(const std::string& text);
// Raises PyGPU.errors.ShapeError.
[[noreturn]] void raise_shape_error(const std::string& text);

// The address that a handler has on the device.
void pack_handler(PyObject* handler, const Slot& slot, std::size_t index, char* to);

// The place in PYGPU_DTYPES of the dtype of a NumPy scalar; -1 for anything else.
int numpy_scalar_dtype(PyObject* object);

void bind_packing();

}  // namespace PyGPU::python
