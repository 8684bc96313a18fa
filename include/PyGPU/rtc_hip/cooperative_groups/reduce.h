// CUDA's header of this name.
#pragma once

#include "../../device/group_folds.h"
