"""Base classes of the driver's enumerations: integers that print as their names."""

from __future__ import annotations

import enum
from typing import ClassVar, TypeVar


class _Enumeration(enum.IntEnum):
    """An int that prints as its name; ``names`` and ``values`` are PyCUDA's dicts of members."""

    names: ClassVar[dict[str, _Enumeration]]
    values: ClassVar[dict[int, _Enumeration]]

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name if not spec else int(self), spec)


_E = TypeVar("_E", bound=type[_Enumeration])


def _listed(cls: _E) -> _E:
    """Add ``names`` and ``values``, and show the class as one of ``PyGPU.driver``."""
    cls.names = dict(cls.__members__)
    cls.values = {int(member): member for member in cls}
    cls.__module__ = "PyGPU.driver"
    return cls


class _Constants:
    """A namespace of plain ints, which cannot be instantiated."""

    def __init_subclass__(cls) -> None:
        cls.__module__ = "PyGPU.driver"

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__} only holds constants and makes no objects")
