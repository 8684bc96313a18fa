"""Base classes of the driver API's enumerations and namespaces of constants."""

from __future__ import annotations

import enum
import inspect
from typing import ClassVar, TypeVar

_VALUE = inspect.Parameter("value", inspect.Parameter.POSITIONAL_ONLY)


class _Metaclass(enum.EnumMeta):
    """Signature of a lookup by number; from Python 3.14 on a class cannot replace Python's own."""

    __signature__ = inspect.Signature([_VALUE])


class _Enumeration(enum.IntEnum, metaclass=_Metaclass):
    """An int that prints as its name; ``names`` and ``values`` are PyCUDA's dicts of members."""

    names: ClassVar[dict[str, _Enumeration]]
    values: ClassVar[dict[int, _Enumeration]]

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name if not spec else int(self), spec)


_E = TypeVar("_E", bound=type[_Enumeration])

_PARAMETERS = """\
Parameters
----------
value : int
    Number of a member.

"""


def _listed(cls: _E) -> _E:
    """Add ``names`` and ``values``, and document the class as one of ``PyGPU.driver``."""
    cls.names = dict(cls.__members__)
    cls.values = {int(member): member for member in cls}
    cls.__module__ = "PyGPU.driver"
    if cls.__doc__:  # None with python -OO
        documentation = inspect.cleandoc(cls.__doc__)
        cls.__doc__ = documentation.replace("Examples\n", f"{_PARAMETERS}Examples\n", 1)
    return cls


class _Constants:
    """A namespace of plain ints, which cannot be instantiated."""

    def __init_subclass__(cls) -> None:
        cls.__module__ = "PyGPU.driver"

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__} only holds constants and makes no objects")
