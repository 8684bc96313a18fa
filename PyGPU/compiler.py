"""Kernels from source text: the names of ``pycuda.compiler``.

The compiler is NVRTC on NVIDIA, HIPRTC on AMD and the system's C++ compiler on the host machine.
Images are cached on disk in ``PYGPU_CACHE_DIR``, up to ``PYGPU_CACHE_MAXSIZE`` bytes.
``PYGPU_DISABLE_CACHE=1`` turns the cache off, and ``python -m PyGPU cache`` shows its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PyGPU._compile.compilers import options as _options
from PyGPU._compile.source import headers, includes
from PyGPU._driver.dynamic_module import DynamicModule, DynamicSourceModule
from PyGPU._driver.images import module_from_buffer, module_from_file
from PyGPU._driver.source_module import CudaModule, SourceModule, compiled, request_of
from PyGPU._runtime import CompileError, docstrings

if TYPE_CHECKING:
    from PyGPU._types import CacheDir

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

#: Options of a compilation without options of its own; programs may replace the list.
DEFAULT_NVCC_FLAGS = _options.default_flags()
_options.set_default_flags(lambda: DEFAULT_NVCC_FLAGS)


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

    :param source: CUDA C++.
    :param nvcc: Ignored; PyCUDA has this parameter.
    :param options: Options of nvcc, between those of the environment variables NVCC_PREPEND_FLAGS
        and NVCC_APPEND_FLAGS. Options that only nvcc can follow are ignored, with a note in the log
        "PyGPU". With ``-rdc=true`` the image is an input of :class:`PyGPU.driver.Linker`.
    :param keep: Leave the text and the image in a folder whose name is printed.
    :param no_extern_c: Compile the text as it stands, with mangled names; templates need this.
    :param arch: ``sm_90``, ``compute_90`` or ``gfx90a``; the current device's by default. A named
        architecture needs no device and selects its vendor's compiler. On ``host``, NVIDIA's names
        mean the host machine. For an older architecture than the device's, the image is PTX.
    :param code: Ignored; PyCUDA has this parameter.
    :param cache_dir: Folder of the cache; False for no cache.
    :param include_dirs: Folders of headers. The working directory is searched last, after the
        compiler's folders.
    :param {"cubin", "ptx", "fatbin"} target: Kind of image; "fatbin" gives a cubin.
    :param name_expressions: Instances of templates to compile, such as ``axpy<float>``.
    :returns: The image.
    :raises CompileError: If the text does not compile; ``.stderr`` is the compiler's log, with the
        line numbers of `source`.

    >>> from PyGPU.compiler import compile, module_from_buffer
    >>> image = compile("__global__ void nothing() {}")
    >>> module_from_buffer(image).get_function("nothing")
    <Function nothing() on device 0>
    """
    from PyGPU._compile.compilers import build

    if target not in ("cubin", "ptx", "fatbin"):
        raise AssertionError(f"target={target!r}: expected 'cubin', 'ptx' or 'fatbin'")
    want = "ptx" if target == "ptx" else "cubin"
    request = request_of(
        source, options, arch, no_extern_c, include_dirs, cache_dir, name_expressions, want
    )
    parsed = _options.parse(request.options)
    named = request.arch or parsed.arch
    backend = build.backend_for(named)
    relocatable = parsed.relocatable and not backend.why_not_linked
    request = request._replace(relocatable=relocatable)
    return compiled(request, keep, backend, needs_device=not named).image


def compile_plain(
    source: str,
    options: Sequence[str] | None,
    keep: bool,
    nvcc: str,
    cache_dir: CacheDir,
    target: str = "cubin",
) -> bytes:
    """Compile a text as it stands, with mangled names.

    :param source: CUDA C++.
    :param options: Options of nvcc; see :func:`compile`.
    :param keep: Leave the text and the image in a folder whose name is printed.
    :param nvcc: Ignored; PyCUDA has this parameter.
    :param str, False or None cache_dir: Folder of the cache; False for no cache.
    :param {"cubin", "ptx", "fatbin"} target: Kind of image.
    :returns: The image.
    :raises CompileError: If the text does not compile; ``.stderr`` is the compiler's log.

    >>> from PyGPU.compiler import compile_plain
    >>> image = compile_plain("__global__ void nothing() {}", None, False, "nvcc", None)
    >>> type(image)
    <class 'bytes'>
    """
    return compile(source, nvcc, options, keep, True, None, None, cache_dir, None, target)


def preprocess_source(source: str, options: Sequence[str], nvcc: str) -> str:
    """Return a text with the contents of the headers that it includes from the user's folders.

    :param source: CUDA C++.
    :param options: Options of nvcc, such as ``-I``.
    :param nvcc: Ignored; PyCUDA has this parameter.
    :returns: The text, followed by the headers. The cache's key is made of it.

    >>> from PyGPU.compiler import preprocess_source
    >>> preprocess_source("__global__ void nothing() {}", [], "nvcc")
    '__global__ void nothing() {}'
    """
    understood = _options.parse(options)
    found = includes.scan(source, understood.include_dirs, understood.pre_includes)
    parts = [data.decode("utf-8", "replace") for _, data in sorted(found.files.items())]
    return "\n".join([source, *parts])


def get_nvcc_version(nvcc: str = "nvcc") -> str:
    """Return the name and the version of the compiler in use.

    :param nvcc: Ignored; PyCUDA has this parameter.
    :returns: Such as ``nvrtc 13.0`` or ``host g++``.
    :raises CompilerMissing: If no compiler is found.

    >>> from PyGPU.compiler import get_nvcc_version
    >>> len(get_nvcc_version().split()) >= 2
    True
    """
    from PyGPU._compile.compilers import build

    return build.own.version()


def _find_pycuda_include_path() -> str:
    """Return the folder of pycuda-complex.hpp; programs of PyCUDA call this function."""
    return headers.folder("device")


docstrings.complete(__name__)
