"""Kernels that do one operation for each index: their text, compiled and prepared."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from PyGPU import compiler
from PyGPU._compile import signature
from PyGPU._driver import Function
from PyGPU._kernels.text.common import Element, includes
from PyGPU._kernels.types import Argument, ScalarArg, VectorArg, parse_c_arg
from PyGPU._runtime import core

# A block of one thread takes indices that lie together: on the host machine, where a block is the
# work of a core. All others go through memory side by side, as a GPU likes it.
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

# For many indices of arrays that lie apart: a thread takes a few, and ends.
# As nothing that is written is read through another pointer, the loads of a thread can all be under
# way before its first store.
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
_BATCH_THREADS, _BATCH = core._batch  # threads of a block, indices of a thread
# What may depend on the form of the loop.
_OF_THE_LOOP = re.compile(
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
    """A new list of arguments that are given in C, or as a list of Argument.

    Raises
    ------
    ValueError
        For what is no declaration, or has an unknown type.
    """
    if isinstance(arguments, str):
        return [parse_c_arg(one) for one in signature.split_top(arguments)]
    arguments = list(arguments)
    for one in arguments:
        if not isinstance(one, Argument):
            raise TypeError(f"arguments: expected a str or a list of Argument, got {one!r}")
    return arguments


def _with(
    arguments: list[VectorArg | ScalarArg], own: Sequence[ScalarArg]
) -> list[VectorArg | ScalarArg]:
    """The arguments, and the kernel's own behind them."""
    taken = {one.name for one in own}.union(("i", "tid", "total_threads", "cta_start"))
    for one in arguments:
        if one.name in taken:
            raise ValueError(
                f"arguments: {one.name!r} is there before: expected a name once, and another than "
                "i, n, tid, total_threads, cta_start, with range= also than start, stop, step"
            )
        taken.add(one.name)
    return [*arguments, *own]


def _source(
    arguments: list[VectorArg | ScalarArg],
    operation: str,
    name: str,
    preamble: str,
    loop_prep: str,
    after_loop: str,
    is_range: bool,
) -> str:
    return _TEXT.format(
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


def get_elwise_module(
    arguments: str | Sequence[VectorArg | ScalarArg],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> compiler.SourceModule:
    """The module of a kernel that does `operation` for each ``i`` below the argument ``n``."""
    text = _source(arguments_of(arguments), operation, name, preamble, loop_prep, after_loop, False)
    return compiler.SourceModule(text, options=options, keep=keep, no_extern_c=True)


def get_elwise_range_module(
    arguments: str | Sequence[VectorArg | ScalarArg],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> compiler.SourceModule:
    """The module of a kernel that does `operation` for each ``i`` of range(start, stop, step),
    which are its arguments."""
    text = _source(arguments_of(arguments), operation, name, preamble, loop_prep, after_loop, True)
    return compiler.SourceModule(text, options=options, keep=keep, no_extern_c=True)


_CONDITIONAL = re.compile(r"\?|&&|\|\||#|\b(?:if|else|for|while|do|switch|goto|return|continue)\b")


def can_be_batched(arrays: Sequence[str], operation: str, *around: str) -> bool:
    """May a thread take a few neighbouring indices and end, as far as the texts show? Each array
    must be used at the index ``i`` alone; `around` are the texts beside the operation."""
    if any(around) or "*)" in operation or _OF_THE_LOOP.search(operation):
        return False
    return all(is_used_by_element(name, operation) for name in arrays)


def is_always_used_by_element(array: str, operation: str) -> bool:
    """Does the text use the array's element ``i`` for every ``i``, as far as it shows?"""
    if _CONDITIONAL.search(operation) or _OF_THE_LOOP.search(operation):
        return False
    return is_used_by_element(array, operation) and bool(re.search(rf"\b{array}\b", operation))


def is_used_by_element(array: str, operation: str) -> bool:
    """Is the array used at the index ``i`` alone?"""
    uses = len(re.findall(rf"\b{array}\b", operation))
    return uses == len(re.findall(rf"\b{array}\s*\[\s*i\s*\]", operation))


def get_batched_kernel_and_types(
    arguments: str | Sequence[VectorArg | ScalarArg],
    operation: str,
    name: str,
    keep: bool,
    options: Sequence[str] | None,
) -> tuple[compiler.SourceModule, Function, list[VectorArg | ScalarArg]]:
    """Like :func:`get_elwise_kernel_and_types`, where :func:`can_be_batched` and no arrays overlap,
    for launches by core._ElementwiseLauncher."""
    arguments = _with(arguments_of(arguments), _N)
    text = _BATCHED_TEXT.format(
        headers=includes([Element(one.dtype) for one in arguments]),
        threads=_BATCH_THREADS,
        batch=_BATCH,
        name=name,
        parameters=", ".join(one.declarator().replace("*", "*__restrict__ ") for one in arguments),
        operation=operation,
    )
    module = compiler.SourceModule(text, options=options, keep=keep, no_extern_c=True)
    return module, _prepared(module, name, arguments), arguments


def _prepared(
    module: compiler.SourceModule, name: str, arguments: list[VectorArg | ScalarArg]
) -> Function:
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
) -> tuple[compiler.SourceModule, Function, list[VectorArg | ScalarArg]]:
    """A kernel that does an operation for each index.

    Parameters
    ----------
    arguments : str or list of Argument
        Without the indices, which are added: ``n``, or ``start, stop, step``.
    operation : str
        C for one index ``i``.
    use_range : bool
    **kwargs
        preamble, loop_prep, after_loop.

    Returns
    -------
    (module, Function, list of Argument)
        The function is prepared for the arguments.
    """
    arguments = _with(arguments_of(arguments), _RANGE if use_range else _N)
    make = get_elwise_range_module if use_range else get_elwise_module
    module = make(arguments, operation, name, keep, options, **kwargs)
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
    """The prepared function of :func:`get_elwise_kernel_and_types`."""
    return get_elwise_kernel_and_types(
        arguments, operation, name, keep, options, use_range, **kwargs
    )[1]
