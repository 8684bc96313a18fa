// CUDA's header of this name: complex numbers as pairs.
#pragma once

// As CUDA has it: two quotients by the same number cost one division.
#define PYGPU_OVER(a, b) ((a) * (1 / (b)))
#include "../device/toolkit/cuComplex.h"
#undef PYGPU_OVER
