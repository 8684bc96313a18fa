"""NumPy's functions that rearrange axes or elements: ``moveaxis``, ``roll``, ``tile``, ``pad``.

Functions that return views in NumPy return views here. All others copy elements on the device.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import joining
from PyGPU._arrays.functions import apply
from PyGPU._runtime import core, on_device_of_first, require_array

if TYPE_CHECKING:
    from PyGPU._types import ArrayLike, Axis, Casting, DTypeLike, Int


def _axes(axes: Any, ndim: int) -> list[int]:
    """Return one or several axes as a list of nonnegative axis numbers.

    Raise AxisError, a ValueError, for an axis out of range, and ValueError for a repeated axis.
    """
    found = [core._axis_index(axis, ndim) for axis in (axes if np.iterable(axes) else (axes,))]
    if len(set(found)) < len(found):
        raise ValueError(f"axes={axes}: expected each axis once")
    return found


def squeeze(a: core.GPUArray, axis: Axis = None) -> core.GPUArray:
    return a.squeeze(axis)


def expand_dims(a: core.GPUArray, axis: Axis) -> core.GPUArray:
    axes: Any = axis
    ndim = a.ndim + (len(axes) if np.iterable(axis) else 1)
    new = _axes(axis, ndim)
    return a[tuple(None if at in new else slice(None) for at in range(ndim))]


def moveaxis(a: core.GPUArray, source: Axis, destination: Axis) -> core.GPUArray:
    origins, targets = _axes(source, a.ndim), _axes(destination, a.ndim)
    if len(origins) != len(targets):
        raise ValueError(
            f"moveaxis: {len(origins)} source axes, but {len(targets)} destination axes"
        )
    order = [axis for axis in range(a.ndim) if axis not in origins]
    for to, axis in sorted(zip(targets, origins)):
        order.insert(to, axis)
    return a.transpose(order)


def swapaxes(a: core.GPUArray, axis1: Int, axis2: Int) -> core.GPUArray:
    order = list(range(a.ndim))
    (first,), (second,) = _axes(axis1, a.ndim), _axes(axis2, a.ndim)
    order[first], order[second] = second, first
    return a.transpose(order)


def _along(axis: int, part: Any, ndim: int) -> tuple[Any, ...]:
    """Return an index that selects `part` of one axis and all of the other axes."""
    index: list[Any] = [slice(None)] * ndim
    index[axis] = part
    return tuple(index)


def flip(m: core.GPUArray, axis: Axis = None) -> core.GPUArray:
    ndim = require_array("m", m).ndim
    axes = range(ndim) if axis is None else _axes(axis, ndim)
    return m[tuple(slice(None, None, -1 if k in axes else None) for k in range(ndim))]


def _flip_along(name: str, m: core.GPUArray, axis: int) -> core.GPUArray:
    if require_array("m", m).ndim <= axis:
        raise ValueError(f"{name}: m: expected at least {axis + 1} axes, got shape {m.shape}")
    return flip(m, axis)


def flipud(m: core.GPUArray) -> core.GPUArray:
    return _flip_along("flipud", m, 0)


def fliplr(m: core.GPUArray) -> core.GPUArray:
    return _flip_along("fliplr", m, 1)


def rot90(m: core.GPUArray, k: Int = 1, axes: Sequence[int] = (0, 1)) -> core.GPUArray:
    if len(axes) != 2:
        raise ValueError(f"rot90: axes={axes}: expected two axes")
    first, second = _axes(axes, require_array("m", m).ndim)
    turns = operator.index(k) % 4
    if turns == 0:
        return m[...]
    if turns == 2:
        return flip(m, (first, second))
    if turns == 1:
        return swapaxes(flip(m, second), first, second)
    return flip(swapaxes(m, first, second), second)


def roll(a: core.GPUArray, shift: Any, axis: Any = None) -> core.GPUArray:
    ndim = require_array("a", a).ndim
    if axis is None:
        if type(shift) is not int:
            shift = sum(map(operator.index, shift if np.ndim(shift) else (shift,)))
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    if type(shift) is int and type(axis) is int and a.flags.c_contiguous and a.size:
        axis = core._axis_index(axis, ndim)
        start = -shift % a.shape[axis]
        parts = (slice(start, None), slice(None, start)) if start else (slice(None),)
        return core._concatenate([a[_along(axis, part, ndim)] for part in parts], axis, a.allocator)
    shifts = [0] * ndim
    for distance, one in np.broadcast(shift, axis):
        shifts[core._axis_index(one, ndim)] += operator.index(distance)
    rolled = core.empty_like(a)
    slices = []  # for each axis, pairs of a slice of the result and a slice of the array
    for length, distance in zip(a.shape, shifts):
        start = distance % length if length else 0
        pairs = [(slice(start, None), slice(None, length - start))]
        if start:
            pairs.append((slice(None, start), slice(length - start, None)))
        slices.append(pairs)
    for block in itertools.product(*slices):
        target, source = zip(*block) if block else ((), ())
        rolled[target] = a[source]
    return rolled


@on_device_of_first
def _repeat(a: core.GPUArray, repeats: Sequence[int], by_element: bool) -> core.GPUArray:
    """Repeat each element along its axes if `by_element`; otherwise repeat each axis as a whole."""
    lengths = [length * count for length, count in zip(a.shape, repeats)]
    out = core.empty(tuple(lengths), a.dtype, a.allocator)
    if out.size:
        pairs = [(s, r) if by_element else (r, s) for s, r in zip(a.shape, repeats)]
        index = (slice(None), None) if by_element else (None, slice(None))
        out.reshape(tuple(itertools.chain(*pairs)))[...] = a[index * a.ndim]
    return out


def tile(A: core.GPUArray, reps: Any) -> core.GPUArray:
    reps = list(map(operator.index, reps if np.iterable(reps) else (reps,)))
    if any(count < 0 for count in reps):
        raise ValueError(f"tile: reps={reps}: expected nonnegative integers")
    a = require_array("A", A)
    a = a[(None,) * (len(reps) - a.ndim)] if len(reps) > a.ndim else a
    return _repeat(a, [1] * (a.ndim - len(reps)) + reps, False)


def repeat(a: core.GPUArray, repeats: ArrayLike, axis: Int | None = None) -> core.GPUArray:
    if isinstance(repeats, core.GPUArray):
        raise TypeError("repeat: repeats: expected integers on the host; pass repeats.get()")
    a = require_array("a", a)
    if axis is not None:
        # NumPy accepts axis 0 of a zero-dimensional array.
        axis = core._axis_index(axis, a.ndim or 1)
    a, axis = (a.ravel(), 0) if axis is None or a.ndim == 0 else (a, axis)
    if type(repeats) is int and repeats >= 0:
        return _repeat(a, [1] * axis + [repeats] + [1] * (a.ndim - axis - 1), True)
    counts = np.asarray(repeats)
    counts = counts if counts.size else counts.astype(np.intp)
    if counts.dtype.kind not in "iub" or counts.ndim > 1:
        raise TypeError(f"repeat: repeats={repeats!r}: expected integers")
    if np.any(counts < 0):
        raise ValueError(f"repeat: repeats={repeats!r}: expected nonnegative integers")
    if counts.size == 1:
        repeats_by_axis = [1] * a.ndim
        repeats_by_axis[axis] = int(counts.reshape(())[()])
        return _repeat(a, repeats_by_axis, True)
    if counts.size != a.shape[axis]:
        raise ValueError(
            f"repeat: repeats: expected {a.shape[axis]} integers, the length of axis {axis}, got "
            f"{counts.size}"
        )
    return a[_along(axis, np.repeat(np.arange(counts.size), counts), a.ndim)]


_NOT_GIVEN = np._NoValue


@on_device_of_first
def diff(
    a: core.GPUArray,
    n: Int = 1,
    axis: Int = -1,
    prepend: Any = _NOT_GIVEN,
    append: Any = _NOT_GIVEN,
) -> core.GPUArray:
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"diff: n={n}: expected a nonnegative integer")
    axis = core._axis_index(axis, require_array("a", a).ndim)
    if n == 0:
        return a
    ends = []
    for name, given in (("prepend", prepend), ("append", append)):
        if given is _NOT_GIVEN:
            continue
        if not isinstance(given, core.GPUArray):
            if np.ndim(given):
                raise TypeError(f"diff: {name}: expected a GPUArray or a number, got a host array")
            shape = tuple(1 if k == axis else length for k, length in enumerate(a.shape))
            number = np.asarray(given)
            given = core.empty(shape, number.dtype, a.allocator)
            value: Any = number[()]
            given.fill(value)
        ends.append((name, given))
    if ends:
        before = [one for name, one in ends if name == "prepend"]
        after = [one for name, one in ends if name == "append"]
        a = joining.concatenate([*before, a, *after], axis)
    subtract: Any = np.not_equal if a.dtype == bool else np.subtract
    for _ in range(n):
        a = subtract(a[_along(axis, slice(1, None), a.ndim)], a[_along(axis, slice(-1), a.ndim)])
    return a


def _pad_widths(array: core.GPUArray, pad_width: Any) -> list[tuple[int, int]]:
    """Return the numbers of elements to add at the start and at the end of each axis."""
    if isinstance(pad_width, dict):
        each: list[Any] = [
            pad_width.get(k, pad_width.get(k - array.ndim, 0)) for k in range(array.ndim)
        ]
        widths = [(one, one) if np.ndim(one) == 0 else tuple(one) for one in each]
    else:
        widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
    found = [(operator.index(before), operator.index(after)) for before, after in widths]
    if any(min(one) < 0 for one in found):
        raise ValueError(f"pad: pad_width={pad_width}: expected nonnegative integers")
    return found


@on_device_of_first
def pad(
    array: core.GPUArray, pad_width: Any, mode: str = "constant", **kwargs: Any
) -> core.GPUArray:
    widths = _pad_widths(require_array("array", array), pad_width)
    if mode == "constant":
        values = kwargs.pop("constant_values", 0)
        if kwargs:
            raise TypeError(f"pad: {', '.join(kwargs)}: not implemented for the mode 'constant'")
        return _pad_with_constants(array, widths, values)
    if mode not in ("edge", "wrap", "reflect", "symmetric"):
        raise TypeError(
            f"pad: mode={mode!r}: expected 'constant', 'edge', 'wrap', 'reflect' or 'symmetric'"
        )
    for axis, width in enumerate(widths):
        if width != (0, 0):  # NumPy pads the indices of the elements, which `take` then copies
            array = _pad_by_indices(array, axis, width, mode, **kwargs)
    return array if any(map(any, widths)) else array.copy()


def _pad_by_indices(
    array: core.GPUArray, axis: int, width: Any, mode: Any, **kwargs: Any
) -> core.GPUArray:
    length = array.shape[axis]

    def taken(width: Any, mode: Any, **kwargs: Any) -> core.GPUArray:
        indices = np.pad(np.arange(array.shape[axis]), width, mode, **kwargs)
        return array.take(core.to_gpu(indices), axis=axis)

    if kwargs.get("reflect_type") != "odd" or length == 0 or mode not in ("reflect", "symmetric"):
        return taken(width, mode, **kwargs)
    if length == 1 and mode == "reflect":
        return taken(width, "edge")
    # Twice the edge minus the mirror image, which is an element itself between the edges.
    rest = np.array(width)
    while rest.any():
        step = np.minimum(rest, length - (mode == "reflect"))
        twice = apply("multiply", taken(step, "edge"), 2)
        made = apply("subtract", twice, taken(step, mode))
        array = made if made.dtype == array.dtype else made.astype(array.dtype)
        rest -= step
    return array


def _pad_with_constants(
    array: core.GPUArray, widths: list[tuple[int, int]], values: Any
) -> core.GPUArray:
    """Return a larger array that contains `array`, with constants in its other elements."""
    shape = [sum(width) + length for width, length in zip(widths, array.shape)]
    made = core.GPUArray(shape, array.dtype)
    constants = np.broadcast_to(np.asarray(values), (array.ndim, 2))
    made.fill(core._element(array.dtype, constants[0, 0] if array.ndim else 0, "constant_values"))
    # The last axis sets the corners, as in NumPy.
    if (constants != constants[:1, :1]).any():
        for axis, (before, after) in enumerate(widths):
            ends = slice(0, before), slice(shape[axis] - after, None)
            for end, value in zip(ends, constants[axis]):
                made[_along(axis, end, array.ndim)].fill(
                    core._element(array.dtype, value, "constant_values")
                )
    middle = [slice(before, before + n) for (before, _), n in zip(widths, array.shape)]
    made[tuple(middle)] = array
    return made


def _arrays(arrays: Iterable[object]) -> list[core.GPUArray]:
    return [require_array(f"arrays[{k}]", array) for k, array in enumerate(arrays)]


def concatenate(
    arrays: Iterable[core.GPUArray],
    axis: Int | None = 0,
    out: core.GPUArray | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: Casting = "same_kind",
) -> core.GPUArray:
    arrays = _arrays(arrays)
    if axis is None:
        arrays, axis = [array.ravel() for array in arrays], 0
    if out is None and dtype is None and casting == "same_kind":
        return joining.concatenate(arrays, axis)
    if out is not None and dtype is not None:
        raise TypeError("concatenate: expected out or dtype, not both")
    to = np.dtype(dtype) if out is None else require_array("out", out).dtype
    to = np.result_type(*(one.dtype for one in arrays)) if out is None and dtype is None else to
    for k, array in enumerate(arrays):
        if not np.can_cast(array.dtype, to, casting):
            raise TypeError(
                f"concatenate: arrays[{k}] of {array.dtype} cannot be cast to {to} with "
                f"casting={casting!r}"
            )
    cast = [array if array.dtype == to else array.astype(to) for array in arrays]
    joined = joining.concatenate(cast, axis)
    if out is None:
        return joined
    if out.shape != joined.shape:
        raise ValueError(f"concatenate: out: expected shape {joined.shape}, got {out.shape}")
    out[...] = joined
    return out


def stack(
    arrays: Iterable[core.GPUArray],
    axis: Int = 0,
    out: core.GPUArray | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: Casting = "same_kind",
) -> core.GPUArray:
    arrays = _arrays(arrays)
    if out is None and dtype is None and casting == "same_kind":
        return joining.stack(arrays, axis)
    if any(array.shape != arrays[0].shape for array in arrays):
        raise ValueError(f"stack: expected equal shapes, got {[one.shape for one in arrays]}")
    parts = [expand_dims(array, axis) for array in arrays]
    axis = core._axis_index(axis, parts[0].ndim) if parts else axis
    return concatenate(parts, axis, out, dtype=dtype, casting=casting)


def vstack(
    tup: Iterable[core.GPUArray],
    *,
    dtype: DTypeLike | None = None,
    casting: Casting = "same_kind",
) -> core.GPUArray:
    rows = [a.reshape(1, -1) if a.ndim < 2 else a for a in _arrays(tup)]
    return concatenate(rows, 0, dtype=dtype, casting=casting)


def hstack(
    tup: Iterable[core.GPUArray],
    *,
    dtype: DTypeLike | None = None,
    casting: Casting = "same_kind",
) -> core.GPUArray:
    arrays = [a.reshape(1) if a.ndim == 0 else a for a in _arrays(tup)]
    axis = 0 if arrays and arrays[0].ndim == 1 else 1
    return concatenate(arrays, axis, dtype=dtype, casting=casting)


#: Map each NumPy function to its implementation.
FUNCTIONS = {
    getattr(np, function.__name__): function
    for function in (
        *(squeeze, expand_dims, moveaxis, swapaxes),
        *(flip, flipud, fliplr, rot90, roll, tile, repeat, diff, pad),
        *(concatenate, stack, vstack, hstack),
    )
}
