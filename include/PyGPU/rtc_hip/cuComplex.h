// <cuComplex.h> for HIPRTC: complex numbers as pairs.
#pragma once

// CUDA multiplies both parts by one reciprocal, and so divides only once.
#define PYGPU_OVER(a, b) ((a) * (1 / (b)))
#include "../device/toolkit/cuComplex.h"
#undef PYGPU_OVER
