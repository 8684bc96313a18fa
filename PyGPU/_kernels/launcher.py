"""Kernels from text, compiled and prepared once for each device.

Operators and functions of arrays are launched by C++, which asks for a module by a hook. What is
launched from Python is a Program.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PyGPU._compile import build
from PyGPU._driver import Module
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import Launch


def load(source: str, name: str = "kernel.cu", options: Iterable[str] = ()) -> core._Module:
    """The compiled module of a text, on the current device, for C++."""
    request = build.Request(
        source=source, options=tuple(options), extern_c=False, name=name, tuned=True
    )
    return core._Module(build.build(request).image, [])


class Program:
    """A text and its kernels.

    Parameters
    ----------
    source : str
    **kernels : str
        What each kernel is prepared for, as Function.prepare takes it.
    """

    def __init__(self, source: str, **kernels: str) -> None:
        self.source = source
        self._kernels = kernels
        self._made: dict[int, tuple[Launch, ...]] = {}  # by device, anew after each reset of it

    def __call__(self) -> tuple[Launch, ...]:
        """The kernels' launching functions on the current device:
        ``launch(grid, block, stream, *arguments)``."""
        here = core._here()
        if here not in self._made:
            request = build.Request(source=self.source, extern_c=False)
            entry = build.build(request)
            module = Module(entry.image, source=self.source, parameters=entry.parameters)
            self._made[here] = tuple(
                module.get_function(name).prepare(promise).prepared_async_call
                for name, promise in self._kernels.items()
            )
        return self._made[here]
