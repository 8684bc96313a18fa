// What a shared library of kernels says of each: a row of its table.
#pragma once

#include <cstddef>

struct PyGPUHostParameter {
  std::size_t offset, nbytes;
};

struct PyGPUHostKernel {
  const char* name;
  void (*threads)(void* arguments);  // `arguments` is a void**: the address of each argument
  const PyGPUHostParameter* parameters;
  std::size_t parameter_count;
};

extern "C" __attribute__((visibility("default"))) const PyGPUHostKernel PyGPU_host_kernels[];
