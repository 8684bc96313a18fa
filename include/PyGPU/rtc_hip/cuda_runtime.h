// The CUDA runtime's header on HIPRTC, whose own is always included.
#pragma once
