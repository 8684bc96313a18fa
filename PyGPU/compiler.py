"""Kernels from source text: the names of ``pycuda.compiler``.

The compiler is NVRTC on NVIDIA, HIPRTC on AMD and the system's C++ compiler on the host machine.
What they make is kept on disk (``PYGPU_CACHE_DIR``; ``PYGPU_DISABLE_CACHE=1`` turns that off), up
to ``PYGPU_CACHE_MAXSIZE`` bytes; ``python -m PyGPU cache`` tells how much it is.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PyGPU._compile import (
    build,
    child_launches,
    device_names,
    entries,
    headers,
    includes,
    inline_ptx,
    kept,
    link,
)
from PyGPU._compile import options as _options
from PyGPU._driver.files import file_contents
from PyGPU._driver.images import module_from_buffer, module_from_file
from PyGPU._driver.module import Function, Module
from PyGPU._runtime import errors, state
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import BytesLike, CacheDir, Int, SurfaceReference, TextureReference

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
        loads=True,
        keep=keep or state.debugging,
    )


_FILE = re.compile(r"[^\n{};]+\.(cu|cuh|cpp|cc|c|h|hpp|ptx|cubin)")


def _meant(request: build.Request, log: str) -> str:
    """What to tell a program whose text did not compile; often nothing."""
    source = request.source
    name = _FILE.fullmatch(source.strip())
    if name and name[1] in ("ptx", "cubin"):
        return "the source is a file's name: module_from_file() loads what is compiled"
    if name:
        return "the source is a file's name, not the text of kernels: pass open(name).read()"
    ptx = "" if request.target == "cuda" else inline_ptx.hint(source, log)
    c_names = headers.hint(log) if request.extern_c else ""
    return ptx or c_names or child_launches.hint(source, request.relocatable)


def _checked(request: build.Request, is_ahead: bool = False) -> entries.Entry:
    """Build, keep what is asked for, and tell what the compiler said besides."""
    folder = kept.folder_with(request.source) if request.keep else None
    if not is_ahead:
        state.require_device()
    asked = re.fullmatch(r"(?:sm|compute)_(\d+)[af]?", request.arch or "")
    if asked and core.target != "hip" and core.cudaGetDeviceCount()[0]:
        major, minor = device_names.capability()
        if int(asked.group(1)) > 10 * major + minor:
            warnings.warn(
                f"arch={request.arch!r} is beyond the device's compute capability {major}.{minor}",
                stacklevel=4,
            )
    try:
        entry = build.build(request)
    except CompileError as error:
        if hint := _meant(request, error.stderr or ""):
            error.msg += f": {hint}"
            error.args = (error.msg, *error.args[1:])
        raise
    if folder is not None:
        kept.add_image(folder, entry.image, request.target)
    if entry.log:
        warnings.warn(f"The compiler said:\n{entry.log}", stacklevel=4)
    return entry


def _module_of(request: build.Request) -> Module:
    entry = _checked(request)
    return Module(
        entry.image, source=request.source, names=entry.names, parameters=entry.parameters
    )


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
        in the environment's NVCC_PREPEND_FLAGS come before them, NVCC_APPEND_FLAGS after them. By
        ``-rdc=true`` the image is one for :class:`PyGPU.driver.Linker`.
    keep : bool
        Leave the text and the image in a folder whose name is printed.
    no_extern_c : bool
        C++ as it stands: templates at the top level, mangled names.
    arch : str, optional
        ``sm_90``, ``compute_90``, ``gfx90a``; the current device's by default. A name needs no
        device, and asks its vendor's compiler on every target; but on ``host``, NVIDIA's stand for
        the host machine. For an older device's, ``sm_80`` on ``sm_90``, the result is PTX.
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
    parsed = _options.parse(request.options)
    arch = request.arch or parsed.arch
    relocatable = parsed.relocatable and build.target_for(arch) != "hip"
    request = replace(request, relocatable=relocatable, target=build.target_for(arch))
    return _checked(request, is_ahead=bool(arch)).image


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

    def get_texref(self, name: str) -> TextureReference:
        """The texture reference of that name."""
        return self.module.get_texref(name)

    def get_surfref(self, name: str) -> SurfaceReference:
        """The surface reference of that name."""
        return self.module.get_surfref(name)


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
        self.module = _module_of(request)


class DynamicModule(CudaModule):
    """Several texts and images, linked into one module.

    They may use each other's ``__device__`` functions and variables, and with
    ``add_stdlib("cudadevrt")`` kernels may launch kernels, ``child<<<grid, block>>>(x)``. With
    ``-dlto`` among the options of all texts they are optimized together.

    On ``hip``, whose run-time compiler makes nothing that can be linked, the texts are compiled as
    one, and a launch in device code is a NotImplementedError.

    Parameters
    ----------
    link_options, message_handler, log_verbose
        As of :class:`PyGPU.driver.Linker`.
    keep, no_extern_c, arch, cache_dir, include_dirs
        As of :func:`compile`.
    cuda_libdir : str, optional
        Where ``add_stdlib`` looks.
    nvcc, code
        Taken for PyCUDA's sake.
    """

    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: Iterable[tuple[int, int]] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: CacheDir = None,
        include_dirs: Sequence[str] | None = None,
        message_handler: link.Handler | None = None,
        log_verbose: bool = False,
        cuda_libdir: str | None = None,
    ) -> None:
        self._settings = (arch, no_extern_c, include_dirs, cache_dir, keep, ())
        self._libdir = cuda_libdir
        self._joined: list[build.Request] = []  # where nothing is linked
        self._inputs: link.Inputs | None = None
        if link.IS_POSSIBLE:
            self._inputs = link.Inputs(message_handler, link_options, log_verbose)
        self.module = None  # type: ignore[assignment]

    def _linked(self, call: str) -> link.Inputs:
        if self._inputs is None:
            raise NotImplementedError(f"{call}: {link.REASON}")
        return self._inputs

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        """Compile a text, which messages of the linker call ``name``."""
        request = _request(source, nvcc_options, *self._settings, "cubin")
        if self._inputs is None:
            if child_launches.has_launches(request.source):
                raise NotImplementedError(f"<<<...>>> in device code: {link.REASON}")
            self._joined.append(request)
            return self
        # What is made for another device than the current one is translated when it is linked.
        other = request.arch or _options.parse(request.options).arch
        want = "ptx" if other and core.target == "cuda" else "cubin"
        entry = _checked(replace(request, relocatable=True, want=want))
        self._inputs.add_entry(entry, name)
        return self

    def add_data(
        self, data: str | BytesLike, input_type: Int, name: str = "unknown"
    ) -> DynamicModule:
        """Add an image of a jit_input_type. See :class:`PyGPU.driver.Linker`."""
        self._linked("add_data").add(data, int(input_type), name)
        return self

    def add_file(self, filename: str | os.PathLike[str], input_type: Int) -> DynamicModule:
        """Add an image or a library from a file."""
        inputs = self._linked("add_file")
        data = file_contents("add_file", filename)
        inputs.add(data, int(input_type), os.path.basename(filename))
        return self

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Add one of the toolkit's libraries of device code, "cudadevrt"; OSError without it."""
        if self._inputs is not None:
            self._inputs.add_library(libname, self._libdir)
        elif libname != "cudadevrt":
            raise OSError(f"cannot find lib{libname}.a: {link.REASON}")
        return self

    def link(self) -> DynamicModule:
        """Make ``self.module`` of all that was added; CompileError with the linker's log."""
        if self._inputs is not None:
            entry = self._inputs.link(
                device_names.device_architecture(), _cached_where(self._settings[3])
            )
            self.module = Module(entry.image, names=entry.names, parameters=entry.parameters)
            return self
        if not self._joined:
            raise errors.LogicError("link: there is nothing to link, add_source first")
        source = "\n".join(one.source for one in self._joined)
        options = tuple(word for one in self._joined for word in one.options)
        self.module = _module_of(replace(self._joined[0], source=source, options=options))
        return self


class DynamicSourceModule(DynamicModule):
    """:class:`SourceModule` for text whose kernels launch kernels. See :class:`DynamicModule`.

    The parameters are those of :func:`compile`.
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
        include_dirs: Sequence[str] | None = None,
        cuda_libdir: str | None = None,
    ) -> None:
        super().__init__(
            keep=keep,
            no_extern_c=no_extern_c,
            arch=arch,
            cache_dir=cache_dir,
            include_dirs=include_dirs,
            cuda_libdir=cuda_libdir,
        )
        self.add_source(source, options)
        self.add_stdlib("cudadevrt")
        self.link()
