// CUDA's header of this name.
#pragma once

#include "folds.h"
