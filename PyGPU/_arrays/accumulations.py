"""NumPy's running sums and products, by scans: ``cumsum``, ``cumprod``, without NaN ``nancumsum``.

They take arrays of one axis, or all elements in C order (``axis=None``).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays.functions import into, result_dtype
from PyGPU._runtime import beside_first, core, hooks, require_array

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike, Int


@functools.lru_cache(maxsize=256)
def _scan(dtype: DType, operation: str) -> Any:
    # That module loads the compilers, which other functions of NumPy need not.
    return hooks.loaded("PyGPU._kernels.scan_kernel").InclusiveScanKernel(dtype, operation)


def _accumulated(
    name: str,
    a: core.GPUArray,
    axis: Int | None,
    dtype: DTypeLike | None,
    out: core.GPUArray | None,
    operation: str,
    without_nan: int | None = None,
) -> core.GPUArray:
    own = require_array("a", a).dtype
    if axis is not None:
        core._axis_index(axis, a.ndim)
        if a.ndim != 1:
            raise TypeError(
                f"numpy.{name}: axis={axis} of an array of {a.ndim} axes: not implemented for "
                "GPUArray; axis=None and arrays of one axis are"
            )
    to = result_dtype(getattr(np, name), own, None if dtype is None else np.dtype(dtype))
    elements = a.ravel()
    if without_nan is not None and own.kind in "fc":
        # NumPy's types do not say that its functions accept GPUArrays.
        where: Any = np.where
        isnan: Any = np.isnan
        elements = where(isnan(elements), own.type(without_nan), elements)
    elements = elements if elements.dtype == to else elements.astype(to)
    if elements.size:
        elements = _scan(to, operation)(elements, output_ary="new")
    if out is None:
        return elements
    if require_array("out", out).shape != elements.shape:
        raise ValueError(f"{name}: out: expected shape {elements.shape}, got {out.shape}")
    return into(out, elements)


@beside_first
def cumsum(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("cumsum", a, axis, dtype, out, "a + b")


@beside_first
def cumprod(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("cumprod", a, axis, dtype, out, "a * b")


@beside_first
def nancumsum(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("nancumsum", a, axis, dtype, out, "a + b", 0)


@beside_first
def nancumprod(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("nancumprod", a, axis, dtype, out, "a * b", 1)


#: NumPy's functions, and the functions here that implement them.
FUNCTIONS = {
    getattr(np, function.__name__): function
    for function in (cumsum, cumprod, nancumsum, nancumprod)
}
