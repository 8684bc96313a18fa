// <cooperative_groups/reduce.h> for kernels of the `host` target: reductions over a group.
#pragma once

#include "../../../device/group_folds.h"
