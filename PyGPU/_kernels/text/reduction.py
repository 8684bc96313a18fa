"""Text of the reduction kernels for contiguous arrays, and for expressions of users."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from PyGPU._kernels.text import axis_reduction, compound
from PyGPU._kernels.text.common import (
    LAST_BLOCK,
    VECTOR,
    Element,
    headed,
    includes,
    index_types,
    vector_of,
)
from PyGPU._kernels.text.folding import (
    BLOCK_THREADS,
    BLOCKS,
    FOLD,
    LAST,
    PARTS,
    SIDE_BY_SIDE,
    UNROLL_LINEAR,
    ReductionKey,
    accumulator,
    accumulators,
    folds_vectors,
    memory,
    rule,
    stored_value,
    vector_value,
)


def source(form: ReductionKey) -> str:
    """Return the text of the kernels ``first`` and ``last`` of a form."""
    values = [Element(dtype) for dtype in form.tables or form.inputs]
    compute = Element(form.compute)
    arguments = ", ".join(f"const {one.stored} &x{j}" for j, one in enumerate(values))
    if compound.is_compound(form):
        types = compound.definitions(form, arguments)
    else:
        types = _plain(form, values, compute, arguments)
    text = f"""{VECTOR}{FOLD}{index_types(form.index64)}{types}
{PARTS}{vector_value(form) if folds_vectors(form) else ""}{_first(form)}{LAST}"""
    return headed([*values, compute], text)


def _plain(form: ReductionKey, values: list[Element], compute: Element, arguments: str) -> str:
    """Return the types and functions of an operation whose accumulator is a number."""
    done = Element(accumulator(form))
    neutral, fold = rule(form.operation, form.compute)
    operand = done if done.dtype.kind == "i" else compute
    terms = [f"A({one.converted(one.load(f'x{j}'), operand)})" for j, one in enumerate(values)]
    value = (" & " if compute.is_bool else " * ").join(terms)
    if form.operation.startswith("nan"):
        element, replacement = values[0].load("x0"), form.operation.endswith("prod")
        value = f"{element} == {element} ? {value} : A({replacement:d})"
    return f"""
typedef {done.computed} A;
typedef {"half" if compute.is_half else compute.computed} R;
struct P_folded {{
  __device__ A operator()(const A &a, const A &b) const {{ return A({fold}); }}
}};
__device__ inline A P_neutral() {{ return {neutral}; }}
__device__ inline A P_value({arguments}) {{ return {value}; }}
__device__ inline R P_result(const A &total, long long count) {{
  return {stored_value(form.operation, form.compute)};
}}"""


def _first(form: ReductionKey) -> str:
    if form.output_axes:
        return axis_reduction.source(form)
    return _linear(form) if form.outputs else _linear_runs(form)


def _folding(
    columns: int,
    width: int,
    row: int | str,
    call: Callable[[str], str],
    pack: str = "",
    place: str = "",
) -> str:
    """Return statements that reduce a vector of each operand into a row of `sums`.

    With a `place`, that of the vector, the accumulators are structures.
    """
    if place:
        return f"P_take(sums[{row}][0], p0{pack}, {place});"
    if columns < width:
        return f"sums[{row}][0] = P_folded()(sums[{row}][0], P_of_vector(p0{pack}));"
    return f"""
        #pragma unroll
        for (int k = 0; k < {width}; ++k)
          sums[{row}][k] = P_folded()(sums[{row}][k], {call(pack)});"""


def _sums(columns: int, rows: int) -> str:
    return f"""A sums[{rows}][{columns}];
  #pragma unroll
  for (int k = 0; k < {rows * columns}; ++k) sums[k / {columns}][k % {columns}] = P_neutral();"""


def _total(columns: int, rows: int) -> str:
    return f"""A total = sums[0][0];
  #pragma unroll
  for (int k = 1; k < {rows * columns}; ++k)
    total = P_folded()(total, sums[k / {columns}][k % {columns}]);"""


def _linear_parameters(form: ReductionKey) -> str:
    pointers = [f"const {Element(dtype).stored} *x{j}" for j, dtype in enumerate(form.inputs)]
    pointers += [f"const {Element(dtype).stored} *t{j}" for j, dtype in enumerate(form.tables)]
    return (
        f"{', '.join(pointers)}, long long n, long long head, long long chunk, A *parts, R *out, "
        "long long count, unsigned *done"
    )


_LANES_BYTES = 512  # size of the totals added in parallel, which hide the latency of an addition


def _linear_runs(form: ReductionKey) -> str:
    """Return the kernel ``first`` of contiguous operands for blocks of one thread.

    Each thread reduces `chunk` elements.
    """
    values = [f"x{j}[i + c]" for j in range(len(form.inputs))]
    values += ["i + c"] * compound.has_places(form)
    if form.tables:
        values = [f"t{j}[(long long)x0[i + c]]" for j in range(len(form.tables))]
    sum_type = "unsigned char" if form.compute.kind == "b" else "A"
    return f"""{SIDE_BY_SIDE}
typedef {sum_type} P_sum;
extern "C" __global__ void first({_linear_parameters(form)}) {{
  enum {{ LANES = {_LANES_BYTES} / sizeof(P_sum) }};
  A total = P_neutral();
  P_sum sums[LANES];
  for (int k = 0; k < LANES; ++k) sums[k] = P_sum(total);
  const long long begin = blockIdx.x * chunk, end = begin + chunk < n ? begin + chunk : n;
  long long i = begin;
  const auto value = [&](long long c) {{ return P_value({", ".join(values)}); }};
  for (; i + 2 * LANES <= end; i += 2 * LANES)
    P_add(sums, LANES, [&](long long c) {{ return P_folded()(value(c), value(c + LANES)); }});
  for (; i + LANES <= end; i += LANES) P_add(sums, LANES, value);
  P_add(sums, end - i, value);
  for (int k = 0; k < LANES; ++k) total = P_folded()(total, sums[k]);
  if (gridDim.x > 1) parts[blockIdx.x] = total;
  else *out = P_result(total, count);
}}
"""


def _linear(form: ReductionKey) -> str:
    """Return the kernel ``first`` of contiguous operands.

    A block reduces chunks of `chunk` vectors. The first block also reduces the elements before the
    first aligned vector and after the last one.
    """
    width, unroll, places = form.vector_width, UNROLL_LINEAR, range(len(form.inputs))
    is_compound = compound.is_compound(form)
    columns = 1 if folds_vectors(form) or is_compound else width
    rows = compound.ACCUMULATORS if is_compound else accumulators(columns)
    if is_compound:
        unroll = 4  # registers are for the accumulators
    inputs = list(map(Element, form.inputs))
    types = [vector_of(one, width) for one in inputs]

    def call(pack: str) -> str:
        if form.tables:
            chosen = (f"t{j}[(long long)p0{pack}.item[k]]" for j in range(len(form.tables)))
            return f"P_value({', '.join(chosen)})"
        return f"P_value({', '.join(f'p{j}{pack}.item[k]' for j in places)})"

    def loads(pack: str, index: str) -> str:
        return " ".join(
            f"p{j}{pack} = ((const {types[j]} *)(x{j} + head))[{index}];" for j in places
        )

    def place(index: str) -> str:
        return f"P_index(head + ({index}) * {width})" if is_compound else ""

    tail = "P_value(p0.item[k], P_index(at))" if compound.has_places(form) else call("")
    single = " ".join(
        f"{vector_of(one, 1)} p{j}; p{j}.item[0] = x{j}[at];" for j, one in enumerate(inputs)
    )
    return f"""
extern "C" __global__ void __launch_bounds__({BLOCK_THREADS}, {BLOCKS}) first(
    {_linear_parameters(form)}) {{
  {memory()}
  __shared__ bool is_last;
  {_sums(columns, rows)}
  const long long vectors = (n - head) / {width}, threads = blockDim.x;
  for (long long base = blockIdx.x * chunk; base < vectors; base += gridDim.x * chunk) {{
    const long long end = base + chunk < vectors ? base + chunk : vectors;
    long long i = base + threadIdx.x;
    for (; i + {unroll - 1} * threads < end; i += {unroll} * threads) {{
      {" ".join(f"{types[j]} p{j}[{unroll}];" for j in places)}
      #pragma unroll
      for (int u = 0; u < {unroll}; ++u) {{ {loads("[u]", "i + u * threads")} }}
      #pragma unroll
      for (int u = 0; u < {unroll}; ++u) {{
        {_folding(columns, width, f"u % {rows}", call, "[u]", place("i + u * threads"))}
      }}
    }}
    for (; i < end; i += threads) {{
      {" ".join(f"{types[j]} p{j};" for j in places)} {loads("", "i")}
      {_folding(columns, width, 0, call, "", place("i"))}
    }}
  }}
  if (blockIdx.x == 0)
    for (long long i = threadIdx.x; i < n - vectors * {width}; i += threads) {{
      const long long at = i < head ? i : i + vectors * {width};
      {single}
      const int k = 0;
      sums[0][0] = P_folded()(sums[0][0], {tail});
    }}
  {_total(columns, rows)}
  total = P_fold(total, P_memory, int(threadIdx.x), int(blockDim.x), 1, P_folded());
  if (threadIdx.x == 0 && gridDim.x > 1) parts[blockIdx.x] = total;
  if (gridDim.x > 1) {{
    if (!done || !P_is_last(done, gridDim.x, is_last)) return;
    total = P_parts(parts, threadIdx.x, blockDim.x, gridDim.x, 1);
    total = P_fold(total, P_memory, int(threadIdx.x), int(blockDim.x), 1, P_folded());
  }}
  if (threadIdx.x == 0) *out = P_result(total, count);
}}
"""


def user_source(
    name: str,
    out_type: str,
    neutral: str,
    fold_expression: str,
    value: str,
    arguments: str,
    preamble: str,
    elements: Sequence[Element],
    threads: int,
    unroll: int,
) -> str:
    """Return the text of a ReductionKernel: the kernels ``<name>_first`` and ``<name>_last``.

    If ``<name>_first`` gets a counter, its last block reduces the results of all blocks.

    :param name: Prefix of the kernels' names.
    :param out_type, neutral, fold_expression, value: Result type, neutral element, combination of
        ``a`` and ``b``, and value at ``i``, in C.
    :param arguments: Declarations in C.
    :param preamble: Text before the kernels.
    :param list of Element elements: Types in the declarations.
    :param threads, unroll: Most threads per block, and elements that a thread reduces
        independently.
    """

    def kernel(
        suffix: str, source: str, count: str, value: str, more: str = "", behind: str = ""
    ) -> str:
        def fold(u: int, at: str) -> str:
            index = f"const size_t {'i' if suffix == 'first' else 'P_i'} = {at};"
            return f"{{ {index} P_set(P_sum{u}, P_folded(P_sum{u}, ({value}))); }}"

        return f"""
extern "C" __global__ void {name}_{suffix}(out_type *P_out{source}{own}, size_t P_chunk,
                                           size_t {count}{more}) {{
  {memory("sizeof(out_type)", threads)}
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
  const out_type P_all = {fold_block("P_sum0")};
  if (threadIdx.x == 0) P_set(P_out[blockIdx.x], P_all);{behind}
}}
"""

    def fold_block(own: str) -> str:
        return f"P_fold({own}, P_memory, int(threadIdx.x), int(blockDim.x), 1, P_folded)"

    behind = f"""
  __shared__ bool P_last;
  if (P_done && P_is_last(P_done, gridDim.x, P_last)) {{
    const out_type *const P_parts = P_out;
    out_type P_rest = {neutral};
    for (unsigned P_i = threadIdx.x; P_i < gridDim.x; P_i += blockDim.x)
      P_set(P_rest, P_folded(P_rest, P_parts[P_i]));
    const out_type P_whole = {fold_block("P_rest")};
    if (threadIdx.x == 0) P_set(*P_result, P_whole);
  }}"""

    own = f", {arguments}" if arguments else ""
    return f"""{includes(elements)}#include <pycuda-complex.hpp>
{preamble}
{LAST_BLOCK}{FOLD}
typedef {out_type} out_type;
{kernel("first", "", "n", value, ", out_type *P_result, unsigned *P_done", behind)}
{kernel("last", ", const out_type *P_parts", "P_rows", "P_parts[P_i]")}"""


@functools.cache
def own_text() -> str:
    """Return the text of :func:`user_source` without the user's parts."""
    return user_source(*("",) * 7, [], 1, 1)
