// <curand_kernel.h> for kernels of the `host` target: cuRAND's device functions.
#pragma once

#include "../../cuda_on_host.h"
#include "../../device/random/curand_kernel.h"
