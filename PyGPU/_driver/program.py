"""Kernels of our own that are launched from Python: compiled and prepared once for each device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._compile import build
from PyGPU._driver.module import Module
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import Launch


class Program:
    """A text and its kernels.

    Parameters
    ----------
    source : str
    *options : str
        Of the compiler.
    **kernels : str
        What each kernel is prepared for, as Function.prepare takes it.
    """

    def __init__(self, source: str, *options: str, **kernels: str) -> None:
        self._request = build.Request(source=source, options=options, extern_c=False, tuned=True)
        self._kernels = kernels
        self._made: dict[int, tuple[Launch, ...]] = {}  # by device, anew after each reset of it

    def __call__(self) -> tuple[Launch, ...]:
        """The kernels' launching functions on the current device:
        ``launch(grid, block, stream, *arguments)``."""
        here = core._here()
        if here not in self._made:
            entry = build.build(self._request)
            module = Module(entry.image, source=self._request.source, parameters=entry.parameters)
            self._made[here] = tuple(
                module.get_function(name).prepare(promise).prepared_async_call
                for name, promise in self._kernels.items()
            )
        return self._made[here]
