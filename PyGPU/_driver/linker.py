"""Linking images of relocatable code into a module."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PyGPU._compile import cache, link
from PyGPU._driver import enums
from PyGPU._driver.module import Module
from PyGPU._runtime import core, errors, integer

if TYPE_CHECKING:
    from PyGPU._types import BytesLike, CacheDir, Int

__all__ = ["Linker"]

log = logging.getLogger("PyGPU")
_OPTIONS = (enums.jit_option.MAX_REGISTERS, enums.jit_option.OPTIMIZATION_LEVEL)


class Linker:
    """Links images: what ``compile(..., options=["-rdc=true"])`` gave, files of nvcc's, libraries.

    Parameters
    ----------
    message_handler : callable(success, info, error), optional
        Told what the linker said.
    options : sequence of (jit_option, int), optional
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
        if not link.IS_POSSIBLE:
            raise NotImplementedError(f"Linker: {link.REASON}")
        self._handler = message_handler
        self._options: dict[int, int] = {}
        self._arch: str | None = None
        self._verbose = bool(log_verbose)
        self._inputs: list[link.Input] = []
        self._entries: list[cache.Entry] = []
        for option, value in options or ():
            if option in _OPTIONS:
                self._options[int(option)] = int(value)
            elif option == enums.jit_option.TARGET:  # 65626 is COMPUTE_90A
                self._arch = f"sm_{int(value) & 0xFFFF}{'a' if int(value) >> 16 else ''}"
            else:
                log.info("the option %s is ignored: it means nothing to a linker", option)

    def add_data(self, data: str | BytesLike, input_type: Int, name: str = "unknown") -> None:
        """Add an image.

        Parameters
        ----------
        data : bytes-like
        input_type : jit_input_type
        name : str
            What messages call it.
        """
        kind = int(enums.jit_input_type(integer("input_type", input_type)))
        raw = data.encode() if isinstance(data, str) else memoryview(data).tobytes()
        self._inputs.append(link.data_of(raw, kind, name))

    def add_file(self, filename: str | os.PathLike[str], input_type: Int) -> None:
        """Add an image, or a library, from a file."""
        try:
            with open(os.fspath(filename), "rb") as file:
                data = file.read()
        except FileNotFoundError as error:
            missing = core.cudaError_t(301, str(error))
            raise errors.exception_of("Linker.add_file", missing) from None
        self.add_data(data, input_type, os.path.basename(os.fspath(filename)))

    def _add_entry(self, entry: cache.Entry, name: str) -> None:
        """Add what was compiled here, of whose kernels more is known."""
        self._inputs.append(link.input_of(entry, name))
        self._entries.append(entry)

    def link_module(self, *, cache_dir: CacheDir = None) -> Module:
        """The module of all that was added.

        Raises
        ------
        CompileError
            ``.stderr`` is what the linker said: names that nobody defines, or several do.
        """
        try:
            entry = link.link(
                self._inputs, self._options, self._verbose, self._arch, cache_dir, self._entries
            )
        except errors.CompileError as error:
            if self._handler is not None:
                self._handler(False, error.stdout or "", error.stderr or error.msg)
            raise
        if self._handler is not None:
            self._handler(True, entry.log, "")
        return Module(entry.image, names=entry.names, parameters=entry.parameters)
