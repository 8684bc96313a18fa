// cuRAND's device functions under HIP: ours, so that the numbers are those of the other targets.
#pragma once

#include "../device/random/curand_kernel.h"
