// CUDA's header of this name, for kernels on the `host` target.
#pragma once

#include "../../../rtc_hip/cooperative_groups/folds.h"
