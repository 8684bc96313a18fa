// Descriptor of a kernel or a variable: a row of the table that a shared library of kernels
// exports.
#pragma once

#include <cstddef>

struct PyGPUHostParameter {
  std::size_t offset, nbytes;
};

struct PyGPUHostKernel {
  const char* name;
  void (*threads)(void* arguments);  // `arguments` is a void**: the addresses of the arguments
  const PyGPUHostParameter* parameters;
  std::size_t parameter_count;
  const volatile void* object;  // a pointer to the kernel's function; or the variable
  std::size_t nbytes;           // of the variable; 0 for a kernel
};

extern "C" __attribute__((visibility("default"))) const PyGPUHostKernel PyGPU_host_names[];
