"""Kernels from source text: the names of ``pycuda.compiler``.

The compiler is NVRTC on NVIDIA, HIPRTC on AMD and the system's C++ compiler on the host machine.
What they make is kept on disk (``PYGPU_CACHE_DIR``; ``PYGPU_DISABLE_CACHE=1`` turns that off), up
to ``PYGPU_CACHE_MAXSIZE`` bytes; ``python -m PyGPU cache`` tells how much it is.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from PyGPU._compile import build, cache, headers, includes, kept, signature
from PyGPU._compile import options as _options
from PyGPU._driver import NO_REFERENCES
from PyGPU._driver.module import Function, Module, module_from_buffer, module_from_file
from PyGPU._runtime import errors, state
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import CacheDir

CompileError = errors.CompileError
__all__ = [
    "DEFAULT_NVCC_FLAGS",
    "CompileError",
    "CudaModule",
    "DynamicModule",
    "DynamicSourceModule",
    "SourceModule",
    "compile",
    "compile_plain",
    "get_nvcc_version",
    "module_from_buffer",
    "module_from_file",
    "preprocess_source",
]

#: Options for every compilation that is not given its own.
DEFAULT_NVCC_FLAGS = _options.default_flags()


def _text_of(source: object) -> str:
    if isinstance(source, (bytes, bytearray)):
        raise TypeError("source: expected text, got bytes; decode() them")
    if source is None or hasattr(source, "read"):
        raise TypeError(f"source: expected text, got {source!r}; a file has it by read()")
    return str(source)


def _cached_where(cache_dir: CacheDir) -> CacheDir:
    return False if state.debugging else cache_dir


def _request(
    source: str,
    options: Sequence[str] | None,
    arch: str | None,
    no_extern_c: bool,
    include_dirs: Sequence[str] | None,
    cache_dir: CacheDir,
    keep: bool,
    expressions: Sequence[str],
    want: str,
) -> build.Request:
    if options is None:
        options = DEFAULT_NVCC_FLAGS
    if isinstance(options, (str, bytes)):
        raise TypeError(f"options: expected a list of str, got {options!r}")
    if isinstance(include_dirs, (str, bytes, os.PathLike)):
        raise TypeError(f"include_dirs: expected a list of folders, got {include_dirs!r}")
    if isinstance(expressions, (str, bytes)):
        raise TypeError(f"name_expressions: expected a list of str, got {expressions!r}")
    if not isinstance(arch, (str, type(None))):
        raise TypeError(f"arch: expected a str such as 'sm_90', got {arch!r}")
    if not isinstance(cache_dir, (str, os.PathLike, type(None))) and cache_dir is not False:
        raise TypeError(f"cache_dir: expected a folder, None or False, got {cache_dir!r}")
    before, after = _options.of_environment()
    options = [*before, *options, *(["-G"] if state.debugging else []), *after]
    arch = _options.parse(after).arch or arch
    return build.Request(
        source=_text_of(source),
        options=tuple(options),
        arch=arch,
        include_dirs=tuple(os.fspath(folder) for folder in include_dirs or ()),
        extern_c=not no_extern_c,
        expressions=tuple(expressions),
        want=want,
        cache_dir=_cached_where(cache_dir),
        keep=keep or state.debugging,
    )


_FILE = re.compile(r"[^\n{};]+\.(cu|cuh|cpp|cc|c|h|hpp|ptx|cubin)")
_REFERENCE = re.compile(r"\b(?:texture|surface)\s*<")


def _meant(source: str) -> str:
    """What to tell a program whose text did not compile; often nothing."""
    name = _FILE.fullmatch(source.strip())
    if name and name[1] in ("ptx", "cubin"):
        return "the source is a file's name: module_from_file() loads what is compiled"
    if name:
        return "the source is a file's name, not the text of kernels: pass open(name).read()"
    return NO_REFERENCES if _REFERENCE.search(signature.without_comments(source)) else ""


def _checked(request: build.Request) -> cache.Entry:
    """Build, keep what is asked for, and tell what the compiler said besides."""
    folder = kept.folder_with(request.source) if request.keep else None
    state.require_device()
    asked = re.fullmatch(r"(?:sm|compute)_(\d+)[af]?", request.arch or "")
    if asked and core.target != "hip":
        major, minor = build.capability()
        if int(asked.group(1)) > 10 * major + minor:
            warnings.warn(
                f"arch={request.arch!r} is beyond the device's compute capability {major}.{minor}",
                stacklevel=4,
            )
    try:
        entry = build.build(request)
    except CompileError as error:
        if hint := _meant(request.source):
            error.msg += f": {hint}"
            error.args = (error.msg, *error.args[1:])
        raise
    if folder is not None:
        kept.add_image(folder, entry.image)
    if entry.log:
        warnings.warn(f"The compiler said:\n{entry.log}", stacklevel=4)
    return entry


def compile(
    source: str,
    nvcc: str = "nvcc",
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: CacheDir = None,
    include_dirs: Sequence[str] | None = None,
    target: str = "cubin",
    name_expressions: Sequence[str] = (),
) -> bytes:
    """Compile a text to an image for :func:`PyGPU.driver.module_from_buffer`.

    Parameters
    ----------
    source : str
        CUDA C++.
    nvcc, code
        Taken for PyCUDA's sake; a run-time compiler has no use for them.
    options : list of str, optional
        nvcc's options; those that only nvcc can follow are left out, with a word in the log. Those
        in the environment's NVCC_PREPEND_FLAGS come before them, NVCC_APPEND_FLAGS after them.
    keep : bool
        Leave the text and the image in a folder whose name is printed.
    no_extern_c : bool
        C++ as it stands: templates at the top level, mangled names.
    arch : str, optional
        ``sm_90``, ``compute_90``, ``gfx90a``; the current device's by default. For an ``sm_80``
        whose images the device cannot load, as it is newer, the result is PTX.
    cache_dir : str or False, optional
        Where images are kept; False: nowhere.
    include_dirs : sequence of str, optional
        Where headers are; the working directory comes last, after the compiler's own folders.
    target : {"cubin", "ptx", "fatbin"}
    name_expressions : sequence of str
        Instances of templates that are wanted, such as ``axpy<float>``.

    Returns
    -------
    bytes

    Raises
    ------
    CompileError
        ``.stderr`` is the compiler's log, in the line numbers of ``source``.
    """
    assert target in ("cubin", "ptx", "fatbin"), "target: expected 'cubin', 'ptx' or 'fatbin'"
    want = "ptx" if target == "ptx" else "cubin"
    request = _request(
        source, options, arch, no_extern_c, include_dirs, cache_dir, keep, name_expressions, want
    )
    return _checked(request).image


def compile_plain(
    source: str,
    options: Sequence[str] | None,
    keep: bool,
    nvcc: str,
    cache_dir: CacheDir,
    target: str = "cubin",
) -> bytes:
    """:func:`compile` without wrapping the text for C names."""
    return compile(source, nvcc, options, keep, True, None, None, cache_dir, None, target)


def preprocess_source(source: str, options: Sequence[str], nvcc: str) -> str:
    """The source with the contents of the headers that it includes from the user's folders: what
    the cache's key is made of."""
    understood = _options.parse(options)
    found = includes.scan(source, understood.include_dirs, understood.pre_includes)
    parts = [data.decode("utf-8", "replace") for _, data in sorted(found.files.items())]
    return "\n".join([source, *parts])


def get_nvcc_version(nvcc: str = "nvcc") -> str:
    """The name and version of the compiler that is used (str)."""
    return build.version_text()


def _find_pycuda_include_path() -> str:
    """The folder of pycuda-complex.hpp, for programs that ask PyCUDA's compiler for it."""
    return headers.folder("device")


class CudaModule:
    """What modules from text share; ``self.module`` is a :class:`PyGPU.driver.Module`."""

    module: Module

    def get_function(self, name: str) -> Function:
        """The kernel of that name; a template's instance by its expression (``axpy<float>``)."""
        return self.module.get_function(name)

    def get_global(self, name: str) -> tuple[int, int]:
        """(address, bytes) of a ``__device__`` or ``__constant__`` variable."""
        return self.module.get_global(name)

    def get_texref(self, name: str) -> NoReturn:
        self.module.get_texref(name)

    def get_surfref(self, name: str) -> NoReturn:
        self.module.get_surfref(name)


class SourceModule(CudaModule):
    """Kernels from text, compiled for the current device and loaded.

    The parameters are those of :func:`compile`.

    Raises
    ------
    CompileError
        ``.stderr`` is the compiler's log, in the line numbers of ``source``.
    """

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: CacheDir = None,
        include_dirs: Sequence[str] | None = (),
        name_expressions: Sequence[str] = (),
    ) -> None:
        request = _request(
            source,
            options,
            arch,
            no_extern_c,
            include_dirs,
            cache_dir,
            keep,
            name_expressions,
            "cubin",
        )
        entry = _checked(request)
        self.module = Module(
            entry.image, source=request.source, names=entry.names, parameters=entry.parameters
        )


_CHILD_LAUNCH = re.compile(r"<<<")


class DynamicModule(CudaModule):
    """Sources collected, then compiled together by :meth:`link`.

    PyCUDA links objects so that kernels can launch kernels. A run-time compiler cannot compile
    such launches (``<<<...>>>`` in device code): those raise NotImplementedError.
    """

    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: CacheDir = None,
        include_dirs: Sequence[str] | None = None,
        message_handler: object = None,
        log_verbose: bool = False,
        cuda_libdir: str | None = None,
    ) -> None:
        self._settings: dict[str, Any] = {
            "keep": keep,
            "no_extern_c": no_extern_c,
            "arch": arch,
            "cache_dir": cache_dir,
            "include_dirs": include_dirs or (),
        }
        self._sources: list[str] = []
        self._options: list[str] = []
        self.module = None  # type: ignore[assignment]

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        text = _text_of(source)
        if _CHILD_LAUNCH.search(signature.without_comments(text)):
            raise NotImplementedError(
                "a kernel that launches kernels (<<<...>>> in device code) needs nvcc's "
                "relocatable code and linker, which run-time compilers lack: launch from Python"
            )
        self._sources.append(text)
        self._options += nvcc_options or []
        return self

    def add_data(self, data: object, input_type: object, name: str = "unknown") -> NoReturn:
        raise NotImplementedError(
            "add_data: linking images needs the driver's linker, which the runtime API lacks; "
            "load them apart by module_from_buffer"
        )

    def add_file(self, filename: object, input_type: object) -> NoReturn:
        raise NotImplementedError(
            "add_file: linking images needs the driver's linker, which the runtime API lacks; "
            "load them apart by module_from_file"
        )

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Nothing is linked, so cudadevrt, the device runtime, is not needed."""
        if libname != "cudadevrt":
            raise OSError(f"cannot find {libname!r}: device libraries are not linked")
        return self

    def link(self) -> DynamicModule:
        self.module = SourceModule(
            "\n".join(self._sources), options=self._options or None, **self._settings
        ).module
        return self


class DynamicSourceModule(DynamicModule):
    """:class:`SourceModule` for text written for relocatable code. See :class:`DynamicModule`."""

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: CacheDir = None,
        include_dirs: Sequence[str] | None = None,
        cuda_libdir: str | None = None,
    ) -> None:
        super().__init__(
            keep=keep,
            no_extern_c=no_extern_c,
            arch=arch,
            cache_dir=cache_dir,
            include_dirs=include_dirs,
        )
        self.add_source(source, options)
        self.add_stdlib("cudadevrt")
        self.link()
