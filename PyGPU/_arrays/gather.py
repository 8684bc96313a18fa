"""Elements taken from and put to places that index arrays name.

The places count an array's elements in C order, whatever its layout. Index arrays are GPUArrays or
on the host; negative indices count from the end. Those on the host are checked before the launch,
those on the device by a kernel whose answer is waited for: an index out of range is an IndexError
and nothing is written. Where an index of a target is repeated, any one of its values stays.
"""

import math

import numpy as np

from PyGPU._arrays.places import Index, checked, gather, in_c_order
from PyGPU._runtime import beside_first, core, integer, require_array


def _index_array(name, value):
    array = value if isinstance(value, core.GPUArray) else np.asarray(value)
    if array.size == 0 and not isinstance(value, (core.GPUArray, np.ndarray)):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected an array of integers, got dtype {array.dtype}")
    return array


def _fitting(out, shape, arrays):
    """TypeError or ValueError unless each of `out` has the dtype of its array, and the shape."""
    for target, array in zip(out, arrays):
        if require_array("out", target).dtype != array.dtype:
            raise TypeError(f"out: expected dtype {array.dtype}, got {target.dtype}")
        if shape is not None and target.shape != shape:
            raise ValueError(f"out: expected shape {shape}, got {target.shape}")


def _apart(arrays, targets, stream):
    """Arrays that nothing which is written to `targets` changes."""
    return [
        in_c_order(array, stream)
        if any(core._overlap(array, target) for target in targets)
        else array
        for array in arrays
    ]


def _kept(indices, targets, stream):
    return indices if isinstance(indices, np.ndarray) else _apart([indices], targets, stream)[0]


def _flat(array, indices, **more):
    """An Index into all elements of an array."""
    return Index(indices, indices.strides, array.shape, array.strides, **more)


def take(a, indices, out=None, stream=None, axis=None, mode="raise"):
    """``a[indices]`` of the flat array, or along an axis.

    Parameters
    ----------
    a : GPUArray
    indices : GPUArray or array_like of integers, of any shape
    out : GPUArray, optional
        Of the result's shape and a's dtype; returned.
    stream : optional
    axis : int, optional
    mode : {"raise", "clip", "wrap"}
        Of indices out of range. "raise" waits for a check of indices that are on the device;
        "clip" takes the nearest element (the first for negative ones), "wrap" counts modulo.

    Returns
    -------
    GPUArray
        Of shape ``a.shape[:axis] + indices.shape + a.shape[axis + 1:]``.

    Raises
    ------
    IndexError
        For an index out of range.
    TypeError, ValueError
        For indices that are no integers; for `out` of another dtype or shape.
    """
    if out is None:
        taken = core._take(a, indices, axis, mode, stream)
        if taken is not NotImplemented:
            return taken
    return _take(a, indices, out, stream, axis, mode)


@beside_first
def _take(a, indices, out, stream, axis, mode):
    a = require_array("a", a)
    indices = _index_array("indices", indices)
    if axis is None:
        before, after, own = 0, a.ndim, 0
    else:
        own = core._axis_index(axis, a.ndim)
        before, after = own, own + 1
    shape = a.shape[:before] + indices.shape + a.shape[after:]
    if out is None:
        out = core.GPUArray(shape, a.dtype, a.allocator)
    else:
        _fitting([out], shape, [a])
        a, indices = _apart([a], [out], stream)[0], _kept(indices, [out], stream)
    lengths, steps = a.shape[before:after], a.strides[before:after]
    indices = checked(indices, [(math.prod(lengths), 0)], own, mode, stream)
    nothing = (0,) * indices.ndim
    strides = (0,) * before + indices.strides + (0,) * (a.ndim - after)
    index = Index(indices, strides, lengths, steps)
    read = (a._address, a.strides[:before] + nothing + a.strides[after:])
    target = (out._address, out.strides)
    gather(shape, (a, out), target, read, [index], mode=mode, stream=stream)
    return out


@beside_first
def put(a, indices, values, stream=None, mode="raise"):
    """``a[indices] = values`` of the flat array, as numpy.put.

    Parameters
    ----------
    a : GPUArray
    indices : GPUArray or array_like of integers, of any shape
    values : GPUArray of a's dtype, or array_like
        Repeated if there are fewer than indices.
    stream : optional
    mode : {"raise", "clip", "wrap"}
        As in :func:`take`.
    """
    a = require_array("a", a)
    indices = _index_array("indices", indices)
    if not isinstance(values, core.GPUArray):
        values = np.asarray(values).astype(a.dtype)
    elif values.dtype != a.dtype:
        raise TypeError(f"values: expected dtype {a.dtype}, got {values.dtype}")
    is_known = values.ndim == 0 or isinstance(values, core.GPUArray)
    if is_known and core._put(a, indices, values, mode, stream):
        return
    if isinstance(values, np.ndarray):
        values = core.to_gpu(values)
    if indices.size == 0 or values.size == 0:
        return
    indices = checked(_kept(indices, [a], stream), [(a.size, 0)], 0, mode, stream)
    values = _apart([values], [a], stream)[0]
    if values.shape != indices.shape:
        places = np.arange(indices.size).reshape(indices.shape) % values.size
        values = take(values, places, stream=stream)
        core._keep_for_others_graph(values, stream)
    index = _flat(a, indices, scatters=True)
    target = (a._address, (0,) * indices.ndim)
    read = (values._address, values.strides)
    gather(indices.shape, (a, values), target, read, [index], mode=mode, stream=stream)


@beside_first
def multi_take(arrays, indices, out=None, stream=None):
    """``[take(a, indices) for a in arrays]``.

    Parameters
    ----------
    arrays : sequence of GPUArray
    indices : GPUArray or array_like of integers, one axis
    out : sequence of GPUArray, optional
    stream : optional

    Returns
    -------
    list of GPUArray
    """
    indices = _one_axis("indices", indices)
    return _multi_gather(arrays, None, indices, out=out, stream=stream)


@beside_first
def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """``out[k][dest_indices[i]] = arrays[k][i]``, for all k and i.

    Parameters
    ----------
    arrays : sequence of GPUArray of the indices' shape
    dest_indices : GPUArray or array_like of integers, one axis
    dest_shape : int or sequence of int, optional
        Of new arrays to put to; what nothing is put to is 0.
    out : sequence of GPUArray, optional
        Or else, the arrays to put to.
    stream : optional

    Returns
    -------
    list of GPUArray
    """
    dest_indices = _one_axis("dest_indices", dest_indices)
    for k, array in enumerate(arrays):
        if require_array(f"arrays[{k}]", array).shape != dest_indices.shape:
            raise ValueError(
                f"arrays[{k}] has shape {array.shape}, dest_indices {dest_indices.shape}"
            )
    return _multi_gather(arrays, dest_indices, None, dest_shape, out, stream)


@beside_first
def multi_take_put(
    arrays, dest_indices, src_indices, dest_shape=None, out=None, stream=None, src_offsets=None
):
    """``out[k][dest_indices[i]] = arrays[k][src_indices[i] + src_offsets[k]]``, for all k and i.

    Parameters
    ----------
    arrays : sequence of GPUArray
    dest_indices, src_indices : GPUArray or array_like of integers, one axis, alike
    dest_shape : int or sequence of int, optional
        Of new arrays to put to; what nothing is put to is 0.
    out : sequence of GPUArray, optional
        Or else, the arrays to put to.
    stream : optional
    src_offsets : sequence of int, optional

    Returns
    -------
    list of GPUArray

    Raises
    ------
    TypeError
        For index arrays of different dtypes, for `out` of other dtypes than `arrays`.
    ValueError
        For index arrays of different shapes or of other than one axis; for lists of different
        lengths.
    """
    dest_indices = _one_axis("dest_indices", dest_indices)
    src_indices = _one_axis("src_indices", src_indices)
    if dest_indices.dtype != src_indices.dtype:
        raise TypeError(
            f"dest_indices has dtype {dest_indices.dtype}, src_indices {src_indices.dtype}: "
            "expected the same"
        )
    if dest_indices.shape != src_indices.shape:
        raise ValueError(
            f"dest_indices has shape {dest_indices.shape}, src_indices {src_indices.shape}: "
            "expected the same"
        )
    offsets = [0] * len(arrays) if src_offsets is None else list(src_offsets)
    _as_many("src_offsets", offsets, arrays)
    offsets = [integer("src_offsets", offset) for offset in offsets]
    return _multi_gather(arrays, dest_indices, src_indices, dest_shape, out, stream, offsets)


def _one_axis(name, indices):
    indices = _index_array(name, indices)
    if indices.ndim != 1:
        raise ValueError(f"{name}: expected one axis, got shape {indices.shape}")
    return indices


def _as_many(name, values, arrays):
    if len(values) != len(arrays):
        raise ValueError(f"{name} and arrays: expected as many, got {len(values)}, {len(arrays)}")
    return values


def _multi_gather(arrays, dest, src, dest_shape=None, out=None, stream=None, offsets=None):
    """All checks, then the moves. Without `dest` or `src`: one element after the other."""
    arrays = [require_array(f"arrays[{k}]", array) for k, array in enumerate(arrays)]
    if dest is None:
        dest_shape = src.shape
    if out is not None:
        out = list(_as_many("out", out, arrays))
        _fitting(out, src.shape if dest is None else None, arrays)
        arrays = _apart(arrays, out, stream)
        dest, src = (each if each is None else _kept(each, out, stream) for each in (dest, src))
    elif dest_shape is None:
        raise ValueError("dest_shape: expected the shape of the results, or arrays as out")
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
        to, read, indices = (target._address, (0,)), (array._address, (0,)), []
        if src is None:
            read = (array._address, array.strides)
        else:
            indices.append(_flat(array, src, offset=offset))
        if dest is None:
            to = (target._address, target.strides)
        else:
            indices.append(_flat(target, dest, scatters=True))
        gather(shape, (array, target), to, read, indices, stream=stream)
    return out


#: Of the class GPUArray.
METHODS = {"take": take, "put": put}
