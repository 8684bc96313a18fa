"""Text of the kernels that reduce some axes of an array.

Each row of blocks reduces `share` elements of every output. If there are several rows, each column
of blocks has a counter.
"""

from __future__ import annotations

from PyGPU._kernels.text.common import Element, unravel, vector_of
from PyGPU._kernels.text.compound import ACCUMULATORS, has_places, is_compound
from PyGPU._kernels.text.folding import (
    AXIS_THREADS,
    SIDE_BY_SIDE,
    UNROLL,
    ReductionKey,
    accumulators,
    folds_vectors,
    memory,
)


def source(form: ReductionKey) -> str:
    """Return the kernel ``first`` for one operand of any strides."""
    fields = f"""
struct P_loop {{
  long long outputs, length, share;
  long long kept[{form.output_axes}], kept_stride[{form.output_axes}];
  long long shape[{form.reduced_axes}], stride[{form.reduced_axes}];
}};
__device__ inline long long P_offset(const P_loop &loop, P_index i) {{
  long long offset = 0;
  {unravel("i", form.reduced_axes, "loop.shape", "offset += at * loop.stride[axis];")}
  return offset;
}}
"""
    return fields + (_by_threads(form) if form.outputs else _by_runs(form))


def _by_threads(form: ReductionKey) -> str:
    """Return the kernel for blocks of many threads.

    Adjacent threads have adjacent outputs (`by_output`), or adjacent elements of one output. A
    thread overlaps several loads: along the reduced axes, or of `outputs` outputs.
    """
    width, outputs = form.vector_width, form.outputs
    vector = vector_of(Element(form.inputs[0]), width)
    by_vector = folds_vectors(form) and not form.by_output
    takes_vectors = is_compound(form) and not form.by_output
    if outputs > 1:
        loads, step, source, at = outputs, "lanes", "from[u]", "i"
        sums, columns, sum_of, place = outputs, 1, "sums[u][0]", "u"
    else:
        loads, step, source, at = UNROLL, f"{UNROLL} * lanes", "from[0]", "i + u * lanes"
        columns = 1 if by_vector or takes_vectors else width
        sums = max(1, ACCUMULATORS // columns) if is_compound(form) else accumulators(columns)
        place = "k" if form.by_output else "0"
        sum_of = f"sums[u % {sums}][k]"
    value = "P_of_vector(p[u])" if by_vector else "P_value(p[u].item[k])"
    totals = width if form.by_output else outputs
    lane, other = "yx" if form.by_output else "xy"
    pitch = "many" if form.by_output else "1"
    vectors_of = f" * {width}" if form.by_output else ""
    own = f"(output * {width} + k)" if form.by_output else "(output + k * many)"
    load = f"p[u] = *(const {vector} *)({source} + P_offset(loop, {at}));"
    fold = f"""
        P_take({sum_of.replace("[k]", "[0]")}, p[u], P_index({at}) * {width});"""
    if not takes_vectors:
        one = f"{sum_of} = P_folded()({sum_of}, {value});"
        if is_compound(form):  # an element of each accumulator takes fewer steps by P_take
            of_one = vector_of(Element(form.inputs[0]), 1)
            one = f"P_take({sum_of}, {of_one}{{p[u].item[k]}}, P_index({at}));"
        fold = f"""
        #pragma unroll
        for (int k = 0; k < {1 if by_vector else width}; ++k)
          {one}"""
    each = f"#pragma unroll\n      for (int u = 0; u < {loads}; ++u)"
    some = (
        ""
        if outputs > 1
        else f"""if (i + {UNROLL - 1} * lanes >= end) {{
        {each} if ({at} < end) {load}
        {each} if ({at} < end) {{ {fold} }}
        break;
      }}"""
    )
    return f"""
struct P_totals {{ A item[{totals}]; }};
struct P_all_folded {{
  __device__ P_totals operator()(const P_totals &a, const P_totals &b) const {{
    P_totals both;
    #pragma unroll
    for (int k = 0; k < {totals}; ++k) both.item[k] = P_folded()(a.item[k], b.item[k]);
    return both;
  }}
}};
extern "C" __global__ void __launch_bounds__({AXIS_THREADS}) first(
    P_loop loop, const char *x, A *parts, R *out, long long count, unsigned *done) {{
  {memory("sizeof(P_totals)", AXIS_THREADS)}
  __shared__ bool is_last;
  const int lane = int(threadIdx.{lane}), lanes = int(blockDim.{lane});
  const int many = int(blockDim.{other});
  const long long output = (long long)blockIdx.x * many * {outputs} + threadIdx.{other};
  A sums[{sums}][{columns}];
  #pragma unroll
  for (int k = 0; k < {sums * columns}; ++k) sums[k / {columns}][k % {columns}] = P_neutral();
  if (output < loop.outputs) {{
    const char *from[{outputs}];
    #pragma unroll
    for (int u = 0; u < {outputs}; ++u) {{
      const long long own = output + u * many;
      P_index left = P_index(own < loop.outputs ? own : loop.outputs - 1);
      from[u] = x;
      {unravel("left", form.output_axes, "loop.kept", "from[u] += at * loop.kept_stride[axis];")}
    }}
    const long long begin = (long long)blockIdx.y * loop.share;
    const P_index end =
        (P_index)(begin + loop.share < loop.length ? begin + loop.share : loop.length);
    for (P_index i = (P_index)begin + lane; i < end; i += {step}) {{
      {vector} p[{loads}];
      {some}
      {each} {load}
      {each} {{ {fold} }}
    }}
  }}
  P_totals total;
  #pragma unroll
  for (int k = 0; k < {totals}; ++k) total.item[k] = P_neutral();
  #pragma unroll
  for (int u = 0; u < {sums}; ++u)
    #pragma unroll
    for (int k = 0; k < {columns}; ++k)
      total.item[{place}] = P_folded()(total.item[{place}], sums[u][k]);
  total = P_fold(total, P_memory, lane, lanes, {pitch}, P_all_folded());
  if (gridDim.y > 1) {{
    const long long all = loop.outputs{vectors_of};
    #pragma unroll
    for (int k = 0; k < {totals}; ++k)
      if (lane == 0 && {own} < all) parts[blockIdx.y * all + {own}] = total.item[k];
    if (!done || !P_is_last(done + blockIdx.x, gridDim.y, is_last)) return;
    #pragma unroll
    for (int k = 0; k < {totals}; ++k)
      total.item[k] = {own} < all ? P_parts(parts + {own}, lane, lanes, gridDim.y, all)
                                  : P_neutral();
    total = P_fold(total, P_memory, lane, lanes, {pitch}, P_all_folded());
  }}
  if (lane != 0 || output >= loop.outputs) return;
  {_stored(form)}
}}
"""


def _stored(form: ReductionKey) -> str:
    """Return the statements that store the totals of a thread."""
    width, outputs = form.vector_width, form.outputs
    if not form.by_output:
        return f"""#pragma unroll
  for (int u = 0; u < {outputs}; ++u) {{
    const long long own = output + u * many;
    if (own < loop.outputs) out[own] = P_result(total.item[u], count);
  }}"""
    group = min(width, max(1, 16 // form.compute.itemsize))  # the result's alignment allows it
    vector = f"P_vector<R, {group}>"
    return f"""#pragma unroll
  for (int k = 0; k < {width}; k += {group}) {{
    {vector} results;
    #pragma unroll
    for (int j = 0; j < {group}; ++j) results.item[j] = P_result(total.item[k + j], count);
    *({vector} *)(out + output * {width} + k) = results;
  }}"""


_TOTALS_BYTES = 1 << 14  # size of the totals of adjacent outputs, which stay in the cache
_LANES = 32  # elements of a row that are added to separate totals


def _runs(form: ReductionKey) -> str:
    """Return the functions that reduce runs of outputs."""

    def value(element: str, place: str) -> str:
        return f"P_value({element}, {place})" if has_places(form) else f"P_value({element})"

    rows = [value(f"rows[{k}][c]", f"i + {k}") for k in range(4)]
    of_row = value("*(const P_stored *)(row + c * step)", "i")
    first, second = (value(f"row[i + {c}]", f"begin + i + {c}") for c in ("c", f"{_LANES} + c"))
    apart = value("*(const P_stored *)(from + (i + c) * step)", "begin + i + c")
    left = value("*(const P_stored *)(from + i * step)", "begin + i")
    return f"""{SIDE_BY_SIDE}
// The neighbouring outputs from one on, row by row.
__device__ inline void P_columns(const P_loop &loop, const char *x, long long step, P_index begin,
                                 P_index end, A *sums, long long count) {{
  P_index i = begin;
  if (step == sizeof(P_stored))
    for (; i + 3 < end; i += 4) {{
      const P_stored *rows[4];
      for (int k = 0; k < 4; ++k) rows[k] = (const P_stored *)(x + P_offset(loop, i + k));
      P_add(sums, count, [=](long long c) {{
        return P_folded()(P_folded()({rows[0]}, {rows[1]}),
                          P_folded()({rows[2]}, {rows[3]}));
      }});
    }}
  for (; i < end; ++i) {{
    const char *const row = x + P_offset(loop, i);
    P_add(sums, count, [=](long long c) {{ return {of_row}; }});
  }}
}}

// One output, by stretches along the last axis.
__device__ inline A P_row(const P_loop &loop, const char *x, P_index begin, P_index end,
                          P_index in_stretch, long long step) {{
  A sums[{_LANES}], rest = P_neutral();
  const bool is_long = in_stretch >= {_LANES};
  for (int k = 0; is_long && k < {_LANES}; ++k) sums[k] = P_neutral();
  while (begin < end) {{
    const P_index left = in_stretch - begin % in_stretch;
    const P_index count = left < end - begin ? left : end - begin;
    const char *const from = x + P_offset(loop, begin);
    P_index i = 0;
    if (step == sizeof(P_stored)) {{
      const P_stored *const row = (const P_stored *)from;
      for (; i + {2 * _LANES} <= count; i += {2 * _LANES})
        P_add(sums, {_LANES}, [=](long long c) {{
          return P_folded()({first}, {second});
        }});
      for (; i + {_LANES} <= count; i += {_LANES})
        P_add(sums, {_LANES}, [=](long long c) {{ return {first}; }});
    }} else
      for (; i + {_LANES} <= count; i += {_LANES})
        P_add(sums, {_LANES}, [=](long long c) {{
          return {apart};
        }});
    for (; i < count; ++i) rest = P_folded()(rest, {left});
    begin += count;
  }}
  // Side by side; with a return for short rows before it, all rows take longer.
  for (int k = 0; is_long && k < {_LANES // 4}; ++k)
    sums[k] = P_folded()(P_folded()(sums[k], sums[k + {_LANES // 4}]),
                         P_folded()(sums[k + {_LANES // 2}], sums[k + {_LANES * 3 // 4}]));
  for (int k = 0; is_long && k < {_LANES // 8}; ++k)
    sums[k] = P_folded()(sums[k], sums[k + {_LANES // 8}]);
  for (int k = 0; is_long && k < {_LANES // 8}; ++k) rest = P_folded()(rest, sums[k]);
  return rest;
}}
"""


def _by_runs(form: ReductionKey) -> str:
    """Return the kernel for blocks of one thread, which has a run of adjacent outputs."""
    last, inner = form.output_axes - 1, form.reduced_axes - 1
    if form.by_output:
        most = "if (some > P_MOST) some = P_MOST;"
        fold = f"""for (long long c = 0; c < some; ++c) sums[c] = P_neutral();
    P_columns(loop, from, loop.kept_stride[{last}], begin, end, sums, some);
    for (long long c = 0; c < some; ++c) {{ const A total = sums[c]; P_STORE }}"""
    else:
        most = ""
        fold = f"""for (long long c = 0; c < some; ++c) {{
      const A total = P_row(loop, from + c * loop.kept_stride[{last}], begin, end,
                            P_index(loop.shape[{inner}]), loop.stride[{inner}]);
      P_STORE
    }}"""
    store = """if (gridDim.y == 1) out[output + c] = P_result(total, count);
      else parts[blockIdx.y * loop.outputs + output + c] = total;"""
    return f"""
typedef {Element(form.inputs[0]).stored} P_stored;
enum {{ P_MOST = {_TOTALS_BYTES} / sizeof(A) }};
{_runs(form)}
extern "C" __global__ void first(P_loop loop, const char *x, A *parts, R *out, long long count,
                                 unsigned *) {{
  {"A sums[P_MOST];" if form.by_output else ""}
  const long long run = (loop.outputs + gridDim.x - 1) / gridDim.x;
  const long long first_behind = (blockIdx.x + 1) * run;
  const long long behind = first_behind < loop.outputs ? first_behind : loop.outputs;
  const P_index begin = P_index(blockIdx.y * loop.share);
  const P_index end = begin + loop.share < loop.length ? begin + loop.share : loop.length;
  for (long long output = blockIdx.x * run, some; output < behind; output += some) {{
    some = loop.kept[{last}] - output % loop.kept[{last}];
    if (some > behind - output) some = behind - output;
    {most}
    const char *from = x;
    P_index left = P_index(output);
    {unravel("left", form.output_axes, "loop.kept", "from += at * loop.kept_stride[axis];")}
    {fold.replace("P_STORE", store)}
  }}
}}
"""
