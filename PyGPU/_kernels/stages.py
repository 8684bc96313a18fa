"""PyCUDA's two stages of a reduction, for programs that launch them themselves.

A block of the first stage leaves the total of ``block_size * seq_count`` elements in ``out``, at
its own number; the second stage does the same to what the first has left. ``ReductionKernel`` goes
another way.
"""

from __future__ import annotations

from collections.abc import Sequence

from PyGPU import compiler
from PyGPU._compile import signature
from PyGPU._driver import Function
from PyGPU._kernels.types import get_arg_type

_TEXT = """#include <pycuda-complex.hpp>
#define BLOCK_SIZE {block_size}
#define READ_AND_MAP(i) ({map_expr})
#define REDUCE(a, b) ({reduce_expr})
{preamble}
typedef {out_type} out_type;
extern "C" __global__ void {name}(out_type *out, {arguments}, unsigned int seq_count, size_t n)
{{
  extern __shared__ __align__(16) unsigned char P_bytes[];
  out_type *P_totals = (out_type *)P_bytes;
  const unsigned int P_thread = threadIdx.x;
  size_t i = (size_t)blockIdx.x * BLOCK_SIZE * seq_count + P_thread;
  out_type P_total = {neutral};
  for (unsigned int P_k = 0; P_k < seq_count && i < n; ++P_k, i += BLOCK_SIZE)
    P_total = REDUCE(P_total, READ_AND_MAP(i));
  P_totals[P_thread] = P_total;
  __syncthreads();
  for (unsigned int P_left = BLOCK_SIZE; P_left > 1;) {{
    const unsigned int P_half = (P_left + 1) / 2;
    if (P_thread < P_left - P_half)
      P_totals[P_thread] = REDUCE(P_totals[P_thread], P_totals[P_thread + P_half]);
    P_left = P_half;
    __syncthreads();
  }}
  if (P_thread == 0) out[blockIdx.x] = P_totals[0];
}}
"""


def get_reduction_module(
    out_type: str,
    block_size: int,
    neutral: str,
    reduce_expr: str,
    map_expr: str,
    arguments: str,
    name: str = "reduce_kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
) -> compiler.SourceModule:
    """The module of one stage: ``name(out, arguments, seq_count, n)``, launched in blocks of
    `block_size` threads with room for an ``out_type`` each in dynamic shared memory.

    The parameters are C, as :class:`PyGPU.reduction.ReductionKernel` has them; `arguments` is text.
    """
    text = _TEXT.format(
        **{"out_type": out_type, "block_size": block_size, "neutral": neutral},
        **{"reduce_expr": reduce_expr, "map_expr": map_expr, "arguments": arguments},
        **{"name": name, "preamble": preamble},
    )
    return compiler.SourceModule(text, options=options, keep=keep, no_extern_c=True)


def get_reduction_kernel_and_types(
    stage: int,
    out_type: str,
    block_size: int,
    neutral: str,
    reduce_expr: str,
    map_expr: str | None = None,
    arguments: str | None = None,
    name: str = "reduce_kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
) -> tuple[Function, list[str]]:
    """(kernel, struct's characters of its arguments) of stage 1 or 2.

    The kernel is prepared for ``out, arguments, seq_count, n``. Stage 2 has
    ``pycuda_reduction_inp``, what stage 1 has left, before the arguments.
    """
    if stage not in (1, 2):
        raise AssertionError(f"stage={stage!r}: expected 1 or 2")
    parts = [arguments] if arguments else []
    if stage == 2:
        parts.insert(0, f"const {out_type} *pycuda_reduction_inp")
    default = "in[i]" if stage == 1 else "pycuda_reduction_inp[i]"
    arguments = ", ".join(parts)
    module = get_reduction_module(
        out_type,
        block_size,
        neutral,
        reduce_expr,
        map_expr or default,
        arguments,
        name,
        keep,
        options,
        preamble,
    )
    types = [get_arg_type(one) for one in signature.split_top(arguments)]
    return module.get_function(name).prepare(f"P{''.join(types)}IN"), types
