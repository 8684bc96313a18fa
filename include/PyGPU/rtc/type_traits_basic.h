// Traits that old HIPRTC (before 5.3) declares in namespace std itself; ours everywhere else.
#pragma once

#if !defined(__HIPCC_RTC__) || HIP_VERSION_MAJOR > 5 || HIP_VERSION_MINOR > 2

extern "C++" {

// A using-directive on HIP: if a version declares some of the traits itself, those are found first.
#ifdef __HIPCC_RTC__
namespace pygpu_std {
#else
namespace std {
#endif

template <class P_T, P_T P_constant>
struct integral_constant {
  static constexpr P_T value = P_constant;
  typedef P_T value_type;
  typedef integral_constant type;
  __host__ __device__ constexpr operator P_T() const noexcept { return P_constant; }
  __host__ __device__ constexpr P_T operator()() const noexcept { return P_constant; }
};
template <bool P_constant>
using bool_constant = integral_constant<bool, P_constant>;
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;

template <bool P_condition, class P_T = void>
struct enable_if {};
template <class P_T>
struct enable_if<true, P_T> {
  typedef P_T type;
};

template <class P_A, class P_B>
struct is_same : false_type {};
template <class P_A>
struct is_same<P_A, P_A> : true_type {};

// Qualified types by partial specialization: one per qualifier, not one per type.
#define PYGPU_QUALIFIED(name)               \
  template <class P_T>                      \
  struct name : false_type {};              \
  template <class P_T>                      \
  struct name<const P_T> : name<P_T> {};    \
  template <class P_T>                      \
  struct name<volatile P_T> : name<P_T> {}; \
  template <class P_T>                      \
  struct name<const volatile P_T> : name<P_T> {};
PYGPU_QUALIFIED(is_integral)
PYGPU_QUALIFIED(is_floating_point)
#undef PYGPU_QUALIFIED
#define PYGPU_IS(name, type) \
  template <>                \
  struct name<type> : true_type {};
PYGPU_IS(is_integral, bool)
PYGPU_IS(is_integral, char)
PYGPU_IS(is_integral, signed char)
PYGPU_IS(is_integral, unsigned char)
PYGPU_IS(is_integral, wchar_t)
PYGPU_IS(is_integral, char16_t)
PYGPU_IS(is_integral, char32_t)
PYGPU_IS(is_integral, short)
PYGPU_IS(is_integral, unsigned short)
PYGPU_IS(is_integral, int)
PYGPU_IS(is_integral, unsigned)
PYGPU_IS(is_integral, long)
PYGPU_IS(is_integral, unsigned long)
PYGPU_IS(is_integral, long long)
PYGPU_IS(is_integral, unsigned long long)
PYGPU_IS(is_floating_point, float)
PYGPU_IS(is_floating_point, double)
PYGPU_IS(is_floating_point, long double)
#undef PYGPU_IS

template <class P_T>
struct is_arithmetic
    : integral_constant<bool, is_integral<P_T>::value || is_floating_point<P_T>::value> {};
template <class P_T, bool = is_arithmetic<P_T>::value>
struct is_signed : false_type {};
template <class P_T>
struct is_signed<P_T, true> : integral_constant<bool, P_T(-1) < P_T(0)> {};
template <class P_From, class P_To>
struct is_convertible : integral_constant<bool, __is_convertible_to(P_From, P_To)> {};

}  // std or pygpu_std

#ifdef __HIPCC_RTC__
namespace std {
using namespace pygpu_std;
}
#endif
}

#endif
