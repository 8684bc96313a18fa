// <hip/hip_fp16.h> for the `host` target: numbers of two bytes.
#pragma once

#include "../../cuda/cuda_fp16.h"
