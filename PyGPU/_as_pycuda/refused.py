"""Names of PyCUDA's that a program may import, and whose use says why they are not here."""

from __future__ import annotations

from typing import Any, NoReturn


def refused(name: str, reason: str) -> type[Any]:
    """A class that cannot be made: NotImplementedError with the reason.

    Parameters
    ----------
    name : str
        With its module: ``gl.RegisteredBuffer``.
    """
    module, _, own = name.rpartition(".")

    def __init__(self: object, *args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError(f"{name} is not in PyGPU: {reason}")

    documentation = f"Not in PyGPU: {reason}."
    return type(own, (), {"__init__": __init__, "__module__": module, "__doc__": documentation})
