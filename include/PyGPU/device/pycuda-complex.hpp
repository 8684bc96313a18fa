// pycuda::complex<float/double>: complex numbers inside kernels, the class and its arithmetic.
//
// Two scalars, trivially copyable and not initialised, so that it can be in shared memory and a
// kernel's parameter. Usable inside an extern "C" block.
#pragma once

extern "C++" {

#include <math.h>

#if !defined(__device__) && !defined(__CUDACC__) && !defined(__HIP__)
#define __device__
#define __host__
#endif
#define PYGPU_COMPLEX __host__ __device__ inline

namespace pycuda {

namespace complex_detail {

template <bool condition, class T = int>
struct only_if {};
template <class T>
struct only_if<true, T> {
  typedef T type;
};

template <class S>
struct is_scalar {
  static const bool value = false;
};
#define PYGPU_COMPLEX_SCALAR(type)  \
  template <>                       \
  struct is_scalar<type> {          \
    static const bool value = true; \
  };
PYGPU_COMPLEX_SCALAR(bool)
PYGPU_COMPLEX_SCALAR(char)
PYGPU_COMPLEX_SCALAR(signed char)
PYGPU_COMPLEX_SCALAR(unsigned char)
PYGPU_COMPLEX_SCALAR(short)
PYGPU_COMPLEX_SCALAR(unsigned short)
PYGPU_COMPLEX_SCALAR(int)
PYGPU_COMPLEX_SCALAR(unsigned)
PYGPU_COMPLEX_SCALAR(long)
PYGPU_COMPLEX_SCALAR(unsigned long)
PYGPU_COMPLEX_SCALAR(long long)
PYGPU_COMPLEX_SCALAR(unsigned long long)
PYGPU_COMPLEX_SCALAR(float)
PYGPU_COMPLEX_SCALAR(double)
#undef PYGPU_COMPLEX_SCALAR

template <class A, class B, bool first_is_wider = (sizeof(A) > sizeof(B))>
struct wider {
  typedef B type;
};
template <class A, class B>
struct wider<A, B, true> {
  typedef A type;
};

}  // namespace complex_detail

template <class T>
class complex {
 public:
  typedef T value_type;

  T _M_re, _M_im;

  complex() = default;
  __host__ __device__ constexpr complex(T re) : _M_re(re), _M_im(T(0)) {}
  __host__ __device__ constexpr complex(T re, T im) : _M_re(re), _M_im(im) {}

  // Templates are never copy constructors, so the class stays trivially copyable. Twice, because a
  // reference to volatile cannot bind to a temporary. Conversions to a narrower type are explicit.
#define PYGPU_COMPLEX_CONVERT(qualifier, explicitly, condition)               \
  template <class U, typename complex_detail::only_if<(condition)>::type = 0> \
  explicitly PYGPU_COMPLEX complex(qualifier complex<U>& z)                   \
      : _M_re(T(z._M_re)), _M_im(T(z._M_im)) {}
  PYGPU_COMPLEX_CONVERT(const, , sizeof(U) <= sizeof(T))
  PYGPU_COMPLEX_CONVERT(const, explicit, (sizeof(U) > sizeof(T)))
  PYGPU_COMPLEX_CONVERT(const volatile, , sizeof(U) <= sizeof(T))
  PYGPU_COMPLEX_CONVERT(const volatile, explicit, (sizeof(U) > sizeof(T)))
#undef PYGPU_COMPLEX_CONVERT

  // From float2, double2 and their like.
  template <class V, class = decltype(static_cast<T>(V().x) + static_cast<T>(V().y)),
            typename complex_detail::only_if<sizeof(V) == 2 * sizeof(T)>::type = 0>
  explicit PYGPU_COMPLEX complex(const V& pair) : _M_re(pair.x), _M_im(pair.y) {}

  PYGPU_COMPLEX T real() const { return _M_re; }
  PYGPU_COMPLEX T imag() const { return _M_im; }
  PYGPU_COMPLEX T real() const volatile { return _M_re; }
  PYGPU_COMPLEX T imag() const volatile { return _M_im; }
  PYGPU_COMPLEX void real(T value) { _M_re = value; }
  PYGPU_COMPLEX void imag(T value) { _M_im = value; }

  PYGPU_COMPLEX complex& operator=(T re) { return *this = complex(re); }
  template <class U>
  PYGPU_COMPLEX complex& operator=(const complex<U>& z) {
    return *this = complex(z);
  }
  template <class U>
  PYGPU_COMPLEX complex& operator=(const volatile complex<U>& z) {
    return *this = complex(z);
  }
  // Returns void: as a statement, a reference to volatile would be read once more.
  PYGPU_COMPLEX void operator=(T re) volatile { store(complex(re)); }
  template <class U>
  PYGPU_COMPLEX void operator=(const complex<U>& z) volatile {
    store(complex(z));
  }
  template <class U>
  PYGPU_COMPLEX void operator=(const volatile complex<U>& z) volatile {
    store(complex(z));
  }

#define PYGPU_COMPLEX_COMPOUND(op)                                 \
  template <class Other>                                           \
  PYGPU_COMPLEX complex& operator op##=(const Other& other) {      \
    return *this = complex(*this op other);                        \
  }                                                                \
  template <class Other>                                           \
  PYGPU_COMPLEX void operator op##=(const Other& other) volatile { \
    store(complex(complex(*this) op other));                       \
  }
  PYGPU_COMPLEX_COMPOUND(+)
  PYGPU_COMPLEX_COMPOUND(-)
  PYGPU_COMPLEX_COMPOUND(*)
  PYGPU_COMPLEX_COMPOUND(/)
#undef PYGPU_COMPLEX_COMPOUND

 private:
  PYGPU_COMPLEX void store(const complex& z) volatile {
    _M_re = z._M_re;
    _M_im = z._M_im;
  }
};

template <class T>
PYGPU_COMPLEX complex<T> operator+(const complex<T>& z) {
  return z;
}
template <class T>
PYGPU_COMPLEX complex<T> operator-(const complex<T>& z) {
  return complex<T>(-z._M_re, -z._M_im);
}
template <class T>
PYGPU_COMPLEX complex<T> operator+(const complex<T>& a, const complex<T>& b) {
  return complex<T>(a._M_re + b._M_re, a._M_im + b._M_im);
}
template <class T>
PYGPU_COMPLEX complex<T> operator-(const complex<T>& a, const complex<T>& b) {
  return complex<T>(a._M_re - b._M_re, a._M_im - b._M_im);
}
template <class T>
PYGPU_COMPLEX complex<T> operator*(const complex<T>& a, const complex<T>& b) {
  return complex<T>(a._M_re * b._M_re - a._M_im * b._M_im, a._M_re * b._M_im + a._M_im * b._M_re);
}
template <class T>
PYGPU_COMPLEX bool operator==(const complex<T>& a, const complex<T>& b) {
  return a._M_re == b._M_re && a._M_im == b._M_im;
}
template <class T>
PYGPU_COMPLEX bool operator!=(const complex<T>& a, const complex<T>& b) {
  return !(a == b);
}

}  // namespace pycuda

#include "pycuda-complex-divide.hpp"
#include "pycuda-complex-mixed.hpp"
// The functions use the operators.
#include "pycuda-complex-functions.hpp"
#include "pycuda-complex-inverse.hpp"

#undef PYGPU_COMPLEX

}  // extern "C++"
