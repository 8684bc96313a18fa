// <vector_types.h> for the `host` target. Kernels include it without need: the language has the
// vector types. Sources of C get their own declarations with the same layout.
#pragma once

#ifdef __cplusplus
#include "../../cuda_on_host.h"
#else
#include "../c_vector_types.h"
#endif
