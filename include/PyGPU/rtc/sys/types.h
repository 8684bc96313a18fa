// POSIX types that programs use without an include; nvcc's sources get them from glibc.
#pragma once

#include "../stdint.h"

typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef PYGPU_OWN_OR(PYGPU_OWN_ulong, unsigned long) ulong;
typedef PYGPU_OWN_OR(PYGPU_OWN_ssize_t, long) ssize_t;
typedef long off_t;
#ifdef __HIPCC_RTC__
typedef long time_t;
typedef long clock_t;
#else  // NVRTC has its own clock_t, and libcu++ declares this type so
typedef long long time_t;
#endif
