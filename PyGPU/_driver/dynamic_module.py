"""DynamicModule: several source texts and images, linked into one module."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PyGPU._compile.compilers import options as _options
from PyGPU._driver.images import file_contents
from PyGPU._driver.module import Module
from PyGPU._driver.source_module import (
    CudaModule,
    cached_where,
    compiled,
    module_of,
    request_of,
)
from PyGPU._runtime import docstrings, errors

if TYPE_CHECKING:
    from PyGPU._compile.compilers.backend import Request
    from PyGPU._compile.compilers.link import Handler, Inputs
    from PyGPU._types import BytesLike, CacheDir, Int


class DynamicModule(CudaModule):
    """Several source texts and images, linked into one module.

    The texts may use each other's ``__device__`` functions and variables. With
    ``add_stdlib("cudadevrt")``, kernels may launch kernels: ``child<<<grid, block>>>(x)``. With
    ``-dlto`` among the options of all texts, the linker optimizes the texts together.

    The run-time compiler of the target ``hip`` does not make images that can be linked. There the
    texts are compiled as one text, and a launch in device code raises NotImplementedError.

    :param nvcc: Ignored; PyCUDA has this parameter.
    :param iterable of (jit_option, int) link_options: Options of the linker; see
        :class:`PyGPU.driver.Linker`.
    :param keep: Save each text and its image in a folder, and print the folder's name.
    :param no_extern_c: Do not wrap the texts in ``extern "C"``; kernels have mangled names then.
    :param arch: Architecture of the texts; the current device's by default.
    :param code: Ignored; PyCUDA has this parameter.
    :param cache_dir: Folder of the cache; False for no cache.
    :param include_dirs: Folders of headers.
    :param callable(success, info, error) message_handler: Called once with the linker's messages.
    :param log_verbose: Include the registers and the memory that kernels use in the messages.
    :param cuda_libdir: Folder in which :meth:`add_stdlib` looks for libraries.

    >>> from PyGPU.compiler import DynamicModule
    >>> module = DynamicModule(no_extern_c=True)
    >>> module = module.add_source("__device__ int two() { return 2; }")
    >>> module = module.add_source(
    ...     "__device__ int two(); __global__ void set(int *x) { *x = two(); }"
    ... )
    >>> module = module.link()
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
        message_handler: Handler | None = None,
        log_verbose: bool = False,
        cuda_libdir: str | None = None,
    ) -> None:
        from PyGPU._compile.compilers import build, link

        self._backend = build.own
        self._settings = (arch, no_extern_c, include_dirs, cache_dir)
        self._keep = keep
        self._libdir = cuda_libdir
        # Texts to compile as one text, if the compiler's images cannot be linked.
        self._joined: list[Request] = []
        self._inputs: Inputs | None = None
        if not self._backend.why_not_linked:
            self._inputs = link.Inputs(self._backend, message_handler, link_options, log_verbose)
        self.module = None  # type: ignore[assignment]

    def _linked(self, call: str) -> Inputs:
        if self._inputs is None:
            raise NotImplementedError(f"{call}: {self._backend.why_not_linked}")
        return self._inputs

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        """Compile a source text and add its image.

        :param source: Source text in CUDA C++.
        :param nvcc_options: Options of nvcc; see :func:`PyGPU.compiler.compile`.
        :param name: Name of the text in the linker's messages.
        :returns: The module itself.
        :raises CompileError: If the text does not compile.
        """
        request = request_of(source, nvcc_options, *self._settings)
        if self._inputs is None:
            from PyGPU._compile.source import child_launches

            if child_launches.has_launches(request.source):
                raise NotImplementedError(
                    f"<<<...>>> in device code: {self._backend.why_not_linked}"
                )
            self._joined.append(request)
            return self
        # The linker translates images for another architecture than the current device's.
        other = request.arch or _options.parse(request.options).arch
        want = self._backend.portable_image if other else "cubin"
        request = request._replace(relocatable=True, want=want)
        made = compiled(request, self._keep, needs_device=not other)
        self._inputs.add_entry(made, name)
        return self

    def add_data(
        self, data: str | BytesLike, input_type: Int, name: str = "unknown"
    ) -> DynamicModule:
        """Add an image.

        :param bytes-like data: The image.
        :param jit_input_type input_type: Type of the image.
        :param name: Name of the image in the linker's messages.
        :returns: The module itself.
        :raises ValueError: If `input_type` is not a jit_input_type.
        """
        self._linked("add_data").add(data, int(input_type), name)
        return self

    def add_file(self, filename: str | os.PathLike[str], input_type: Int) -> DynamicModule:
        """Add an image or a library from a file.

        :param filename: File to read.
        :param jit_input_type input_type: Type of the image.
        :returns: The module itself.
        :raises RuntimeError: If the file cannot be read.
        """
        inputs = self._linked("add_file")
        data = file_contents("add_file", filename)
        inputs.add(data, int(input_type), os.path.basename(filename))
        return self

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Add one of the toolkit's libraries of device code.

        :param libname: Name of the library, such as ``cudadevrt``.
        :returns: The module itself.
        :raises OSError: If the library is not found.
        """
        if self._inputs is not None:
            self._inputs.add_library(libname, self._libdir)
        else:
            self._backend.device_library(libname, self._libdir)
        return self

    def link(self) -> DynamicModule:
        """Link the added images, and load the result as ``self.module``.

        :returns: The module itself.
        :raises CompileError: If linking fails; ``.stderr`` is the linker's log.
        :raises LogicError: If nothing was added.
        """
        if self._inputs is not None:
            cache_dir = cached_where(self._settings[3])
            from PyGPU._compile.compilers import build

            made = self._inputs.link(build.device_architecture(), cache_dir)
            self.module = Module(made.image, names=made.names, parameters=made.parameters)
            return self
        if not self._joined:
            raise errors.LogicError("link: nothing to link; call add_source() first")
        source = "\n".join(one.source for one in self._joined)
        words = tuple(word for one in self._joined for word in one.options)
        joined = self._joined[0]._replace(source=source, options=words)
        self.module = module_of(joined, self._keep)
        return self


class DynamicSourceModule(DynamicModule):
    """Module of one source text, whose kernels may launch kernels.

    :param source: Source text in CUDA C++.
    :param nvcc: Ignored; PyCUDA has this parameter.
    :param options: Options of nvcc; see :func:`PyGPU.compiler.compile`.
    :param keep: Save the text and the image in a folder, and print the folder's name.
    :param no_extern_c: Do not wrap the text in ``extern "C"``; kernels have mangled names then.
    :param arch: Architecture; the current device's by default.
    :param code: Ignored; PyCUDA has this parameter.
    :param cache_dir: Folder of the cache; False for no cache.
    :param include_dirs: Folders of headers.
    :param cuda_libdir: Folder of the library ``cudadevrt``.
    :raises CompileError: If the text does not compile or link.
    :raises NotImplementedError: On the target ``hip``, if the text launches kernels.

    See Also
    --------
    DynamicModule : Several source texts and images.

    >>> from PyGPU.compiler import DynamicSourceModule
    >>> module = DynamicSourceModule("__global__ void nothing() {}")
    >>> module.get_function("nothing")
    <Function nothing() on device 0>
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


docstrings.complete(__name__)
