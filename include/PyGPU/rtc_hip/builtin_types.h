// <builtin_types.h> for AMD: HIP has these types without an include.
#pragma once
