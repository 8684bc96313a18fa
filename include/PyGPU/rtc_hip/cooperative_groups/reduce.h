// Reductions of cooperative groups stand beside the groups themselves.
#pragma once

#include "../cooperative_groups.h"
