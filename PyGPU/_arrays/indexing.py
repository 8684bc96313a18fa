"""``a[key]`` and ``a[key] = value`` where the key contains masks or arrays of integers.

The rules are those of NumPy's advanced indexing, and results are copies. Masks and index arrays are
GPUArrays, or ndarrays and lists on the host, mixed with ints, slices, ``...`` and None. If several
values are assigned to one element, one of these values is stored. A structured element may receive
fields of different values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from PyGPU._arrays import select
from PyGPU._arrays.index_copies import Index, checked, gather
from PyGPU._runtime import core, on_device_of_first

_MAX_INT32_SIZE = 1 << 31


class _Part(NamedTuple):
    """A mask or index array of a key."""

    array: Any  # GPUArray or ndarray
    axes: tuple[int, ...]  # axes of the view that the part indexes
    own_axis: int  # the first of these axes, counted in the array that is indexed


class _Selection(NamedTuple):
    """The selection that a key makes of an array."""

    view: core.GPUArray  # the array indexed by the key's ints and slices only
    parts: list[_Part]
    position: int  # position of the parts' axes among the other axes of the result


class _Loop(NamedTuple):
    """The loop over the selected elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]  # strides of the view
    indices: list[Index]


def _part_of(item: Any) -> Any:
    """Convert an item of a key to an array of bools or integers; return other items unchanged."""
    array: Any
    if isinstance(item, core.GPUArray):
        array = item
    elif isinstance(item, (np.ndarray, np.bool_, bool, list, tuple)):
        array = np.asarray(item)
        if array.size == 0 and isinstance(item, (list, tuple)):
            array = array.astype(np.intp)
    else:
        return item
    if array.dtype.kind == "b":
        return array
    is_ours = isinstance(array, core.GPUArray)
    if is_ours and core._compares_as_pycuda():
        raise IndexError(
            f"a[key]: key is a GPUArray of {array.dtype}, and comparisons return numbers under "
            "PYGPU_COMPARISONS=pycuda: use key.astype(bool) for the elements where key != 0, "
            "a.take(key) for elements by index"
        )
    if array.dtype.kind not in "iu":
        raise IndexError(
            f"arrays as indices must be of integers or bools, got {array.dtype}; "
            "use key != 0 for a mask"
        )
    if array.ndim == 0:
        return int(array.get() if is_ours else array)
    return array


def _is_array(item: object) -> bool:
    return isinstance(item, (core.GPUArray, np.ndarray))


def _axes_indexed_by(item: Any) -> int:
    """Return the number of the array's axes that an item of a key indexes."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if _is_array(item) and item.dtype == np.bool_ else 1


def _items(array: core.GPUArray, key: Any) -> list[Any]:
    """Return the items of a key, with the slices that ``...`` represents inserted after it."""
    items = [_part_of(item) for item in (key if isinstance(key, tuple) else (key,))]
    ellipses = [position for position, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can hold '...' only once")
    taken = sum(_axes_indexed_by(item) for item in items)
    if taken > array.ndim:
        raise IndexError(f"too many indices: {taken} for an array of {array.ndim} dimensions")
    at = ellipses[0] + 1 if ellipses else len(items)
    items[at:at] = [slice(None)] * (array.ndim - taken)
    return items


def _selection(array: core.GPUArray, key: Any) -> _Selection:
    """Split a key into ints and slices, which make a view, and parts, which need a kernel.

    The result has the parts' axes at the position of the parts in the key. If an item other than an
    int separates the parts, their axes come first.
    """
    basic, parts, positions = [], [], []
    view_axis = own_axis = other_axes = 0
    joined = False
    for item in _items(array, key):
        width = _axes_indexed_by(item)
        if _is_array(item):
            parts.append(_Part(item, tuple(range(view_axis, view_axis + width)), own_axis))
            basic += [slice(None)] * width
            view_axis += width
        elif item is not Ellipsis:
            basic.append(item)
        joins = not (item is None or item is Ellipsis or isinstance(item, slice))
        if joins and not joined:
            positions.append(other_axes)
        elif not joins and item is not Ellipsis:
            view_axis += 1
            other_axes += 1
        joined = joins
        own_axis += width
    view = array[tuple(basic)] if basic else array
    return _Selection(view, parts, positions[0] if len(positions) == 1 else 0)


def _check_mask(part: _Part, view: core.GPUArray) -> None:
    for own, (axis, length) in enumerate(zip(part.axes, part.array.shape), part.own_axis):
        if length not in (0, view.shape[axis]):  # NumPy compares no axis of length 0
            raise IndexError(
                f"a mask of shape {part.array.shape} does not fit: axis {own} of the array has "
                f"size {view.shape[axis]}, of the mask {length}"
            )


def _mask_indices(mask: core.GPUArray) -> core.GPUArray:
    # Indices of 32 bits halve the memory traffic.
    return select.nonzero_flat(mask, np.int32 if mask.size <= _MAX_INT32_SIZE else np.int64)


def _indices_of(part: _Part, view: core.GPUArray) -> Any:
    """Return the indices that a part selects; a mask's indices are on the device and valid."""
    array = part.array
    if array.dtype != np.bool_:
        return array
    _check_mask(part, view)
    if isinstance(array, core.GPUArray) and array.ndim:
        return _mask_indices(array)
    host = array.get() if isinstance(array, core.GPUArray) else array
    return core.to_gpu(np.flatnonzero(host).astype(np.int64))


def _checked(part: _Part, indices: Any, view: core.GPUArray) -> Any:
    if part.array.dtype == np.bool_:
        return indices
    return checked(indices, [(view.shape[part.axes[0]], 0)], part.own_axis)


def _broadcast_strides(
    strides: Sequence[int], shape: Sequence[int], target: Sequence[int]
) -> tuple[int, ...]:
    """Return the strides of an array broadcast to the shape `target`."""
    own = [0 if length == 1 else stride for stride, length in zip(strides, shape)]
    return (0,) * (len(target) - len(own)) + tuple(own)


def _loop(selection: _Selection, scatters: bool = False) -> _Loop:
    view, position = selection.view, selection.position
    found = [_indices_of(part, view) for part in selection.parts]
    shapes = [indices.shape for indices in found]
    try:
        made = np.broadcast_shapes(*shapes)
    except ValueError:
        raise IndexError(
            f"index arrays of shapes {', '.join(map(str, shapes))} do not broadcast together"
        ) from None
    # NumPy does not check the indices of an empty selection.
    found = [] if 0 in made else [_checked(*each, view) for each in zip(selection.parts, found)]
    used = {axis for part in selection.parts for axis in part.axes}
    kept = [axis for axis in range(view.ndim) if axis not in used]
    before, after = kept[:position], kept[position:]
    indices = [
        Index(
            array,
            (0,) * len(before)
            + _broadcast_strides(array.strides, array.shape, made)
            + (0,) * len(after),
            tuple(view.shape[axis] for axis in part.axes),
            tuple(view.strides[axis] for axis in part.axes),
            scatters,
        )
        for part, array in zip(selection.parts, found)
        if part.axes
    ]
    return _Loop(
        tuple(view.shape[axis] for axis in before)
        + made
        + tuple(view.shape[axis] for axis in after),
        tuple(view.strides[axis] for axis in before)
        + (0,) * len(made)
        + tuple(view.strides[axis] for axis in after),
        indices,
    )


def _rows(array: core.GPUArray, key: Any) -> core.GPUArray | None:
    """Return ``array[key]`` if the key is a mask of rows, without the general loop; else None."""
    is_mask = isinstance(key, core.GPUArray) and key.dtype == np.bool_
    if not is_mask or array.ndim < 2 or key.shape != array.shape[:1]:
        return None
    found = core._take(array, _mask_indices(key), 0, "clip", None)
    return None if found is NotImplemented else found


@on_device_of_first
def get_item(array: core.GPUArray, key: Any) -> core.GPUArray:
    """Return ``array[key]``: a copy in C order if the key has masks or index arrays, else a view.

    Raise IndexError if an index is out of range, shapes do not match, or an index array has another
    dtype.
    """
    if (rows := _rows(array, key)) is not None:
        return rows
    selection = _selection(array, key)
    if not selection.parts:
        return selection.view
    view, loop = selection.view, _loop(selection)
    out = core.GPUArray(loop.shape, array.dtype, array.allocator)
    read = (view._address, loop.strides)
    target = (out._address, out.strides)
    gather(loop.shape, (out, view), target, read, loop.indices)
    return out


def _value_for(array: core.GPUArray, value: Any) -> core.GPUArray:
    """Convert an assigned value to a GPUArray of the array's dtype."""
    dtype = array.dtype
    is_array = isinstance(value, core.GPUArray) or (isinstance(value, np.ndarray) and value.ndim)
    if is_array:
        if not np.can_cast(value.dtype, dtype, "same_kind"):
            raise TypeError(
                f"a[key] = value: value has dtype {value.dtype}, the array {dtype}; "
                f"value.astype({str(dtype)!r}) converts it"
            )
        if value.dtype != dtype:
            value = value.astype(dtype)
    elif value is None or isinstance(value, list):
        raise TypeError(
            f"a[key] = value: expected a scalar, an ndarray or a GPUArray, got {value!r}"
        )
    else:
        value = core._element(dtype, value)
    if isinstance(value, np.ndarray):
        return core.to_gpu(value)
    found: core.GPUArray = value
    return found.copy() if core._overlap(found, array) else found


def _strides_over(shape: Sequence[int], value: core.GPUArray) -> tuple[int, ...]:
    """Return the strides of `value` broadcast to `shape`; excess axes must have length one."""
    extra = max(value.ndim - len(shape), 0)
    own = value.shape[extra:]
    fits = all(length == 1 for length in value.shape[:extra]) and all(
        length in (1, target) for length, target in zip(own[::-1], shape[::-1])
    )
    if not fits:
        raise ValueError(f"a value of shape {value.shape} does not broadcast to {tuple(shape)}")
    return _broadcast_strides(value.strides[extra:], own, shape)


@on_device_of_first
def set_item(array: core.GPUArray, key: Any, value: Any) -> None:
    """Assign ``array[key] = value``, for the keys of :func:`get_item`.

    The value broadcasts to the selection; arrays are cast by NumPy's "same_kind" rule. Nothing is
    written if the key is invalid.
    """
    selection = _selection(array, key)
    selection = selection._replace(
        parts=[
            part._replace(array=part.array.copy())
            if isinstance(part.array, core.GPUArray) and core._overlap(part.array, array)
            else part
            for part in selection.parts
        ]
    )
    value = _value_for(array, value)
    view = selection.view
    if _assign_by_mask(selection, value):
        return
    loop = _loop(selection, scatters=True)
    read = (value._address, _strides_over(loop.shape, value))
    target = (view._address, loop.strides)
    gather(loop.shape, (view, value), target, read, loop.indices)


def _assign_by_mask(selection: _Selection, value: core.GPUArray) -> bool:
    """Assign by a single mask without counting its true elements, if the value allows it.

    :returns: True if the value was assigned; False if each true element needs its own value.
    """
    if len(selection.parts) != 1:
        return False
    mask, axes, _ = selection.parts[0]
    if mask.dtype != np.bool_ or mask.ndim == 0 or mask.size == 0:
        return False
    view, position = selection.view, selection.position
    _check_mask(selection.parts[0], view)
    # Broadcast as if one element were true: an axis of length one replaces the mask's axes.
    kept = [axis for axis in range(view.ndim) if axis not in axes]
    order = [*kept[:position], *axes, *kept[position:]]
    shape = [view.shape[axis] for axis in order]
    one = [*shape[:position], 1, *shape[position + len(axes) :]]
    if (
        value.ndim > len(one) - position - 1
        and value.shape[value.ndim - (len(one) - position)] != 1
    ):
        return False
    over = _strides_over(one, value)
    read = (value._address, over[:position] + (0,) * len(axes) + over[position + 1 :])
    if isinstance(mask, np.ndarray):
        mask = core.to_gpu(mask)
    where = (mask._address, (0,) * position + mask.strides + (0,) * (len(kept) - position))
    target = (view._address, tuple(view.strides[axis] for axis in order))
    gather(shape, (view, value, mask), target, read, mask=where)
    return True
