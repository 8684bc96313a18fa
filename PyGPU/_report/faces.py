"""Public names that the checks use, and the comparison of results."""

from __future__ import annotations

from typing import Any

import numpy as np

import PyGPU as PyGPU
from PyGPU import cumath as cumath
from PyGPU import curandom as curandom
from PyGPU import driver as driver
from PyGPU import gpuarray as gpuarray
from PyGPU import scan as scan
from PyGPU import tools as tools
from PyGPU.compiler import SourceModule as SourceModule
from PyGPU.elementwise import ElementwiseKernel as ElementwiseKernel
from PyGPU.reduction import ReductionKernel as ReductionKernel


class Skipped(Exception):
    """A check does not apply to this machine; the message is the reason."""


def expect(what: str, found: Any, expected: Any, tolerance: float = 0.0) -> None:
    """Raise AssertionError for an unexpected result; the message names the first wrong element.

    Parameters
    ----------
    what : str
        Name of the result, for the message.
    found, expected : array-like
        The result, and the expected values.
    tolerance : float
        Greatest difference, relative to the expected value; 0 requires equal values.
    """
    a, b = np.asarray(found), np.asarray(expected)
    if a.shape != b.shape:
        raise AssertionError(f"{what}: the shape is {a.shape}, expected {b.shape}")
    if tolerance:
        wrong = ~np.isclose(a, b, rtol=tolerance, atol=tolerance)
    else:
        wrong = (a != b) & ~((a != a) & (b != b))
    if wrong.any():
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{what}: {int(wrong.sum())} of {wrong.size} elements are wrong; the first is "
            f"element {first}: {a[first]!r}, expected {b[first]!r}"
        )
