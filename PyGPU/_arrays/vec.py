"""CUDA's vector types as NumPy dtypes, vec.float4 and the others, and their make_ functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._kernels import get_or_register_dtype

if TYPE_CHECKING:
    from PyGPU._types import DType

_NUMBERS = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"long": "i8", "ulong": "u8", "longlong": "i8", "ulonglong": "u8"},
    **{"float": "f4", "double": "f8"},
}
_UP_TO_TWO = {"longlong", "ulonglong", "double"}  # types with at most two components
_COMPONENTS = "xyzw"


class vec:
    """CUDA's vector types, ``vec.char1`` to ``vec.double2``, as structured NumPy dtypes.

    The fields are x, y, z and w. For each type, a function such as ``vec.make_float4(x, y, z, w)``
    returns a 0-d ndarray, which can be passed to a kernel by value.

    Examples
    --------
    >>> from PyGPU import gpuarray
    >>> gpuarray.vec.float2
    dtype([('x', '<f4'), ('y', '<f4')])
    >>> gpuarray.vec.make_float2(1, 2)
    array((1., 2.), dtype=[('x', '<f4'), ('y', '<f4')])
    """


def _maker(name: str, dtype: DType) -> Callable[..., Any]:
    fields = dtype.names or ()

    def make(*components: Any, **named: Any) -> Any:
        values = dict(zip(fields, components))
        if len(components) > len(fields) or values.keys() & named.keys():
            raise TypeError(
                f"make_{name}({', '.join(fields)}): expected each component once, got {components} "
                f"and {named}"
            )
        values.update(named)
        if values.keys() != set(fields):
            raise TypeError(
                f"make_{name}({', '.join(fields)}): expected all components, got "
                f"{', '.join(values) or 'none'}"
            )
        return np.array(tuple(values[field] for field in fields), dtype)

    make.__name__ = make.__qualname__ = f"make_{name}"
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(field, kind) for field in fields])
    make.__signature__ = signature  # type: ignore[attr-defined]
    make.__doc__ = f"""Make a value of the vector type {name}.

    Parameters
    ----------
    {", ".join(fields)} : number
        Components, by position or by name.

    Returns
    -------
    numpy.ndarray
        A 0-d array of dtype vec.{name}.
    """
    return make


for _base, _code in _NUMBERS.items():
    for _count in range(1, 3 if _base in _UP_TO_TWO else 5):
        _name = f"{_base}{_count}"
        _dtype = get_or_register_dtype(
            _name, np.dtype([(component, _code) for component in _COMPONENTS[:_count]])
        )
        setattr(vec, _name, _dtype)
        setattr(vec, f"make_{_name}", staticmethod(_maker(_name, _dtype)))
