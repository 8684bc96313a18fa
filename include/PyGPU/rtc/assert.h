// assert. NVRTC has it built in; HIPRTC has only the function that it calls. May be included
// repeatedly.
#include "stddef.h"

#ifdef __HIPCC_RTC__
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
  ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif
#endif
