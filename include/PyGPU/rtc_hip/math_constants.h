// CUDA's names of mathematical constants.
#pragma once

#include <math.h>

#include "../device/toolkit/math_constants.h"

#define CUDART_INF_F __builtin_huge_valf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_huge_val()
#define CUDART_NAN __builtin_nan("")
