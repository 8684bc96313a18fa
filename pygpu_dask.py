"""Sizes of PyGPU's arrays for dask, which calls `register` by the entry point ``dask.sizeof``.

The module is outside the package PyGPU because dask loads it in every process, also in those that
never use PyGPU.
"""

import math
import sys


def _nbytes(array):
    """Return the bytes of the elements, counting those that a broadcast view repeats once."""
    lengths = (
        length if stride else min(length, 1) for length, stride in zip(array.shape, array.strides)
    )
    return math.prod(lengths) * array.dtype.itemsize


def _chunk_nbytes(array):
    """Return the bytes, in a process that may compute with the array as a chunk."""
    if "dask.array" in sys.modules:
        import PyGPU.dask

        PyGPU.dask.register()
    return _nbytes(array)


def register(sizeof):
    """Register the arrays of PyGPU at the function ``dask.sizeof.sizeof``.

    Where ``dask.array`` is loaded, the first GPUArray also calls ``PyGPU.dask.register``.

    Parameters
    ----------
    sizeof : dask.utils.Dispatch
        Function of dask that returns the bytes of an object.

    Examples
    --------
    >>> import PyGPU
    >>> from dask.sizeof import sizeof
    >>> sizeof(PyGPU.zeros(1000, "float32"))
    4000
    """

    @sizeof.register_lazy("PyGPU")
    def register_arrays():
        import PyGPU

        arrays = [kind for name, kind in vars(PyGPU).items() if name.startswith("DeviceArray_")]
        sizeof.register(tuple(arrays), lambda array: array.nbytes())
        if hasattr(PyGPU, "gpuarray"):  # False for a build with PYGPU_PARTS=runtime
            sizeof.register(PyGPU.gpuarray.GPUArray, _chunk_nbytes)
