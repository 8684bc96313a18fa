"""Modules from kernel text: the request of a program, its compilation and the loaded module."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PyGPU._driver.module import Function, Module
from PyGPU._runtime import Rebuilt, core, docstrings, errors, state, warn

if TYPE_CHECKING:
    from PyGPU._compile.cache.entries import Entry
    from PyGPU._compile.compilers.backend import Backend, Request
    from PyGPU._types import CacheDir, Launch, SurfaceReference, TextureReference


def _text_of(source: object) -> str:
    if isinstance(source, (bytes, bytearray)):
        raise TypeError("source: expected text, got bytes; decode() them")
    if source is None or hasattr(source, "read"):
        raise TypeError(f"source: expected text, got {source!r}; a file has it by read()")
    # Byte order marks: at the start of a file, and where texts of files were put together.
    return re.sub(r"(?m)^\ufeff+", "", str(source))


def cached_where(cache_dir: CacheDir) -> CacheDir:
    """Return the folder of the cache; False, which means no cache, while debugging."""
    return False if state.debugging else cache_dir


def request_of(
    source: str,
    words: Sequence[str] | None,
    arch: str | None,
    no_extern_c: bool,
    include_dirs: Sequence[str] | None,
    cache_dir: CacheDir,
    expressions: Sequence[str] = (),
    want: str = "cubin",
) -> Request:
    """Return the arguments of a program as a request, or raise TypeError."""
    from PyGPU._compile.compilers import build
    from PyGPU._compile.compilers import options as _options

    if words is None:
        words = _options.default_flags()
    if isinstance(words, (str, bytes)):
        raise TypeError(f"options: expected a list of str, got {words!r}")
    if isinstance(include_dirs, (str, bytes, os.PathLike)):
        raise TypeError(f"include_dirs: expected a list of folders, got {include_dirs!r}")
    expressions = expressions if isinstance(expressions, (str, bytes)) else tuple(expressions)
    if not (isinstance(expressions, tuple) and all(isinstance(one, str) for one in expressions)):
        raise TypeError(f"name_expressions: expected a list of str, got {expressions!r}")
    if not isinstance(arch, (str, type(None))):
        raise TypeError(f"arch: expected a str such as 'sm_90', got {arch!r}")
    if not isinstance(cache_dir, (str, os.PathLike, type(None))) and cache_dir is not False:
        raise TypeError(f"cache_dir: expected a folder, None or False, got {cache_dir!r}")
    before, after = _options.of_environment()
    words = [*before, *words, *(["-G"] if state.debugging else []), *after]
    return build.Request(
        source=_text_of(source),
        options=tuple(words),
        arch=_options.parse(after).arch or arch,
        include_dirs=tuple(os.fspath(folder) for folder in include_dirs or ()),
        extern_c=not no_extern_c,
        expressions=tuple(map(str.__str__, expressions)),  # also from subclasses of str
        want=want,
        cache_dir=cached_where(cache_dir),
        loads=True,
    )


def _warn_of_newer(arch: str | None) -> None:
    """Warn if the current device is older than an architecture of NVIDIA's."""
    from PyGPU._compile.compilers import build, device_names

    asked = re.fullmatch(r"(?:sm|compute)_(\d+)[af]?", arch or "")
    if asked and build.own.has_compute_capability and core.cudaGetDeviceCount()[0]:
        major, minor = device_names.capability()
        if int(asked.group(1)) > 10 * major + minor:
            warn(f"arch={arch!r} is beyond the device's compute capability {major}.{minor}")


def compiled(
    request: Request,
    keep: bool = False,
    backend: Backend | None = None,
    needs_device: bool = True,
) -> Entry:
    """Compile a request by default for the target in use, and warn of the compiler's messages.

    `keep` leaves the text and the image in a folder whose name is printed. A CompileError may end
    with a hint.
    """
    from PyGPU._compile.cache import kept
    from PyGPU._compile.compilers import build
    from PyGPU._compile.source import hints

    backend = backend or build.own
    folder = kept.folder_with(request.source) if keep or state.debugging else None
    if needs_device:
        state.require_device()
    _warn_of_newer(request.arch)
    try:
        made = build.build(request, backend)
    except errors.CompileError as error:
        hint = hints.hint(
            *(request.source, error.stderr or ""),
            *(request.extern_c, request.relocatable),
            *(backend.understands_ptx, backend.has_toolkit),
        )
        if hint:
            error.msg += f": {hint}"
            error.args = (error.msg, *error.args[1:])
        raise
    if folder is not None:
        kept.add_image(folder, made.image, backend.suffix(made.image))
    if made.log:
        warn(f"The compiler said:\n{made.log}")
    return made


def module_of(request: Request, keep: bool) -> Module:
    """Compile a request and load the image on the current device."""
    made = compiled(request, keep)
    return Module(made.image, source=request.source, names=made.names, parameters=made.parameters)


class CudaModule:
    """The common base of modules from text; ``self.module`` is the loaded module.

    >>> from PyGPU.compiler import CudaModule, SourceModule
    >>> issubclass(SourceModule, CudaModule)
    True
    """

    module: Module

    def __repr__(self) -> str:
        module = self.__dict__.get("module")
        return f"<{type(self).__name__}{'' if module is None else f' with {module!r}'}>"

    def get_function(self, name: str) -> Function:
        """Return a kernel.

        :param name: Name of the kernel, or a name expression of a template's instance
            (``axpy<float>``).
        :returns: The kernel.
        :raises LogicError: If the module has no such kernel.
        """
        return self.module.get_function(name)

    def get_global(self, name: str) -> tuple[int, int]:
        """Return the memory of a ``__device__`` or ``__constant__`` variable.

        :param name: Plain name, mangled name or C++ name expression (``&q::x``).
        :returns: Device address, and size in bytes.
        :raises LogicError: If the module has no such variable.
        """
        return self.module.get_global(name)

    def get_texref(self, name: str) -> TextureReference:
        """Return a texture reference.

        :param name: Name of the texture reference.
        :returns: The texture reference.
        :raises LogicError: If the module has no such texture reference.
        """
        return self.module.get_texref(name)

    def get_surfref(self, name: str) -> SurfaceReference:
        """Return a surface reference.

        :param name: Name of the surface reference.
        :returns: The surface reference.
        :raises LogicError: If the module has no such surface reference.
        """
        return self.module.get_surfref(name)


class SourceModule(CudaModule, Rebuilt):
    """Kernels from text, compiled for the current device and loaded.

    :param source: CUDA C++.
    :param nvcc: Ignored; PyCUDA has this parameter.
    :param options: Options of nvcc; see :func:`PyGPU.compiler.compile`.
    :param keep: Leave the text and the image in a folder whose name is printed.
    :param no_extern_c: Compile the text as it stands, with mangled names; templates need this.
    :param arch: Architecture; the current device's by default.
    :param code: Ignored; PyCUDA has this parameter.
    :param cache_dir: Folder of the cache; False for no cache.
    :param include_dirs: Folders of headers.
    :param name_expressions: Instances of templates to compile, such as ``axpy<float>``.
    :raises CompileError: If the text does not compile; ``.stderr`` is the compiler's log, with the
        line numbers of `source`.

    See Also
    --------
    PyGPU.compiler.compile : Compile without loading.

    >>> from PyGPU import gpuarray
    >>> from PyGPU.compiler import SourceModule
    >>> module = SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
    >>> x = gpuarray.to_gpu(np.array([1, 2, 3], np.float32))
    >>> module.get_function("twice")(x, block=(3, 1, 1))
    >>> x
    array([2., 4., 6.], dtype=float32)
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
        request = request_of(
            *(source, options, arch, no_extern_c, include_dirs, cache_dir, name_expressions)
        )
        self.module = module_of(request, keep)
        self._remember(
            *(SourceModule, source, nvcc, options, keep, no_extern_c, arch, code, cache_dir),
            *(include_dirs, name_expressions),
        )
        self.module._owner = self._recipe[:2]


class Program:
    """Source text with its kernels, compiled at the first call on each device.

    :param source: Kernel text in CUDA C++.
    :param str *options: Compiler options.
    :param str **kernels: Argument types of each kernel, in the format of Function.prepare.
    """

    def __init__(self, source: str, *options: str, **kernels: str) -> None:
        self._source, self._options = source, options
        self._kernels = kernels
        self._made: dict[int, tuple[Launch, ...]] = {}  # keyed by device and reset count

    def __call__(self) -> tuple[Launch, ...]:
        """Return the launch functions of the kernels on the current device.

        Each is called as ``launch(grid, block, stream, *arguments)``.
        """
        here = core._current_device_key()
        if here not in self._made:
            from PyGPU._compile.compilers import build

            request = build.Request(self._source, self._options, extern_c=False, tuned=True)
            entry = build.build(request)
            module = Module(entry.image, source=self._source, parameters=entry.parameters)
            self._made[here] = tuple(
                module.get_function(name).prepare(promise).prepared_async_call
                for name, promise in self._kernels.items()
            )
        return self._made[here]


docstrings.complete(__name__)
