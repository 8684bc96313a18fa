"""Loaded modules and their functions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._compile import code_object, device_names, image_files, kernel_types, signature
from PyGPU._driver import enums
from PyGPU._driver.stateful import StatefulFunction
from PyGPU._driver.stream import Event
from PyGPU._runtime import are_several, core, errors, integer

if TYPE_CHECKING:
    from PyGPU._types import (
        ArgTypes,
        Block,
        BytesLike,
        Grid,
        Int,
        Reference,
        References,
        SurfaceReference,
        TextureReference,
    )

__all__ = [
    "Function",
    "Module",
    "module_from_buffer",
    "module_from_file",
]

#: In the image of every module with texture or surface references
#: (device/texture_references.h).
REFERENCES_SYMBOL = b"PyGPU_has_references"

# What struct's characters promise: (kind as in src/python/launch/packing.h, bytes).
_PROMISES = {
    **{"P": ("P", 8), "F": ("c", 8), "D": ("c", 16), "?": ("b", 1)},
    **{"b": ("i", 1), "h": ("i", 2), "i": ("i", 4), "l": ("i", 8), "q": ("i", 8), "n": ("i", 8)},
    **{"B": ("u", 1), "H": ("u", 2), "I": ("u", 4), "L": ("u", 8), "Q": ("u", 8), "N": ("u", 8)},
    **{"e": ("f", 2), "f": ("f", 4), "d": ("f", 8), "c": ("s", 1)},
}


def _promises(arg_types: ArgTypes) -> list[tuple[str, int]]:
    """[(kind, bytes)] of what prepare() is given."""
    if isinstance(arg_types, str):
        found = re.findall(r"(\d*)([A-Za-z?])", arg_types)
        if "".join(number + char for number, char in found) != re.sub(r"\s", "", arg_types):
            raise errors.ArgumentError(f"prepare: arg_types={arg_types!r}: not a struct format")
        result = []
        for number, char in found:
            if char == "s":
                result.append(("s", int(number or 1)))
            elif char in _PROMISES:
                result += [_PROMISES[char]] * int(number or 1)
            else:
                raise errors.ArgumentError(
                    f"prepare: arg_types={arg_types!r}: bad char {char!r} in struct format"
                )
        return result
    if not isinstance(arg_types, Iterable):
        raise TypeError(f"prepare: arg_types: expected a str or a sequence, got {arg_types!r}")
    return [promise for one in arg_types for promise in _promise(one)]


def _promise(one: Any) -> list[tuple[str, int]]:
    if isinstance(one, str):
        return _promises(one)
    if isinstance(one, np.dtype) or (isinstance(one, type) and issubclass(one, np.generic)):
        dtype = np.dtype(one)
        return [(dtype.kind if dtype.kind in "iufcb" else "s", dtype.itemsize)]
    return [("P", 8)]


class Function(StatefulFunction):
    """A kernel of a module.

    ``f(*args, block=(x, y, z), grid=(x, y), stream=None, shared=0, time_kernel=False)`` launches
    it. Arguments are arrays and allocations, NumPy's scalars, ``In``, ``Out`` and ``InOut`` of host
    arrays, structures by value, and plain numbers where the source is known. What does not fit the
    kernel's own signature is an ArgumentError, before the launch.
    """

    def prepare(self, arg_types: ArgTypes, texrefs: Sequence[Any] = ()) -> Function:
        """Say the arguments' types once, for the prepared calls.

        Parameters
        ----------
        arg_types : str or sequence
            Characters as in :mod:`struct` ("PiF"), or NumPy's types.
        texrefs : sequence of TextureReference
            Those of its module that must be bound.

        Returns
        -------
        Function
            Itself.
        """
        for texref in texrefs:
            self.param_set_texref(texref)
        self._prepare(_promises(arg_types))
        return self

    def prepared_timed_call(
        self, grid: Grid, block: Block, *args: Any, shared_size: int = 0
    ) -> Callable[[], float]:
        """Launch, and return a callable that waits and gives the seconds that the kernel took."""
        start, end = Event(), Event()
        start.record()
        self.prepared_call(grid, block, *args, shared_size=shared_size)
        end.record()

        def seconds() -> float:
            end.synchronize()
            return end.time_since(start) * 1e-3

        return seconds

    def get_attribute(self, attr: Int) -> int:
        """The value of a function_attribute (int)."""
        return self._get_attribute(integer("attr", attr))

    def set_attribute(self, attr: Int, value: Int) -> None:
        """Set MAX_DYNAMIC_SHARED_SIZE_BYTES or PREFERRED_SHARED_MEMORY_CARVEOUT."""
        number = integer("value", value)
        if abs(number) >= 1 << 31:
            raise errors.LogicError(f"Function.set_attribute failed: value={number}: 32 bits")
        self._set_attribute((integer("attr", attr), number))

    def set_cache_config(self, fc: Int) -> None:
        """Prefer shared memory or cache: a hint, given as the shared memory's share."""
        share = {0: -1, 1: 100, 2: 0, 3: 50}[int(enums.func_cache(int(fc)))]
        self._set_attribute((int(enums.function_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT), share))

    def set_shared_config(self, config: Int) -> None:
        """Nothing: devices have had one bank size for long."""
        enums.shared_config(int(config))

    def param_set_texref(self, texref: Reference) -> None:
        """Name a reference of the module that must be bound at prepared calls."""
        raise errors.ArgumentError(f"{self.name}: its module declares no texture reference")

    def __getattr__(self, name: str) -> int:
        attribute = enums.function_attribute.names.get(name.upper())
        if attribute is None or name.startswith("_") or name.isupper():
            raise AttributeError(f"a Function has no attribute {name!r}")
        return self._get_attribute(int(attribute))

    def __repr__(self) -> str:
        return f"<Function {self.name}>"


def _plain(name: str) -> str | None:
    """The plain name in a mangled one: _Z5saxpyPfi -> saxpy."""
    match = re.match(r"_Z(\d+)", name)
    return name[match.end() : match.end() + int(match.group(1))] if match else None


class Module:
    """Compiled code on the current device. See module_from_buffer and compiler.SourceModule.

    Parameters
    ----------
    image : bytes
    source : str, optional
        The text it was made of, for messages.
    names : dict, optional
        Names in the image of C++ name expressions.
    parameters : mapping, optional
        (name, kind, bytes) of each parameter, by kernel.
    """

    def __init__(
        self,
        image: bytes,
        source: str | None = None,
        names: dict[str, str] | None = None,
        parameters: Mapping[str, Sequence[tuple[str, str, int]]] = MappingProxyType({}),
        options: Iterable[tuple[int, int]] = (),
    ) -> None:
        self._image = bytes(image)
        self._module = core._Module(self._image, list(options))
        self._source = source
        self._names = names or {}
        self._parameters = parameters
        if source is not None and are_several() and signature.has_variables(source):
            self._module._has_variables()
        self._references = self._module._references() if REFERENCES_SYMBOL in self._image else None

    def _lookup(self, name: str) -> str:
        """The name in the image."""
        if name in self._names:
            return self._names[name]
        squeezed = re.sub(r"\s+", "", name)
        for expression, lowered in self._names.items():
            if re.sub(r"\s+", "", expression) == squeezed:
                return lowered
        return name

    def _mangled(self, name: str) -> str | None:
        """The one C++ kernel of the image with this plain name, or None."""
        plain = name.split("::")[-1]
        pattern = rb"\b_Z(?:N\w*?)?%d%s\w*" % (len(plain), re.escape(plain.encode()))
        found = {match.decode() for match in re.findall(pattern, self._image)}
        return found.pop() if len(found) == 1 else None

    def _known(self, name: str, lowered: str) -> Sequence[tuple[str, str, int]] | None:
        """What the text and its compiler tell of a kernel's parameters."""
        for one in (lowered, *(e for e, its_name in self._names.items() if its_name == lowered)):
            if one in self._parameters:
                return self._parameters[one]
        mangled = kernel_types.of_mangled(lowered) if lowered.startswith("_Z") else None
        plain = _plain(name) or name
        same = [p for one, p in self._parameters.items() if plain in (one, one.split("::")[-1])]
        if mangled is None:
            return same[0] if len(same) == 1 else None
        if len(same) == 1 and len(same[0]) == len(mangled):
            return [(a[0], b.kind, b.nbytes) for a, b in zip(same[0], mangled)]
        return mangled

    def _signature_of(self, name: str, lowered: str) -> Sequence[tuple[str, str, int]] | None:
        found = self._known(name, lowered)
        known = code_object.parameters(self._image, lowered) if core.target == "hip" else None
        if known is None or found is None or len(found) != len(known):
            return found if found is not None else known
        return [(a[0], a[1], nbytes) for a, (_, _, nbytes) in zip(found, known)]

    def get_function(self, name: str) -> Function:
        """The kernel of that name.

        Raises
        ------
        LogicError
            Where there is none.
        """
        if not isinstance(name, str):
            raise TypeError(f"get_function: expected a str, got {type(name).__name__}")
        lowered = self._lookup(name)
        try:
            return self._function(name, lowered)
        except errors.LogicError as error:
            other = _plain(name) if core.target == "host" else self._mangled(name)
            if other is None:
                raise _unknown(name, error, self._source) from None
            return self._function(name, other)

    def _function(self, name: str, lowered: str) -> Function:
        kind = Function if self._references is None else self._references.function
        return kind(self._module, lowered, self._signature_of(name, lowered))

    def get_global(self, name: str) -> tuple[int, int]:
        """(address, bytes) of a ``__device__`` or ``__constant__`` variable, or a LogicError."""
        try:
            return self._module.get_global(name)
        except errors.LogicError as error:
            raise _not_found(error, self._source, signature.variables) from None

    def get_texref(self, name: str) -> TextureReference:
        """The texture reference of that name, the same at each call, or a LogicError."""
        found = self._declared_references(name)
        try:
            return found.texture(name)
        except errors.LogicError as error:
            raise _not_found(error, self._source, signature.references) from None

    def get_surfref(self, name: str) -> SurfaceReference:
        """The surface reference of that name, the same at each call, or a LogicError."""
        found = self._declared_references(name)
        try:
            return found.surface(name)
        except errors.LogicError as error:
            raise _not_found(error, self._source, signature.references) from None

    def _declared_references(self, name: str) -> References:
        if not isinstance(name, str):
            raise TypeError(f"name: expected a str, got {type(name).__name__}")
        if self._references is None:
            raise errors.LogicError(
                f"{name!r}: the module declares no texture or surface reference"
            )
        return self._references


def _overloads(name: str) -> str:
    own = "give each a name of its own, or make them a template"
    if core.target != "host":
        own = f"ask for one by its mangled name (_Z...), or {own}"
    return f"; the source has several kernels {name}: {own}"


def _unknown(name: str, error: errors.Error, source: str | None) -> errors.LogicError:
    """The error for a kernel that is not there, with those that are."""
    text = str(error)
    if source is not None:
        kernels = signature.kernels(source)
        same = [k.full_name for k in kernels if name in (k.name, k.full_name)]
        if "<" in name or any(k.is_template and k.name == name for k in kernels):
            text += f"; instances of templates are asked for by name_expressions=[{name!r}]"
        elif len(set(same)) < len(same):
            text += _overloads(name)
        elif kernels:
            text += f"; the source has {', '.join(dict.fromkeys(k.full_name for k in kernels))}"
        elif "__global__" not in signature.blanked(source):
            text += "; no function in the source is a __global__ one, which makes it a kernel"
    return _with_text(error, text)


def _not_found(
    error: errors.LogicError, source: str | None, names: Callable[[str], list[str]]
) -> errors.LogicError:
    """The error for a variable or reference that is not there, with those that are."""
    found = names(source) if source and "not found in the module" in str(error) else []
    return _with_text(error, f"{error}; the source has {', '.join(found)}") if found else error


def _with_text(error: errors.Error, text: str) -> errors.LogicError:
    made = errors.LogicError(text)
    made.call, made.status = error.call, error.status
    return made


def module_from_buffer(
    buffer: str | BytesLike,
    options: Iterable[tuple[Int, Int]] = (),
    message_handler: Callable[[bool, str, str], object] | None = None,
) -> Module:
    """Load an image: what compiler.compile() gave, a cubin, PTX or a fatbin.

    Parameters
    ----------
    buffer : bytes-like
    options : sequence of (jit_option, int)
    message_handler : callable(success, info, error), optional
        Receives what the driver's compiler said.
    """
    if isinstance(buffer, str):
        buffer = buffer.encode()
    jit = [(int(option), int(value)) for option, value in options]
    try:
        found = image_files.unpacked(memoryview(buffer).tobytes())
        module = Module(found.image, None, found.names, found.parameters, jit)
    except errors.Error as error:
        if message_handler is not None:
            message_handler(False, "", str(error))
        raise
    if message_handler is not None:
        message_handler(True, module._module.info_log, "")
    return module


def module_from_file(filename: str | os.PathLike[str]) -> Module:
    """Load an image from a file, or the one of several that the current device runs.

    Parameters
    ----------
    filename : str or os.PathLike
        An image's file; or the folder, or ``folder/mine``, of what ``python -m PyGPU compile
        mine.cu --arch gfx942,sm_90 -o folder`` wrote.

    Raises
    ------
    RuntimeError
        Without such a file, or without an image for the device.
    """
    return module_from_buffer(file_contents("module_from_file", _image_file(filename)))


def _image_file(filename: str | os.PathLike[str]) -> str | os.PathLike[str]:
    path = Path(os.fsdecode(filename))
    if path.is_file() or not (path.is_dir() or path.parent.is_dir()):
        return filename
    try:
        return image_files.choose(path, device_names.device_image())
    except FileNotFoundError:
        return filename  # whose absence is reported where it is opened
    except LookupError as error:
        status = core.cudaError_t(209, str(error))
        raise errors.exception_of("module_from_file", status) from None


def file_contents(call: str, filename: str | os.PathLike[str]) -> bytes:
    """What a file holds that a call is given; the call's error without it."""
    try:
        with open(os.fspath(filename), "rb") as file:
            return file.read()
    except FileNotFoundError as error:
        missing = core.cudaError_t(301, str(error))
        raise errors.exception_of(call, missing) from None
