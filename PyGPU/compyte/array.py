"""The names of ``pycuda.compyte.array``: strides of contiguous arrays, flags, common dtypes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from PyGPU._runtime import docstrings

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
    """Return the strides of a contiguous array in Fortran order.

    :param itemsize: Size of an element in bytes.
    :param sequence of int shape: Lengths of the axes; a length of zero counts as one.
    :returns tuple of int: Strides in bytes.

    >>> from PyGPU.compyte.array import f_contiguous_strides
    >>> f_contiguous_strides(4, (2, 3))
    (4, 8)
    """
    lengths = [max(1, length) for length in shape]
    return tuple(itemsize * math.prod(lengths[:axis]) for axis in range(len(lengths)))


def c_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a contiguous array in C order.

    :param itemsize: Size of an element in bytes.
    :param sequence of int shape: Lengths of the axes; a length of zero counts as one.
    :returns tuple of int: Strides in bytes.

    >>> from PyGPU.compyte.array import c_contiguous_strides
    >>> c_contiguous_strides(4, (2, 3))
    (12, 4)
    """
    return f_contiguous_strides(itemsize, shape[::-1])[::-1]


def equal_strides(strides1: Sequence[int], strides2: Sequence[int], shape: Sequence[int]) -> bool:
    """Test whether two strides describe the same layout; axes of length one do not count.

    Parameters
    ----------
    strides1, strides2 : sequence of int
        Strides in bytes.
    shape : sequence of int
        Lengths of the axes.

    Returns
    -------
    bool
        True if each index has the same position in memory.

    Examples
    --------
    >>> from PyGPU.compyte.array import equal_strides
    >>> equal_strides((12, 4), (99, 4), (1, 3))
    True
    """
    if not len(strides1) == len(strides2) == len(shape):
        return False
    return all(a == b or n == 1 for a, b, n in zip(strides1, strides2, shape))


def is_f_contiguous_strides(strides: Sequence[int], itemsize: int, shape: Sequence[int]) -> bool:
    """Test whether an array with these strides is contiguous in Fortran order.

    :param sequence of int strides: Strides in bytes.
    :param itemsize: Size of an element in bytes.
    :param sequence of int shape: Lengths of the axes.
    :returns: True if the array is contiguous in Fortran order.

    >>> from PyGPU.compyte.array import is_f_contiguous_strides
    >>> is_f_contiguous_strides((4, 8), 4, (2, 3))
    True
    """
    return 0 in shape or equal_strides(strides, f_contiguous_strides(itemsize, shape), shape)


def is_c_contiguous_strides(strides: Sequence[int], itemsize: int, shape: Sequence[int]) -> bool:
    """Test whether an array with these strides is contiguous in C order.

    :param sequence of int strides: Strides in bytes.
    :param itemsize: Size of an element in bytes.
    :param sequence of int shape: Lengths of the axes.
    :returns: True if the array is contiguous in C order.

    >>> from PyGPU.compyte.array import is_c_contiguous_strides
    >>> is_c_contiguous_strides((4, 8), 4, (2, 3))
    False
    """
    return 0 in shape or equal_strides(strides, c_contiguous_strides(itemsize, shape), shape)


class ArrayFlags:
    """The contiguity of an array: ``f_contiguous``, ``c_contiguous``, and ``forc`` for either.

    :param GPUArray or numpy.ndarray ary: Array with strides, dtype and shape.

    >>> from PyGPU.compyte.array import ArrayFlags
    >>> ArrayFlags(np.zeros((2, 3)))
      C_CONTIGUOUS : True
      F_CONTIGUOUS : False
    """

    def __init__(self, ary: Any) -> None:
        layout = ary.strides, ary.dtype.itemsize, ary.shape
        self.f_contiguous = is_f_contiguous_strides(*layout)
        self.c_contiguous = is_c_contiguous_strides(*layout)
        self.forc = self.f_contiguous or self.c_contiguous

    def __repr__(self) -> str:
        return f"  C_CONTIGUOUS : {self.c_contiguous}\n  F_CONTIGUOUS : {self.f_contiguous}"


def get_common_dtype(obj1: Any, obj2: Any, allow_double: bool) -> DType:
    """Return the dtype of the sum of an array and an array or number.

    :param GPUArray or numpy.ndarray obj1: Array.
    :param GPUArray, numpy.ndarray or number obj2: Second operand.
    :param allow_double: If false, return float32 and complex64 instead of float64 and complex128.
    :returns: The dtype of the sum.

    >>> from PyGPU.compyte.array import get_common_dtype
    >>> get_common_dtype(np.zeros(1, np.int64), np.zeros(1, np.float32), allow_double=False)
    dtype('float32')
    """
    one = np.zeros(1, obj1.dtype)
    other = np.zeros(1, obj2.dtype) if hasattr(obj2, "dtype") else obj2
    dtype: DType = (one + other).dtype
    if allow_double:
        return dtype
    return np.dtype({"d": "f", "D": "F"}.get(dtype.char, dtype))


docstrings.complete(__name__)
