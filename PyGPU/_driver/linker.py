"""Linking images of relocatable code into a module."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PyGPU._compile import device_names, link
from PyGPU._driver import enums
from PyGPU._driver.module import Module, file_contents
from PyGPU._runtime import integer

if TYPE_CHECKING:
    from PyGPU._types import BytesLike, Int

__all__ = ["Linker"]


class Linker:
    """Links images: what ``compile(..., options=["-rdc=true"])`` gave, nvcc's files, libraries.

    Parameters
    ----------
    message_handler : callable(success, info, error), optional
        Receives what the linker said.
    options : iterable of (jit_option, int), optional
        MAX_REGISTERS, OPTIMIZATION_LEVEL and TARGET; others mean nothing to nvJitLink.
    log_verbose : bool
        Have it tell more: registers and memory of each kernel.

    Raises
    ------
    NotImplementedError
        On the target ``hip``, whose run-time compiler makes nothing that could be linked.
    """

    def __init__(
        self,
        message_handler: Callable[[bool, str, str], object] | None = None,
        options: Iterable[tuple[Int, Int]] | None = None,
        log_verbose: bool = False,
    ) -> None:
        asked = {int(option): int(value) for option, value in options or ()}
        target = asked.pop(int(enums.jit_option.TARGET), None)
        self._arch = None if target is None else _architecture(target)
        self._inputs = link.Inputs(message_handler, asked.items(), log_verbose)

    def add_data(self, data: str | BytesLike, input_type: Int, name: str = "unknown") -> None:
        """Add an image.

        Parameters
        ----------
        data : bytes-like
        input_type : jit_input_type
        name : str
            What messages call it.
        """
        self._inputs.add(data, integer("input_type", input_type), name)

    def add_file(self, filename: str | os.PathLike[str], input_type: Int) -> None:
        """Add an image, or a library, from a file."""
        data = file_contents("Linker.add_file", filename)
        name = os.path.basename(os.fspath(filename))
        self._inputs.add(data, integer("input_type", input_type), name)

    def link_module(self) -> Module:
        """The module of all that was added.

        Raises
        ------
        CompileError
            ``.stderr`` is what the linker said: names that nobody defines, or several do.
        """
        entry = self._inputs.link(self._arch or device_names.device_architecture())
        return Module(entry.image, names=entry.names, parameters=entry.parameters)


def _architecture(target: int) -> str:
    """ "sm_90a" of jit_target.COMPUTE_90A, 65626."""
    return f"sm_{target & 0xFFFF}{'a' if target >> 16 else ''}"
