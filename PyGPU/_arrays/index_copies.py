"""Copies of items to and from the positions that index arrays select, and checks of indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import Array, HostArray, Mode, Positions, StreamLike

_INDEX_TYPES = frozenset(map(np.dtype, (np.int32, np.uint32, np.int64)))
_MODES = ("raise", "clip", "wrap")


class Index(NamedTuple):
    """An index array, and the axes that its values index (in C order)."""

    array: core.GPUArray  # as `checked` returns it
    strides: tuple[int, ...]  # strides of the index array, for each axis of the loop
    lengths: tuple[int, ...]  # lengths of the axes that the values index
    steps: tuple[int, ...]  # strides of these axes, in bytes
    scatters: bool = False  # the values select positions of the target; else of the source
    offset: int = 0  # added to each value


def gather(
    shape: Sequence[int],
    arrays: Sequence[core.GPUArray],
    target: Positions,
    source: Positions,
    indices: Sequence[Index] = (),
    mask: Positions | None = None,
    mode: Mode = "raise",
    stream: StreamLike = None,
) -> None:
    """Copy items from source positions to target positions, one at each point of the loop `shape`.

    A position is an address and, for each axis of the loop, a stride in bytes; index arrays add to
    it. The copy is ordered among the uses of `arrays`. The first one is the target, and only the
    fields of its dtype are written. Items at false elements of `mask`, or at wrong indices with the
    mode "raise", are not copied.
    """
    fields = arrays[0].dtype.fields if arrays[0]._has_hidden_fields else None
    parts = [field[:2] for field in fields.values()] if fields else [(arrays[0].dtype, 0)]
    for dtype, offset in parts:
        to, read = ((address + offset, strides) for address, strides in (target, source))
        core._gather(shape, dtype.itemsize, to, read, indices, mask, mode, stream, arrays)


def checked(
    indices: Array,
    bounds: Iterable[tuple[int, int]],
    axis: int,
    mode: Mode = "raise",
    stream: StreamLike = None,
) -> core.GPUArray:
    """Return index arrays on the device, ready for :class:`Index`; IndexError for a wrong index.

    For each (count, offset) of `bounds`, an index plus `offset` must be at least ``-count`` and
    below ``count``. Only the mode "raise" checks that, and waits for indices that are on the
    device. The message names `axis`.
    """
    if mode not in _MODES:
        raise ValueError(f"mode={mode!r}: expected one of {', '.join(map(repr, _MODES))}")
    if not isinstance(indices, np.ndarray):
        if indices.dtype not in _INDEX_TYPES:
            indices = indices.astype(np.int64, stream=stream)
            core._keep_for_callers_graph(indices, stream)
        if indices.size and mode == "raise" and not indices.flags.forc:
            indices = copy_in_c_order(indices, stream)
    for count, offset in bounds if indices.size else ():
        if count == 0:
            raise IndexError(f"no index is valid for axis {axis} with size 0")
        if mode != "raise":
            continue
        wrong: int | None
        if isinstance(indices, np.ndarray):
            wrong = _wrong_on_host(indices, count, offset)
        else:
            wrong = core._find_invalid_index(indices, count, offset, stream) or None
        if wrong is not None:
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {count}")
    if isinstance(indices, np.ndarray):
        return core.to_gpu(np.array(indices, np.int64, order="C"))
    return indices


def check_exponents(exponents: core.GPUArray, stream: StreamLike) -> None:
    """Raise ValueError if an exponent is negative; wait for the device, except in a capture."""
    if core._wait_would_invalidate_capture(exponents.device or 0):
        return
    exponents = checked(exponents, (), 0, "raise", stream)
    half = 1 << 62  # integers that do not wrap around are shifted to -half ... half - 1
    if core._find_invalid_index(exponents, half, -half, stream):
        raise ValueError("power: integers to negative integer powers are not allowed")


def _wrong_on_host(indices: HostArray, count: int, offset: int) -> int | None:
    low, high = int(indices.min()) + offset, int(indices.max()) + offset
    return high if high >= count else low if low < -count else None


def copy_in_c_order(array: core.GPUArray, stream: StreamLike) -> core.GPUArray:
    """Return a copy in C order, made on the stream."""
    copied = core.empty_like(array, order="C")
    core._keep_for_callers_graph(copied, stream)
    copied.set_async(array, stream=stream)
    return copied
