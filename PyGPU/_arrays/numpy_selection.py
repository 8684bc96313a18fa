"""NumPy's functions that select elements or compute indices: ``take``, ``unravel_index``."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import functions, gather, methods, rearranging, reductions
from PyGPU._arrays.numpy_functions import result_type
from PyGPU._runtime import core, require_array

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, Int, Operand, Order, Shape


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
    """Return a broadcast copy. NumPy returns a read-only view, which GPUArray does not support."""
    lengths = _lengths(shape)
    made = core.empty(lengths, require_array("array", array).dtype, array.allocator)
    if np.broadcast_shapes(array.shape, lengths) != lengths:
        raise ValueError(
            f"broadcast_to: shape={shape}: shape {array.shape} does not broadcast to it"
        )
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


def sliding_window_view(
    x: core.GPUArray,
    window_shape: Shape,
    axis: Any = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> core.GPUArray:
    """Return a view of all windows, whose elements share memory; `writeable` is not enforced."""
    ndim = require_array("x", x).ndim
    windows, axes = _lengths(window_shape), [*range(ndim)]
    if axis is not None:
        axes = [core._axis_index(one, ndim) for one in np.atleast_1d(axis)]
    shape = [*x.shape]
    if len(windows) != len(axes):
        raise ValueError(
            f"sliding_window_view: window_shape={window_shape}: expected {len(axes)} lengths"
        )
    for place, length in zip(axes, windows):
        shape[place] -= length - 1
    if min((*shape, *windows), default=1) < 1:
        raise ValueError(
            f"sliding_window_view: window_shape={window_shape}: windows do not fit shape {x.shape}"
        )
    strides = (*x.strides, *(x.strides[place] for place in axes))
    return core.GPUArray((*shape, *windows), x.dtype, base=x, gpudata=x.gpudata, strides=strides)


def trace(
    a: core.GPUArray,
    offset: Int = 0,
    axis1: Int = 0,
    axis2: Int = 1,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    add: Any = np.sum  # numpy.sum widens small integers
    total: core.GPUArray = add(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)
    return total


def select(
    condlist: Sequence[core.GPUArray | bool], choicelist: Sequence[Operand], default: Operand = 0
) -> core.GPUArray:
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select: expected one choice for each condition, got {len(condlist)} conditions and "
            f"{len(choicelist)} choices"
        )
    dtype = result_type(*choicelist, default)
    chosen: Any = (
        default.astype(dtype) if isinstance(default, core.GPUArray) else dtype.type(default)
    )
    for k in reversed(range(len(condlist))):
        condition: Any = condlist[k]
        if isinstance(condition, (bool, np.bool_)):
            condition = core.to_gpu(np.array(condition))
        if require_array(f"condlist[{k}]", condition).dtype != bool:
            raise TypeError(f"select: condlist[{k}]: expected dtype bool, got {condition.dtype}")
        chosen = functions.where(condition, choicelist[k], chosen)
    result: core.GPUArray = chosen
    return result


def angle(z: core.GPUArray, deg: bool = False) -> core.GPUArray:
    if require_array("z", z).dtype.kind == "c":
        radians = functions.apply("arctan2", z.imag, z.real)
    else:
        radians = functions.apply("arctan2", 0, z)
    return functions.apply("multiply", radians, 180 / np.pi) if deg else radians


def _require_in_range(name: str, index: core.GPUArray, length: int) -> None:
    """Raise ValueError unless all indices are in ``0 ... length - 1``; wait for the device."""
    is_outside: Any = functions.apply(
        "logical_or",
        functions.apply("less", index, 0),
        functions.apply("greater_equal", index, length),
    )
    if index.size and bool(reductions.any(is_outside).get()):
        raise ValueError(f"{name}: expected indices from 0 to {length - 1}")


def _in_order(name: str, lengths: Sequence[Any], order: str) -> Sequence[Any]:
    """Return the axes in the order in which the last axis varies fastest."""
    if order not in ("C", "F"):
        raise ValueError(f"{name}: order={order!r}: expected 'C' or 'F'")
    return lengths if order == "C" else lengths[::-1]


def unravel_index(
    indices: core.GPUArray, shape: Shape, order: Order = "C"
) -> tuple[core.GPUArray, ...]:
    if require_array("indices", indices).dtype.kind not in "iu":
        raise TypeError(f"unravel_index: indices: expected integers, got {indices.dtype}")
    lengths = _in_order("unravel_index", _lengths(shape), order)
    indices = indices.astype(np.int64, copy=False)
    _require_in_range("unravel_index: indices", indices, math.prod(lengths))
    rest, found = indices, []
    for length in reversed(lengths):
        found.append(functions.apply("remainder", rest, length))
        rest = functions.apply("floor_divide", rest, length)
    return tuple(_in_order("unravel_index", found[::-1], order))


def _fitted(k: int, index: core.GPUArray, length: int, mode: str) -> core.GPUArray:
    """Check, wrap or clip the indices of axis `k`, by the mode of ``ravel_multi_index``."""
    name = f"multi_index[{k}]"
    if require_array(name, index).dtype.kind not in "iu":
        raise TypeError(f"ravel_multi_index: {name}: expected integers, got {index.dtype}")
    index = index.astype(np.int64, copy=False)
    if mode == "wrap":
        return functions.apply("remainder", index, length)
    if mode == "clip":
        return methods.clip(index, 0, length - 1)
    if mode != "raise":
        raise ValueError(f"ravel_multi_index: mode={mode!r}: expected 'raise', 'wrap' or 'clip'")
    _require_in_range(f"ravel_multi_index: {name}", index, length)
    return index


def ravel_multi_index(
    multi_index: Sequence[core.GPUArray],
    dims: Shape,
    mode: str | Sequence[str] = "raise",
    order: Order = "C",
) -> core.GPUArray:
    lengths = _lengths(dims)
    modes = [mode] * len(lengths) if isinstance(mode, str) else list(mode)
    if not len(multi_index) == len(lengths) == len(modes) or not lengths:
        raise ValueError(
            f"ravel_multi_index: dims={dims}: expected an index array and a mode for each axis, "
            f"got {len(multi_index)} index arrays and mode={mode!r}"
        )
    fitted = list(map(_fitted, range(len(lengths)), multi_index, lengths, modes))
    flat: core.GPUArray
    flat, *others = _in_order("ravel_multi_index", fitted, order)
    for index, length in zip(others, _in_order("ravel_multi_index", lengths, order)[1:]):
        flat = functions.apply("add", functions.apply("multiply", flat, length), index)
    return flat


#: Map each NumPy function to its implementation.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    getattr(np, function.__name__): function
    for function in (
        *(take, broadcast_to, outer, diagonal, trace, select, angle),
        *(unravel_index, ravel_multi_index),
    )
}
FUNCTIONS[np.lib.stride_tricks.sliding_window_view] = sliding_window_view
