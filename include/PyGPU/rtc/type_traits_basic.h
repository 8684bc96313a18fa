// The traits that old HIPRTC (before 5.3) declares in namespace std itself; ours everywhere else.
#pragma once

#if !defined(__HIPCC_RTC__) || HIP_VERSION_MAJOR > 5 || HIP_VERSION_MINOR > 2

extern "C++" {

// A using-directive on HIP: where a version declares some of them itself, those are found first.
#ifdef __HIPCC_RTC__
namespace pygpu_std {
#else
namespace std {
#endif

template <class T, T constant>
struct integral_constant {
  static constexpr T value = constant;
  typedef T value_type;
  typedef integral_constant type;
  __host__ __device__ constexpr operator T() const noexcept { return constant; }
  __host__ __device__ constexpr T operator()() const noexcept { return constant; }
};
template <bool constant>
using bool_constant = integral_constant<bool, constant>;
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;

template <bool condition, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  typedef T type;
};

template <class A, class B>
struct is_same : false_type {};
template <class A>
struct is_same<A, A> : true_type {};

// Qualified types by partial specialisation: one per qualifier, not one per type.
#define PYGPU_QUALIFIED(name)           \
  template <class T>                    \
  struct name : false_type {};          \
  template <class T>                    \
  struct name<const T> : name<T> {};    \
  template <class T>                    \
  struct name<volatile T> : name<T> {}; \
  template <class T>                    \
  struct name<const volatile T> : name<T> {};
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

template <class T>
struct is_arithmetic
    : integral_constant<bool, is_integral<T>::value || is_floating_point<T>::value> {};
template <class T, bool = is_arithmetic<T>::value>
struct is_signed : false_type {};
template <class T>
struct is_signed<T, true> : integral_constant<bool, T(-1) < T(0)> {};
template <class From, class To>
struct is_convertible : integral_constant<bool, __is_convertible_to(From, To)> {};

}  // std or pygpu_std

#ifdef __HIPCC_RTC__
namespace std {
using namespace pygpu_std;
}
#endif
}

#endif
