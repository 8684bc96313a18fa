"""Errors for functions and arguments of NumPy that GPUArray does not have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

_SCAN = "PyGPU.scan.InclusiveScanKernel"
# Alternatives to suggest for functions that are not implemented.
_ELSEWHERE = {
    "numpy.put": "PyGPU.gpuarray.put",
    **dict.fromkeys(
        ("numpy.sort", "numpy.argsort", "numpy.partition", "numpy.argpartition", "numpy.unique"),
        "cupy.asarray(a) or torch.from_dlpack(a), which sort the array's memory without a copy",
    ),
}


def name_of(ufunc: np.ufunc) -> str:
    """Return the name of a ufunc for messages. Other packages and programs define ufuncs too."""
    name = ufunc.__name__
    return f"numpy.{name}" if getattr(np, name, None) is ufunc else f"the ufunc {name}"


def not_implemented(name: str) -> TypeError:
    """Make the TypeError for a function that is not implemented."""
    other = _SCAN if name.endswith(".accumulate") else _ELSEWHERE.get(name)
    advice = f"use {other}, or " if other else ""
    return TypeError(
        f"{name} is not implemented for GPUArray; {advice}fetch the array with .get() to work on "
        "the host"
    )


def refuse_unknown(name: str, function: Callable[..., Any], kwargs: Iterable[str]) -> None:
    """Raise TypeError if `kwargs` has keywords that only NumPy's function has."""
    known = inspect.signature(function).parameters
    unknown = [keyword for keyword in kwargs if keyword not in known]
    if unknown:
        raise TypeError(
            f"{name}: {', '.join(unknown)}: not implemented for GPUArray, which supports "
            f"{', '.join(known)}; fetch the array with .get() to work on the host"
        ) from None
