// <host_defines.h> for AMD: HIP declares these names without an include.
#pragma once
