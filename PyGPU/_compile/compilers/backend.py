"""Backend: the compiler and the linker of one target, behind one interface."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from PyGPU._compile.cache.entries import Entry
from PyGPU._compile.compilers.options import Options
from PyGPU._compile.source.includes import Found
from PyGPU._runtime import CompileError

if TYPE_CHECKING:
    from PyGPU._types import CacheDir


class Request(NamedTuple):
    """A kernel text and the way to compile it."""

    source: str
    options: tuple[str, ...] = ()
    arch: str | None = None  # "sm_90", "compute_90", "gfx90a"; None: the current device's
    include_dirs: tuple[str, ...] = ()
    extern_c: bool = True
    expressions: tuple[str, ...] = ()
    want: str = "cubin"  # or "ptx"
    relocatable: bool = False  # the image is an input of a linker
    name: str = "kernel.cu"
    cache_dir: CacheDir = None
    loads: bool = False  # the current device loads the image, whatever architecture is named
    tuned: bool = False  # on host: the image may need features that not every processor has
    own: bool = False  # PyGPU's own kernels with C names, which C++ launches: no reader is needed


class Job(NamedTuple):
    """A request with everything that a compiler needs besides the text."""

    request: Request
    options: Options
    found: Found
    arch: str  # "" for a back end without architectures
    is_named: bool  # the request names the architecture; else it is the current device's
    device: tuple[int, int] | None  # compute capability of the device that loads the image


# PyCUDA's jit_input_type, with the driver's numbers; the driver has no number for LTO-IR.
CUBIN, PTX, FATBINARY, OBJECT, LIBRARY, LTO_IR = range(6)


class Input(NamedTuple):
    """An image or a library to link."""

    kind: int
    data: bytes
    name: str


class Linker(Protocol):
    """A linker of relocatable images."""

    def identity(self) -> str:
        """Return a text that differs between installed linkers."""

    def link(
        self, inputs: Sequence[Input], arch: str, options: Mapping[int, int], verbose: bool
    ) -> tuple[bytes, str]:
        """Return the image of linked inputs, and the log; raise CompileError if it fails.

        The options are those of NVIDIA's linkers: jit_option -> value. A `verbose` log has the
        kernels' registers and memory.
        """


class Backend(ABC):
    """The compiler and the linker of one target."""

    #: Name of the target.
    name = ""
    #: Regular expression of the architectures' names, and an example.
    architectures = r"(?:sm|compute)_\d{2,3}[af]?"
    example = "sm_90"
    #: The compiler needs an architecture's name.
    needs_architecture = True
    #: Devices are named by their compute capability, as sm_90.
    has_compute_capability = True
    #: Environment variables that name folders of headers.
    include_variables: tuple[str, ...] = ()
    #: Other environment variables that change the compiler's result.
    variables: tuple[str, ...] = ()
    #: The compiler understands inline PTX.
    understands_ptx = False
    #: A vendor's toolkit may have the headers that a text includes.
    has_toolkit = True
    #: Error for linking relocatable images; empty if the target links them.
    why_not_linked = ""
    #: Kind of a relocatable image for another device than the current one.
    portable_image = "cubin"

    def check_architecture(self, arch: str) -> None:
        """Raise CompileError if `arch` cannot be the name of an architecture of this target."""
        if not re.fullmatch(self.architectures, arch):
            raise CompileError(
                f"arch={arch!r}: no architecture of this target; expected a name such as "
                f"{self.example}",
                [arch],
            )

    @abstractmethod
    def suffix(self, image: bytes) -> str:
        """Return the suffix that the vendor's tools give to the file of an image."""

    @abstractmethod
    def version(self) -> str:
        """Return the name and the version of the compiler."""

    @abstractmethod
    def key(self, job: Job) -> tuple[str, list[str]]:
        """Return the compiler's identity, and its options, which decide the image of a text."""

    @abstractmethod
    def make(self, job: Job, words: list[str], folder: Path | None) -> Entry:
        """Compile a text with the options of its key; `folder` is the cache's."""

    def device_library(self, libname: str, folder: str | None) -> Input | None:
        """Return a library of device code; None if the target has its functions anyway.

        Raises
        ------
        OSError
            If there is no such library.
        """
        if libname != "cudadevrt":
            reason = self.why_not_linked or f"{self.name} has no device libraries"
            raise OSError(f"cannot find lib{libname}.a: {reason}")
        return None

    def linker(self, arch: str) -> Linker:
        """Return the linker for the architecture of a device."""
        raise NotImplementedError(self.why_not_linked)
