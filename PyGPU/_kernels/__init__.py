"""From an expression to a launch: types, operations, plans, kernel text."""

from PyGPU._kernels import types
from PyGPU._kernels.moves import Index, Side, checked, move, packed
from PyGPU._kernels.operations import NAMES
from PyGPU._kernels.types import dtype_to_ctype, get_or_register_dtype

__all__ = [
    "NAMES",
    "Index",
    "Side",
    "checked",
    "dtype_to_ctype",
    "get_or_register_dtype",
    "move",
    "packed",
    "types",
]
