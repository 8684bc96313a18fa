"""Linking of relocatable images into one that can be loaded.

Linked texts use each other's functions and variables, their kernels launch kernels, and they can be
optimized together. ``build`` makes relocatable images of requests that are ``relocatable``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PyGPU._compile.cache import entries, own_files
from PyGPU._compile.cache.entries import Entry
from PyGPU._compile.compilers.backend import CUBIN, LTO_IR, PTX, Backend, Input, Linker
from PyGPU._runtime import announcements, errors

if TYPE_CHECKING:
    from PyGPU._types import BytesLike, CacheDir

_LTO_IR = b"\xedCN\x7f"  # the first bytes of NVRTC's LTO-IR
Handler = Callable[[bool, str, str], object]


class Inputs:
    """Images and libraries to link; NotImplementedError if the back end links none.

    The handler is called once with the linker's messages: (success, info, error). The options are
    those of NVIDIA's linkers, (jit_option, value). `verbose` messages have the kernels' registers
    and memory.
    """

    def __init__(
        self,
        backend: Backend,
        handler: Handler | None = None,
        options: Iterable[tuple[int, int]] | None = None,
        verbose: bool = False,
    ) -> None:
        if backend.why_not_linked:
            raise NotImplementedError(backend.why_not_linked)
        self._backend = backend
        self.handler = handler
        self.options = {int(option): int(value) for option, value in options or ()}
        self.verbose = bool(verbose)
        self.images: list[Input] = []
        self._entries: list[Entry] = []

    def add_entry(self, entry: Entry, name: str) -> None:
        """Add a result of ``build``."""
        kind = CUBIN if entry.image.startswith(b"\x7fELF") else PTX
        self.add(entry.image, kind, name)
        self._entries.append(entry)

    def add(self, data: str | BytesLike, kind: int, name: str) -> None:
        """Add an image of a jit_input_type; LTO-IR, which has no such type, is recognized."""
        raw = data.encode() if isinstance(data, str) else memoryview(data).tobytes()
        if kind not in range(LTO_IR):
            raise ValueError(f"input_type: expected a jit_input_type, got {kind!r}")
        self.images.append(Input(LTO_IR if raw.startswith(_LTO_IR) else kind, raw, name))

    def add_library(self, libname: str, folder: str | None) -> None:
        """Add a library of device code, unless the target has its functions anyway.

        Raises
        ------
        OSError
            If the library is not found.
        """
        library = self._backend.device_library(libname, folder)
        if library is not None:
            self.images.append(library)

    def link(self, arch: str, cache_dir: CacheDir = None) -> Entry:
        """Return the linked image, from the cache or the linker; CompileError if it fails."""
        if not self.images:
            raise errors.LogicError("link: nothing to link; call add_source() or add_data() first")

        folder = entries.directory(cache_dir)
        try:
            entry = self._linked(self._backend.linker(arch), arch, folder)
        except errors.CompileError as error:
            if self.handler is not None:
                self.handler(False, error.stdout or "", error.stderr or error.msg)
            raise
        if self.handler is not None:
            self.handler(True, entry.log, "")
        for one in self._entries:
            entry = entry._replace(
                names={**entry.names, **one.names},
                parameters={**entry.parameters, **one.parameters},
            )
        return entry

    def _linked(self, linker: Linker, arch: str, folder: Path | None) -> Entry:
        """Return the linked image, from the cache or the linker."""
        parts = [part for one in self.images for part in (str(one.kind), one.data, one.name)]
        words = [arch, str(self.verbose), *(f"{key}={one}" for key, one in self.options.items())]
        own = own_files.digest(folder)
        name = entries.key("link", self._backend.name, linker.identity(), own, *words, *parts)

        def linked() -> Entry:
            text = f"{len(self.images)} images for {self._backend.name}"
            with announcements.announced(f"linking {text}", f"linked {text}"):
                image, log = linker.link(self.images, arch, self.options, self.verbose)
            entry = Entry(image, log, {})
            entries.store(folder, name, entry)
            return entry

        return entries.found_or_made(folder, name, linked)
