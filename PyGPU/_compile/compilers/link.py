"""From relocatable images to one that can be loaded: texts that use each other's functions and
variables, kernels that launch kernels, optimization across texts.

``build`` makes such images of requests that are ``relocatable``; not by HIPRTC, of which only ROCm
5.3 and later can link, with bitcode between.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyGPU._compile.cache import entries
from PyGPU._compile.compilers import device_link, host, libraries, rtc
from PyGPU._compile.compilers.device_link import CUBIN, LIBRARY, LTO_IR, PTX, Input
from PyGPU._compile.source import headers
from PyGPU._runtime import core, errors

if TYPE_CHECKING:
    from PyGPU._types import BytesLike, CacheDir

#: Can images be linked?
IS_POSSIBLE = core.target != "hip"
#: Why not.
REASON = (
    "HIPRTC's code is not linked (before ROCm 5.3 none could be), and HIP has no launches from "
    "device code: put the texts into one SourceModule, and launch from Python"
)
_LTO_IR = b"\xedCN\x7f"  # how NVRTC's begins
Handler = Callable[[bool, str, str], object]


def nvidia_library(libname: str, folder: str | None = None) -> Input:
    """A library of device code in the toolkit, or its wheels. OSError where it is not found."""
    if folder:
        folders = [folder]
    else:
        folders = [*libraries.beside(rtc.locate("nvrtc")), *libraries.folders("nvrtc")]
    folders = list(dict.fromkeys(folders))
    for one in folders:
        path = Path(one, f"lib{libname}.a")
        if path.is_file():
            return Input(LIBRARY, path.read_bytes(), str(path))
    raise OSError(
        f"cannot find lib{libname}.a in {os.pathsep.join(folders)}; install the CUDA toolkit or "
        "'pip install nvidia-cuda-runtime'"
    )


class Inputs:
    """What is to be linked, collected.

    Parameters
    ----------
    handler : callable(success, info, error), optional
        Receives what the linker said.
    options : iterable of (int, int), optional
        By jit_option, for NVIDIA's linkers.
    verbose : bool
    """

    def __init__(
        self,
        handler: Handler | None = None,
        options: Iterable[tuple[int, int]] | None = None,
        verbose: bool = False,
    ) -> None:
        if not IS_POSSIBLE:
            raise NotImplementedError(REASON)
        self.handler = handler
        self.options = {int(option): int(value) for option, value in options or ()}
        self.verbose = bool(verbose)
        self.images: list[Input] = []
        self._entries: list[entries.Entry] = []

    def add_entry(self, entry: entries.Entry, name: str) -> None:
        """Add what ``build`` made."""
        kind = CUBIN if entry.image.startswith(b"\x7fELF") else PTX
        self.add(entry.image, kind, name)
        self._entries.append(entry)

    def add(self, data: str | BytesLike, kind: int, name: str) -> None:
        """Add an image of a jit_input_type; that has no member for LTO-IR."""
        raw = data.encode() if isinstance(data, str) else memoryview(data).tobytes()
        if kind not in range(LTO_IR):
            raise ValueError(f"input_type: expected a jit_input_type, got {kind!r}")
        self.images.append(Input(LTO_IR if raw.startswith(_LTO_IR) else kind, raw, name))

    def add_library(self, libname: str, folder: str | None) -> None:
        """Add a library of device code, if the target has not what is in it anyway.

        Raises
        ------
        OSError
            Where it is not found.
        """
        if core.target == "cuda":
            self.images.append(nvidia_library(libname, folder))
        elif libname != "cudadevrt":
            raise OSError(f"cannot find lib{libname}.a: {core.target} has no device libraries")

    def link(self, arch: str, cache_dir: CacheDir = None) -> entries.Entry:
        """Link them, or find in the cache what became of them.

        Parameters
        ----------
        arch : str
            The device's.
        cache_dir : str or False, optional

        Raises
        ------
        CompileError
            ``.stderr`` is the linker's log.
        """
        if not self.images:
            raise errors.LogicError("link: there is nothing to link, add_source or add_data first")
        try:
            entry = _BACKENDS[core.target](self, arch, cache_dir)
        except errors.CompileError as error:
            if self.handler is not None:
                self.handler(False, error.stdout or "", error.stderr or error.msg)
            raise
        if self.handler is not None:
            self.handler(True, entry.log, "")
        return entry

    def cached(
        self,
        identity: str,
        words: Sequence[str],
        cache_dir: CacheDir,
        make: Callable[[], tuple[bytes, str]],
    ) -> entries.Entry:
        """The image that ``make`` would make, with what is known of its kernels."""
        folder = entries.directory(cache_dir)
        parts = [part for one in self.images for part in (str(one.kind), one.data, one.name)]
        name = entries.key("link", core.target, identity, headers.fingerprint(), *words, *parts)
        entry = entries.load(folder, name)
        if entry is None:
            entry = entries.Entry(*make(), {})
            entries.store(folder, name, entry)
        for one in self._entries:
            entry = entry._replace(
                names={**entry.names, **one.names},
                parameters={**entry.parameters, **one.parameters},
            )
        return entry


def _cuda(inputs: Inputs, arch: str, cache_dir: CacheDir) -> entries.Entry:
    compiler = rtc.library("nvrtc")
    knows_device = int(re.sub(r"\D", "", arch)) in compiler.architectures()
    linker = device_link.linker(compiler.path, compiler.version()[0], knows_device)
    options, verbose = inputs.options, inputs.verbose
    words = [arch, str(verbose), *(f"{key}={value}" for key, value in options.items())]
    return inputs.cached(
        linker.identity(),
        words,
        cache_dir,
        lambda: linker.link(inputs.images, arch, options, verbose),
    )


def _host(inputs: Inputs, arch: str, cache_dir: CacheDir) -> entries.Entry:
    return inputs.cached(
        host.identity(),
        host.linking(),
        cache_dir,
        lambda: host.link([(one.name, one.data) for one in inputs.images]),
    )


_BACKENDS = {"cuda": _cuda, "host": _host}
