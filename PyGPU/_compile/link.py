"""From relocatable images to one that can be loaded: texts that use each other's functions and
variables, kernels that launch kernels, optimization across texts.

``build`` makes such images of requests that are ``relocatable``. HIPRTC makes none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from PyGPU._compile import build, cache, device_link, headers, host, host_link, rtc
from PyGPU._compile.device_link import CUBIN, LIBRARY, LTO_IR, PTX, Input
from PyGPU._runtime import core, errors

if TYPE_CHECKING:
    from PyGPU._types import CacheDir

#: Can images be linked?
IS_POSSIBLE = core.target != "hip"
#: Why not.
REASON = (
    "HIPRTC makes no code that could be linked, and HIP has no launches from device code: put the "
    "texts into one SourceModule, and launch from Python"
)
_LTO_IR = b"\xedCN\x7f"  # how NVRTC's begins


def input_of(entry: cache.Entry, name: str) -> Input:
    """What is to be linked of a compilation's outcome."""
    if entry.image.startswith(_LTO_IR):
        return Input(LTO_IR, entry.image, name)
    return Input(CUBIN if entry.image.startswith(b"\x7fELF") else PTX, entry.image, name)


def data_of(data: bytes, kind: int, name: str) -> Input:
    """What a program has itself. PyCUDA's kinds have no word for LTO-IR, which is a cubin there."""
    return Input(LTO_IR if data.startswith(_LTO_IR) else kind, data, name)


def nvidia_library(libname: str, folder: str | None = None) -> Input:
    """A library of device code in the toolkit, or its wheels. OSError where it is not found."""
    folders = [folder] if folder else rtc.folders("nvrtc")
    for one in folders:
        path = Path(one, f"lib{libname}.a")
        if path.is_file():
            return Input(LIBRARY, path.read_bytes(), path.name)
    raise OSError(
        f"cannot find lib{libname}.a in {os.pathsep.join(folders)}; install the CUDA toolkit or "
        "'pip install nvidia-cuda-runtime'"
    )


def library_of(libname: str, folder: str | None = None) -> Input | None:
    """The library of that name, or None where the target has what is in it anyway.

    Raises
    ------
    OSError
        Where it is not found.
    """
    if core.target == "cuda":
        return nvidia_library(libname, folder)
    if libname != "cudadevrt":
        raise OSError(f"cannot find lib{libname}.a: this target has no libraries of device code")
    return None


def link(
    inputs: Sequence[Input],
    options: Mapping[int, int] = MappingProxyType({}),
    verbose: bool = False,
    arch: str | None = None,
    cache_dir: CacheDir = None,
    entries: Iterable[cache.Entry] = (),
) -> cache.Entry:
    """Link images, or find in the cache what became of them.

    Parameters
    ----------
    inputs : sequence of Input
    options : mapping
        By jit_option, for NVIDIA's linkers.
    verbose : bool
    arch : str, optional
        Of the device; the current one's by default.
    cache_dir : str or False, optional
    entries : iterable of cache.Entry
        What is known of inputs that were compiled here.

    Raises
    ------
    CompileError
        ``.stderr`` is the linker's log.
    """
    if not IS_POSSIBLE:
        raise NotImplementedError(REASON)
    if not inputs:
        raise errors.LogicError("link: there is nothing to link, add_source or add_data first")
    return _BACKENDS[core.target](inputs, options, verbose, arch, cache_dir, entries)


def _cached(
    identity: str,
    words: Sequence[str],
    inputs: Sequence[Input],
    cache_dir: CacheDir,
    entries: Iterable[cache.Entry],
    make: Callable[[], tuple[bytes, str]],
) -> cache.Entry:
    folder = cache.directory(cache_dir)
    parts = [part for one in inputs for part in (str(one.kind), one.data, one.name)]
    name = cache.key("link", core.target, identity, headers.fingerprint(), *words, *parts)
    entry = cache.load(folder, name)
    if entry is None:
        image, log = make()
        entry = cache.Entry(image, log, {})
        for one in entries:
            entry = entry._replace(
                names={**entry.names, **one.names},
                parameters={**entry.parameters, **one.parameters},
            )
        cache.store(folder, name, entry)
    return entry


def _cuda(
    inputs: Sequence[Input],
    options: Mapping[int, int],
    verbose: bool,
    arch: str | None,
    cache_dir: CacheDir,
    entries: Iterable[cache.Entry],
) -> cache.Entry:
    arch = arch or build.device_architecture()
    linker = device_link.linker(arch)
    words = [arch, str(verbose), *(f"{key}={value}" for key, value in options.items())]
    return _cached(
        linker.identity(),
        words,
        inputs,
        cache_dir,
        entries,
        lambda: linker.link(inputs, arch, options, verbose),
    )


def _host(
    inputs: Sequence[Input],
    options: Mapping[int, int],
    verbose: bool,
    arch: str | None,
    cache_dir: CacheDir,
    entries: Iterable[cache.Entry],
) -> cache.Entry:
    return _cached(
        host.identity(),
        host.linking(),
        inputs,
        cache_dir,
        entries,
        lambda: host_link.link([(one.name, one.data) for one in inputs]),
    )


_BACKENDS = {"cuda": _cuda, "host": _host}
