// CUDA's intrinsics of several integers in a word, for the device: before texts that name one.
#pragma once

#pragma clang force_cuda_host_device begin
#include "../device/simd_integers.h"
#pragma clang force_cuda_host_device end
