// <cuda_runtime.h> for the `host` target: the language, which is always declared, and the runtime
// API. Kernels that are compiled at run time include it without need, and call little of the API.
#pragma once

#include "../../cuda_on_host.h"
#ifndef PYGPU_SIMD_ON_DEMAND
#include "../runtime_api.h"
#endif
