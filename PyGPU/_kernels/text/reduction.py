"""Text of the reduction kernels: whole arrays, axes of arrays, and expressions of users.

A kernel folds its operands to one value for each output and block. Where a launch has several
blocks for an output, they leave `parts`, and the kernel ``last`` folds those.
"""

from typing import NamedTuple

import numpy as np

from PyGPU._kernels.text.common import (
    VECTOR,
    Element,
    headers,
    includes,
    index_types,
    unravel,
    vector_of,
)
from PyGPU._runtime import core

_TUNING = core._reduction_tuning
#: Elements, or vectors of them, that a thread has on their way from memory at once: where operands
#: have strides, and where they are contiguous alike.
UNROLL, UNROLL_LINEAR = _TUNING["unroll"], _TUNING["linear_unroll"]
#: The most threads of a block that folds operands, and the blocks that shall fit on a
#: multiprocessor: enough for the bandwidth of its memory, with registers for the vectors of each.
BLOCK_THREADS, BLOCKS = _TUNING["block_threads"], 4
#: The most threads of a block; memory for a value of each is set aside.
MOST_THREADS = _TUNING["last_threads"]

_BOOL = np.dtype(np.bool_)
_HALF = np.dtype(np.float16)


class Form(NamedTuple):
    """What a kernel is made for."""

    operation: str
    inputs: "tuple[np.dtype, ...]"
    tables: "tuple[np.dtype, ...]"  # arrays that the input, an index array, chooses from
    compute: np.dtype  # of the result as well
    vector_width: int = 1  # elements that are loaded at once
    kept: int = 0  # axes of the outputs; 0: all operands are contiguous, there is one output
    folded: int = 0  # axes
    index64: bool = True


def accumulator(operation, compute):
    """The dtype in which an operation of a dtype is done.

    Integers are added and multiplied modulo a power of two, without signs; halves as floats.
    """
    if compute.kind == "b":
        return np.dtype(np.uint32)
    if compute == _HALF:
        return np.dtype(np.float32)
    if compute.kind in "iu" and operation not in ("min", "max"):
        return np.dtype(np.uint64 if compute.itemsize == 8 else np.uint32)
    return compute


def _rule(operation, compute):
    """(neutral, fold) in C, of values `a` and `b` of the accumulator's type `A`.

    Of an operation with "nan" in front, values that are not-a-number are neutral.
    """
    operation = operation.removeprefix("nan")
    is_bool = compute.kind == "b"
    if operation in ("sum", "mean", "dot"):
        return "A(0)", "a | b" if is_bool else "a + b"
    if operation == "prod":
        return "A(1)", "a & b" if is_bool else "a * b"
    if operation == "any" or (operation == "max" and is_bool):
        return "A(0)", "a | b"
    if operation == "all" or (operation == "min" and is_bool):
        return "A(1)", "a & b"
    sign = "<" if operation == "min" else ">"
    if compute.kind == "f":  # not-a-number gives way to any number
        return "A(NAN)", f"(b {sign} a || a != a) ? b : a"
    return f"A({limit(operation, compute)})", f"b {sign} a ? b : a"


def limit(operation, dtype):
    """C for the largest ("min") or smallest ("max") number of a dtype."""
    if dtype.kind == "b":
        return "true" if operation == "min" else "false"
    if dtype.kind == "f":
        return "INFINITY" if operation == "min" else "(-INFINITY)"
    info = np.iinfo(dtype)
    number = int(info.max if operation == "min" else info.min)
    if number < 0:  # no literal has a sign
        return f"(-{-number - 1}ll - 1)"
    return f"{number}ull" if dtype.kind == "u" else f"{number}ll"


def _store(operation, result, total="total"):
    """The result that is made of an accumulated value."""
    if operation == "mean":
        if result.kind in "iu":
            return f"R((double)R({total}) / (double)count)"
        real = "float" if result.name in ("float16", "float32", "complex64") else "double"
        total = f"({total} / ({real})count)"
    if result == _HALF:
        return f"__float2half({total})"
    return f"R({total} != 0)" if result.kind == "b" else f"R({total})"


# `lanes` is a power of two; `pitch` threads stand between neighbouring lanes. Within a warp there
# is no need to wait for the block.
_FOLD = """
// Copies bytes: structures with an assignment to volatile may lack a plain one.
template <class P_T>
__device__ inline void P_set(P_T &P_to, const P_T &P_from) {
  memcpy((void *)&P_to, (const void *)&P_from, sizeof(P_T));
}

// The values of all lanes folded, in lane 0.
template <class P_T, class P_Fold>
__device__ inline P_T P_fold(P_T P_own, char *P_memory, int P_lane, int P_lanes, int P_pitch,
                             P_Fold P_folded) {
  P_T *const P_slots = (P_T *)P_memory;
  const int P_slot = int(threadIdx.y * blockDim.x + threadIdx.x);
  P_set(P_slots[P_slot], P_own);
  for (int P_step = P_lanes / 2; P_step > 0; P_step /= 2) {
    if (2 * P_step * P_pitch > warpSize) __syncthreads(); else __syncwarp();
    if (P_lane < P_step) {
      P_set(P_own, P_folded(P_own, P_slots[P_slot + P_step * P_pitch]));
      P_set(P_slots[P_slot], P_own);
    }
  }
  return P_own;
}
"""


def _memory(nbytes="sizeof(A)", threads=MOST_THREADS):
    return f"__shared__ __align__(16) char P_memory[{threads} * {nbytes}];"


def source(form):
    """The text of the kernels of a form: ``first`` and ``last``."""
    values = [Element(dtype) for dtype in form.tables or form.inputs]
    compute = Element(form.compute)
    done = Element(accumulator(form.operation, form.compute))
    neutral, fold = _rule(form.operation, form.compute)
    terms = [f"A({one.converted(one.load(f'x{j}'), compute)})" for j, one in enumerate(values)]
    value = (" & " if compute.is_bool else " * ").join(terms)
    if form.operation.startswith("nan"):
        value = f"{values[0].load('x0')} == {values[0].load('x0')} ? {value} : P_neutral()"
    arguments = ", ".join(f"const {one.stored} &x{j}" for j, one in enumerate(values))
    return f"""{headers([*values, compute])}{VECTOR}{_FOLD}
typedef {done.computed} A;
typedef {"half" if compute.is_half else compute.computed} R;
{index_types(form.index64)}
struct P_folded {{
  __device__ A operator()(const A &a, const A &b) const {{ return A({fold}); }}
}};
__device__ inline A P_neutral() {{ return {neutral}; }}
__device__ inline A P_value({arguments}) {{ return {value}; }}
__device__ inline R P_result(const A &total, long long count) {{
  return {_store(form.operation, form.compute)};
}}
{_PARTS}{_strided(form) if form.kept else _linear(form)}{_LAST}"""


# What blocks have left, folded by one thread: every `step`th of `rows` parts, `pitch` apart.
_PARTS = f"""
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

# Blocks of (outputs, lanes).
_LAST = f"""
extern "C" __global__ void last(const A *parts, long long rows, long long outputs, R *out,
                                long long count) {{
  {_memory()}
  const long long output = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  A total = P_neutral();
  if (output < outputs)
    total = P_parts(parts + output, threadIdx.y, blockDim.y, rows, outputs);
  total = P_fold(total, P_memory, int(threadIdx.y), int(blockDim.y), int(blockDim.x), P_folded());
  if (threadIdx.y == 0 && output < outputs) out[output] = P_result(total, count);
}}
"""


def _rows(width):
    """Accumulators of a thread for each element of a vector: independent, but within registers."""
    return min(UNROLL, max(1, 16 // width))


def _folding(width, unroll, call):
    """Text that folds `vectors` of the loops below into `sums`."""
    return f"""#pragma unroll
      for (int u = 0; u < {unroll}; ++u)
        #pragma unroll
        for (int k = 0; k < {width}; ++k)
          sums[u % {_rows(width)}][k] = P_folded()(sums[u % {_rows(width)}][k], {call("[u]")});"""


def _sums(width):
    return f"""A sums[{_rows(width)}][{width}];
  #pragma unroll
  for (int k = 0; k < {_rows(width) * width}; ++k) sums[k / {width}][k % {width}] = P_neutral();"""


def _total(width):
    return f"""A total = sums[0][0];
  #pragma unroll
  for (int k = 1; k < {_rows(width) * width}; ++k)
    total = P_folded()(total, sums[k / {width}][k % {width}]);"""


def _linear(form):
    """Operands that are contiguous alike. A block takes `chunk` vectors at once; what lies before
    and behind them is the first block's. With a counter `done`, which is 0 between launches, the
    block that is done last folds the parts of all (the CUDA samples' threadFenceReduction).

    Why it sees them, in the memory models of PTX and of AMD's GPUs alike: a block's part is written
    by the thread that counts; its fence before the count is a release at the scope of the device,
    the counts are one chain of atomic operations, and the fence behind the last of them is the
    acquire that matches all. The barrier hands on to the block what that thread has acquired: on
    AMD the fence drops the compute unit's vector cache, and where a block spans two of them (gfx10
    and later) the barrier's own fence, at the scope of the block, drops the other's."""
    width, unroll, places = form.vector_width, UNROLL_LINEAR, range(len(form.inputs))
    inputs, tables = (list(map(Element, dtypes)) for dtypes in (form.inputs, form.tables))
    types = [vector_of(one, width) for one in inputs]
    pointers = [f"const {one.stored} *x{j}" for j, one in enumerate(inputs)]
    pointers += [f"const {one.stored} *t{j}" for j, one in enumerate(tables)]

    def call(pack):
        if form.tables:
            chosen = (f"t{j}[(long long)p0{pack}.item[k]]" for j in range(len(form.tables)))
            return f"P_value({', '.join(chosen)})"
        return f"P_value({', '.join(f'p{j}{pack}.item[k]' for j in places)})"

    def loads(pack, index):
        return " ".join(
            f"p{j}{pack} = ((const {types[j]} *)(x{j} + head))[{index}];" for j in places
        )

    single = " ".join(
        f"{vector_of(one, 1)} p{j}; p{j}.item[0] = x{j}[at];" for j, one in enumerate(inputs)
    )
    return f"""
extern "C" __global__ void __launch_bounds__({BLOCK_THREADS}, {BLOCKS}) first(
    {", ".join(pointers)}, long long n, long long head, long long chunk, A *parts, R *out,
    long long count, unsigned *done) {{
  {_memory()}
  __shared__ bool is_last;
  {_sums(width)}
  const long long vectors = (n - head) / {width}, threads = blockDim.x;
  for (long long base = blockIdx.x * chunk; base < vectors; base += gridDim.x * chunk) {{
    const long long end = base + chunk < vectors ? base + chunk : vectors;
    long long i = base + threadIdx.x;
    for (; i + {unroll - 1} * threads < end; i += {unroll} * threads) {{
      {" ".join(f"{types[j]} p{j}[{unroll}];" for j in places)}
      #pragma unroll
      for (int u = 0; u < {unroll}; ++u) {{ {loads("[u]", "i + u * threads")} }}
      {_folding(width, unroll, call)}
    }}
    for (; i < end; i += threads) {{
      {" ".join(f"{types[j]} p{j};" for j in places)} {loads("", "i")}
      #pragma unroll
      for (int k = 0; k < {width}; ++k) sums[0][k] = P_folded()(sums[0][k], {call("")});
    }}
  }}
  if (blockIdx.x == 0)
    for (long long i = threadIdx.x; i < n - vectors * {width}; i += threads) {{
      const long long at = i < head ? i : i + vectors * {width};
      {single}
      const int k = 0;
      sums[0][0] = P_folded()(sums[0][0], {call("")});
    }}
  {_total(width)}
  total = P_fold(total, P_memory, int(threadIdx.x), int(blockDim.x), 1, P_folded());
  if (threadIdx.x == 0 && gridDim.x > 1) parts[blockIdx.x] = total;
  if (gridDim.x > 1) {{
    if (!done) return;
    if (threadIdx.x == 0) {{
      __threadfence();
      is_last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;  // which makes it 0 again
      if (is_last) __threadfence();
    }}
    __syncthreads();
    if (!is_last) return;
    total = P_parts(parts, threadIdx.x, blockDim.x, gridDim.x, 1);
    total = P_fold(total, P_memory, int(threadIdx.x), int(blockDim.x), 1, P_folded());
  }}
  if (threadIdx.x == 0) *out = P_result(total, count);
}}
"""


def _strided(form):
    """One operand of any strides. Neighbouring threads have neighbouring outputs (`by_output`) or
    neighbouring elements of one; each row of blocks has `share` of the elements of an output."""
    width = form.vector_width
    vector = vector_of(Element(form.inputs[0]), width)

    def load(at):
        return f"*(const {vector} *)(x + P_offset(loop, {at}))"

    return f"""
struct P_loop {{
  long long outputs, length, share, by_output;
  long long kept[{form.kept}], kept_stride[{form.kept}];
  long long shape[{form.folded}], stride[{form.folded}];
}};
__device__ inline long long P_offset(const P_loop &loop, P_index i) {{
  long long offset = 0;
  {unravel("i", form.folded, "loop.shape", "offset += at * loop.stride[axis];")}
  return offset;
}}
extern "C" __global__ void first(P_loop loop, const char *x, A *parts, R *out, long long count) {{
  {_memory()}
  const bool by_output = loop.by_output != 0;
  const int lane = int(by_output ? threadIdx.y : threadIdx.x);
  const int lanes = int(by_output ? blockDim.y : blockDim.x);
  const int many = int(by_output ? blockDim.x : blockDim.y);
  const long long output =
      (long long)blockIdx.x * many + (by_output ? threadIdx.x : threadIdx.y);
  {_sums(width)}
  if (output < loop.outputs) {{
    P_index left = (P_index)output;
    {unravel("left", form.kept, "loop.kept", "x += at * loop.kept_stride[axis];")}
    const long long begin = (long long)blockIdx.y * loop.share;
    const P_index end =
        (P_index)(begin + loop.share < loop.length ? begin + loop.share : loop.length);
    P_index i = (P_index)begin + lane;
    for (; i + {UNROLL - 1} * lanes < end; i += {UNROLL} * lanes) {{
      {vector} p[{UNROLL}];
      #pragma unroll
      for (int u = 0; u < {UNROLL}; ++u) p[u] = {load("i + u * lanes")};
      {_folding(width, UNROLL, lambda one: f"P_value(p{one}.item[k])")}
    }}
    for (; i < end; i += lanes) {{
      const {vector} p = {load("i")};
      #pragma unroll
      for (int k = 0; k < {width}; ++k) sums[0][k] = P_folded()(sums[0][k], P_value(p.item[k]));
    }}
  }}
  {_total(width)}
  total = P_fold(total, P_memory, lane, lanes, by_output ? many : 1, P_folded());
  if (lane != 0 || output >= loop.outputs) return;
  if (gridDim.y == 1) out[output] = P_result(total, count);
  else parts[blockIdx.y * loop.outputs + output] = total;
}}
"""


def user_source(
    name, out_type, neutral, fold_expression, value, arguments, preamble, elements, threads, unroll
):
    """The text of a ReductionKernel: kernels ``<name>_first`` and ``<name>_last``.

    Parameters
    ----------
    out_type, neutral, fold_expression, value : str
        C; the fold of ``a`` and ``b``, the value of ``i``.
    arguments : str
        Declarations.
    elements : list of Element
        Of all the types that stand in the declarations.
    threads, unroll : int
        The most of a block; the elements that each has on their way at once.
    """

    def kernel(suffix, source, count, value):
        def fold(u, at):
            index = f"const size_t {'i' if suffix == 'first' else 'P_i'} = {at};"
            return f"{{ {index} P_set(P_sum{u}, P_folded(P_sum{u}, ({value}))); }}"

        return f"""
extern "C" __global__ void {name}_{suffix}(out_type *P_out{source}{own}, size_t P_chunk,
                                           size_t {count}) {{
  {_memory("sizeof(out_type)", threads)}
  auto P_folded = [&](out_type a, out_type b) -> out_type {{ return {fold_expression}; }};
  {" ".join(f"out_type P_sum{u} = {neutral};" for u in range(unroll))}
  const size_t P_threads = blockDim.x;
  for (size_t P_base = blockIdx.x * P_chunk; P_base < {count}; P_base += gridDim.x * P_chunk) {{
    const size_t P_end = P_base + P_chunk < {count} ? P_base + P_chunk : {count};
    size_t P_at = P_base + threadIdx.x;
    for (; P_at + {unroll - 1} * P_threads < P_end; P_at += {unroll} * P_threads) {{
      {" ".join(fold(u, f"P_at + {u} * P_threads") for u in range(unroll))}
    }}
    for (; P_at < P_end; P_at += P_threads) {fold(0, "P_at")}
  }}
  {" ".join(f"P_set(P_sum0, P_folded(P_sum0, P_sum{u}));" for u in range(1, unroll))}
  const out_type P_all =
      P_fold(P_sum0, P_memory, int(threadIdx.x), int(blockDim.x), 1, P_folded);
  if (threadIdx.x == 0) P_set(P_out[blockIdx.x], P_all);
}}
"""

    own = f", {arguments}" if arguments else ""
    return f"""{includes(elements)}#include <pycuda-complex.hpp>
{preamble}
{_FOLD}
typedef {out_type} out_type;
{kernel("first", "", "n", value)}
{kernel("last", ", const out_type *P_parts", "P_rows", "P_parts[P_i]")}"""
