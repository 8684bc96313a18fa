// The CUDA driver's header on HIPRTC: device code uses none of it.
#pragma once
