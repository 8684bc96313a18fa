"""GPUArrays as the chunks of ``dask.array``.

``x.to_backend("PyGPU")`` moves the chunks of a dask array to the device, and calls `register` in
each process that does so. ``x.to_backend("numpy")`` moves them back. Workers send and spill
GPUArrays as pickles of protocol 5, whose buffers Dask handles without a further copy.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array import backends, dispatch

from PyGPU.gpuarray import GPUArray, empty, to_gpu


def _numel(
    x: GPUArray, axis: Any = None, keepdims: bool = False, dtype: Any = float, **others: Any
) -> Any:
    """Return the number of elements that a reduction joins, in an array of its result's shape."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    kept = {k: n for k, n in enumerate(x.shape) if k not in axes}
    shape = [kept.get(k, 1) for k in range(x.ndim) if keepdims or k in kept]
    return np.full_like(x, math.prod(x.shape[k] for k in axes), dtype, shape=shape)


def register() -> None:
    """Make Dask compute with GPUArrays as chunks, in this process.

    The function registers the type of the chunks, and functions for them where Dask would use
    NumPy's arrays. Dask loads the function by itself for ``x.to_backend("PyGPU")``, and in a
    worker that stores a GPUArray. If other functions make the chunks, call it in the client, and by
    ``client.register_worker_callbacks(PyGPU.dask.register)`` in the workers.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import PyGPU
    >>> import PyGPU.dask
    >>> PyGPU.dask.register()
    >>> x = da.from_array(np.arange(6.0), chunks=3).map_blocks(PyGPU.to_gpu)
    >>> x.std().compute()
    array(1.70782513)
    """
    if dispatch.numel_lookup.dispatch(GPUArray) is _numel:
        return  # called before
    da.register_chunk_type(GPUArray)
    # The other lookups (concatenate, take, divide) yield NumPy's functions, which accept GPUArrays.
    dispatch.numel_lookup.register(GPUArray, _numel)
    dispatch.to_numpy_dispatch.register(GPUArray, lambda array: array.get())


def _on_device(chunk: Any) -> GPUArray:
    register()
    return chunk if isinstance(chunk, GPUArray) else to_gpu(chunk)


def _created(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function of ``dask.array`` so that its chunks are GPUArrays."""
    with dask.config.set({"array.backend": "numpy"}):
        meta = "like" if name == "arange" else "meta"
        return getattr(da, name)(*args, **{meta: empty((), float), **kwargs})


class _Backend(backends.ArrayBackendEntrypoint):  # type: ignore[misc]
    """Dask's name "PyGPU" for arrays in ``to_backend`` and the option ``array.backend``."""

    ones, zeros, empty, full, arange = (
        staticmethod(partial(_created, name))
        for name in ("ones", "zeros", "empty", "full", "arange")
    )

    def __init__(self) -> None:
        register()

    @staticmethod
    def to_backend(data: Any, **kwargs: Any) -> Any:
        """Move the chunks of a dask array to the device."""
        return data.map_blocks(_on_device, **kwargs)

    @property
    def RandomState(self) -> Any:
        """Raise NotImplementedError."""
        raise NotImplementedError(
            'dask.array.random is not implemented for array.backend="PyGPU"; draw with the back '
            'end "numpy" and move the chunks with x.to_backend("PyGPU")'
        )

    default_bit_generator = RandomState
