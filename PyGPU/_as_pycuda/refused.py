"""Names of PyCUDA that programs can import but not use; their use raises the reason."""

from __future__ import annotations

from typing import Any, NoReturn


def refused(name: str, reason: str) -> type[Any]:
    """Return a class whose constructor raises NotImplementedError with a reason.

    Parameters
    ----------
    name : str
        Name with the module, such as ``gl.RegisteredBuffer``.
    reason : str
        Text of the error.
    """
    module, _, own = name.rpartition(".")

    def __init__(self: object, *args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError(f"{name} is not in PyGPU: {reason}")

    documentation = f"Not in PyGPU: {reason}."
    return type(own, (), {"__init__": __init__, "__module__": module, "__doc__": documentation})
