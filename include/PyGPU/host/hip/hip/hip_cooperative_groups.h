// <hip/hip_cooperative_groups.h> for the `host` target.
#pragma once

#include "../../cuda/cooperative_groups.h"
#include "hip_runtime.h"
