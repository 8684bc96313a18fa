// Entry point to the device: CUDA's runtime vocabulary on every target, for this library and for
// users' sources. A `.cu` file that includes this header compiles unchanged with
//
//     nvcc       ->  cuda   (an NVIDIA GPU)
//     hipcc      ->  hip    (an AMD GPU)
//     g++ -x c++ ->  host   (PyGPU's own machine in C++, no GPU needed; link -lPyGPU_host)
//
// Launch kernels with the spelling that all three targets share:
//
//     PYGPU_LAUNCH(kernel, grid, block, shared_bytes, stream)(arguments...);
//
// (a templated kernel goes in parentheses: `(axpy<float, 4>)`), and get dynamic shared memory by
// `PYGPU_DYNAMIC_SHARED(float, name);` inside the kernel.
//
// Defining PYGPU_TARGET_CUDA, _HIP or _HOST overrides the choice that the compiler implies.
#pragma once

#if defined(PYGPU_TARGET_CUDA) || defined(PYGPU_TARGET_HIP) || defined(PYGPU_TARGET_HOST)
// chosen explicitly
#elif defined(__CUDACC__)
#define PYGPU_TARGET_CUDA
#elif defined(__HIPCC__) || defined(__HIP__)
#define PYGPU_TARGET_HIP
#else
#define PYGPU_TARGET_HOST
#endif

#if defined(PYGPU_TARGET_CUDA)
#include "vendor/cuda.h"
#elif defined(PYGPU_TARGET_HIP)
#include "vendor/hip.h"
#else
#include "cuda_on_host.h"
#include "vendor/host_arrays.h"
#include "vendor/host_graphs.h"
#include "vendor/host_modules.h"
#endif
