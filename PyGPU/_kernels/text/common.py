"""What all kernel text is made of: elements in memory and as values, vectors of them, indices."""

import numpy as np

from PyGPU._kernels.registry import REGISTRY

# A float of which the last bit says that bits were lost rounds to a half as the double itself.
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

# A number of which the compiler knows nothing, so that it computes with it as with any other.
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

# Integers of floating-point numbers, also of those that the integer cannot hold: compilers may make
# anything of them, and do where they know the number. On the host machine it is what the processor
# gives, an int or a long long of which the low bits are taken; on a GPU what its instruction gives,
# as the compiler does not see the number. And g++ would take (double)(int)x for trunc(x), which has
# no limits and keeps the sign of zero: what is computed with is hidden from it.
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

#: Elements that are read or written at once.
VECTOR = """
template <class E, int N> struct alignas(sizeof(E) * N) P_vector { E item[N]; };
"""


class Element:
    """A dtype in kernel text: what lies in memory, and what is computed with.

    Any byte may stand in an array of bools: all but 0 is true.
    """

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        name = REGISTRY.dtype_to_ctype(self.dtype)
        self.is_half, self.is_complex = name == "half", self.dtype.kind == "c"
        self.is_bool = name == "bool"
        self.stored = "unsigned char" if self.is_bool else name
        self.computed = "float" if self.is_half else name

    def load(self, text):
        """A value, from what lies in memory."""
        if self.is_half:
            return f"__half2float({text})"
        return f"({text} != 0)" if self.is_bool else text

    def store(self, text):
        """What lies in memory, from a value."""
        if self.is_half:
            return f"P_half({text})"
        return f"(bool)({text})" if self.is_bool else f"({self.stored})({text})"

    def converted(self, text, target, is_used=True):
        """A value of this type as one of another; a complex one loses its imaginary part.

        Without `is_used` it is stored at once.
        """
        if self.computed == target.computed:
            return text
        if self.is_complex and target.is_bool:
            return f"(({text}).real() != 0 || ({text}).imag() != 0)"
        if self.is_complex and not target.is_complex:
            text = f"({text}).real()"
        if target.is_bool:
            return f"({text} != 0)"
        if target.is_half:
            return text  # which rounds once, where it is stored
        if target.is_complex and not self.is_complex:
            part = target.computed[len("pycuda::complex<") : -1]
            return f"{target.computed}({part}({text}))"
        if self.dtype.kind in "fc" and target.dtype.kind in "iu":
            return f"{'P_used_whole' if is_used else 'P_whole'}<{target.computed}>({text})"
        if self.is_bool and target.dtype.kind == "f":  # a choice, of which g++ makes vectors
            return f"({text} ? {target.computed}(1) : {target.computed}(0))"
        return f"({target.computed})({text})"


# Is this the last of `blocks` blocks to be done? It sees what all of them have written, and may go
# on with it (the CUDA samples' threadFenceReduction). The counter is 0 between launches.
#
# Why it sees it, in the memory models of PTX and of AMD's GPUs alike: each thread's fence is a
# release of what it wrote, at the scope of the device, and the barrier puts all of a block's before
# the count; the counts are one chain of atomic operations, and the fence behind the last of them is
# the acquire that matches all. The barrier hands on to the block what that thread has acquired: on
# AMD the fence drops the compute unit's vector cache, and where a block spans two of them (gfx10
# and later) the barrier's own fence, at the scope of the block, drops the other's.
LAST_BLOCK = """
__device__ inline bool P_is_last(unsigned *done, unsigned blocks, bool &is_last) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    is_last = atomicInc(done, blocks - 1) == blocks - 1;  // which makes it 0 again
    if (is_last) __threadfence();
  }
  __syncthreads();
  return is_last;
}
"""


def vector_of(element, width):
    """The C type of `width` elements that are read or written at once."""
    return f"P_vector<{element.stored}, {width}>"


def includes(elements):
    """The headers of these elements' types."""
    half = any(one.is_half for one in elements)
    is_complex = any(one.is_complex for one in elements)
    return ("#include <cuda_fp16.h>\n" if half else "") + (
        "#include <pycuda-complex.hpp>\n" if is_complex else ""
    )


def headed(elements, text):
    """A text that loads and stores such elements, behind the headers and functions that it uses."""
    has_whole = "P_whole<" in text or "P_used_whole<" in text
    return (
        includes(elements)
        + (_HALF if "P_half(" in text else "")
        + (_UNSEEN if has_whole or "P_unseen(" in text else "")
        + (_WHOLE if has_whole else "")
        + text
    )


def index_types(index64):
    """Types of counters: with a sign, and without one, which divides faster."""
    index = "long long" if index64 else "int"
    return f"typedef {index} P_index;\ntypedef unsigned {index} P_natural;\n"


def unravel(counter, axes, lengths, step, last=True):
    """Statements that take a counter apart, the fastest axis first, until it is 0.

    Parameters
    ----------
    counter : str
        A variable of type P_index; it is used up.
    axes : int
        Of `lengths`, an array.
    step : str
        Statements for each `axis` and the place `at` along it.
    last : bool
        Nothing is left beyond the slowest axis, so that its counter needs no division.
    """
    rest = f"P_natural({counter}) / P_natural({lengths}[axis])"
    return f"""#pragma unroll
    for (int axis = {axes - 1}; axis >= 0; --axis) {{
      const P_index rest = {f"axis ? {rest} : 0" if last else rest};
      const long long at = {counter} - rest * P_index({lengths}[axis]);
      {counter} = rest;
      {step}
    }}"""
