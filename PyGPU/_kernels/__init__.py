"""The way from an expression to a launch: types, operations, kernel texts, kernels."""

from PyGPU._kernels import types
from PyGPU._kernels.operations import NAMES
from PyGPU._kernels.promotion import COMPARISONS, promoted, reduced_dtype, result_dtypes
from PyGPU._kernels.text import axis_scan, compaction, counting, fused
from PyGPU._kernels.text.common import accumulated
from PyGPU._kernels.text.device_functions import helpers
from PyGPU._kernels.types import get_or_register_dtype

__all__ = [
    "COMPARISONS",
    "NAMES",
    "accumulated",
    "axis_scan",
    "compaction",
    "counting",
    "fused",
    "get_or_register_dtype",
    "helpers",
    "promoted",
    "reduced_dtype",
    "result_dtypes",
    "types",
]
