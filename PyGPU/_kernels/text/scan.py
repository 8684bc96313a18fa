"""Text of the scan kernels: types, operation and neutral element, and the scan by chunks.

A scan by chunks uses one thread for each of a few long chunks. It serves the host machine, and on a
GPU the types that are too large for the tiles of ``scan_tiles.py``.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._kernels.text.common import Element, headed
from PyGPU._kernels.types import REGISTRY

if TYPE_CHECKING:
    from PyGPU._types import DType

# Kinds of numbers that can become the neutral element, by the kind of the dtype.
_CAN_BECOME = {"b": "biuf", "i": "biuf", "u": "biuf", "f": "biuf", "c": "biufc"}


def literal(value: Any, dtype: DType) -> str:
    """Convert the neutral element to C.

    :param str or number value: Neutral element; text is returned unchanged.
    :param dtype: Dtype of the elements.
    :returns: The neutral element in C.
    :raises ValueError: `value` is not a number, or the dtype cannot hold it.
    """
    if isinstance(value, str):
        return value
    number = None
    if np.ndim(value) == 0 and np.asarray(value).dtype.kind in _CAN_BECOME.get(dtype.kind, ""):
        with contextlib.suppress(OverflowError, ValueError):
            number = np.array(value, dtype)[()]
    if number is None or (dtype.kind in "biu" and number != value):
        raise ValueError(f"neutral={value!r}: expected C text, or a number that {dtype} can hold")
    if dtype.kind == "c":
        parts = _real(float(number.real)), _real(float(number.imag))
        return f"{REGISTRY.dtype_to_ctype(dtype)}({', '.join(parts)})"
    if dtype.kind == "f":
        return f"({_real(float(number))})"
    if dtype.kind == "b":
        return "true" if number else "false"
    bits = int(number) & (1 << 64) - 1
    return f"(({REGISTRY.dtype_to_ctype(dtype)}){bits}ull)"


def _real(number: float) -> str:
    """Return an exact literal of a double, also for infinities and NaN."""
    if np.isfinite(number):
        return repr(number)
    return f"__longlong_as_double({hex(np.float64(number).view(np.uint64))}ull)"


# An expression that only chooses one of `a` and `b`.
_CHOICE = r"(?:\b(?:a|b|min|max|fminf?|fmaxf?)\b|[\s(),<>=!?:&|])*"


class Scan(NamedTuple):
    """Key of a scan; ``start`` is C text, or None for an inclusive scan."""

    dtype: np.dtype
    expression: str
    start: str | None
    name: str
    preamble: str

    def is_exact(self) -> bool:
        """Test whether no result is rounded: integers, and choices between two numbers."""
        return self.dtype.kind in "biu" or re.fullmatch(_CHOICE, self.expression) is not None

    def head(self) -> str:
        """Return the text of types, the operation, and loads and stores of elements."""
        element = Element(self.dtype)
        start = "P_value()" if self.start is None else self.start
        text = f"""{self.preamble}
typedef {element.stored} P_stored;
typedef {element.computed} P_value;
static_assert(sizeof(P_stored) == {self.dtype.itemsize}, "the dtype has another size");
enum {{ P_EXCLUSIVE = {int(self.start is not None)} }};
__device__ inline P_value P_start() {{ return {start}; }}
__device__ inline P_value P_join(P_value a, P_value b) {{ return {self.expression}; }}
__device__ inline P_value P_load(const P_stored &P_x) {{ return {element.load("P_x")}; }}
__device__ inline P_stored P_store(const P_value &P_x) {{ return {element.store("P_x")}; }}
"""
        return headed([element], text)


# Total of a chunk, and the pass over it. Rounding errors grow with the number of joins in a row, so
# elements are joined in groups, groups in tiles, and tiles in the chunk, as on a GPU. The second
# join of each element costs no time: only the joins inside of a group wait for each other.
_GROUPED = """
#ifdef PYGPU_TARGET_HOST
#define P_UNROLLED _Pragma("GCC unroll 4")
#else
#define P_UNROLLED
#endif
enum { P_GROUP = 64, P_TILE = 128 * P_GROUP };

__device__ inline long long P_at_most(long long P_count, long long P_most) {
  return P_count < P_most ? P_count : P_most;
}
__device__ inline P_value P_total_of(long long P_count, const char *P_in, long long P_in_step) {
  P_value P_total, P_in_tile;
  for (long long P_i = 0; P_i < P_count;) {
    const bool P_starts = P_i % P_TILE == 0;
    const long long P_end = P_at_most(P_count, P_i + P_GROUP);
    P_value P_sum = P_load(*(const P_stored *)P_in);
    P_in += P_in_step;
    for (++P_i; P_i < P_end; ++P_i, P_in += P_in_step)
      P_sum = P_join(P_sum, P_load(*(const P_stored *)P_in));
    P_in_tile = P_starts ? P_sum : P_join(P_in_tile, P_sum);
    if (P_i == P_count || P_i % P_TILE == 0)
      P_total = P_i <= P_TILE ? P_in_tile : P_join(P_total, P_in_tile);
  }
  return P_total;
}

__device__ __forceinline__ void P_pass(P_value P_ahead, long long P_count, const char *P_in,
                                       long long P_in_step, char *P_out, long long P_out_step) {
  P_value P_in_tile, P_before = P_ahead;
  for (long long P_i = 0; P_i < P_count;) {
    const bool P_starts = P_i % P_TILE == 0;
    const long long P_end = P_at_most(P_count, P_i + P_GROUP);
    P_value P_sum = P_load(*(const P_stored *)P_in);
    *(P_stored *)P_out = P_store(P_EXCLUSIVE ? P_before : P_join(P_before, P_sum));
    P_in += P_in_step, P_out += P_out_step;
    P_UNROLLED
    for (++P_i; P_i < P_end; ++P_i, P_in += P_in_step, P_out += P_out_step) {
      const P_value P_after = P_join(P_sum, P_load(*(const P_stored *)P_in));
      *(P_stored *)P_out = P_store(P_join(P_before, P_EXCLUSIVE ? P_sum : P_after));
      P_sum = P_after;
    }
    if (P_starts) P_ahead = P_before;
    P_in_tile = P_starts ? P_sum : P_join(P_in_tile, P_sum);
    P_before = P_join(P_ahead, P_in_tile);
  }
}
"""

# The same functions for operations without rounding errors.
_ONE_BY_ONE = """
__device__ inline P_value P_total_of(long long P_count, const char *P_in, long long P_in_step) {
  P_value P_total = P_load(*(const P_stored *)P_in);
  for (; --P_count > 0;) {
    P_in += P_in_step;
    P_total = P_join(P_total, P_load(*(const P_stored *)P_in));
  }
  return P_total;
}

__device__ __forceinline__ void P_pass(P_value P_ahead, long long P_count, const char *P_in,
                                       long long P_in_step, char *P_out, long long P_out_step) {
  for (; P_count > 0; --P_count, P_in += P_in_step, P_out += P_out_step) {
    const P_value P_after = P_join(P_ahead, P_load(*(const P_stored *)P_in));
    *(P_stored *)P_out = P_store(P_EXCLUSIVE ? P_ahead : P_after);
    P_ahead = P_after;
  }
}
"""


def chunks(scan: Scan) -> str:
    """Return the text of the scan by chunks: kernels ``<name>_totals`` and ``<name>_chunks``."""
    return (
        scan.head()
        + (_ONE_BY_ONE if scan.is_exact() else _GROUPED)
        + f"""
extern "C" __global__ void {scan.name}_totals(long long P_n, long long P_chunk, const char *P_in,
                                              long long P_in_step, P_value *P_totals) {{
  const long long P_first = blockIdx.x * P_chunk;
  const long long P_last = P_first + P_chunk < P_n ? P_first + P_chunk : P_n;
  P_totals[blockIdx.x] = P_total_of(P_last - P_first, P_in + P_first * P_in_step, P_in_step);
}}

extern "C" __global__ void {scan.name}_chunks(long long P_n, long long P_chunk, const char *P_in,
                                              long long P_in_step, char *P_out,
                                              long long P_out_step, const P_value *P_totals) {{
  const long long P_first = blockIdx.x * P_chunk;
  const long long P_last = P_first + P_chunk < P_n ? P_first + P_chunk : P_n;
  P_in += P_first * P_in_step;
  P_out += P_first * P_out_step;
  P_value P_ahead = P_start();
  for (unsigned P_i = 0; P_i < blockIdx.x; ++P_i)
    P_ahead = P_EXCLUSIVE || P_i ? P_join(P_ahead, P_totals[P_i]) : P_totals[P_i];
  long long P_i = P_first;
  if (!P_EXCLUSIVE && P_i == 0) {{
    P_ahead = P_load(*(const P_stored *)P_in);
    *(P_stored *)P_out = P_store(P_ahead);
    P_in += P_in_step, P_out += P_out_step, ++P_i;
  }}
  const long long P_size = sizeof(P_stored);  // known steps make a shorter loop
  if (P_in_step == P_size && P_out_step == P_size)
    P_pass(P_ahead, P_last - P_i, P_in, P_size, P_out, P_size);
  else
    P_pass(P_ahead, P_last - P_i, P_in, P_in_step, P_out, P_out_step);
}}
"""
    )
