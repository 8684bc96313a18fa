// SIMD and DPX intrinsics of CUDA, for HIPRTC. Included before sources that use one of them.
#pragma once

#pragma clang force_cuda_host_device begin
#include "../device/simd_integers.h"
#pragma clang force_cuda_host_device end
