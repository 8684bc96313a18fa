// <curand.h> for kernels of the `host` target: the types of cuRAND's host library that its device
// functions use.
#pragma once

#include "../../cuda_on_host.h"
#include "../../device/random/states.h"
