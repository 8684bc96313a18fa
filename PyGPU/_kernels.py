"""Text of the elementwise kernels behind GPUArray's operators, and the types that NumPy gives them.

The parameters of a kernel are told in include/PyGPU/elementwise.h.
"""

import warnings

import numpy as np

from PyGPU import _build, _ctypes
from PyGPU._targets import core

# What each operator computes from operands of one type, `T`. Functions with a P in front of their
# name are in _HELPERS.
_BINARY = {
    "add": "a + b",
    "subtract": "a - b",
    "multiply": "a * b",
    "divide": "a / b",
    "floor_divide": "P_floor_divide(a, b)",
    "remainder": "P_remainder(a, b)",
    "power": "P_power(a, b)",
    "bitwise_and": "a & b",
    "bitwise_or": "a | b",
    "bitwise_xor": "a ^ b",
    "left_shift": "P_left_shift(a, b)",
    "right_shift": "P_right_shift(a, b)",
    "equal": "T(a == b)",
    "not_equal": "T(a != b)",
    "less": "T(a < b)",
    "less_equal": "T(a <= b)",
    "greater": "T(a > b)",
    "greater_equal": "T(a >= b)",
}
_BOOL = {
    **{"add": "a || b", "multiply": "a && b", "bitwise_and": "a && b", "bitwise_or": "a || b"},
    **{"bitwise_xor": "a != b", "power": "a || !b", "invert": "!a"},
}
_UNARY = {
    "copy": "a",
    "positive": "a",
    "negative": "P_negative(a)",
    "absolute": "P_absolute(a)",
    "invert": "~a",
}

# Quotients and remainders are Python's: towards minus infinity, with the divisor's sign. Dividing
# an integer by zero gives 0, as in NumPy. Overflows of integers wrap.
_HELPERS = """
template <class T> struct P_is_float { static const bool value = false; };
template <> struct P_is_float<float> { static const bool value = true; };
template <> struct P_is_float<double> { static const bool value = true; };
template <bool> struct P_tag {};

template <class T> __device__ T P_floor_divide_as(T a, T b, P_tag<false>) {
  if (b == T(0)) return T(0);
  if (T(0) > T(-1) && b == T(-1)) return T(0u - (unsigned long long)a);
  const T q = T(a / b);
  return T(q - T(a % b != T(0) && ((a < T(0)) != (b < T(0)))));
}
template <class T> __device__ T P_remainder_as(T a, T b, P_tag<false>) {
  if (b == T(0)) return T(0);
  if (T(0) > T(-1) && b == T(-1)) return T(0);
  const T r = T(a % b);
  return T(r != T(0) && ((r < T(0)) != (b < T(0))) ? r + b : r);
}
template <class T> __device__ T P_floor_divide_as(T a, T b, P_tag<true>) {
  if (b == T(0)) return a / b;
  T r = fmod(a, b);
  T q = (a - r) / b;
  if (r != T(0) && ((b < T(0)) != (r < T(0)))) q -= T(1);
  if (q == T(0)) return copysign(T(0), a / b);
  const T whole = floor(q);
  return q - whole > T(0.5) ? whole + T(1) : whole;
}
template <class T> __device__ T P_remainder_as(T a, T b, P_tag<true>) {
  T r = fmod(a, b);
  if (b == T(0)) return r;
  if (r == T(0)) return copysign(T(0), b);
  return (b < T(0)) != (r < T(0)) ? r + b : r;
}
template <class T> __device__ T P_floor_divide(T a, T b) {
  return P_floor_divide_as(a, b, P_tag<P_is_float<T>::value>());
}
template <class T> __device__ T P_remainder(T a, T b) {
  return P_remainder_as(a, b, P_tag<P_is_float<T>::value>());
}
template <class T> __device__ T P_power(T a, T b) {  // of integers: exact, by squaring
  if (b < T(0)) return T(a == T(1) ? 1 : a == T(-1) ? (b % T(2) == T(0) ? 1 : -1) : 0);
  unsigned long long result = 1, base = (unsigned long long)a, left = (unsigned long long)b;
  for (; left; left >>= 1, base *= base) if (left & 1) result *= base;
  return T(result);
}
__device__ inline float P_power(float a, float b) { return powf(a, b); }
__device__ inline double P_power(double a, double b) { return pow(a, b); }
template <class T> __device__ T P_left_shift(T a, T b) {
  return (unsigned long long)b < 8 * sizeof(T) ? T((unsigned long long)a << b) : T(0);
}
template <class T> __device__ T P_right_shift(T a, T b) {
  if ((unsigned long long)b < 8 * sizeof(T)) return T(a >> b);
  return T(a < T(0) ? -1 : 0);
}
template <class T> __device__ T P_negative(T a) { return T(T(0) - a); }
__device__ inline float P_negative(float a) { return -a; }
__device__ inline double P_negative(double a) { return -a; }
template <class T> __device__ T P_absolute(T a) { return a < T(0) ? T(T(0) - a) : a; }
__device__ inline float P_absolute(float a) { return fabsf(a); }
__device__ inline double P_absolute(double a) { return fabs(a); }
"""
_COMPLEX_HELPERS = """
template <class R> __device__ pycuda::complex<R>
P_power(const pycuda::complex<R>& a, const pycuda::complex<R>& b) { return pycuda::pow(a, b); }
template <class R> __device__ pycuda::complex<R> P_negative(const pycuda::complex<R>& a) {
  return -a;
}
template <class R> __device__ R P_absolute(const pycuda::complex<R>& a) { return pycuda::abs(a); }
"""


def _expression(name, compute):
    if compute == "bool" and name in _BOOL:
        return _BOOL[name]
    return _BINARY[name] if name in _BINARY else _UNARY[name]


class _Type:
    """A dtype in kernel text: what lies in memory, and what is computed with."""

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.stored = _ctypes.dtype_to_ctype(self.dtype)
        self.is_complex = self.dtype.kind == "c"
        self.computed = "float" if self.stored == "half" else self.stored

    def load(self, text):
        return f"__half2float({text})" if self.stored == "half" else text

    def store(self, text):
        return (
            f"__float2half(float({text}))" if self.stored == "half" else f"({self.stored})({text})"
        )


def _converted(text, source, target):
    """A value of one computed type as another; a complex one loses its imaginary part."""
    if source.computed == target.computed:
        return text
    if source.is_complex and target.stored == "bool":
        return f"(({text}).real() != 0 || ({text}).imag() != 0)"
    if source.is_complex and not target.is_complex:
        text = f"({text}).real()"
    if target.stored == "bool":
        return f"({text} != ({source.computed})(0))"
    if target.is_complex and not source.is_complex:
        part = target.computed[len("pycuda::complex<") : -1]
        return f"{target.computed}({part}({text}))"
    return f"({target.computed})({text})"


def _vector(kind, width):
    return f"P_pack<{kind}, {width}>"


def source(name, inputs, compute, output, ndim, wide, width, scalars):
    """The text of one kernel.

    Parameters
    ----------
    name : str
        Of the operation, as NumPy calls it.
    inputs : sequence of str
        dtypes of the operands.
    compute, output : str
        dtypes of the computation and of the result.
    ndim : int
        Axes of the loop; 0 for arrays that are packed alike.
    wide : bool
        Indices of 64 bits.
    width : int
        Elements that a thread of a linear kernel takes at once.
    scalars : sequence of bool
        Which operands are values (of the computed type).
    """
    types = [_Type(one) for one in inputs]
    computed, result = _Type(compute), _Type(output)
    letters = "ab"[: len(types)]
    value_type = _Type(np.dtype(compute).type(0).real.dtype) if name == "absolute" else computed
    value = _converted(_expression(name, compute), value_type, result)
    index = "long long" if wide else "int"

    parameters, loads = [], []
    for letter, one, is_scalar in zip(letters, types, scalars):
        if is_scalar:
            parameters.append(f"{computed.stored} {letter}_value")
            loads.append(f"const T {letter} = {computed.load(f'{letter}_value')};")
        else:
            kind = "char" if ndim else one.stored
            parameters.append(f"const {kind} *{letter}_data")
            raw = one.load(
                f"*(const {one.stored} *)({letter}_data + {letter}_at)"
                if ndim
                else f"{letter}_pack.item[k]"
            )
            loads.append(f"const T {letter} = {_converted(raw, one, computed)};")
    body = " ".join(loads)
    arrays = [
        (letter, one) for letter, one, is_scalar in zip(letters, types, scalars) if not is_scalar
    ]
    if ndim:
        text = _strided(index, ndim, arrays, result, parameters, body, value)
    else:
        text = _linear(index, width, arrays, result, parameters, body, value)
    half = any(one.stored == "half" for one in [*types, computed, result])
    is_complex = any(one.is_complex for one in [*types, computed, result])
    return (
        ("#include <cuda_fp16.h>\n" if half else "")
        + ("#include <pycuda-complex.hpp>\n" if is_complex else "")
        + _HELPERS
        + (_COMPLEX_HELPERS if is_complex else "")
        + f"typedef {computed.computed} T;\n"
        + text
    )


def _linear(index, width, arrays, result, parameters, body, value):
    pointers = ", ".join([f"{index} n", f"{result.stored} *out", *parameters])
    one = "".join(
        f"    {_vector(kind.stored, 1)} {letter}_pack; {letter}_pack.item[0] = {letter}_data[i];\n"
        for letter, kind in arrays
    )
    tail = f"{one}    const int k = 0; {body}\n    out[i] = {result.store(value)};\n"
    many = "".join(
        f"    const {_vector(kind.stored, width)} {letter}_pack = "
        f"*(const {_vector(kind.stored, width)} *)({letter}_data + first);\n"
        for letter, kind in arrays
    )
    return f"""
template <class E, int N> struct alignas(sizeof(E) * N) P_pack {{ E item[N]; }};
extern "C" __global__ void elementwise({pointers}) {{
  const {index} thread = {index}(blockIdx.x) * {index}(blockDim.x) + {index}(threadIdx.x);
  const {index} first = thread * {width};
  if (first + {width} <= n) {{
{many}    {_vector(result.stored, width)} out_pack;
    #pragma unroll
    for (int k = 0; k < {width}; ++k) {{ {body} out_pack.item[k] = {result.store(value)}; }}
    *({_vector(result.stored, width)} *)(out + first) = out_pack;
    return;
  }}
  for ({index} i = first; i < n; ++i) {{
{tail}  }}
}}
"""


def _strided(index, ndim, arrays, result, parameters, body, value):
    names = ["out", *(letter for letter, _ in arrays)]
    fields = " ".join(f"{index} {name}[{ndim}];" for name in ["shape", *names])
    pointers = ", ".join(["P_loop loop", "char *out_data", *parameters])
    offsets = " ".join(f"{name}_at += at * loop.{name}[axis];" for name in names)
    start = " ".join(f"long long {name}_at = 0;" for name in names)
    return f"""
struct P_loop {{ {index} size; {fields} }};
extern "C" __global__ void elementwise({pointers}) {{
  {index} i = {index}(blockIdx.x) * {index}(blockDim.x) + {index}(threadIdx.x);
  if (i >= loop.size) return;
  {start}
  #pragma unroll
  for (int axis = {ndim - 1}; axis >= 0; --axis) {{
    const {index} rest = axis ? i / loop.shape[axis] : 0;
    const long long at = i - rest * loop.shape[axis];
    i = rest;
    {offsets}
  }}
  {body}
  *({result.stored} *)(out_data + out_at) = {result.store(value)};
}}
"""


def make(name, inputs, compute, output, ndim, wide, width, scalars):
    """The module that holds the kernel ``elementwise`` of these types."""
    request = _build.Request(
        source=source(name, inputs, compute, output, ndim, wide, width, scalars),
        extern_c=False,
        name=f"{name}.cu",
    )
    return core._Module(_build.build(request).image, [])


def _probe(name, a, b):
    """The dtype that NumPy gives an operation of arrays, or of an array and a number."""
    one = np.ones(1, a)
    other = np.ones(1, b) if isinstance(b, np.dtype) else b
    if name == "divide":
        return np.true_divide(one, other).dtype
    if name in ("floor_divide", "remainder", "power"):
        (one + other).dtype  # NumPy 2 refuses numbers that the dtype cannot hold  # noqa: B018
        if not isinstance(b, np.dtype):
            other = type(b)(1)  # NumPy's types do not depend on the value; its errors do
        return getattr(np, name)(one, other).dtype
    if name in (
        "subtract",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "left_shift",
        "right_shift",
    ):
        return getattr(np, name)(one, other).dtype
    return (one + other).dtype


def binary_types(name, a, b):
    """(compute, result) dtypes of ``a <name> b``.

    Parameters
    ----------
    name : str
    a : numpy.dtype
    b : numpy.dtype or a Python number
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _types(name, a, b)


def _types(name, a, b):
    comparison = name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    if not comparison:
        compute = _probe(name, a, b)
        return compute, compute
    try:
        compute = _probe("add", a, b)
    except OverflowError:  # NumPy 2: the number is out of the array's range, which is an answer
        compute = np.dtype(np.int64 if b < 0 else np.uint64)
    if compute.kind == "c" and name not in ("equal", "not_equal"):
        raise TypeError(f"{name} is not defined for complex numbers")
    return compute, (compute if isinstance(b, np.dtype) else a)
