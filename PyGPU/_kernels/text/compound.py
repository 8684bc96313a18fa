"""Reductions whose accumulator is a structure: places of extremes, and variances.

- ``argmin`` and ``argmax``: an extreme and its place. The first of equal elements wins, and a NaN
  is beyond all numbers, as in NumPy.
- ``var`` and ``std``: sums of the differences from an element, and of their squares, so that the
  digits of a large mean do not cancel. A thread's sums are about its own first element. Sums of
  several elements are combined as in T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for
  computing the sample variance", The American Statistician 37 (1983), equation 2.1.
"""

from __future__ import annotations

import numpy as np

from PyGPU._kernels.text.common import Element, accumulated
from PyGPU._kernels.text.folding import ReductionKey, limit

PLACES = ("argmin", "argmax")
VARIANCES = ("var", "std")


def is_compound(form: ReductionKey) -> bool:
    return form.operation in PLACES + VARIANCES


def has_places(form: ReductionKey) -> bool:
    """Test whether ``P_value`` takes the element's place as its last argument."""
    return form.operation in PLACES


def nbytes(form: ReductionKey) -> int:
    """Return the size of the accumulator."""
    number = np.int64 if form.index64 else np.int32
    if has_places(form):
        fields = [("value", accumulated(form.inputs[0])), ("place", number)]
    else:
        sums = accumulated(form.compute)
        fields = [("from", sums), ("sum", sums), ("squares", sums), ("count", number)]
    return np.dtype(fields, align=True).itemsize


#: Accumulators of a thread for vectors of adjacent elements: few, because each is a structure.
ACCUMULATORS = 2


def definitions(form: ReductionKey, argument: str) -> str:
    """Return the types and functions of the kernels, for elements in the parameter `argument`.

    ``P_take(a, vector, place)`` adds a vector of adjacent elements to an accumulator whose elements
    have smaller places. It takes fewer steps than to combine an accumulator with each element.
    """
    return _places(form, argument) if has_places(form) else _variances(form, argument)


def _places(form: ReductionKey, argument: str) -> str:
    element = Element(form.inputs[0])
    is_max = form.operation == "argmax"
    dtype = element.dtype
    neutral = limit(form.operation[3:], dtype)
    # The place in the neutral element is greater than the place of any element.
    none = "0x7fffffffffffffffll" if form.index64 else "0x7fffffff"
    sign = ">" if is_max else "<"

    def is_better(new: str, old: str) -> str:
        """Return C for: an element comes before those with smaller places."""
        nan = f" | (({new} != {new}) & ({old} == {old}))" if dtype.kind == "f" else ""
        return f"({new} {sign} {old}){nan}"

    better = f"b.value {sign} a.value"
    before = f"({better}) | ((b.value == a.value) & (b.place < a.place))"
    if dtype.kind == "f":
        of_number = f"(a.value == a.value) & ({before})"
        of_nan = "(a.value == a.value) | (b.place < a.place)"
        before = f"b.value == b.value ? {of_number} : {of_nan}"
    return f"""
typedef {element.computed} P_real;
struct A {{ P_real value; P_index place; }};
typedef long long R;
struct P_folded {{
  __device__ A operator()(const A &a, const A &b) const {{
    const bool P_is_b = {before};
    return A{{P_is_b ? b.value : a.value, P_is_b ? b.place : a.place}};
  }}
}};
__device__ inline A P_neutral() {{ return A{{P_real({neutral}), {none}}}; }}
__device__ inline A P_value({argument}, P_index place) {{
  return A{{P_real({element.load("x0")}), place}};
}}
template <int N>
__device__ inline void P_take(A &a, const P_vector<{element.stored}, N> &vector, P_index place) {{
  P_real best = P_real({element.load("vector.item[0]")});
  int at = 0;
  #pragma unroll
  for (int k = 1; k < N; ++k) {{
    const P_real next = P_real({element.load("vector.item[k]")});
    const bool is_better = {is_better("next", "best")};
    best = is_better ? next : best;
    at = is_better ? k : at;
  }}
  const bool is_better = {is_better("best", "a.value")} | (a.place == {none});
  a.value = is_better ? best : a.value;
  a.place = is_better ? place + at : a.place;
}}
__device__ inline R P_result(const A &total, long long) {{ return total.place; }}
"""


def _variances(form: ReductionKey, argument: str) -> str:
    element, real = Element(form.inputs[0]), Element(accumulated(form.compute))
    root = "sqrt(P_mean)" if form.operation == "std" else "P_mean"
    result = Element(form.compute)
    return f"""
typedef {real.computed} P_real;
struct A {{ P_real from, sum, squares; P_index count; }};
typedef {result.stored} R;
// The result is NaN only if an element is infinite or NaN. Squares that overflow are infinite, as
// in NumPy. If the sum of differences overflows, so do the squares, and the sum restarts from 0.
__device__ inline bool P_is_finite(const P_real &x) {{ return x - x == 0; }}
__device__ inline void P_overflow(A &a, const P_real &item) {{
  a.sum = 0;
  a.squares += P_real(INFINITY) + (item - item) + (a.from - a.from);
}}
// Squares of the differences from the mean.
__device__ inline P_real P_centered(const A &a, const P_real &shift) {{
  const P_real less = a.sum * shift;
  return P_is_finite(less) ? a.squares - less : a.squares;
}}
struct P_folded {{
  __device__ A operator()(const A &a, const A &b) const {{
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    if (b.count == 1) {{
      const P_real d = b.from - a.from;
      A sums{{a.from, a.sum + d, a.squares + d * d, a.count + 1}};
      if (!P_is_finite(sums.sum)) P_overflow(sums, b.from);
      return sums;
    }}
    const P_real na = P_real(a.count), nb = P_real(b.count);
    const P_real shift_a = a.sum / na, shift_b = b.sum / nb;
    const P_real d = (b.from - a.from) + (shift_b - shift_a);
    const P_real squares = P_centered(a, shift_a) + P_centered(b, shift_b);
    A sums{{a.from + (shift_a + d * (nb / (na + nb))), 0,
           squares + d * d * (na * (nb / (na + nb))), a.count + b.count}};
    if (!P_is_finite(d)) {{
      sums.from = (a.from + shift_a) * (na / (na + nb)) + (b.from + shift_b) * (nb / (na + nb));
      P_overflow(sums, b.from);
    }}
    return sums;
  }}
}};
__device__ inline A P_neutral() {{ return A{{0, 0, 0, 0}}; }}
__device__ inline A P_value({argument}) {{
  return A{{P_real({element.converted(element.load("x0"), real)}), 0, 0, 1}};
}}
template <int N>
__device__ inline void P_take(A &a, const P_vector<{element.stored}, N> &vector, P_index) {{
  P_real item[N];
  #pragma unroll
  for (int k = 0; k < N; ++k)
    item[k] = P_real({element.converted(element.load("vector.item[k]"), real)});
  a.from = a.count ? a.from : item[0];
  #pragma unroll
  for (int k = 0; k < N; ++k) {{
    const P_real d = item[k] - a.from;
    a.sum += d;
    a.squares += d * d;
  }}
  a.count += N;
  if (!P_is_finite(a.sum)) {{
    #pragma unroll
    for (int k = 0; k < N; ++k) P_overflow(a, item[k]);
  }}
}}
// `count` is less than the number of elements by the degrees of freedom.
__device__ inline R P_result(const A &total, long long count) {{
  // The last difference is 0, or NaN if an element is infinite or NaN.
  const P_real P_squares =
      (total.count > 1 ? P_centered(total, total.sum / P_real(total.count)) : P_real(0)) +
      (total.from - total.from);
  const P_real P_mean = P_squares / P_real(count > 0 ? count : 0);
  return {result.store(root)};
}}
"""
