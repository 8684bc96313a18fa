"""CUDA's vector types as NumPy's: vec.float4 and its like, and their make_ functions."""

import numpy as np

from PyGPU._kernels import get_or_register_dtype

_NUMBERS = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"long": "i8", "ulong": "u8", "longlong": "i8", "ulonglong": "u8"},
    **{"float": "f4", "double": "f8"},
}
_FEW = {"longlong", "ulonglong", "double"}  # of one and two components alone
_COMPONENTS = "xyzw"


class vec:
    """The types ``vec.char1`` ... ``vec.double2``, structures of x, y, z and w, and for each a
    function such as ``vec.make_float4(x, y, z, w)``, which gives a 0-d ndarray."""


def _maker(name, dtype):
    fields = dtype.names

    def make(*components, **named):
        values = dict(zip(fields, components))
        if len(components) > len(fields) or values.keys() & named.keys():
            raise TypeError(f"make_{name}({', '.join(fields)}): got {components} and {named}")
        values.update(named)
        if values.keys() != set(fields):
            raise TypeError(f"make_{name}({', '.join(fields)}): got {', '.join(values) or 'none'}")
        return np.array(tuple(values[field] for field in fields), dtype)

    make.__name__ = make.__qualname__ = f"make_{name}"
    make.__doc__ = f"A 0-d ndarray of vec.{name}. Parameters: {', '.join(fields)}."
    return make


for _base, _code in _NUMBERS.items():
    for _count in range(1, 3 if _base in _FEW else 5):
        _name = f"{_base}{_count}"
        _dtype = get_or_register_dtype(
            _name, np.dtype([(component, _code) for component in _COMPONENTS[:_count]])
        )
        setattr(vec, _name, _dtype)
        setattr(vec, f"make_{_name}", staticmethod(_maker(_name, _dtype)))
