"""NVIDIA's linkers of device code: nvJitLink, and the driver's linker if nvJitLink is missing.

Both are loaded at run time. nvJitLink is a library of the toolkit, or of a wheel of its own.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from PyGPU._compile.compilers import definitions, libraries
from PyGPU._compile.compilers.backend import (
    CUBIN,
    FATBINARY,
    LIBRARY,
    LTO_IR,
    OBJECT,
    PTX,
    Input,
)
from PyGPU._runtime import CompileError, CompilerMissing, core, encoded_word, errors, settings

# jit_option's numbers.
_MAX_REGISTERS, _OPTIMIZATION_LEVEL = 0, 7
MISSING = (
    "nvJitLink, NVIDIA's linker, is not found. Install the CUDA toolkit or 'pip install "
    "nvidia-nvjitlink', or name its libnvJitLink.so in PYGPU_NVJITLINK"
)


# nvJitLink's numbers of the kinds.
_KINDS = {CUBIN: 1, PTX: 2, LTO_IR: 3, FATBINARY: 4, OBJECT: 5, LIBRARY: 6}


class NvJitLink:
    """The library nvJitLink.

    Parameters
    ----------
    path : str
        File of the library.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._library = ctypes.CDLL(path)
        # Only names with a version are stable: that of the oldest version that the library serves.
        self._suffix = next(
            (
                version
                for version in ("_13_0", "_12_0", "")
                if hasattr(self._library, f"__nvJitLinkCreate{version}")
            ),
            "",
        )

    def _call(self, name: str, *arguments: Any) -> int:
        prefix = "__nvJitLink" if self._suffix else "nvJitLink"
        return int(getattr(self._library, f"{prefix}{name}{self._suffix}")(*arguments))

    def _log(self, handle: ctypes.c_void_p, which: str) -> str:
        size = ctypes.c_size_t()
        if not handle or self._call(f"Get{which}LogSize", handle, ctypes.byref(size)):
            return ""
        text = ctypes.create_string_buffer(size.value + 1)
        self._call(f"Get{which}Log", handle, text)
        return text.value.decode("utf-8", "replace").strip()

    def link(
        self, inputs: Sequence[Input], arch: str, options: Mapping[int, int], verbose: bool
    ) -> tuple[bytes, str]:
        """Link images.

        Parameters
        ----------
        inputs : sequence of Input
            Images and libraries.
        arch : str
            Architecture of the device, such as "sm_90".
        options : mapping of int to int
            jit_option -> value.
        verbose : bool
            Include the kernels' registers and memory in the log.

        Returns
        -------
        (bytes, str)
            The cubin, and the linker's log.

        Raises
        ------
        CompileError
            If linking fails.
        """
        words = [f"-arch={arch}"]
        words += ["-lto"] if any(one.kind == LTO_IR for one in inputs) else []
        words += ["-verbose"] if verbose else []
        if options.get(_MAX_REGISTERS):
            words.append(f"-maxrregcount={options[_MAX_REGISTERS]}")
        if _OPTIMIZATION_LEVEL in options:  # nvJitLink has two levels
            words.append("-O3" if options[_OPTIMIZATION_LEVEL] else "-O0")
        handle, size = ctypes.c_void_p(), ctypes.c_size_t()

        def check(code: int, what: str) -> None:
            if code:
                raise CompileError(
                    f"linking failed: nvJitLink{what}, result {code}",
                    ["nvJitLink", *words],
                    self._log(handle, "Info"),
                    self._log(handle, "Error"),
                )

        if several := definitions.repeated([(one.name, one.data) for one in inputs]):
            raise CompileError("linking failed", ["nvJitLink"], stderr="\n".join(several))
        given = (ctypes.c_char_p * len(words))(*map(encoded_word, words))
        try:
            check(self._call("Create", ctypes.byref(handle), len(words), given), "Create")
            for kind, data, name in inputs:
                nbytes = ctypes.c_size_t(len(data))
                code = self._call("AddData", handle, _KINDS[kind], data, nbytes, encoded_word(name))
                check(code, f"AddData of {name}")
            check(self._call("Complete", handle), "Complete")
            check(
                self._call("GetLinkedCubinSize", handle, ctypes.byref(size)), "GetLinkedCubinSize"
            )
            image = ctypes.create_string_buffer(size.value)
            check(self._call("GetLinkedCubin", handle, image), "GetLinkedCubin")
            return image.raw, self._log(handle, "Info")
        finally:
            if handle:
                self._call("Destroy", ctypes.byref(handle))

    def identity(self) -> str:
        """Return a text that differs between installed libraries."""
        path = os.path.realpath(self.path) if os.path.isabs(self.path) else self.path
        major, minor = ctypes.c_uint(), ctypes.c_uint()
        if hasattr(self._library, "nvJitLinkVersion"):  # since 12.3
            self._library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor))
        return f"{path} {major.value}.{minor.value}"


# The driver's options for its logs: the buffer of each log; the next number is the buffer's size.
_LOGS, _LOG_BYTES, _LOG_VERBOSE = {"info": 3, "error": 5}, 1 << 16, 12


class DriverLinker:
    """The driver's linker, which has no link-time optimization."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def link(
        self, inputs: Sequence[Input], arch: str, options: Mapping[int, int], verbose: bool
    ) -> tuple[bytes, str]:
        """Link images for the device of the current context, which decides the architecture.

        The parameters are those of :meth:`NvJitLink.link`.
        """
        errors.check(core._context_handle(), "cuCtxGetCurrent")
        if any(one.kind == LTO_IR for one in inputs):
            raise CompilerMissing(
                f"link-time optimization (-dlto) needs nvJitLink: {MISSING}", ["cuLink"]
            )
        logs = {which: ctypes.create_string_buffer(_LOG_BYTES) for which in _LOGS}
        words = {**options, _LOG_VERBOSE: int(verbose)}
        for which, number in _LOGS.items():
            words[number] = ctypes.addressof(logs[which])
            words[number + 1] = _LOG_BYTES
        keys = (ctypes.c_int * len(words))(*words)
        values = (ctypes.c_void_p * len(words))(*words.values())
        state, image, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()

        def said(which: str) -> str:
            return logs[which].value.decode("utf-8", "replace").strip()

        def check(code: int, what: str) -> None:
            if code:
                raise CompileError(
                    f"linking failed: {what}, result {code}",
                    ["cuLink"],
                    said("info"),
                    said("error"),
                )

        check(
            self._library.cuLinkCreate_v2(len(words), keys, values, ctypes.byref(state)),
            "cuLinkCreate",
        )
        try:
            for kind, data, name in inputs:
                # PTX, which is text, must end in a null byte.
                data = data.rstrip(b"\0") + b"\0" if kind == PTX else data
                nbytes = ctypes.c_size_t(len(data))
                code = self._library.cuLinkAddData_v2(
                    state, kind, data, nbytes, encoded_word(name), 0, None, None
                )
                check(code, f"cuLinkAddData of {name}")
            code = self._library.cuLinkComplete(state, ctypes.byref(image), ctypes.byref(size))
            check(code, "cuLinkComplete")
            return ctypes.string_at(image, size.value), said("info")
        finally:
            self._library.cuLinkDestroy(state)

    def identity(self) -> str:
        version = ctypes.c_int()
        self._library.cuDriverGetVersion(ctypes.byref(version))
        return f"libcuda {version.value}"


def _candidates(compiler: str, major: int) -> Iterator[str]:
    """Yield the paths and names of nvJitLink that can read the images of a version of NVRTC."""
    folders = [*libraries.beside(compiler), *libraries.folders("nvrtc")]
    sonames = [f"libnvJitLink.so.{major}"]
    for path in libraries.candidates("nvrtc", "libnvJitLink", sonames, folders):
        found = re.search(r"\.so\.(\d+)", os.path.realpath(path))
        if found is None or int(found.group(1)) == major:
            yield path


@lru_cache
def nvjitlink(compiler: str, major: int) -> NvJitLink | None:
    """Return the nvJitLink that can read the images of an NVRTC; None if it is missing.

    Parameters
    ----------
    compiler : str
        Path of NVRTC.
    major : int
        Major version of NVRTC.
    """
    if named := settings.value("PYGPU_NVJITLINK"):
        try:
            return NvJitLink(named)
        except OSError as error:
            raise CompilerMissing(
                f"PYGPU_NVJITLINK={named!r} does not load: {error}", ["nvJitLink"]
            ) from None
    for path in _candidates(compiler, major):
        try:
            return NvJitLink(path)
        except OSError:  # missing, or for another processor
            continue
    return None


def linker(compiler: str, major: int, arch: str, is_known: bool) -> NvJitLink | DriverLinker:
    """Return nvJitLink, or the driver's linker if nvJitLink is missing or does not know the device.

    Raises
    ------
    CompileError
        If nvJitLink does not know the architecture, and the driver is missing. nvJitLink itself may
        crash then.
    CompilerMissing
        If both are missing.
    """
    found = nvjitlink(compiler, major)
    if found is not None and is_known:
        return found
    try:
        return DriverLinker()
    except OSError:
        if found is not None:
            words = ["nvJitLink", f"-arch={arch}"]
            raise CompileError(
                f"linking failed: this toolkit does not know {arch}", words
            ) from None
        raise CompilerMissing(f"{MISSING}.", ["nvJitLink"]) from None
