"""Modules from compiled images: from memory, from a file, and linked from several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PyGPU._driver import enums
from PyGPU._driver.module import Module
from PyGPU._runtime import core, docstrings, errors, integer

if TYPE_CHECKING:
    from PyGPU._types import BytesLike, Int

__all__ = [
    "Linker",
    "module_from_buffer",
    "module_from_file",
]


def module_from_buffer(
    buffer: str | BytesLike,
    options: Iterable[tuple[Int, Int]] = (),
    message_handler: Callable[[bool, str, str], object] | None = None,
) -> Module:
    """Load an image on the current device.

    :param bytes-like buffer: Result of ``compiler.compile``, a cubin, PTX or a fatbin.
    :param sequence of (jit_option, int) options: Options of the driver's compiler, which compiles
        PTX.
    :param callable(success, info, error) message_handler: Called once with the messages of the
        driver's compiler.
    :returns: The loaded module.

    >>> from PyGPU.compiler import compile
    >>> module = drv.module_from_buffer(compile("__global__ void nothing() {}"))
    >>> module.get_function("nothing")
    <Function nothing() on device 0>
    """
    from PyGPU._compile.cache import image_files
    from PyGPU._compile.compilers import host_compiler

    if isinstance(buffer, str):
        buffer = buffer.encode()
    jit = [(int(option), int(value)) for option, value in options]
    try:
        found = image_files.unpacked(memoryview(buffer).tobytes())
        host_compiler.warn_unchecked(found.image)
        module = Module(found.image, None, found.names, found.parameters, jit)
    except errors.Error as error:
        if message_handler is not None:
            message_handler(False, "", str(error))
        raise
    if message_handler is not None:
        message_handler(True, module._module.info_log, "")
    return module


def module_from_file(filename: str | os.PathLike[str]) -> Module:
    """Load an image from a file, or the image of several that the current device can run.

    :param filename: File with an image as :func:`module_from_buffer` accepts it; or the folder, or
        ``folder/mine``, in which ``python -m PyGPU compile mine.cu --arch gfx942,sm_90 -o folder``
        wrote one image per architecture.
    :returns: The loaded module.
    :raises RuntimeError: If there is no such file, or no image for the device.

    >>> import pathlib, tempfile
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import compile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "nothing.image")
    >>> size = file.write_bytes(compile("__global__ void nothing() {}"))
    >>> drv.module_from_file(file).get_function("nothing")
    <Function nothing() on device 0>
    """
    return module_from_buffer(file_contents("module_from_file", _image_file(filename)))


def _image_file(filename: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return `filename`, or the image for the current device if it is a folder of images.

    :raises RuntimeError: If the folder has images, but none for the current device.
    """
    from PyGPU._compile.cache import image_files
    from PyGPU._compile.compilers import device_names

    path = Path(os.fsdecode(filename))
    if path.is_file() or not image_files.has_images(path):
        return filename  # without a file, the caller that opens it reports that
    try:
        return image_files.choose(path, device_names.device_image())
    except LookupError as error:
        status = core.cudaError_t(209, str(error))
        raise errors.exception_of("module_from_file", status) from None


class Linker:
    """Links relocatable images, files made by nvcc, and libraries into a module.

    Relocatable images come from ``compiler.compile(..., options=["-rdc=true"])``.

    :param callable(success, info, error) message_handler: Called once with the linker's messages.
    :param iterable of (jit_option, int) options: MAX_REGISTERS, OPTIMIZATION_LEVEL and TARGET;
        nvJitLink ignores all others.
    :param log_verbose: Include the registers and the memory of each kernel in the messages.
    :raises NotImplementedError: On the target ``hip``: its run-time compiler makes no linkable
        images.

    >>> from PyGPU.compiler import compile
    >>> linker = drv.Linker()
    >>> image = compile("__global__ void nothing() {}", options=["-rdc=true"])
    >>> linker.add_data(image, drv.jit_input_type.CUBIN)
    >>> linker.link_module().get_function("nothing")
    <Function nothing() on device 0>
    """

    def __init__(
        self,
        message_handler: Callable[[bool, str, str], object] | None = None,
        options: Iterable[tuple[Int, Int]] | None = None,
        log_verbose: bool = False,
    ) -> None:
        from PyGPU._compile.compilers import build, link

        asked = {int(option): int(value) for option, value in options or ()}
        target = asked.pop(int(enums.jit_option.TARGET), None)
        self._arch = None if target is None else _architecture(target)
        self._inputs = link.Inputs(build.own, message_handler, asked.items(), log_verbose)

    def add_data(self, data: str | BytesLike, input_type: Int, name: str = "unknown") -> None:
        """Add an image.

        :param bytes-like data: The image.
        :param jit_input_type input_type: Kind of image.
        :param name: Name of the image in messages.
        """
        self._inputs.add(data, integer("input_type", input_type), name)

    def add_file(self, filename: str | os.PathLike[str], input_type: Int) -> None:
        """Add an image or a library from a file.

        :param filename: File to read.
        :param jit_input_type input_type: Kind of image.
        """
        data = file_contents("Linker.add_file", filename)
        name = os.path.basename(os.fspath(filename))
        self._inputs.add(data, integer("input_type", input_type), name)

    def link_module(self) -> Module:
        """Link all added images and load the result on the current device.

        :returns: The loaded module.
        :raises CompileError: If a name is defined nowhere or twice; ``.stderr`` has the linker's
            messages.
        """
        from PyGPU._compile.compilers import build

        entry = self._inputs.link(self._arch or build.device_architecture())
        return Module(entry.image, names=entry.names, parameters=entry.parameters)


def _architecture(target: int) -> str:
    """Return the compiler's name of a jit_target: "sm_90a" for COMPUTE_90A, which is 65626."""
    return f"sm_{target & 0xFFFF}{'a' if target >> 16 else ''}"


def file_contents(call: str, filename: str | os.PathLike[str]) -> bytes:
    """Return a file's contents; a missing file raises the error of the given call."""
    try:
        with open(os.fspath(filename), "rb") as file:
            return file.read()
    except FileNotFoundError as error:
        missing = core.cudaError_t(301, str(error))
        raise errors.exception_of(call, missing) from None


docstrings.complete(__name__)
