"""Kernels that run an operation for each index: their text, compiled and prepared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from PyGPU._compile.source import declarations
from PyGPU._kernels.text.common import Element, includes
from PyGPU._kernels.types import (
    Argument,
    ScalarArg,
    VectorArg,
    parse_c_arg,
    require_free_names,
)
from PyGPU._runtime import core, docstrings

if TYPE_CHECKING:
    from PyGPU._driver import Function, SourceModule

# A block of one thread gets adjacent indices: on the host machine, where each core runs a block.
# Other blocks access adjacent indices by adjacent threads, which coalesces accesses on a GPU.
_TEXT = """{headers}#include <pycuda-complex.hpp>
{preamble}
extern "C" __global__ void {name}({parameters})
{{
  unsigned tid = threadIdx.x;
  unsigned total_threads = gridDim.x * blockDim.x;
  unsigned cta_start = blockDim.x * blockIdx.x;
  __attribute__((unused)) {index} i = 0;
  {loop_prep}
  ;
  size_t P_number = cta_start + tid, P_end = {count}, P_stride = total_threads;
  if (blockDim.x == 1) {{
    const size_t P_share = (P_end + gridDim.x - 1) / gridDim.x;
    P_number = blockIdx.x * P_share;
    if (P_number + P_share < P_end) P_end = P_number + P_share;
    P_stride = 1;
  }}
  for (; P_number < P_end; P_number += P_stride) {{
    i = {element};
    {operation}
    ;
  }}
  {after_loop}
  ;
}}
"""

# The batched kernel serves many indices of arrays that do not overlap: each thread has a few
# indices. Restrict pointers promise that stores do not change loaded data, so that the compiler can
# issue all loads of a thread before its first store.
_BATCHED_TEXT = """{headers}#include <pycuda-complex.hpp>
extern "C" __global__ void __launch_bounds__({threads}) {name}({parameters})
{{
  const size_t P_in_block = {threads} * {batch}, P_first = blockIdx.x * P_in_block;
  size_t i = 0;
  if (P_first + P_in_block <= n) {{
    #pragma unroll
    for (unsigned P_k = 0; P_k < {batch}; ++P_k) {{
      i = P_first + threadIdx.x + P_k * {threads};
      {operation}
      ;
    }}
  }} else {{
    for (size_t P_number = P_first + threadIdx.x; P_number < n; P_number += {threads}) {{
      i = P_number;
      {operation}
      ;
    }}
  }}
}}
"""
_ALL_TEXT = _TEXT + _BATCHED_TEXT
_VARIABLES = ("i", "tid", "total_threads", "cta_start")
_BATCH_THREADS, _BATCH = core._batch  # threads per block, indices per thread
# Words in an operation whose meaning may depend on the shape of the loop.
_OF_THE_LOOP = (
    r"\b(break|continue|return|goto|asm|static|__shared__|tid|total_threads|cta_start|\w*Idx"
    r"|\w*Dim|__\w*sync\w*|__activemask|cooperative_groups)\b"
)

# The length of Python's range(start, stop, step).
_COUNT = (
    "step > 0 ? (stop > start ? size_t(stop - start - 1) / size_t(step) + 1 : 0)"
    " : (start > stop ? size_t(start - stop - 1) / size_t(-step) + 1 : 0)"
)
_N = [ScalarArg(np.uintp, "n")]
_RANGE = [ScalarArg(np.intp, name) for name in ("start", "stop", "step")]


def arguments_of(arguments: str | Sequence[VectorArg | ScalarArg]) -> list[VectorArg | ScalarArg]:
    """Return a new list of arguments, which are given as C declarations or as a list of Argument.

    :raises ValueError: A declaration cannot be parsed or has an unknown type.
    :raises TypeError: An item of the list is not an Argument.
    """
    if isinstance(arguments, str):
        return [parse_c_arg(one) for one in declarations.split_top(arguments)]
    arguments = list(arguments)
    for one in arguments:
        if not isinstance(one, Argument):
            raise TypeError(f"arguments: expected a str or a list of Argument, got {one!r}")
    return arguments


def _require_free(arguments: list[VectorArg | ScalarArg], *added: ScalarArg) -> None:
    """Check the names of a caller's arguments, to which the arguments `added` will be appended."""
    own = [*_VARIABLES, *(one.name for one in added)]
    require_free_names([one.name for one in arguments], own, _ALL_TEXT)


def _with(
    arguments: list[VectorArg | ScalarArg], own: Sequence[ScalarArg]
) -> list[VectorArg | ScalarArg]:
    """Return the arguments, followed by the kernel's own arguments."""
    _require_free(arguments, *own)
    return [*arguments, *own]


def _module(
    arguments: list[VectorArg | ScalarArg],
    is_range: bool,
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """Compile the plain kernel or that of a range; the arguments' names are checked already."""
    from PyGPU._driver import SourceModule

    text = _TEXT.format(
        headers=includes([Element(one.dtype) for one in arguments]),
        preamble=preamble,
        name=name,
        parameters=", ".join(one.declarator() for one in arguments),
        index="long" if is_range else "size_t",
        loop_prep=loop_prep,
        count=_COUNT if is_range else "n",
        element="start + long(P_number) * step" if is_range else "P_number",
        operation=operation,
        after_loop=after_loop,
    )
    return SourceModule(text, options=options, keep=keep, no_extern_c=True)


def get_elwise_module(
    arguments: str | Sequence[VectorArg | ScalarArg],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """Compile a kernel that runs an operation for each ``i`` below its argument ``n``.

    :param str or list of VectorArg and ScalarArg arguments: All arguments of the kernel, ``n``
        included.
    :param operation: Statement in C for one index ``i``.
    :param name: Name of the kernel.
    :param keep: Keep the text and the image in a folder, and print its name.
    :param options: Options for the compiler.
    :param preamble: Text before the kernel.
    :param loop_prep, after_loop: Statements that each thread runs before its first index and after
        its last.
    :returns: The module, whose kernel ``name`` can be launched with any grid and block.

    >>> from PyGPU import elementwise, gpuarray
    >>> module = elementwise.get_elwise_module("float *x, size_t n", "x[i] *= 2", name="twice")
    >>> x = gpuarray.to_gpu(np.array([1, 4, 9], np.float32))
    >>> module.get_function("twice")(x, np.uintp(3), block=(32, 1, 1))
    >>> x
    array([ 2.,  8., 18.], dtype=float32)
    """
    given = arguments_of(arguments)
    _require_free(given)
    texts = preamble, loop_prep, after_loop
    return _module(given, False, operation, name, keep, options, *texts)


def get_elwise_range_module(
    arguments: str | Sequence[VectorArg | ScalarArg],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """Compile a kernel that runs an operation for each ``i`` of ``range(start, stop, step)``.

    :param str or list of VectorArg and ScalarArg arguments: All arguments of the kernel, ``start``,
        ``stop`` and ``step`` included.
    :param operation: Statement in C for one index ``i``.
    :param name: Name of the kernel.
    :param keep: Keep the text and the image in a folder, and print its name.
    :param options: Options for the compiler.
    :param preamble: Text before the kernel.
    :param loop_prep, after_loop: Statements that each thread runs before its first index and after
        its last.
    :returns: The module, whose kernel ``name`` can be launched with any grid and block.

    >>> from PyGPU import elementwise, gpuarray
    >>> module = elementwise.get_elwise_range_module(
    ...     "float *x, long start, long stop, long step", "x[i] *= 2", name="twice"
    ... )
    >>> x = gpuarray.to_gpu(np.array([1, 4, 9], np.float32))
    >>> indices = np.int64(0), np.int64(3), np.int64(2)
    >>> module.get_function("twice")(x, *indices, block=(32, 1, 1))
    >>> x
    array([ 2.,  4., 18.], dtype=float32)
    """
    given = arguments_of(arguments)
    _require_free(given)
    texts = preamble, loop_prep, after_loop
    return _module(given, True, operation, name, keep, options, *texts)


_CONDITIONAL = r"\?|&&|\|\||#|\b(?:if|else|for|while|do|switch|goto|return|continue)\b"


def can_be_batched(arrays: Sequence[str], operation: str, *around: str) -> bool:
    """Test whether the batched kernel can run an operation, as far as its text shows.

    Each array must be used at the index ``i`` only. `around` are the texts before and after the
    loop, which must be empty.
    """
    if any(around) or "*)" in operation or re.search(_OF_THE_LOOP, operation):
        return False
    return all(is_used_by_element(name, operation) for name in arrays)


def always_uses_element(array: str, operation: str) -> bool:
    """Test whether the text uses the array's element ``i`` for every ``i``."""
    if re.search(_CONDITIONAL, operation) or re.search(_OF_THE_LOOP, operation):
        return False
    return is_used_by_element(array, operation) and bool(re.search(rf"\b{array}\b", operation))


def is_used_by_element(array: str, operation: str) -> bool:
    """Test whether an operation uses the array at the index ``i`` only."""
    uses = len(re.findall(rf"\b{array}\b", operation))
    return uses == len(re.findall(rf"\b{array}\s*\[\s*i\s*\]", operation))


def get_batched_kernel_and_types(
    arguments: str | Sequence[VectorArg | ScalarArg],
    operation: str,
    name: str,
    keep: bool,
    options: Sequence[str] | None,
) -> tuple[SourceModule, Function, list[VectorArg | ScalarArg]]:
    """Compile the batched kernel of an operation, for launches by core._ElementwiseLauncher.

    The operation must pass :func:`can_be_batched`, and the arrays must not overlap. The result is
    that of :func:`get_elwise_kernel_and_types`.
    """
    from PyGPU._driver import SourceModule

    arguments = _with(arguments_of(arguments), _N)
    text = _BATCHED_TEXT.format(
        headers=includes([Element(one.dtype) for one in arguments]),
        threads=_BATCH_THREADS,
        batch=_BATCH,
        name=name,
        parameters=", ".join(one.declarator().replace("*", "*__restrict__ ") for one in arguments),
        operation=operation,
    )
    module = SourceModule(text, options=options, keep=keep, no_extern_c=True)
    return module, _prepared(module, name, arguments), arguments


def _prepared(module: SourceModule, name: str, arguments: list[VectorArg | ScalarArg]) -> Function:
    function = module.get_function(name)
    return function.prepare("".join(one.struct_char for one in arguments))


def get_elwise_kernel_and_types(
    arguments: str | Sequence[VectorArg | ScalarArg],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    use_range: bool = False,
    **kwargs: str,
) -> tuple[SourceModule, Function, list[VectorArg | ScalarArg]]:
    """Compile and prepare a kernel that runs an operation for each index.

    :param str or list of VectorArg and ScalarArg arguments: Arguments of the kernel. The arguments
        for indices are added: ``n``, or ``start, stop, step``.
    :param operation: Statement in C for one index ``i``.
    :param name: Name of the kernel.
    :param keep: Keep the text and the image in a folder, and print its name.
    :param options: Options for the compiler.
    :param use_range: Run for the indices of ``range(start, stop, step)`` instead of those below
        ``n``.
    :param str **kwargs: The texts `preamble`, `loop_prep` and `after_loop` of
        :func:`get_elwise_module`.
    :returns tuple of (SourceModule, Function, list of VectorArg and ScalarArg): The module, the
        prepared kernel and all its arguments.

    >>> from PyGPU import elementwise
    >>> module, kernel, arguments = elementwise.get_elwise_kernel_and_types(
    ...     "float *x", "x[i] *= 2", name="twice"
    ... )
    >>> arguments
    [VectorArg('x', float32), ScalarArg('n', uint64)]
    """
    arguments = _with(arguments_of(arguments), _RANGE if use_range else _N)
    module = _module(arguments, use_range, operation, name, keep, options, **kwargs)
    return module, _prepared(module, name, arguments), arguments


def get_elwise_kernel(
    arguments: str | Sequence[VectorArg | ScalarArg],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    use_range: bool = False,
    **kwargs: str,
) -> Function:
    """Compile and prepare a kernel that runs an operation for each index.

    :param str or list of VectorArg and ScalarArg arguments: Arguments of the kernel. The arguments
        for indices are added: ``n``, or ``start, stop, step``.
    :param operation: Statement in C for one index ``i``.
    :param name: Name of the kernel.
    :param keep: Keep the text and the image in a folder, and print its name.
    :param options: Options for the compiler.
    :param use_range: Run for the indices of ``range(start, stop, step)`` instead of those below
        ``n``.
    :param str **kwargs: The texts `preamble`, `loop_prep` and `after_loop` of
        :func:`get_elwise_module`.
    :returns: The prepared kernel.

    >>> from PyGPU import elementwise, gpuarray
    >>> kernel = elementwise.get_elwise_kernel("float *x", "x[i] *= 2", name="twice")
    >>> x = gpuarray.to_gpu(np.array([1, 4, 9], np.float32))
    >>> kernel.prepared_call((1, 1), (32, 1, 1), x, x.size)
    >>> x
    array([ 2.,  8., 18.], dtype=float32)
    """
    return get_elwise_kernel_and_types(
        arguments, operation, name, keep, options, use_range, **kwargs
    )[1]


docstrings.complete(__name__)
