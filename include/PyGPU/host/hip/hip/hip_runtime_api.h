// <hip/hip_runtime_api.h> for the `host` target: the runtime API.
#pragma once

#include "hip_runtime.h"
