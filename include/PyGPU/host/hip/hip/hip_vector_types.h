// <hip/hip_vector_types.h> for the `host` target: all of it is in <hip/hip_runtime.h>.
#pragma once

#include "hip_runtime.h"
