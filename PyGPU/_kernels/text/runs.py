"""Elementwise loops of the host machine, where a thread processes a run of many elements.

Compilers vectorize loops over contiguous elements, which are called rows here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from PyGPU._kernels.text.arguments import Argument

# An operand is the result itself or does not overlap it, so iterations are independent.
_INDEPENDENT = "#pragma GCC ivdep"
# Two calls of vector functions run interleaved, which halves the time of float sines.
_IN_PAIRS = """
#ifdef PYGPU_HAS_LIBMVEC
#pragma GCC unroll 2
#endif"""
# A barrier against vectorization in a strided loop. For several results, g++ takes a second to look
# for vectors, and the vectors that it finds are no faster.
_NO_VECTORS = '__asm__ volatile("");'
_ROW_BYTES = 2048  # size of the buffer for a row


def _rows(single: str, calls: bool, begin: str = "0", end: str = "count", name: str = "k") -> str:
    """Return a loop over elements that compilers can vectorize."""
    return f"""{_INDEPENDENT}{_IN_PAIRS if calls else ""}
    for (P_index {name} = {begin}; {name} < {end}; ++{name}) {{ {single} }}"""


class Body(NamedTuple):
    """The parts of a loop over a run of elements of strided arrays.

    `single(read)` returns the statements for one element, where `read(argument)` is the text of an
    array's element. The statements `find` convert the element index `i` to the arrays' offsets
    `x_at`.
    """

    axis: int  # the last axis
    run: int  # elements per thread
    results: Sequence[Argument]
    inputs: Sequence[Argument]  # operands that are arrays
    single: Callable[[Callable[[Argument], str]], str]
    find: str
    calls: bool  # the operation calls functions that have vector versions

    @property
    def arrays(self) -> list[Argument]:
        return [*self.results, *self.inputs]

    @property
    def most(self) -> int:
        """Number of elements in a row's buffer."""
        return _ROW_BYTES // max(one.type.dtype.itemsize for one in self.arrays)

    def each(self, arguments: Iterable[Argument], text: str, between: str = " ") -> str:
        """Format a text for each array: x is its letter, T its type, step its last stride."""
        return between.join(
            text.format(x=one.letter, T=one.type.stored, step=f"loop.{one.letter}[{self.axis}]")
            for one in arguments
        )

    def rows(self) -> str:
        """Return a loop over `count` elements of the rows `x_row`."""
        single = self.single(lambda one: f"{one.letter}_row[k]")
        return f"""
    {_rows(single, self.calls)}"""


def linear(run: int, single: str, calls: bool) -> str:
    """Return the loop of contiguous arrays."""
    return f"""
  const P_index first = P_index(blockIdx.x) * {run};
  const P_index last = n - first < {run} ? n : first + {run};
  {_rows(single, calls, "first", "last", "i")}"""


# Conversions of a row of halves. Other targets than the host only compile them, in tests.
HALF_ROWS = """
#ifdef PYGPU_HALF_ROWS
using PyGPU::host::P_widen;
using PyGPU::host::P_narrow;
#else
__device__ inline void P_widen(float *to, const half *from, long long count) {
  for (long long k = 0; k < count; ++k) to[k] = __half2float(from[k]);
}
__device__ inline void P_narrow(half *to, const float *from, long long count) {
  for (long long k = 0; k < count; ++k) to[k] = __float2half(from[k]);
}
#endif
"""


def linear_by_floats(
    run: int, results: Sequence[Argument], inputs: Sequence[Argument], single: str, calls: bool
) -> str:
    """Return the loop of contiguous arrays that converts rows of halves to floats and back.

    Converting a row is faster than converting single elements. Element `k` of a row is element
    `next + k` of the array.
    """
    most = _ROW_BYTES // np.dtype(np.float32).itemsize

    def rows(arrays: Iterable[Argument], text: str) -> str:
        return " ".join(text.format(x=one.letter) for one in arrays if one.type.is_half)

    return f"""
  {rows((*results, *inputs), f"float {{x}}_row[{most}];")}
  P_index next = P_index(blockIdx.x) * {run}, count;
  const P_index last = n - next < {run} ? n : next + {run};
  for (; next < last; next += count) {{
    count = last - next < {most} ? last - next : {most};
    {rows(inputs, "P_widen({x}_row, {x}_data + next, count);")}
    {_rows(single, calls)}
    {rows(results, "P_narrow({x}_data + next, {x}_row, count);")}
  }}"""


def _begin(body: Body, with_room: Sequence[Argument]) -> str:
    """Return the declarations and the start of a loop over `count` elements at a time.

    The elements start at `next`. The arrays of `with_room` have a buffer for a row.
    """
    arrays = body.arrays
    return f"""
  {body.each(with_room, f"{{T}} {{x}}_some[{body.most}];")}
  {body.each(arrays, "{T} *{x}_row;")}
  {body.each(arrays, "const bool {x}_is_row = {step} == sizeof({T});")}
  const bool are_rows = {body.each(arrays, "{x}_is_row", " && ")};
  const P_index width = loop.shape[{body.axis}];
  P_index next = P_index(blockIdx.x) * {body.run}, count;
  const P_index end = loop.size - next < {body.run} ? loop.size : next + {body.run};
  for (; next < end; next += count) {{
    const P_index left = end - next, in_row = width - next % width;"""


def strided(body: Body) -> str:
    """Return a loop that vectorizes rows, or advances by strides if an array has no rows.

    An operand with stride 0 is expanded to a row.
    """
    have_rows = [
        body.each(body.results, "{x}_is_row", " && "),
        *[body.each([one], "({x}_is_row || {step} == 0)") for one in body.inputs],
    ]
    repeat = (
        "if (!{x}_is_row) {{ const {T} item = *{x}_row; {x}_row = {x}_some; "
        "for (P_index k = 0; k < count; ++k) {x}_row[k] = item; }}"
    )
    step_by_step = body.single(lambda one: f"*({one.type.stored} *){one.letter}_step")
    if len(body.results) > 1:
        step_by_step = f"{_NO_VECTORS} {step_by_step}"
    return f"""{_begin(body, body.inputs)}
    P_index i = next;
    {body.find}
    count = left < in_row ? left : in_row;
    if ({" && ".join(have_rows)}) {{
      if (!are_rows && count > {body.most}) count = {body.most};
      {body.each(body.arrays, "{x}_row = ({T} *)({x}_data + {x}_at);")}
      {body.each(body.inputs, repeat)}{body.rows()}
      continue;
    }}
    {body.each(body.arrays, "char *{x}_step = (char *){x}_data + {x}_at;")}
    for (P_index k = 0; k < count; ++k) {{
      {step_by_step}
      {body.each(body.arrays, "{x}_step += {step};")}
    }}
  }}"""


def collected(body: Body) -> str:
    """Return a loop that gathers strided elements and short rows in a buffer, and scatters results.

    Copying costs less than calling a function, or converting a half, for each element.
    """

    def pieces(statements: str) -> str:
        return f"""
    for (P_index done = 0, these; done < count; done += these) {{
      P_index i = next + done;
      const P_index in_its_row = width - i % width;
      these = count - done < in_its_row ? count - done : in_its_row;
      {body.find}
      {statements}
    }}"""

    place = "{x}_row = is_row && {x}_is_row ? ({T} *)({x}_data + {x}_at) : {x}_some;"
    item = "*({T} *)({x}_data + {x}_at + k * {step})"
    move = "if ({x}_row == {x}_some) for (P_index k = 0; k < these; ++k) "
    collect = body.each(body.inputs, f"{move} {{x}}_row[done + k] = {item};")
    spread = body.each(body.results, f"{move} {item} = {{x}}_row[done + k];")
    return f"""{_begin(body, body.arrays)}
    const bool is_row = in_row >= {body.most // 8} || in_row >= left;
    count = is_row && in_row < left ? in_row : left;
    if (count > {body.most} && !(is_row && are_rows)) count = {body.most};
    {pieces(body.each(body.arrays, place) + collect)}{body.rows()}
    if (is_row && are_rows) continue;
    {pieces(spread)}
  }}"""
