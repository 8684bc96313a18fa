// The CUDA runtime's header on HIPRTC, whose own is there before the first line.
#pragma once
