// Names of POSIX types that programs use unasked, as glibc gives them to every nvcc source.
#pragma once

typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long ssize_t;
typedef long off_t;
#ifdef __HIPCC_RTC__
typedef long time_t;
typedef long clock_t;
#else  // NVRTC has its own clock_t, and libcu++ declares this one so
typedef long long time_t;
#endif
