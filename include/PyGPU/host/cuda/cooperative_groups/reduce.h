// <cooperative_groups/reduce.h> for kernels of the `host` target: reductions over a group.
#pragma once

#include "../../../rtc_hip/cooperative_groups/folds.h"
