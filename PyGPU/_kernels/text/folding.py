"""Common parts of reduction kernels: keys, operations, and the source text of the block reduction.

A kernel reduces its operands to one value for each output and block. If several blocks share an
output, they write these values to `parts`. The last block, or the kernel ``last``, reduces them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from PyGPU._kernels.text.common import LAST_BLOCK, Element, vector_of
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import DType

_TUNING = core._reduction_tuning
#: Elements, or vectors of elements, that a thread loads before it uses the first: for strided
#: operands, and for contiguous operands.
UNROLL, UNROLL_LINEAR = _TUNING["unroll"], _TUNING["linear_unroll"]
#: Maximum number of threads per block, and number of blocks per multiprocessor, of kernels that
#: reduce contiguous operands. They saturate the memory bandwidth and leave registers for vectors.
BLOCK_THREADS, BLOCKS = _TUNING["block_threads"], 4
#: Maximum number of threads per block of kernels that reduce axes.
AXIS_THREADS = _TUNING["axis_threads"]
#: Maximum number of threads per block of all reductions. Shared memory holds one value per thread.
MAX_THREADS = _TUNING["last_threads"]

_BOOL = np.dtype(np.bool_)
_HALF = np.dtype(np.float16)


class ReductionKey(NamedTuple):
    """Key of a reduction kernel."""

    operation: str
    inputs: tuple[np.dtype, ...]
    tables: tuple[np.dtype, ...]  # arrays that the only input, an index array, indexes
    compute: np.dtype  # also the dtype of the result
    vector_width: int = 1  # elements per load
    output_axes: int = 0  # axes of the outputs; 0: contiguous operands and one output
    reduced_axes: int = 0  # axes that are reduced
    by_output: bool = False  # each element of a vector belongs to another output
    outputs: int = 1  # outputs of a thread at a time, each with its vector; 0: runs of outputs
    index64: bool = True


def _adds_short_integers(form: ReductionKey) -> bool:
    """Test whether the operation is a sum of short integers, which 64 bits hold for any size."""
    is_short = all(one.kind in "biu" and one.itemsize <= 2 for one in form.inputs)
    is_sum = form.operation in ("sum", "mean") and form.compute.kind != "c"
    return is_sum and is_short and not form.tables


def accumulator(form: ReductionKey) -> DType:
    """Return the dtype of the accumulator.

    - Sums and products of integers use unsigned types, which wrap modulo a power of two.
    - Halves are accumulated as floats.
    - Short integers whose sum is a double are accumulated as integers.
    - Extremes of short integers use int, except on the host machine: its vectors have more lanes of
      short types.
    """
    compute, is_extreme = form.compute, form.operation.startswith(("min", "max"))
    if compute.kind == "b":
        return np.dtype(np.uint32)
    if compute == _HALF:
        return np.dtype(np.float32)
    if compute == np.float64 and _adds_short_integers(form):
        return np.dtype(np.int64)
    if compute.kind in "iu" and not is_extreme:
        return np.dtype(np.uint64 if compute.itemsize == 8 else np.uint32)
    if compute.kind in "iu" and compute.itemsize < 4 and form.outputs:
        return np.dtype(np.int32)
    return compute


def folds_vectors(form: ReductionKey) -> bool:
    """Test whether the elements of a vector are combined before the accumulator receives them.

    Short integers are added in 32 bits. "any" and "all" test the four bytes of a word at once.
    """
    return form.vector_width > 1 and (_adds_short_integers(form) or _tests_bytes(form))


def _tests_bytes(form: ReductionKey) -> bool:
    """Test whether the operation is "any" or "all" of one operand with elements of one byte."""
    is_one = len(form.inputs) == 1 and not form.tables
    return form.compute.kind == "b" and is_one and form.inputs[0].itemsize == 1


def vector_value(form: ReductionKey) -> str:
    """Return the text of ``P_of_vector``, which combines a vector's elements (`folds_vectors`)."""
    element, width = Element(form.inputs[0]), form.vector_width
    if element.dtype.itemsize == 1 and width % 4 == 0:
        start, step, value = _by_words(form)
        start += f" unsigned words[{width // 4}]; memcpy(words, vector.item, {width});"
        steps, loaded = width // 4, "const unsigned word = words[k];"
    else:
        start, step, value = "int some = 0;", "some += int(P_value(item))", "A(some)"
        if form.compute.kind == "b":
            start, step = "A some = P_neutral();", "some = P_folded()(some, P_value(item))"
        steps, loaded = width, f"const {element.stored} item = vector.item[k];"
    return f"""
__device__ inline A P_of_vector(const {vector_of(element, width)} &vector) {{
  {start}
  #pragma unroll
  for (int k = 0; k < {steps}; ++k) {{ {loaded} {step}; }}
  return {value};
}}
"""


def _by_words(form: ReductionKey) -> tuple[str, str, str]:
    """Return (declaration, statement for each 4-byte `word`, result), which combine a vector."""
    fold = rule(form.operation, form.compute)[1]
    if form.compute.kind == "b" and fold == "a | b":
        return "unsigned some = 0;", "some |= word", "A(some != 0)"
    if form.compute.kind == "b":  # subtracting 1 from a zero byte sets its highest bit
        is_true = "A((zeros & 0x80808080u) == 0)"
        return "unsigned zeros = 0;", "zeros |= (word - 0x01010101u) & ~word", is_true
    if form.inputs[0].kind == "b":  # adding 0x7f to a nonzero byte sets its highest bit
        flags = "((((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u)"
        total = "A(counts * 0x01010101u >> 24)"
        return "unsigned counts = 0;", f"counts += {flags} >> 7", total
    sign, bias = ("", 0) if form.inputs[0].kind == "u" else (" ^ 0x80808080u", 128)
    even, odd = (f"((word{sign}){shift} & 0x00ff00ffu)" for shift in ("", " >> 8"))
    total = f"A(int(pairs * 0x10001u >> 16) - {bias * form.vector_width})"
    return "unsigned pairs = 0;", f"pairs += {even} + {odd}", total


def rule(operation: str, compute: DType) -> tuple[str, str]:
    """Return (neutral, fold) in C, for values `a` and `b` of the accumulator's type `A`.

    NaN is neutral in operations with the prefix "nan", and in "min" and "max". In "minimum" and
    "maximum", the result is NaN if any element is NaN.
    """
    operation = operation.removeprefix("nan")
    is_bool, nan_wins = compute.kind == "b", operation in ("minimum", "maximum")
    operation = operation[:3] if nan_wins else operation
    if operation in ("sum", "mean", "dot"):
        return "A(0)", "a | b" if is_bool else "a + b"
    if operation == "prod":
        if compute.kind == "c":
            return NO_FACTOR, "P_product(a, b)"
        return "A(1)", "a & b" if is_bool else "a * b"
    if operation == "any" or (operation == "max" and is_bool):
        return "A(0)", "a | b"
    if operation == "all" or (operation == "min" and is_bool):
        return "A(1)", "a & b"
    if compute.kind == "f":
        neutral = limit(operation, compute) if nan_wins else "NAN"
        return f"A({neutral})", f"P_{operation}{'_or_nan' if nan_wins else ''}(a, b)"
    sign = "<" if operation == "min" else ">"
    return f"A({limit(operation, compute)})", f"b {sign} a ? b : a"


def limit(operation: str, dtype: DType) -> str:
    """Return C for the largest ("min") or smallest ("max") value of a dtype."""
    if dtype.kind == "b":
        return "true" if operation == "min" else "false"
    if dtype.kind == "f":
        return "INFINITY" if operation == "min" else "(-INFINITY)"
    info = np.iinfo(dtype)
    number = int(info.max if operation == "min" else info.min)
    if number < 0:  # C has no negative literals
        return f"(-{-number - 1}ll - 1)"
    return f"{number}ull" if dtype.kind == "u" else f"{number}ll"


def stored_value(operation: str, result: DType, total: str = "total") -> str:
    """Return C for the result of an accumulated value."""
    if operation == "mean":
        if result.kind in "iu":
            return f"R((double)R({total}) / (double)count)"
        real = "float" if result.name in ("float16", "float32", "complex64") else "double"
        total = f"({total} / ({real})count)"
    if operation.endswith("prod") and result.kind == "c":
        # NumPy multiplies the first factor by 1.
        total = f"(!P_is_factor({total}) ? A(1) : count == 1 ? A({total} * A(1)) : {total})"
    if result == _HALF:
        return f"__float2half({total})"
    return f"R({total} != 0)" if result.kind == "b" else f"R({total})"


#: Complex products start without a factor, because 1 times an infinity has a NaN as one part. NaN
#: and a number that no product of NaN has denote a missing factor.
NO_FACTOR = "A(NAN, 7e-31f)"
PRODUCT = """
template <class P_T> __device__ inline bool P_is_factor(const P_T &a) {
  return a.real() == a.real() || a.imag() != 7e-31f;
}
template <class P_T> __device__ inline P_T P_product(const P_T &a, const P_T &b) {
  return !P_is_factor(a) ? b : !P_is_factor(b) ? a : P_T(a * b);
}
"""


def _extreme(name: str, sign: str, asked: str) -> str:
    return f"""
template <class P_T> __device__ inline P_T {name}(P_T P_a, P_T P_b) {{
  const P_T P_one = P_b {sign} P_a ? P_b : P_a;
  return {asked} != {asked} ? P_b : P_one;
}}"""


# The functions ignore NaN, or return it. Compilers vectorize two consecutive choices, but not a
# nested choice.
_EXTREMES = "".join(
    _extreme(f"P_{name}", sign, "P_a") + _extreme(f"P_{name}_or_nan", sign, "P_b")
    for name, sign in (("min", "<"), ("max", ">"))
)

# `lanes` is a power of two; adjacent lanes are `pitch` threads apart. Within a warp, P_fold needs
# no barrier of the block.
FOLD = f"""{_EXTREMES}{PRODUCT}
// Copies bytes: structures with an assignment to volatile may lack a plain one.
template <class P_T>
__device__ inline void P_set(P_T &P_to, const P_T &P_from) {{
  memcpy((void *)&P_to, (const void *)&P_from, sizeof(P_T));
}}

// Fold the values of all lanes. Lane 0 returns the result.
template <class P_T, class P_Fold>
__device__ inline P_T P_fold(P_T P_own, char *P_memory, int P_lane, int P_lanes, int P_pitch,
                             P_Fold P_folded) {{
  P_T *const P_slots = (P_T *)P_memory;
  const int P_slot = int(threadIdx.y * blockDim.x + threadIdx.x);
  if (P_lanes == 1) return P_own;
  P_set(P_slots[P_slot], P_own);
  for (int P_step = P_lanes / 2; P_step > 0; P_step /= 2) {{
    if (2 * P_step * P_pitch > warpSize) __syncthreads(); else __syncwarp();
    if (P_lane < P_step) {{
      P_set(P_own, P_folded(P_own, P_slots[P_slot + P_step * P_pitch]));
      P_set(P_slots[P_slot], P_own);
    }}
  }}
  return P_own;
}}
"""


def memory(nbytes: str = "sizeof(A)", threads: int = MAX_THREADS) -> str:
    return f"__shared__ __align__(16) char P_memory[{threads} * {nbytes}];"


# The totals are independent, so the compiler can vectorize the loop.
SIDE_BY_SIDE = """
template <class P_Sum, class P_At>
__device__ inline void P_add(P_Sum *sums, long long count, P_At value) {
  #pragma GCC ivdep
  for (long long c = 0; c < count; ++c) sums[c] = P_Sum(P_folded()(sums[c], value(c)));
}
"""

# The reduction of the blocks' parts by one thread: every `step`th of `rows` parts, `pitch` apart.
PARTS = f"""{LAST_BLOCK}
__device__ inline A P_parts(const A *parts, long long row, long long step, long long rows,
                            long long pitch) {{
  A sums[{UNROLL}];
  #pragma unroll
  for (int u = 0; u < {UNROLL}; ++u) sums[u] = P_neutral();
  for (; row + {UNROLL - 1} * step < rows; row += {UNROLL} * step)
    #pragma unroll
    for (int u = 0; u < {UNROLL}; ++u)
      sums[u] = P_folded()(sums[u], parts[(row + u * step) * pitch]);
  for (; row < rows; row += step) sums[0] = P_folded()(sums[0], parts[row * pitch]);
  #pragma unroll
  for (int u = 1; u < {UNROLL}; ++u) sums[0] = P_folded()(sums[0], sums[u]);
  return sums[0];
}}
"""

# The kernel runs in blocks of (outputs, lanes).
LAST = f"""
extern "C" __global__ void last(const A *parts, long long rows, long long outputs, R *out,
                                long long count) {{
  {memory()}
  const long long output = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  A total = P_neutral();
  if (output < outputs)
    total = P_parts(parts + output, threadIdx.y, blockDim.y, rows, outputs);
  total = P_fold(total, P_memory, int(threadIdx.y), int(blockDim.y), int(blockDim.x), P_folded());
  if (threadIdx.y == 0 && output < outputs) out[output] = P_result(total, count);
}}
"""


def accumulators(width: int) -> int:
    """Return the number of accumulators per vector element.

    Several accumulators make additions independent of each other. Few accumulators save registers.
    """
    return min(UNROLL, max(1, 16 // width))
