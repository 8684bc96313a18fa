// The device functions are built into HIPRTC.
#pragma once
