"""The flat indices of a mask's true elements: of few by one block, of many by the kernels of
PyGPU/_kernels/text/compaction.py."""

import numpy as np

from PyGPU import scan
from PyGPU._arrays.ranges import arange
from PyGPU._driver import Program
from PyGPU._kernels import compaction
from PyGPU._runtime import context_dependent_memoize, core, state

# Elements from which on indices are written without numbering all elements first.
_MANY = 1 << 20 if core.target != "host" else 1 << 14


class _Kernels:
    """The compaction on one device, to indices of `dtype`."""

    def __init__(self, by_warps, warp, dtype):
        self._threads = compaction.THREADS if by_warps else 16
        self._stretches = self._threads // warp if by_warps else self._threads  # of a block
        text = (
            compaction.indices_by_warps(warp, dtype)
            if by_warps
            else compaction.indices_by_threads(dtype)
        )
        program = Program(text, count_true="qPP", write_true="qPPP")
        self._count, self._write = program()
        self._scan = scan.ExclusiveScanKernel(np.int64, "a + b", 0, name_prefix="offsets")

    def _launch(self, kernel, mask, *arrays):
        blocks = -(-mask.size // (compaction.STRETCH * self._stretches))
        kernel((blocks, 1), (self._threads, 1, 1), None, mask.size, mask, *arrays)

    def offsets(self, mask):
        """Where the indices of each stretch begin; behind them all, how many there are."""
        offsets = core.GPUArray((-(-mask.size // compaction.STRETCH) + 1,), np.int64)
        self._launch(self._count, mask, offsets)
        return self._scan(offsets)

    def write(self, mask, offsets, indices):
        self._launch(self._write, mask, offsets, indices)


@context_dependent_memoize
def _kernels(dtype):
    warp = state.device_attribute(core.cudaDevAttrWarpSize)
    return _Kernels(core.target != "host", warp, dtype)


def _checked(mask):
    """The mask in C order."""
    if not isinstance(mask, core.GPUArray):
        raise TypeError(f"mask: expected a GPUArray of bool, got {type(mask).__name__}")
    if mask.dtype != np.bool_:
        raise TypeError(f"mask: expected a GPUArray of bool, got a GPUArray of {mask.dtype}")
    if mask.flags.c_contiguous:
        return mask
    contiguous = core.GPUArray(mask.shape, np.bool_, allocator=mask.allocator)
    contiguous[...] = mask
    return contiguous


def _last(offsets):
    return int(offsets[-1:].get()[0])


def nonzero_flat(mask, dtype=np.int64):
    """The flat indices, in C order, of a mask's true elements. Waits for their number.

    Parameters
    ----------
    mask : GPUArray of bool
        Of any shape and layout.
    dtype : dtype, optional
        Of the indices: int64, or int32 where that holds them.

    Returns
    -------
    GPUArray of `dtype`, one axis, ascending

    Raises
    ------
    TypeError
        For anything else.
    """
    mask = _checked(mask)
    if 0 < mask.size <= _MANY:
        numbers = arange(mask.size, dtype=dtype, allocator=mask.allocator)
        indices = core._select_numbers(numbers, mask.reshape(mask.size))
        if indices is not None:
            return indices
    kernels = _kernels(dtype)
    offsets = kernels.offsets(mask) if mask.size else None
    number = _last(offsets) if mask.size else 0
    indices = core.GPUArray((number,), dtype, allocator=mask.allocator)
    if number:
        kernels.write(mask, offsets, indices)
    return indices
