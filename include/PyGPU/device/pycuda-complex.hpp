// pycuda::complex<float/double>: complex numbers inside kernels, the class and its arithmetic.
//
// Two scalars, trivially copyable and not initialized, so that the class can be in shared memory
// and a kernel's parameter. Usable inside an extern "C" block.
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

template <bool P_condition, class P_T = int>
struct P_only_if {};
template <class P_T>
struct P_only_if<true, P_T> {
  typedef P_T P_type;
};

template <class P_S>
struct P_is_scalar {
  static const bool P_value = false;
};
#define PYGPU_COMPLEX_SCALAR(type)    \
  template <>                         \
  struct P_is_scalar<type> {          \
    static const bool P_value = true; \
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

template <class P_A, class P_B, bool P_first_is_wider = (sizeof(P_A) > sizeof(P_B))>
struct P_wider {
  typedef P_B P_type;
};
template <class P_A, class P_B>
struct P_wider<P_A, P_B, true> {
  typedef P_A P_type;
};

}  // namespace complex_detail

template <class P_T>
class complex {
 public:
  typedef P_T value_type;

  P_T _M_re, _M_im;

  complex() = default;
  __host__ __device__ constexpr complex(P_T P_re) : _M_re(P_re), _M_im(P_T(0)) {}
  __host__ __device__ constexpr complex(P_T P_re, P_T P_im) : _M_re(P_re), _M_im(P_im) {}

  // Templates are never copy constructors, so the class stays trivially copyable. There are two,
  // because a reference to volatile cannot bind to a temporary. Conversions to a narrower type are
  // explicit.
#define PYGPU_COMPLEX_CONVERT(qualifier, explicitly, condition)                     \
  template <class P_U, typename complex_detail::P_only_if<(condition)>::P_type = 0> \
  explicitly PYGPU_COMPLEX complex(qualifier complex<P_U>& P_z)                     \
      : _M_re(P_T(P_z._M_re)), _M_im(P_T(P_z._M_im)) {}
  PYGPU_COMPLEX_CONVERT(const, , sizeof(P_U) <= sizeof(P_T))
  PYGPU_COMPLEX_CONVERT(const, explicit, (sizeof(P_U) > sizeof(P_T)))
  PYGPU_COMPLEX_CONVERT(const volatile, , sizeof(P_U) <= sizeof(P_T))
  PYGPU_COMPLEX_CONVERT(const volatile, explicit, (sizeof(P_U) > sizeof(P_T)))
#undef PYGPU_COMPLEX_CONVERT

  // Conversion from float2, double2 and similar types.
  template <class P_V, class = decltype(static_cast<P_T>(P_V().x) + static_cast<P_T>(P_V().y)),
            typename complex_detail::P_only_if<sizeof(P_V) == 2 * sizeof(P_T)>::P_type = 0>
  explicit PYGPU_COMPLEX complex(const P_V& P_pair) : _M_re(P_pair.x), _M_im(P_pair.y) {}

  PYGPU_COMPLEX P_T real() const { return _M_re; }
  PYGPU_COMPLEX P_T imag() const { return _M_im; }
  PYGPU_COMPLEX P_T real() const volatile { return _M_re; }
  PYGPU_COMPLEX P_T imag() const volatile { return _M_im; }
  PYGPU_COMPLEX void real(P_T P_value) { _M_re = P_value; }
  PYGPU_COMPLEX void imag(P_T P_value) { _M_im = P_value; }

  PYGPU_COMPLEX complex& operator=(P_T P_re) { return *this = complex(P_re); }
  template <class P_U>
  PYGPU_COMPLEX complex& operator=(const complex<P_U>& P_z) {
    return *this = complex(P_z);
  }
  template <class P_U>
  PYGPU_COMPLEX complex& operator=(const volatile complex<P_U>& P_z) {
    return *this = complex(P_z);
  }
  // Returns void: a statement would read a returned reference to volatile once more.
  PYGPU_COMPLEX void operator=(P_T P_re) volatile { P_store(complex(P_re)); }
  template <class P_U>
  PYGPU_COMPLEX void operator=(const complex<P_U>& P_z) volatile {
    P_store(complex(P_z));
  }
  template <class P_U>
  PYGPU_COMPLEX void operator=(const volatile complex<P_U>& P_z) volatile {
    P_store(complex(P_z));
  }

#define PYGPU_COMPLEX_COMPOUND(op)                                     \
  template <class P_Other>                                             \
  PYGPU_COMPLEX complex& operator op##=(const P_Other& P_other) {      \
    return *this = complex(*this op P_other);                          \
  }                                                                    \
  template <class P_Other>                                             \
  PYGPU_COMPLEX void operator op##=(const P_Other& P_other) volatile { \
    P_store(complex(complex(*this) op P_other));                       \
  }
  PYGPU_COMPLEX_COMPOUND(+)
  PYGPU_COMPLEX_COMPOUND(-)
  PYGPU_COMPLEX_COMPOUND(*)
  PYGPU_COMPLEX_COMPOUND(/)
#undef PYGPU_COMPLEX_COMPOUND

 private:
  PYGPU_COMPLEX void P_store(const complex& P_z) volatile {
    _M_re = P_z._M_re;
    _M_im = P_z._M_im;
  }
};

template <class P_T>
PYGPU_COMPLEX complex<P_T> operator+(const complex<P_T>& P_z) {
  return P_z;
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> operator-(const complex<P_T>& P_z) {
  return complex<P_T>(-P_z._M_re, -P_z._M_im);
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> operator+(const complex<P_T>& P_a, const complex<P_T>& P_b) {
  return complex<P_T>(P_a._M_re + P_b._M_re, P_a._M_im + P_b._M_im);
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> operator-(const complex<P_T>& P_a, const complex<P_T>& P_b) {
  return complex<P_T>(P_a._M_re - P_b._M_re, P_a._M_im - P_b._M_im);
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> operator*(const complex<P_T>& P_a, const complex<P_T>& P_b) {
  return complex<P_T>(P_a._M_re * P_b._M_re - P_a._M_im * P_b._M_im,
                      P_a._M_re * P_b._M_im + P_a._M_im * P_b._M_re);
}
template <class P_T>
PYGPU_COMPLEX bool operator==(const complex<P_T>& P_a, const complex<P_T>& P_b) {
  return P_a._M_re == P_b._M_re && P_a._M_im == P_b._M_im;
}
template <class P_T>
PYGPU_COMPLEX bool operator!=(const complex<P_T>& P_a, const complex<P_T>& P_b) {
  return !(P_a == P_b);
}

}  // namespace pycuda

#include "pycuda-complex-divide.hpp"
#include "pycuda-complex-mixed.hpp"
// Included last, because the functions use the operators.
#include "pycuda-complex-functions.hpp"
#include "pycuda-complex-inverse.hpp"

#undef PYGPU_COMPLEX

}  // extern "C++"
