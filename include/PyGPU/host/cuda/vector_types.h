// <vector_types.h> for the `host` target. Kernels have the vector types without this header. C
// sources get declarations of their own with the same layout.
#pragma once

#ifdef __cplusplus
#include "../../cuda_on_host.h"
#else
#include "../c_vector_types.h"
#endif
