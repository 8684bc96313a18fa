"""Flat indices of a mask's true elements.

Small masks use one block; large masks use the kernels of PyGPU/_kernels/text/compaction.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from PyGPU._arrays.ranges import arange
from PyGPU._kernels import compaction, scan_kernel
from PyGPU._runtime import capabilities, context_dependent_memoize, core, state

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, Launch

# Size of the largest mask whose indices are selected from an array of all indices. Kernels write
# the indices of larger masks directly.
_MAX_SMALL_MASK = 1 << 14 if capabilities.runs_threads_serially else 1 << 20


class _Kernels:
    """The compaction kernels of one device, for indices of `dtype`."""

    def __init__(self, by_warps: bool, warp: int, dtype: DTypeLike) -> None:
        from PyGPU._driver import Program

        self._threads = compaction.THREADS if by_warps else 16
        self._chunks = self._threads // warp if by_warps else self._threads  # chunks per block
        text = (
            compaction.indices_by_warps(warp, dtype)
            if by_warps
            else compaction.indices_by_threads(dtype)
        )
        program = Program(text, count_true="qPP", write_true="qPPP")
        self._count, self._write = program()
        self._scan = scan_kernel.ExclusiveScanKernel(np.int64, "a + b", 0, name_prefix="offsets")

    def _launch(self, kernel: Launch, mask: core.GPUArray, *arrays: core.GPUArray) -> None:
        blocks = -(-mask.size // (compaction.CHUNK * self._chunks))
        kernel((blocks, 1), (self._threads, 1, 1), None, mask.size, mask, *arrays)

    def offsets(self, mask: core.GPUArray) -> core.GPUArray:
        """Return the position of each chunk's first index in the result, then the total count."""
        offsets = core.GPUArray((-(-mask.size // compaction.CHUNK) + 1,), np.int64)
        self._launch(self._count, mask, offsets)
        return self._scan(offsets)

    def write(self, mask: core.GPUArray, offsets: core.GPUArray, indices: core.GPUArray) -> None:
        self._launch(self._write, mask, offsets, indices)


@context_dependent_memoize
def _kernels(dtype: DTypeLike) -> _Kernels:
    warp = state.device_attribute(core.cudaDevAttrWarpSize)
    return _Kernels(not capabilities.runs_threads_serially, warp, dtype)


def _checked(mask: object) -> core.GPUArray:
    """Return the mask in C order, or raise TypeError if it is not a GPUArray of bool."""
    if not isinstance(mask, core.GPUArray):
        raise TypeError(f"mask: expected a GPUArray of bool, got {type(mask).__name__}")
    if mask.dtype != np.bool_:
        raise TypeError(f"mask: expected a GPUArray of bool, got a GPUArray of {mask.dtype}")
    if mask.flags.c_contiguous:
        return mask
    contiguous = core.GPUArray(mask.shape, np.bool_, allocator=mask.allocator)
    contiguous[...] = mask
    return contiguous


def _last(offsets: core.GPUArray) -> int:
    return int(offsets[-1:].get()[0])


def nonzero_flat(mask: core.GPUArray, dtype: DTypeLike = np.int64) -> core.GPUArray:
    """Return the flat indices of a mask's true elements, ascending, as int64 or int32.

    The call waits for the number of true elements. TypeError for other arrays than GPUArrays of
    bool.
    """
    mask = _checked(mask)
    if 0 < mask.size <= _MAX_SMALL_MASK:
        numbers = arange(mask.size, dtype=dtype, allocator=mask.allocator)
        indices = core._select_numbers(numbers, mask.reshape(mask.size))
        if indices is not None:
            return indices
    kernels = _kernels(dtype)
    offsets = kernels.offsets(mask) if mask.size else None
    count = 0 if offsets is None else _last(offsets)
    indices = core.GPUArray((count,), dtype, allocator=mask.allocator)
    if offsets is not None and count:
        kernels.write(mask, offsets, indices)
    return indices
