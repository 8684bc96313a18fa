"""Text of the elementwise kernels behind GPUArray's operators and functions.

include/PyGPU/arrays/loop.h documents the kernels' parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PyGPU._kernels.text import fused, runs
from PyGPU._kernels.text.arguments import (
    Argument,
    Computation,
    arrays_of,
    computation_of,
    parameters_of,
    single_element,
)
from PyGPU._kernels.text.common import (
    VECTOR,
    headed,
    index_types,
    unravel,
    vector_of,
)
from PyGPU._kernels.text.device_functions import has_loop_functions, helpers

if TYPE_CHECKING:
    from PyGPU._types import DType

#: Most vectors per thread in loops of vectors; runs have thousands (loop_vectors in
#: include/PyGPU/vendor/).
_MOST_VECTORS = 1024


def has_runs(
    inputs: Sequence[DType],
    compute: Sequence[DType],
    outputs: Sequence[DType],
    scalars: Sequence[bool],
    ndim: int,
    index64: bool,
    vector_width: int,
    vectors: int,
    *bits: int,
) -> bool:
    """Test whether a thread processes a run of many single elements. See :func:`source`."""
    return vectors > _MOST_VECTORS


def source(
    name: str,
    inputs: Sequence[DType],
    compute: Sequence[DType],
    outputs: Sequence[DType],
    scalars: Sequence[bool],
    ndim: int,
    index64: bool,
    vector_width: int,
    vectors: int,
    broadcast: int = 0,
    transposed: int = 0,
) -> str:
    """Return the text of the kernel ``elementwise``.

    Parameters
    ----------
    name : str
        Name of the operation in PyGPU._kernels.operations or text.fused.BODIES.
    inputs, compute : sequence of str
        Dtypes of the operands in memory and in the computation.
    outputs : sequence of str
        Dtypes of the results.
    scalars : sequence of bool
        Whether each operand is a number, which is passed in its computation's dtype.
    ndim : int
        Number of axes of the loop; 0 for contiguous arrays of one order.
    index64 : bool
        Use 64-bit indices.
    vector_width, vectors, broadcast, transposed : int
        Fields of LoopPlan in include/PyGPU/arrays/loop.h; the bits count arrays only. If `vectors`
        exceeds `_MOST_VECTORS`, each block has one thread, which processes that many elements.
    """
    inside = fused.BODIES.get(name)
    letters = fused.names(len(inputs)) if inside else "abcd"
    operands = [Argument(*one) for one in zip(letters, inputs, compute, scalars)]
    results = [Argument(f"out{number}", one) for number, one in enumerate(outputs)]
    computation = computation_of(name, operands, results)
    for bit, one in enumerate((*arrays_of(operands), *results)):
        if vector_width and not broadcast >> bit & 1:
            one.vector = vector_of(one.type, vector_width)
            one.item = ".item[k]"
    body = operands, results, computation
    elements = [t for one in (*operands, *results) for t in (one.type, one.compute)]
    elements += fused.elements(inside) if inside else []
    if vectors > _MOST_VECTORS and ndim:
        text = _strided_run(ndim, vectors, *body)
    elif vectors > _MOST_VECTORS:
        is_half = any(one.type.is_half for one in (*arrays_of(operands), *results))
        has_double = any("double" in one.computed for one in elements)  # doubles round once to half
        by_floats = is_half and not has_double
        text = (_linear_run_by_floats if by_floats else _linear_run)(vectors, *body)
    elif transposed:
        chosen = [one for bit, one in enumerate(arrays_of(operands)) if transposed >> bit & 1]
        text = _tiled(ndim, max(vector_width, 1), vectors, chosen, *body)
    elif ndim:
        text = _strided(ndim, max(vector_width, 1), vectors, *body)
    else:
        text = _linear(max(vector_width, 1), vectors, *body)
    texts = (computation.statements, *computation.values)
    names = "".join(f"typedef {one.compute.computed} {one.letter.upper()};\n" for one in operands)
    return headed(
        elements,
        helpers(texts, any(one.is_complex for one in elements))
        + names
        + ("" if inside else "typedef A T;\n")
        + index_types(index64)
        + text,
    )


def _vectors(arguments: Iterable[Argument], vectors: int) -> str:
    """Declare the vectors of a thread.

    A thread loads all of them before its first store, so that the loads overlap.
    """
    return " ".join(f"{one.vector} {one.letter}_vector[{vectors}];" for one in arguments)


def _in_vector(operands: list[Argument], results: list[Argument], computation: Computation) -> str:
    """Return the statements for element `k` of vector `v`.

    The element's index is a sum in the computation's type, which needs one conversion per vector.
    """
    return single_element(
        operands,
        results,
        computation,
        lambda one: f"{one.letter}_vector[v]{one.item}",
        "A(at) + A(k)",
    )


def _linear(
    width: int,
    vectors: int,
    operands: list[Argument],
    results: list[Argument],
    computation: Computation,
) -> str:
    arrays = arrays_of(operands)
    parameters = parameters_of("P_index n", operands, results, lambda one: one.type.stored)
    reads = " ".join(
        f"{one.letter}_vector[v] = *(const {one.vector} *)({one.letter}_data + at);"
        for one in arrays
    )
    writes = " ".join(
        f"*({one.vector} *)({one.letter}_data + at) = {one.letter}_vector[v];" for one in results
    )
    single = single_element(operands, results, computation, lambda one: f"{one.letter}_data[i]")
    start = (
        f"const P_index at = first + (v * P_index(blockDim.x) + P_index(threadIdx.x)) * {width};"
    )
    load = f"""#pragma unroll
    for (int v = 0; v < {vectors}; ++v) {{ {start} {reads} }}"""
    return f"""{VECTOR}
extern "C" __global__ void elementwise({parameters}) {{
  const P_index in_block = P_index(blockDim.x) * {width * vectors};
  const P_index first = P_index(blockIdx.x) * in_block;
  if (first + in_block <= n) {{
    {_vectors((*arrays, *results), vectors)}
    {load if arrays else ""}
    #pragma unroll
    for (int v = 0; v < {vectors}; ++v) {{
      {start if computation.is_indexed else ""}
      #pragma unroll
      for (int k = 0; k < {width}; ++k) {{ {_in_vector(operands, results, computation)} }}
    }}
    #pragma unroll
    for (int v = 0; v < {vectors}; ++v) {{ {start} {writes} }}
    return;
  }}
  for (P_index i = first + P_index(threadIdx.x); i < n; i += P_index(blockDim.x)) {{ {single} }}
}}
"""


def _calls(computation: Computation) -> bool:
    return has_loop_functions((*computation.values, computation.statements))


def _linear_run(
    run: int, operands: list[Argument], results: list[Argument], computation: Computation
) -> str:
    parameters = parameters_of("P_index n", operands, results, lambda one: one.type.stored)
    single = single_element(operands, results, computation, lambda one: f"{one.letter}_data[i]")
    loop = runs.linear(run, single, _calls(computation))
    return f"""
extern "C" __global__ void elementwise({parameters}) {{{loop}
}}
"""


def _linear_run_by_floats(
    run: int, operands: list[Argument], results: list[Argument], computation: Computation
) -> str:
    """Return a kernel for contiguous arrays that reads and writes halves as rows of floats."""
    inputs = arrays_of(operands)
    parameters = parameters_of("P_index n", operands, results, lambda one: one.type.stored)
    halves = {one.letter for one in (*results, *inputs) if one.type.is_half}
    single = single_element(
        [one.by_float() for one in operands],
        [one.by_float() for one in results],
        computation,
        lambda one: one.letter + ("_row[k]" if one.letter in halves else "_data[next + k]"),
        "A(next + k)",
    )
    loop = runs.linear_by_floats(run, results, inputs, single, _calls(computation))
    return f"""{runs.HALF_ROWS}
extern "C" __global__ void elementwise({parameters}) {{
  {loop}
}}
"""


def _strided_run(
    ndim: int,
    run: int,
    operands: list[Argument],
    results: list[Argument],
    computation: Computation,
) -> str:
    begin, find = _strided_parts(ndim, operands, results)
    calls = _calls(computation)
    body = runs.Body(
        ndim - 1,
        run,
        results,
        arrays_of(operands),
        lambda read: single_element(operands, results, computation, read),
        find,
        calls,
    )
    converts = any(one.type.is_half for one in body.arrays) and computation.values != ("a",)
    return f"""{begin}{(runs.collected if calls or converts else runs.strided)(body)}
}}
"""


def _strided_parts(
    ndim: int, operands: list[Argument], results: list[Argument], axes: int | None = None
) -> tuple[str, str]:
    """Return the start of the kernel, and statements that convert `i` to the offsets `x_at`.

    `i` counts elements along the first `axes` axes.
    """
    axes = ndim if axes is None else axes
    places = [one.letter for one in (*results, *arrays_of(operands))]
    fields = " ".join(f"P_index {name}[{ndim}];" for name in ["shape", *places])
    parameters = parameters_of("P_loop loop", operands, results, lambda one: "char")
    begin = f"""
struct P_loop {{ P_index size; {fields} }};
extern "C" __global__ void elementwise({parameters}) {{"""
    offsets = " ".join(f"{name}_at += at * loop.{name}[axis];" for name in places)
    find = " ".join(f"long long {name}_at = 0;" for name in places)
    return begin, f"{find}\n    {unravel('i', axes, 'loop.shape', offsets)}"


_TILE = 32  # loop_tile in include/PyGPU/arrays/loop.h


def _tiled(
    ndim: int,
    width: int,
    rows: int,
    transposed: list[Argument],
    operands: list[Argument],
    results: list[Argument],
    computation: Computation,
) -> str:
    """Return a kernel whose blocks transpose tiles of the last two axes.

    A tile consists of 32 x 32 squares of `width` x `width` elements. Vectors of the transposed
    arrays are loaded to shared memory along one axis, and read along the other. Rows in shared
    memory have one more vector, so that accesses spread over all banks.
    """
    begin, find = _strided_parts(ndim, operands, results, ndim - 2)
    step = _TILE // rows
    others = [one for one in arrays_of(operands) if one not in transposed]
    memory = "\n  ".join(
        f"__shared__ __align__(16) char {one.letter}_memory"
        f"[{width} * {_TILE} * {_TILE + 1} * sizeof({one.vector})]; "
        f"auto *{one.letter}_tile = ({one.vector} (*)[{_TILE}][{_TILE + 1}]){one.letter}_memory;"
        for one in transposed
    )

    def vector(one: Argument, x: str, y: str) -> str:
        return (
            f"*({one.vector} *)({one.letter}_data + {one.letter}_at"
            f" + ({y}) * (long long)loop.{one.letter}[{ndim - 2}]"
            f" + ({x}) * (long long)loop.{one.letter}[{ndim - 1}])"
        )

    take = " ".join(
        f"{one.letter}_tile[k][lane][row] = {vector(one, 'x + k', 'y')};" for one in transposed
    )
    squares = " ".join(f"{one.vector} {one.letter}_square[{width}];" for one in transposed)
    fetch = " ".join(
        f"{one.letter}_square[k] = {one.letter}_tile[k][row][lane];" for one in transposed
    )
    reads = " ".join(f"{one.letter}_vector = {vector(one, 'x', 'y + j')};" for one in others)
    writes = " ".join(f"{vector(one, 'x', 'y + j')} = {one.letter}_vector;" for one in results)
    declared = " ".join(f"{one.vector} {one.letter}_vector;" for one in (*results, *others))
    body = single_element(
        operands,
        results,
        computation,
        lambda one: (
            f"{one.letter}_square[k]" + (".item[j]" if one.item else "")
            if one in transposed
            else f"{one.letter}_vector{one.item}"
        ),
    )
    return f"""{VECTOR}{begin}
  {memory}
  const P_index width = loop.shape[{ndim - 1}], height = loop.shape[{ndim - 2}];
  const P_natural across = (width + {_TILE * width - 1}) / {_TILE * width};
  const P_natural down = (height + {_TILE * width - 1}) / {_TILE * width};
  P_index i = P_index(blockIdx.x / across);
  const P_index left = P_index(blockIdx.x % across) * {_TILE * width};
  const P_index top = P_index(P_natural(i) % down) * {_TILE * width};
  i = P_index(P_natural(i) / down);
  {find}
  const int lane = threadIdx.x % {_TILE}, first = threadIdx.x / {_TILE};
  #pragma unroll
  for (int v = 0; v < {rows}; ++v) {{
    const int row = first + v * {step};
    const P_index x = left + row * {width}, y = top + lane * {width};
    #pragma unroll
    for (int k = 0; k < {width}; ++k) {{ if (x < width && y < height) {{ {take} }} }}
  }}
  __syncthreads();
  #pragma unroll
  for (int v = 0; v < {rows}; ++v) {{
    const int row = first + v * {step};
    const P_index x = left + lane * {width}, y = top + row * {width};
    if (x >= width || y >= height) continue;
    {squares}
    #pragma unroll
    for (int k = 0; k < {width}; ++k) {{ {fetch} }}
    #pragma unroll
    for (int j = 0; j < {width}; ++j) {{
      {declared}
      {reads}
      #pragma unroll
      for (int k = 0; k < {width}; ++k) {{ {body} }}
      {writes}
    }}
  }}
}}
"""


def _strided(
    ndim: int,
    width: int,
    vectors: int,
    operands: list[Argument],
    results: list[Argument],
    computation: Computation,
) -> str:
    begin, find = _strided_parts(ndim, operands, results)
    arrays = arrays_of(operands)
    reads = " ".join(
        f"{one.letter}_vector[v] = *(const {one.vector} *)({one.letter}_data + {one.letter}_at);"
        for one in arrays
    )
    keep = " ".join(f"{one.letter}_place[v] = {one.letter}_at;" for one in results)
    writes = " ".join(
        f"*({one.vector} *)({one.letter}_data + {one.letter}_place[v]) = {one.letter}_vector[v];"
        for one in results
    )
    return f"""{VECTOR}{begin}
  const P_index first = P_index(blockIdx.x) * P_index(blockDim.x) * {vectors}
    + P_index(threadIdx.x);
  {_vectors((*arrays, *results), vectors)}
  {" ".join(f"long long {one.letter}_place[{vectors}];" for one in results)}
  #pragma unroll
  for (int v = 0; v < {vectors}; ++v) {{
    P_index i = first + v * P_index(blockDim.x);
    if (i >= loop.size) i = loop.size - 1;
    {find}
    {reads} {keep}
  }}
  #pragma unroll
  for (int v = 0; v < {vectors}; ++v) {{
    if (first + v * P_index(blockDim.x) >= loop.size) return;
    #pragma unroll
    for (int k = 0; k < {width}; ++k) {{ {_in_vector(operands, results, computation)} }}
    {writes}
  }}
}}
"""
