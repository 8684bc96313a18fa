// <math_constants.h> for kernels of the `host` target: constants for float and double.
#pragma once

#include "../../cuda_on_host.h"
#include "../../device/toolkit/math_constants.h"

#define CUDART_INF_F __int_as_float(0x7f800000)
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#define CUDART_INF __longlong_as_double(0x7ff0000000000000ll)
#define CUDART_NAN __longlong_as_double(0x7ff8000000000000ll)
