// The vector constructors are built into HIPRTC.
#pragma once
