// CUDA's header of this name.
#pragma once

#include "../cooperative_groups.h"
#include "../../device/group_reduce.h"
