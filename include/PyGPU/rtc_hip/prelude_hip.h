// The prelude on HIPRTC: the common one, and CUDA's spellings that HIP lacks.
#pragma once

#include <prelude.h>

#include "atomics.h"
#include "intrinsics.h"
#include "warp.h"

#ifndef __grid_constant__
#define __grid_constant__
#endif
