// <cuda_texture_types.h> for the `host` target: all of it is in <cuda_runtime.h>.
#pragma once

#include "cuda_runtime.h"
