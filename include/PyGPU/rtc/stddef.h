// NULL, offsetof and max_align_t; size_t, ptrdiff_t and wchar_t where the compiler lacks them.
#pragma once

#ifdef __HIPCC_RTC__
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#endif
#ifndef NULL
#define NULL __null
#endif
#ifndef offsetof
#ifdef __HIPCC_RTC__
#define offsetof(type, member) __builtin_offsetof(type, member)
#else
#define offsetof(type, member) (reinterpret_cast<size_t>(&((type*)0)->member))
#endif
#endif
typedef long double max_align_t;
