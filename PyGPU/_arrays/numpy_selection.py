"""NumPy's functions that choose elements or compute positions: ``take``, ``unravel_index``."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import functions, gather, rearranging
from PyGPU._runtime import core, require_array

if TYPE_CHECKING:
    from PyGPU._types import Int, Operand, Shape


def _lengths(shape: Any) -> tuple[int, ...]:
    return tuple(map(operator.index, shape if np.iterable(shape) else (shape,)))


def take(
    a: core.GPUArray,
    indices: Any,
    axis: Int | None = None,
    out: core.GPUArray | None = None,
    mode: Any = "raise",
) -> core.GPUArray:
    return gather.take(require_array("a", a), indices, out, None, axis, mode)


def broadcast_to(array: core.GPUArray, shape: Shape, subok: bool = False) -> core.GPUArray:
    """Return a copy; NumPy returns a read-only view, which GPUArrays do not have."""
    lengths = _lengths(shape)
    made = core.empty(lengths, require_array("array", array).dtype, array.allocator)
    if np.broadcast_shapes(array.shape, lengths) != lengths:
        raise ValueError(f"broadcast_to: shape={shape}: array of shape {array.shape} does not fit")
    made[...] = array
    return made


def outer(a: core.GPUArray, b: core.GPUArray, out: core.GPUArray | None = None) -> core.GPUArray:
    column = require_array("a", a).ravel()[:, None]
    return functions.apply("multiply", column, require_array("b", b).ravel(), out=out)


def diagonal(a: core.GPUArray, offset: Int = 0, axis1: Int = 0, axis2: Int = 1) -> core.GPUArray:
    ndim, offset = require_array("a", a).ndim, operator.index(offset)
    if ndim < 2:
        raise ValueError(f"diagonal: a: expected at least two axes, got shape {a.shape}")
    rows, columns = core._axis_index(axis1, ndim), core._axis_index(axis2, ndim)
    if rows == columns:
        raise ValueError(f"diagonal: axis1={axis1} and axis2={axis2} are the same axis")
    moved = rearranging.moveaxis(a, (rows, columns), (-2, -1))
    moved = moved[..., max(-offset, 0) :, max(offset, 0) :]
    length = min(moved.shape[-2:])
    index = np.arange(length)
    return moved[..., index, index]


def trace(a: core.GPUArray, offset: Int = 0, axis1: Int = 0, axis2: Int = 1) -> core.GPUArray:
    return diagonal(a, offset, axis1, axis2).sum(axis=-1)


def select(
    condlist: Sequence[core.GPUArray], choicelist: Sequence[Operand], default: Operand = 0
) -> core.GPUArray:
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select: expected as many choices as conditions, got {len(condlist)} conditions and "
            f"{len(choicelist)} choices"
        )
    for k, condition in enumerate(condlist):
        if require_array(f"condlist[{k}]", condition).dtype != bool:
            raise TypeError(f"select: condlist[{k}]: expected dtype bool, got {condition.dtype}")
    chosen: Any = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        chosen = functions.where(condition, choice, chosen)
    return require_array("choicelist[0]", chosen)


def angle(z: core.GPUArray, deg: bool = False) -> core.GPUArray:
    if require_array("z", z).dtype.kind == "c":
        radians = functions.apply("arctan2", z.imag, z.real)
    else:
        radians = functions.apply("arctan2", 0.0, z)
    return functions.apply("multiply", radians, 180 / np.pi) if deg else radians


def unravel_index(indices: core.GPUArray, shape: Shape) -> tuple[core.GPUArray, ...]:
    if require_array("indices", indices).dtype.kind not in "iu":
        raise TypeError(f"unravel_index: indices: expected integers, got {indices.dtype}")
    rest, found = indices, []
    for length in reversed(_lengths(shape)):
        found.append(functions.apply("remainder", rest, length))
        rest = functions.apply("floor_divide", rest, length)
    return tuple(reversed(found))


def ravel_multi_index(multi_index: Sequence[core.GPUArray], dims: Shape) -> core.GPUArray:
    lengths = _lengths(dims)
    if len(multi_index) != len(lengths) or not lengths:
        raise ValueError(
            f"ravel_multi_index: {len(multi_index)} index arrays for dims={dims} of "
            f"{len(lengths)} axes"
        )
    flat = require_array("multi_index[0]", multi_index[0])
    for index, length in zip(multi_index[1:], lengths[1:]):
        flat = functions.apply("add", functions.apply("multiply", flat, length), index)
    return flat


#: NumPy's functions, and the functions here that implement them.
FUNCTIONS = {
    getattr(np, function.__name__): function
    for function in (
        *(take, broadcast_to, outer, diagonal, trace, select, angle),
        *(unravel_index, ravel_multi_index),
    )
}
