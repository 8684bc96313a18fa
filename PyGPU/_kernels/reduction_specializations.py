"""The kernels of reductions, which C++ requests by their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PyGPU._kernels.specializations import load
from PyGPU._kernels.text import compound, folding, reduction
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypes


def reduction_module(
    operation: str, inputs: DTypes, tables: DTypes, compute: DType, *plan: Any
) -> tuple[core._Module, int]:
    """Return the module with the kernels of a reduction, and the accumulator's size in bytes.

    See :class:`text.folding.ReductionKey`.
    """
    form = folding.ReductionKey(operation, inputs, tables, compute, *plan)
    text = reduction.source(form)
    options = () if form.outputs else ("-O3",)  # vectorizes runs
    is_compound = compound.is_compound(form)
    size = compound.nbytes(form) if is_compound else folding.accumulator(form).itemsize
    return load(text, f"{operation}.cu", options), size
