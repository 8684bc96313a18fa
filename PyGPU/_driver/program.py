"""Built-in kernels that Python launches: compiled and prepared once for each device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._driver.module import Module
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import Launch


class Program:
    """Source text with its kernels, compiled at the first call on each device.

    :param source: Kernel text in CUDA C++.
    :param str *options: Compiler options.
    :param str **kernels: Argument types of each kernel, in the format of Function.prepare.
    """

    def __init__(self, source: str, *options: str, **kernels: str) -> None:
        self._source, self._options = source, options
        self._kernels = kernels
        self._made: dict[int, tuple[Launch, ...]] = {}  # keyed by device and reset count

    def __call__(self) -> tuple[Launch, ...]:
        """Return the launch functions of the kernels on the current device.

        Each is called as ``launch(grid, block, stream, *arguments)``.
        """
        here = core._current_device_key()
        if here not in self._made:
            from PyGPU._compile.compilers import build

            request = build.Request(self._source, self._options, extern_c=False, tuned=True)
            entry = build.build(request)
            module = Module(entry.image, source=self._source, parameters=entry.parameters)
            self._made[here] = tuple(
                module.get_function(name).prepare(promise).prepared_async_call
                for name, promise in self._kernels.items()
            )
        return self._made[here]
