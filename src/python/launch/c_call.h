// Call of a C function whose types are known at run time alone. See c_call.cpp.
#pragma once

#include "python/launch/packing.h"

namespace PyGPU::python {

class CCall {
 public:
  // The parameters must be numbers and pointers. Throws std::invalid_argument for others, and on
  // processors whose calling convention is not known here.
  CCall(void* function, const std::vector<KernelParameter>& parameters, char result,
        std::size_t result_nbytes);
  // Call the function with the packed values, and store its result.
  void run(void* const* arguments, void* result) const;

 private:
  // Place of an argument: a register of integers, of floating-point numbers, or on the stack.
  struct Place {
    enum { integer, floating_point, stack } where;
    std::size_t index;
    std::size_t nbytes;
    bool is_signed;
  };

  void* function_;
  std::vector<Place> places_;
  bool uses_stack_ = false;
  char result_;
  std::size_t result_nbytes_;
};

// Function that the macros of <PyGPU/export.h> make for each exported function.
using Trampoline = int (*)(void* const* arguments, void* result, char* text, std::size_t capacity);

// Call a function by its trampoline or, without one, by `plain`. Return the error that it left in
// its copy of the runtime. Return -1 after a C++ exception, and store its text.
int call_guarded(Trampoline trampoline, const CCall* plain, void* const* arguments, void* result,
                 char* text, std::size_t capacity);

}  // namespace PyGPU::python
