// <builtin_types.h> for HIPRTC, which has these types without an include.
#pragma once
