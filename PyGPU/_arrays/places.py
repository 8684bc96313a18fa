"""The places that index arrays name, and copies to and from them."""

from typing import NamedTuple

import numpy as np

from PyGPU._runtime import core

_INDEX_TYPES = frozenset(map(np.dtype, (np.int32, np.uint32, np.int64)))
_MODES = ("raise", "clip", "wrap")


class Index(NamedTuple):
    """An index array, and the axes that its values count through (in C order)."""

    array: "core.GPUArray"  # as `checked` gives it
    strides: "tuple[int, ...]"  # of the array, for each axis of the loop
    lengths: "tuple[int, ...]"  # of the axes counted through
    steps: "tuple[int, ...]"  # their strides, in bytes
    scatters: bool = False  # the target's places, else the source's
    offset: int = 0  # added to each value


def gather(shape, arrays, target, source, indices=(), mask=None, mode="raise", stream=None):
    """Copy items, each to its place.

    Parameters
    ----------
    shape : sequence of int
        Of the loop: each of its points is an item.
    arrays : sequence of GPUArray
        Whose memory is used, for the order of the stream. The items are the first one's.
    target, source : (int, sequence of int)
        An address, and bytes from one item to the next, as the loop alone would have them; index
        arrays add to that.
    indices : sequence of Index
    mask : (int, sequence of int), optional
        Of bools; where they are false, nothing is copied.
    mode : {"raise", "clip", "wrap"}
        What becomes of indices out of range; "raise": their items are not copied. See `checked`.
    stream
    """
    core._gather(shape, arrays[0].itemsize, target, source, indices, mask, mode, stream, arrays)


def checked(indices, bounds, axis, mode="raise", stream=None):
    """Index arrays fit for :class:`Index`, on the device.

    Parameters
    ----------
    indices : GPUArray or numpy.ndarray
        Integers of any shape.
    bounds : iterable of (count, offset)
        Valid are indices that make ``-count ... count - 1`` together with the offset.
    axis : int
        For the message.
    mode : {"raise", "clip", "wrap"}
        Only "raise" has anything to check. Of arrays on the device it waits for the answer.

    Raises
    ------
    IndexError
        For indices out of range.
    """
    if mode not in _MODES:
        raise ValueError(f"mode={mode!r}: expected one of {', '.join(map(repr, _MODES))}")
    on_host = isinstance(indices, np.ndarray)
    if not on_host and indices.dtype not in _INDEX_TYPES:
        indices = indices.astype(np.int64, stream=stream)
        core._keep_for_others_graph(indices, stream)
    if indices.size and mode == "raise" and not on_host and not indices.flags.forc:
        indices = in_c_order(indices, stream)
    for count, offset in bounds if indices.size else ():
        if count == 0:
            raise IndexError(f"no index is valid for axis {axis} with size 0")
        if mode != "raise":
            continue
        if on_host:
            wrong = _wrong_on_host(indices, count, offset)
        else:
            wrong = core._report_wrong(indices, count, offset, stream) or None
        if wrong is not None:
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {count}")
    if on_host:
        return core.to_gpu(np.array(indices, np.int64, order="C"))
    return indices


def _wrong_on_host(indices, count, offset):
    low, high = int(indices.min()) + offset, int(indices.max()) + offset
    return high if high >= count else low if low < -count else None


def in_c_order(array, stream):
    """A copy in C order, for work on the stream."""
    copied = core.empty_like(array, order="C")
    core._keep_for_others_graph(copied, stream)
    copied.set_async(array, stream=stream)
    return copied
