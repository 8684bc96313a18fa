"""Functions that read or write elements at the positions in index arrays: ``take`` and ``put``.

Indices count an array's elements in C order, whatever its memory layout; negative indices count
from the end. With ``mode="raise"``, an index out of range raises IndexError, and nothing is
written. Index arrays on the host are checked before the launch. Index arrays on the device are
checked by a kernel, and the call waits for its result. The modes "clip" and "wrap" check no index.
If a target index is repeated, one of its values is stored; which one is unspecified.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays.index_copies import Index, checked, copy_in_c_order, gather
from PyGPU._runtime import core, integer, on_device_of_first, require_array

if TYPE_CHECKING:
    from PyGPU._types import Array, ArrayLike, Indices, Int, Mode, Positions, Shape, StreamLike

__all__ = ["multi_put", "multi_take", "multi_take_put", "put", "take"]


def _index_array(name: str, value: Indices) -> Array:
    array = value if isinstance(value, core.GPUArray) else np.asarray(value)
    if array.size == 0 and not isinstance(value, (core.GPUArray, np.ndarray)):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected an array of integers, got dtype {array.dtype}")
    return array


def _check_out(
    out: Sequence[core.GPUArray], shape: tuple[int, ...] | None, arrays: Sequence[core.GPUArray]
) -> None:
    """Raise an error unless each array of `out` has the dtype of its source, and `shape`."""
    for target, array in zip(out, arrays):
        if require_array("out", target).dtype != array.dtype:
            raise TypeError(f"out: expected dtype {array.dtype}, got {target.dtype}")
        if shape is not None and target.shape != shape:
            raise ValueError(f"out: expected shape {shape}, got {target.shape}")


def _disjoint(
    arrays: Sequence[core.GPUArray], targets: Sequence[core.GPUArray], stream: StreamLike
) -> list[core.GPUArray]:
    """Return the arrays; a copy replaces each array that overlaps `targets`."""
    return [
        copy_in_c_order(array, stream)
        if any(core._overlap(array, target) for target in targets)
        else array
        for array in arrays
    ]


def _disjoint_index(indices: Array, targets: Sequence[core.GPUArray], stream: StreamLike) -> Array:
    """Return the index array, or a copy if it overlaps `targets`."""
    return indices if isinstance(indices, np.ndarray) else _disjoint([indices], targets, stream)[0]


def _flat(array: core.GPUArray, indices: core.GPUArray, **options: Any) -> Index:
    """Make an Index into all elements of an array."""
    return Index(indices, indices.strides, array.shape, array.strides, **options)


def take(
    a: core.GPUArray,
    indices: Indices,
    out: core.GPUArray | None = None,
    stream: StreamLike = None,
    axis: Int | None = None,
    mode: Mode = "raise",
) -> core.GPUArray:
    """Take elements by flat indices, or along an axis.

    Parameters
    ----------
    a : GPUArray
        Array to read elements from.
    indices : GPUArray or array_like of integers
        Indices, of any shape.
    out : GPUArray, optional
        Array of the result's shape, with the dtype of `a`.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    axis : int, optional
        Axis that the indices count along; by default they count all elements in C order.
    mode : {"raise", "clip", "wrap"}
        Treatment of indices out of range. "raise" raises IndexError; if the indices are on the
        device, the call waits for the check. "clip" clamps every index to ``0 ... length - 1``, so
        negative indices select the first element. "wrap" takes every index modulo the length.

    Returns
    -------
    GPUArray
        The elements. Without `axis`, the shape is ``indices.shape``; with `axis`, it is
        ``a.shape[:axis] + indices.shape + a.shape[axis + 1:]``.

    Raises
    ------
    IndexError
        An index is out of range and `mode` is "raise", or there is no element to select.
    TypeError
        The indices are not integers, or `out` has another dtype than `a`.
    ValueError
        `mode` is unknown, or `out` has the wrong shape.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([10, 20, 30]))
    >>> gpuarray.take(a, [2, 0, -1])
    array([30, 10, 30])
    """
    if out is None:
        taken: core.GPUArray = core._take(a, indices, axis, mode, stream)
        if taken is not NotImplemented:
            return taken
    return _take(a, indices, out, stream, axis, mode)


@on_device_of_first
def _take(
    a: core.GPUArray,
    indices: Indices,
    out: core.GPUArray | None,
    stream: StreamLike,
    axis: Int | None,
    mode: Mode,
) -> core.GPUArray:
    a = require_array("a", a)
    found = _index_array("indices", indices)
    if axis is None:
        before, after, own = 0, a.ndim, 0
    else:
        own = core._axis_index(axis, a.ndim)
        before, after = own, own + 1
    shape = a.shape[:before] + found.shape + a.shape[after:]
    if out is None:
        out = core.GPUArray(shape, a.dtype, a.allocator)
    else:
        _check_out([out], shape, [a])
        a, found = _disjoint([a], [out], stream)[0], _disjoint_index(found, [out], stream)
    lengths, steps = a.shape[before:after], a.strides[before:after]
    valid_indices = checked(found, [(math.prod(lengths), 0)], own, mode, stream)
    zero_strides = (0,) * valid_indices.ndim
    strides = (0,) * before + valid_indices.strides + (0,) * (a.ndim - after)
    index = Index(valid_indices, strides, lengths, steps)
    read = (a._address, a.strides[:before] + zero_strides + a.strides[after:])
    target = (out._address, out.strides)
    gather(shape, (out, a), target, read, [index], mode=mode, stream=stream)
    return out


@on_device_of_first
def put(
    a: core.GPUArray,
    indices: Indices,
    values: core.GPUArray | ArrayLike,
    stream: StreamLike = None,
    mode: Mode = "raise",
) -> None:
    """Assign ``a[indices] = values`` by flat indices, as numpy.put does.

    Parameters
    ----------
    a : GPUArray
        Array to write to.
    indices : GPUArray or array_like of integers
        Flat indices in C order, of any shape.
    values : GPUArray or array_like
        Values, repeated if there are fewer values than indices. A GPUArray must have the dtype of
        `a`; other values are converted.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    mode : {"raise", "clip", "wrap"}
        Treatment of indices out of range, as in :func:`take`.

    Raises
    ------
    IndexError
        An index is out of range and `mode` is "raise", or `a` has no elements. Nothing is written.
    TypeError
        The indices are not integers, or `values` is a GPUArray of another dtype than `a`.
    ValueError
        `mode` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([10, 20, 30]))
    >>> gpuarray.put(a, [2, 0], [3, 1])
    >>> a
    array([ 1, 20,  3])
    """
    a = require_array("a", a)
    found = _index_array("indices", indices)
    if not isinstance(values, core.GPUArray):
        is_one = np.ndim(values) == 0
        values = core._element(a.dtype, values, "values") if is_one else np.asarray(values, a.dtype)
    elif values.dtype != a.dtype:
        raise TypeError(f"values: expected dtype {a.dtype}, got {values.dtype}")
    is_known = values.ndim == 0 or isinstance(values, core.GPUArray)
    if is_known and core._put(a, found, values, mode, stream):
        return
    if isinstance(values, np.ndarray):
        values = core.to_gpu(values)
    if found.size == 0 or values.size == 0:
        return
    valid_indices = checked(_disjoint_index(found, [a], stream), [(a.size, 0)], 0, mode, stream)
    values = _disjoint([values], [a], stream)[0]
    if values.shape != valid_indices.shape:
        positions = np.arange(valid_indices.size).reshape(valid_indices.shape) % values.size
        values = take(values, positions, stream=stream)
        core._keep_for_callers_graph(values, stream)
    index = _flat(a, valid_indices, scatters=True)
    target = (a._address, (0,) * valid_indices.ndim)
    read = (values._address, values.strides)
    gather(valid_indices.shape, (a, values), target, read, [index], mode=mode, stream=stream)


@on_device_of_first
def multi_take(
    arrays: Sequence[core.GPUArray],
    indices: Indices,
    out: Sequence[core.GPUArray] | None = None,
    stream: StreamLike = None,
) -> list[core.GPUArray]:
    """Take the elements at the same indices from several arrays.

    ``out[k][i] = arrays[k][indices[i]]``, for all k and i.

    Parameters
    ----------
    arrays : sequence of GPUArray
        Arrays to read elements from.
    indices : GPUArray or array_like of integers
        Flat indices, a one-dimensional array.
    out : sequence of GPUArray, optional
        Arrays for the results; new arrays by default.
    stream : Stream, optional
        Stream to launch on; the null stream by default.

    Returns
    -------
    list of GPUArray
        The elements, one array for each array in `arrays`.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([10, 20, 30]))
    >>> gpuarray.multi_take([a, a + 1], [2, 0])
    [array([30, 10]), array([31, 11])]
    """
    return _multi_gather(arrays, None, _one_axis("indices", indices), out=out, stream=stream)


@on_device_of_first
def multi_put(
    arrays: Sequence[core.GPUArray],
    dest_indices: Indices,
    dest_shape: Shape | None = None,
    out: Sequence[core.GPUArray] | None = None,
    stream: StreamLike = None,
) -> list[core.GPUArray]:
    """Put the elements of several arrays at the same indices.

    ``out[k][dest_indices[i]] = arrays[k][i]``, for all k and i.

    Parameters
    ----------
    arrays : sequence of GPUArray
        Arrays of the shape of `dest_indices`.
    dest_indices : GPUArray or array_like of integers
        Flat indices into the results, a one-dimensional array.
    dest_shape : int or sequence of int, optional
        Shape of new result arrays; their other elements are 0.
    out : sequence of GPUArray, optional
        Arrays to write the elements to, instead of new arrays.
    stream : Stream, optional
        Stream to launch on; the null stream by default.

    Returns
    -------
    list of GPUArray
        The results: `out`, or the new arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2]))
    >>> gpuarray.multi_put([a], [2, 0], dest_shape=3)
    [array([2, 0, 1])]
    """
    dest = _one_axis("dest_indices", dest_indices)
    for k, array in enumerate(arrays):
        if require_array(f"arrays[{k}]", array).shape != dest.shape:
            raise ValueError(
                f"arrays[{k}]: expected the shape of dest_indices, {dest.shape}, got {array.shape}"
            )
    return _multi_gather(arrays, dest, None, dest_shape, out, stream)


@on_device_of_first
def multi_take_put(
    arrays: Sequence[core.GPUArray],
    dest_indices: Indices,
    src_indices: Indices,
    dest_shape: Shape | None = None,
    out: Sequence[core.GPUArray] | None = None,
    stream: StreamLike = None,
    src_offsets: Sequence[Int] | None = None,
) -> list[core.GPUArray]:
    """Read elements of several arrays at some indices, and write them at other indices.

    ``out[k][dest_indices[i]] = arrays[k][src_indices[i] + src_offsets[k]]``, for all k and i.

    Parameters
    ----------
    arrays : sequence of GPUArray
        Arrays to read elements from.
    dest_indices, src_indices : GPUArray or array_like of integers
        Flat indices into the results and into `arrays`: one-dimensional arrays of the same length
        and dtype.
    dest_shape : int or sequence of int, optional
        Shape of new result arrays; their other elements are 0.
    out : sequence of GPUArray, optional
        Arrays to write the elements to, instead of new arrays.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    src_offsets : sequence of int, optional
        For each array, a number that is added to `src_indices`; 0 by default.

    Returns
    -------
    list of GPUArray
        The results: `out`, or the new arrays.

    Raises
    ------
    TypeError
        The index arrays differ in dtype, or `out` differs from `arrays` in dtype.
    ValueError
        An index array is not one-dimensional, the shapes of the index arrays differ, or the
        sequences differ in length.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([10, 20, 30]))
    >>> gpuarray.multi_take_put([a], [0, 2], [1, 1], dest_shape=3)
    [array([20,  0, 20])]
    """
    dest = _one_axis("dest_indices", dest_indices)
    src = _one_axis("src_indices", src_indices)
    if dest.dtype != src.dtype:
        raise TypeError(
            f"src_indices: expected the dtype of dest_indices, {dest.dtype}, got {src.dtype}"
        )
    if dest.shape != src.shape:
        raise ValueError(
            f"src_indices: expected the shape of dest_indices, {dest.shape}, got {src.shape}"
        )
    given = [0] * len(arrays) if src_offsets is None else list(src_offsets)
    _checked_length("src_offsets", given, arrays)
    offsets = [integer("src_offsets", offset) for offset in given]
    return _multi_gather(arrays, dest, src, dest_shape, out, stream, offsets)


def _one_axis(name: str, indices: Indices) -> Array:
    found = _index_array(name, indices)
    if found.ndim != 1:
        raise ValueError(f"{name}: expected one axis, got shape {found.shape}")
    return found


def _checked_length(
    name: str, values: Sequence[Any], arrays: Sequence[core.GPUArray]
) -> Sequence[Any]:
    if len(values) != len(arrays):
        raise ValueError(
            f"{name}: expected {len(arrays)} items, one for each array, got {len(values)}"
        )
    return values


def _multi_gather(
    arrays: Sequence[core.GPUArray],
    dest: Array | None,
    src: Any,
    dest_shape: Shape | None = None,
    out: Sequence[core.GPUArray] | None = None,
    stream: StreamLike = None,
    offsets: Sequence[int] | None = None,
) -> list[core.GPUArray]:
    """Check all arguments, then copy the elements.

    Without `src`, all elements of `arrays` are read; without `dest`, all elements of `out` are
    written.
    """
    arrays = [require_array(f"arrays[{k}]", array) for k, array in enumerate(arrays)]
    if dest is None:
        dest_shape = src.shape
    if out is not None:
        out = list(_checked_length("out", out, arrays))
        _check_out(out, src.shape if dest is None else None, arrays)
        arrays = _disjoint(arrays, out, stream)
        dest, src = (
            each if each is None else _disjoint_index(each, out, stream) for each in (dest, src)
        )
    elif dest_shape is None:
        raise ValueError("dest_shape: expected a shape, got None; pass dest_shape or out")
    else:
        make = core.GPUArray if dest is None else core.zeros
        out = [make(dest_shape, array.dtype, array.allocator) for array in arrays]
    offsets = offsets or [0] * len(arrays)
    if src is not None:
        sizes = {(array.size, offset) for array, offset in zip(arrays, offsets)}
        src = checked(src, sizes, 0, stream=stream)
    if dest is not None:
        dest = checked(dest, {(array.size, 0) for array in out}, 0, stream=stream)
    shape = (src if dest is None else dest).shape
    for array, target, offset in zip(arrays, out, offsets):
        to: Positions = (target._address, (0,))
        read: Positions = (array._address, (0,))
        indices: list[Index] = []
        if src is None:
            read = (array._address, array.strides)
        else:
            indices.append(_flat(array, src, offset=offset))
        if dest is None:
            to = (target._address, target.strides)
        else:
            indices.append(_flat(target, dest, scatters=True))
        gather(shape, (target, array), to, read, indices, stream=stream)
    return out


#: Methods of the class GPUArray.
METHODS = {"take": take, "put": put}
