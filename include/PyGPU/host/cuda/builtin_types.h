// <builtin_types.h> for the `host` target: <cuda_runtime.h> has all its declarations.
#pragma once

#include "cuda_runtime.h"
