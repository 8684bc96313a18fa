// <hip/hip_bf16.h> for the `host` target.
#pragma once

#include "../../cuda/cuda_bf16.h"
#include "hip_runtime.h"
