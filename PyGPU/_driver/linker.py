"""The linker: images of relocatable code become one module."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PyGPU._driver import enums
from PyGPU._driver.files import file_contents
from PyGPU._driver.module import Module
from PyGPU._runtime import docstrings, integer

if TYPE_CHECKING:
    from PyGPU._types import BytesLike, Int

__all__ = ["Linker"]


class Linker:
    """Links relocatable images, files made by nvcc, and libraries into a module.

    Relocatable images come from ``compiler.compile(..., options=["-rdc=true"])``.

    :param callable(success, info, error) message_handler: Called once with the linker's messages.
    :param iterable of (jit_option, int) options: MAX_REGISTERS, OPTIMIZATION_LEVEL and TARGET;
        nvJitLink ignores all others.
    :param log_verbose: Include the registers and the memory of each kernel in the messages.
    :raises NotImplementedError: On the target ``hip``: its run-time compiler makes no linkable
        images.

    >>> from PyGPU.compiler import compile
    >>> linker = drv.Linker()
    >>> image = compile("__global__ void nothing() {}", options=["-rdc=true"])
    >>> linker.add_data(image, drv.jit_input_type.CUBIN)
    >>> linker.link_module().get_function("nothing")
    <Function nothing() on device 0>
    """

    def __init__(
        self,
        message_handler: Callable[[bool, str, str], object] | None = None,
        options: Iterable[tuple[Int, Int]] | None = None,
        log_verbose: bool = False,
    ) -> None:
        from PyGPU._compile.compilers import build, link

        asked = {int(option): int(value) for option, value in options or ()}
        target = asked.pop(int(enums.jit_option.TARGET), None)
        self._arch = None if target is None else _architecture(target)
        self._inputs = link.Inputs(build.own, message_handler, asked.items(), log_verbose)

    def add_data(self, data: str | BytesLike, input_type: Int, name: str = "unknown") -> None:
        """Add an image.

        :param bytes-like data: The image.
        :param jit_input_type input_type: Kind of image.
        :param name: Name of the image in messages.
        """
        self._inputs.add(data, integer("input_type", input_type), name)

    def add_file(self, filename: str | os.PathLike[str], input_type: Int) -> None:
        """Add an image or a library from a file.

        :param filename: File to read.
        :param jit_input_type input_type: Kind of image.
        """
        data = file_contents("Linker.add_file", filename)
        name = os.path.basename(os.fspath(filename))
        self._inputs.add(data, integer("input_type", input_type), name)

    def link_module(self) -> Module:
        """Link all added images and load the result on the current device.

        :returns: The loaded module.
        :raises CompileError: If a name is defined nowhere or twice; ``.stderr`` has the linker's
            messages.
        """
        from PyGPU._compile.compilers import build

        entry = self._inputs.link(self._arch or build.device_architecture())
        return Module(entry.image, names=entry.names, parameters=entry.parameters)


def _architecture(target: int) -> str:
    """Return the compiler's name of a jit_target: "sm_90a" for COMPUTE_90A, which is 65626."""
    return f"sm_{target & 0xFFFF}{'a' if target >> 16 else ''}"


docstrings.complete(__name__)
