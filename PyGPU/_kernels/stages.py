"""PyCUDA's two stages of a reduction, for programs that launch the stages themselves.

A block of the first stage writes the total of ``block_size * seq_count`` elements to ``out``, at
the block's index. The second stage reduces the first stage's result in the same way.
``ReductionKernel`` does not use these kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PyGPU._compile.source import declarations, signature
from PyGPU._kernels.types import get_arg_type, require_free_names
from PyGPU._runtime import docstrings

if TYPE_CHECKING:
    from PyGPU._driver import Function, SourceModule

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
_OWN_NAMES = ("i", "n", "out", "out_type", "seq_count", "BLOCK_SIZE", "READ_AND_MAP", "REDUCE")


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
) -> SourceModule:
    """Compile the kernel of one stage, ``name(out, arguments, seq_count, n)``.

    A launch needs blocks of `block_size` threads, and dynamic shared memory for one ``out_type``
    per thread.

    :param out_type: Type of the result in C.
    :param block_size: Number of threads per block.
    :param neutral: Neutral element of the operation, in C.
    :param reduce_expr: C expression that combines two values `a` and `b`.
    :param map_expr: C expression of the index `i` and the arguments.
    :param arguments: Declarations in C.
    :param name: Name of the kernel.
    :param keep: Keep the text and the image in a folder, and print its name.
    :param options: Options for the compiler.
    :param preamble: C++ before the kernel.
    :returns: The module.
    :raises ValueError: An argument has the name of one of the kernel's own variables.

    >>> from PyGPU import gpuarray, reduction
    >>> module = reduction.get_reduction_module(
    ...     "float", 32, "0", "a + b", "x[i]", "const float *x", name="total"
    ... )
    >>> x, out = gpuarray.to_gpu(np.array([1, 4, 9], np.float32)), gpuarray.zeros(1, np.float32)
    >>> total = module.get_function("total")
    >>> total(out, x, np.uint32(1), np.uint64(3), block=(32, 1, 1), shared=32 * 4)
    >>> out
    array([14.], dtype=float32)
    """
    from PyGPU._driver import SourceModule

    names = [signature.parameter(one).name for one in declarations.split_top(arguments)]
    require_free_names(names, _OWN_NAMES, _TEXT)
    text = _TEXT.format(
        **{"out_type": out_type, "block_size": block_size, "neutral": neutral},
        **{"reduce_expr": reduce_expr, "map_expr": map_expr, "arguments": arguments},
        **{"name": name, "preamble": preamble},
    )
    return SourceModule(text, options=options, keep=keep, no_extern_c=True)


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
    """Compile and prepare the kernel of stage 1 or 2.

    The kernel's arguments are ``out, arguments, seq_count, n``. In stage 2,
    ``pycuda_reduction_inp``, the result of stage 1, comes before the arguments.

    :param {1, 2} stage: Number of the stage.
    :param out_type: Type of the result in C.
    :param block_size: Number of threads per block.
    :param neutral: Neutral element of the operation, in C.
    :param reduce_expr: C expression that combines two values `a` and `b`.
    :param map_expr: C expression of the index `i` and the arguments; by default ``in[i]`` in stage
        1 and ``pycuda_reduction_inp[i]`` in stage 2.
    :param arguments: Declarations in C.
    :param name: Name of the kernel.
    :param keep: Keep the text and the image in a folder, and print its name.
    :param options: Options for the compiler.
    :param preamble: C++ before the kernel.
    :returns tuple of (Function, list of str): The prepared kernel, and the :mod:`struct` characters
        of `arguments`.

    >>> from PyGPU import gpuarray, reduction
    >>> kernel, types = reduction.get_reduction_kernel_and_types(
    ...     1, "float", 32, "0", "a + b", arguments="const float *in"
    ... )
    >>> types
    ['P']
    >>> x, out = gpuarray.to_gpu(np.array([1, 4, 9], np.float32)), gpuarray.zeros(1, np.float32)
    >>> kernel.prepared_call((1, 1), (32, 1, 1), out, x, 1, 3, shared_size=32 * 4)
    >>> out
    array([14.], dtype=float32)
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
    types = [get_arg_type(one) for one in declarations.split_top(arguments)]
    return module.get_function(name).prepare(f"P{''.join(types)}IN"), types


docstrings.complete(__name__)
