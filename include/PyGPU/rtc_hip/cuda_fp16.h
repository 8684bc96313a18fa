// Half precision under CUDA's name: HIPRTC has __half and its functions built in.
#pragma once

typedef __half half;
typedef __half2 half2;
