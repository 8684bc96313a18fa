// The vector types are built into HIPRTC.
#pragma once
