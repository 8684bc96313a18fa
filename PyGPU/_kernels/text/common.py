"""Building blocks of all kernel texts: elements in memory and as values, vectors, indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from PyGPU._kernels.types import REGISTRY

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike

# A double is rounded to a float whose last bit records whether bits were lost. Rounding that float
# to a half gives the same result as rounding the double, without double rounding.
_HALF = """
__device__ inline half P_half(float P_x) { return __float2half(P_x); }
__device__ inline half P_half(double P_x) {
  float P_near = float(P_x);
  if (double(P_near) != P_x) {
    const unsigned P_bits = __float_as_uint(P_near);
    P_near = __uint_as_float((fabs(double(P_near)) > fabs(P_x) ? P_bits - 1u : P_bits) | 1u);
  }
  return __float2half(P_near);
}
template <class P_X> __device__ half P_half(P_X P_x) { return __float2half(float(P_x)); }
"""

# A number whose value is hidden from the compiler, so that the compiler cannot fold constants.
_UNSEEN = """
#ifdef PYGPU_TARGET_HOST
#define P_ANY(P_place) __asm__("" : "+m"(P_x))
#elif defined(__HIP__)
#define P_ANY(P_place) asm("" : "+v"(P_x))
#else
#define P_ANY(P_place) asm("" : P_place(P_x))
#endif
__device__ inline float P_unseen(float P_x) { P_ANY("+f"); return P_x; }
__device__ inline double P_unseen(double P_x) { P_ANY("+d"); return P_x; }
"""

# Conversions of floating-point numbers to integers, including numbers out of the integer's range.
# C++ leaves these undefined, and compilers use that where they know the number. On the host
# machine, the result is the processor's: an int or long long, truncated to the low bits. On a GPU,
# it is that of the conversion instruction, because the number is hidden from the compiler.
# g++ would also replace (double)(int)x by trunc(x), which has no limits and keeps the sign of zero;
# P_used_whole therefore hides the integer from g++.
_WHOLE = """
template <class P_I, class P_X> __device__ inline P_I P_whole(P_X P_x) { return P_I(P_x); }
#ifdef PYGPU_TARGET_HOST
template <class P_W, class P_X> inline P_W P_held(P_X P_x) {
  const P_W P_low = P_W(1ull << (8 * sizeof(P_W) - 1));
  return P_x >= P_X(P_low) && P_x < -P_X(P_low) ? P_W(P_x) : P_low;
}
template <class P_I, class P_X> inline P_I P_whole_of(P_X P_x) {
  const bool P_has_sign = P_I(-1) < P_I(1);
  const P_X P_half = P_X(1ull << 63);
  if (sizeof(P_I) + !P_has_sign <= 4) return P_I(P_held<int>(P_x));
  if (P_has_sign || sizeof(P_I) < 8 || !(P_x >= P_half)) return P_I(P_held<long long>(P_x));
  return P_I(P_held<long long>(P_x - P_half)) + P_I(1ull << 63);
}
#else
template <class P_I, class P_X> __device__ inline P_I P_whole_of(P_X P_x) {
  return P_I(P_unseen(P_x));
}
#endif
template <class P_I> __device__ inline P_I P_whole(float P_x) { return P_whole_of<P_I>(P_x); }
template <class P_I> __device__ inline P_I P_whole(double P_x) { return P_whole_of<P_I>(P_x); }
template <class P_I, class P_X> __device__ inline P_I P_used_whole(P_X P_x) {
  P_I P_i = P_whole<P_I>(P_x);
#ifdef PYGPU_TARGET_HOST
  __asm__("" : "+r"(P_i));
#endif
  return P_i;
}
"""

#: Elements that are read or written in one access.
VECTOR = """
template <class E, int N> struct alignas(sizeof(E) * N) P_vector { E item[N]; };
"""


def accumulated(dtype: DType) -> DType:
    """Return the dtype in which elements are accumulated: halves as floats."""
    return np.dtype(np.float32 if dtype == np.float16 else dtype)


class Element:
    """A dtype in kernel text: the type in memory, and the type of values.

    An array of bools may contain any byte; every byte but 0 is true.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        name = REGISTRY.dtype_to_ctype(self.dtype)
        self.is_half, self.is_complex = name == "half", self.dtype.kind == "c"
        self.is_bool = name == "bool"
        self.stored = "unsigned char" if self.is_bool else name
        self.computed = "float" if self.is_half else name

    def load(self, text: str) -> str:
        """Convert an element in memory to a value."""
        if self.is_half:
            return f"__half2float({text})"
        return f"({text} != 0)" if self.is_bool else text

    def store(self, text: str) -> str:
        """Convert a value to an element in memory."""
        if self.is_half:
            return f"P_half({text})"
        return f"(bool)({text})" if self.is_bool else f"({self.stored})({text})"

    def converted(self, text: str, target: Element, is_used: bool = True) -> str:
        """Convert a value of this type to another type; complex numbers lose the imaginary part.

        Without `is_used`, the value is only stored.
        """
        if self.computed == target.computed and not target.is_half:
            return text
        if self.is_complex and target.is_bool:
            return f"(({text}).real() != 0 || ({text}).imag() != 0)"
        if self.is_complex and not target.is_complex:
            text = f"({text}).real()"
        if target.is_bool:
            return f"({text} != 0)"
        if target.is_half:  # a value that is only stored is rounded there
            is_exact = np.can_cast(self.dtype, target.dtype)
            return text if is_exact or not is_used else f"__half2float(P_half({text}))"
        if target.is_complex and not self.is_complex:
            part = target.computed[len("pycuda::complex<") : -1]
            return f"{target.computed}({part}({text}))"
        if self.dtype.kind in "fc" and target.dtype.kind in "iu":
            return f"{'P_used_whole' if is_used else 'P_whole'}<{target.computed}>({text})"
        if self.is_bool and target.dtype.kind == "f":  # g++ vectorizes a choice between constants
            return f"({text} ? {target.computed}(1) : {target.computed}(0))"
        return f"({target.computed})({text})"


#: P_is_last(done, blocks, is_last): whether this block is the last of all blocks to finish.
LAST_BLOCK = "#include <PyGPU/kernels/last_block.h>\n"


def vector_of(element: Element, width: int) -> str:
    """Return the C type of `width` elements that are read or written in one access."""
    return f"P_vector<{element.stored}, {width}>"


def includes(elements: Sequence[Element]) -> str:
    """Return the #include lines that the elements' types need."""
    half = any(one.is_half for one in elements)
    is_complex = any(one.is_complex for one in elements)
    return ("#include <cuda_fp16.h>\n" if half else "") + (
        "#include <pycuda-complex.hpp>\n" if is_complex else ""
    )


def headed(elements: Sequence[Element], text: str) -> str:
    """Prepend the headers and functions that a text needs to load and store such elements."""
    has_whole = "P_whole<" in text or "P_used_whole<" in text
    return (
        includes(elements)
        + (_HALF if "P_half(" in text else "")
        + (_UNSEEN if has_whole or "P_unseen(" in text else "")
        + (_WHOLE if has_whole else "")
        + text
    )


def index_types(index64: bool) -> str:
    """Return the types of indices: a signed type, and an unsigned type, which divides faster."""
    index = "long long" if index64 else "int"
    return f"typedef {index} P_index;\ntypedef unsigned {index} P_natural;\n"


def unravel(counter: str, axes: int, lengths: str, step: str, last: bool = True) -> str:
    """Return statements that split a counter into positions along axes, the last axis first.

    :param counter: Variable of type P_index; the statements overwrite it.
    :param axes: Number of axes.
    :param lengths: Array of the lengths of the axes.
    :param step: Statements for each `axis`, with the position `at` along it.
    :param last: The counter does not exceed the axes, so that the first axis needs no division.
    """
    rest = f"P_natural({counter}) / P_natural({lengths}[axis])"
    return f"""#pragma unroll
    for (int axis = {axes - 1}; axis >= 0; --axis) {{
      const P_index rest = {f"axis ? {rest} : 0" if last else rest};
      const long long at = {counter} - rest * P_index({lengths}[axis]);
      {counter} = rest;
      {step}
    }}"""
