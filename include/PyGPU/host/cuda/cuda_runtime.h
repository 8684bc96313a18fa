// <cuda_runtime.h> for kernels of the `host` target: includes the language, which is always
// declared.
#pragma once

#include "../../cuda_on_host.h"
