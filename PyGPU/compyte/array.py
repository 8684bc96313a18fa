"""The names of ``pycuda.compyte.array``: strides of contiguous arrays, flags, common dtypes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

if TYPE_CHECKING:
    from PyGPU._types import DType

__all__ = [
    "ArrayFlags",
    "as_strided",
    "c_contiguous_strides",
    "equal_strides",
    "f_contiguous_strides",
    "get_common_dtype",
    "is_c_contiguous_strides",
    "is_f_contiguous_strides",
]


def f_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Bytes from one index to the next of each axis, in Fortran order; axes of length zero count
    as of one."""
    lengths = [max(1, length) for length in shape]
    return tuple(itemsize * math.prod(lengths[:axis]) for axis in range(len(lengths)))


def c_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Bytes from one index to the next of each axis, in C order; axes of length zero count as of
    one."""
    return f_contiguous_strides(itemsize, shape[::-1])[::-1]


def equal_strides(strides1: Sequence[int], strides2: Sequence[int], shape: Sequence[int]) -> bool:
    """Do both lead to the same places? The stride of an axis of length one leads nowhere."""
    if not len(strides1) == len(strides2) == len(shape):
        return False
    return all(a == b or n == 1 for a, b, n in zip(strides1, strides2, shape))


def is_f_contiguous_strides(strides: Sequence[int], itemsize: int, shape: Sequence[int]) -> bool:
    """Is an array of these strides contiguous in Fortran order?"""
    return 0 in shape or equal_strides(strides, f_contiguous_strides(itemsize, shape), shape)


def is_c_contiguous_strides(strides: Sequence[int], itemsize: int, shape: Sequence[int]) -> bool:
    """Is an array of these strides contiguous in C order?"""
    return 0 in shape or equal_strides(strides, c_contiguous_strides(itemsize, shape), shape)


class ArrayFlags:
    """``f_contiguous``, ``c_contiguous`` and ``forc``, either of them, of an array."""

    def __init__(self, ary: Any) -> None:
        layout = ary.strides, ary.dtype.itemsize, ary.shape
        self.f_contiguous = is_f_contiguous_strides(*layout)
        self.c_contiguous = is_c_contiguous_strides(*layout)
        self.forc = self.f_contiguous or self.c_contiguous

    def __repr__(self) -> str:
        return f"  C_CONTIGUOUS : {self.c_contiguous}\n  F_CONTIGUOUS : {self.f_contiguous}"


def get_common_dtype(obj1: Any, obj2: Any, allow_double: bool) -> DType:
    """The dtype of a sum of an array and an array or number.

    Parameters
    ----------
    allow_double : bool
        False: float32 and complex64 in place of float64 and complex128.
    """
    one = np.zeros(1, obj1.dtype)
    other = np.zeros(1, obj2.dtype) if hasattr(obj2, "dtype") else obj2
    dtype: DType = (one + other).dtype
    if allow_double:
        return dtype
    return np.dtype({"d": "f", "D": "F"}.get(dtype.char, dtype))
