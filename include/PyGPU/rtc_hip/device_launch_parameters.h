// threadIdx and its like are built into HIPRTC.
#pragma once
