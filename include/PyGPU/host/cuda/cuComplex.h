// <cuComplex.h> for kernels of the `host` target: complex numbers as pairs.
#pragma once

#include "../../cuda_on_host.h"

#define PYGPU_OVER(a, b) ((a) / (b))
#include "../../device/toolkit/cuComplex.h"
#undef PYGPU_OVER
