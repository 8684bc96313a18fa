"""Modules, which hold compiled code, and their functions, which launch its kernels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._driver import enums
from PyGPU._driver.stateful import StatefulFunction
from PyGPU._driver.stream import Event
from PyGPU._runtime import are_several, core, docstrings, errors, integer, loads_later

if TYPE_CHECKING:
    from PyGPU._types import (
        ArgTypes,
        Block,
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
]

#: Symbol in the image of every module with texture or surface references, from
#: device/texture_references.h.
REFERENCES_SYMBOL = b"PyGPU_has_references"


def _is_missing(error: errors.Error) -> bool:
    """Report whether an error is about the name, and not left by another call."""
    return "not found in the module" in str(error)


@loads_later
def _found(module: Module, name: str, arg_types: ArgTypes | None) -> Function:
    """Return a function that was pickled, prepared as it was."""
    function = module.get_function(name)
    return function if arg_types is None else function.prepare(arg_types)


@loads_later
def _compiled(kind: Any, arguments: tuple[Any, ...]) -> Module:
    """Return the module of a text, compiled for the current device."""
    module: Module = kind(*arguments).module
    return module


@loads_later
def _loaded(kind: Any, *arguments: Any) -> Module:
    """Return the module of an image, loaded on the current device."""
    module: Module = kind(*arguments)
    return module


class Function(StatefulFunction):
    """A kernel of a module, from :meth:`Module.get_function`.

    ``f(*args, block=(x, y, z), grid=(x, y), stream=None, shared=0, time_kernel=False)`` launches
    the kernel. Arguments are arrays, allocations, NumPy scalars, ``In``, ``Out`` and ``InOut`` of
    host arrays, and structures by value. Python numbers work if the source text is available. An
    argument that does not fit the kernel's signature raises ArgumentError before the launch.

    Parameters
    ----------
    module, name, signature : object
        Private to PyGPU.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import SourceModule
    >>> module = SourceModule("__global__ void add(int *x, int n) { x[threadIdx.x] += n; }")
    >>> add, x = module.get_function("add"), np.array([1, 2], np.int32)
    >>> add(drv.InOut(x), np.int32(5), block=(2, 1, 1))
    >>> x
    array([6, 7], dtype=int32)
    """

    _origin: tuple[Module, str] | None = None  # module, and name passed to get_function()
    _prepared_for: ArgTypes | None = None

    def prepare(self, arg_types: ArgTypes, texrefs: Sequence[Any] = ()) -> Function:
        """Declare the argument types once, for the prepared calls.

        :param str or sequence arg_types: Format characters as of :mod:`struct` ("PiF"), or NumPy's
            types.
        :param sequence of TextureReference texrefs: References of the module that must be bound at
            each call.
        :returns: This function.
        """
        for texref in texrefs:
            self.param_set_texref(texref)
        self._prepare(declared_parameters(arg_types))
        self._prepared_for = arg_types
        return self

    def __reduce__(self) -> Any:
        if self._origin is None:
            raise TypeError(f"cannot pickle {self!r}, which no module's get_function() returned")
        return _found, (*self._origin, self._prepared_for)

    def prepared_timed_call(
        self, grid: Grid, block: Block, *args: Any, shared_size: int = 0
    ) -> Callable[[], float]:
        """Launch the kernel and measure its time.

        :param tuple of int grid: Blocks along x and y, and z if given.
        :param tuple of int block: Threads along x, y and z.
        :param object *args: Arguments of the prepared types.
        :param shared_size: Dynamic shared memory of a block in bytes.
        :returns callable: It waits for the kernel and returns the kernel's time in seconds.
        """
        start, end = Event(), Event()
        start.record()
        self.prepared_call(grid, block, *args, shared_size=shared_size)
        end.record()

        def seconds() -> float:
            end.synchronize()
            return end.time_since(start) * 1e-3

        return seconds

    def get_attribute(self, attr: Int) -> int:
        """Return the value of an attribute of the kernel.

        :param function_attribute attr: The attribute.
        :returns: Its value; sizes are in bytes.
        """
        return self._get_attribute(integer("attr", attr))

    def set_attribute(self, attr: Int, value: Int) -> None:
        """Set an attribute of the kernel.

        :param function_attribute attr: MAX_DYNAMIC_SHARED_SIZE_BYTES or
            PREFERRED_SHARED_MEMORY_CARVEOUT.
        :param value: Bytes, or percent of the on-chip memory.
        """
        number = integer("value", value)
        if abs(number) >= 1 << 31:
            raise errors.LogicError(
                f"Function.set_attribute failed: value={number}: expected an int of 32 bits"
            )
        self._set_attribute((integer("attr", attr), number))

    def set_cache_config(self, fc: Int) -> None:
        """Set the kernel's preferred use of on-chip memory, a hint.

        :param func_cache fc: Shared memory or L1 cache; set as the percentage of shared memory.
        """
        share = {0: -1, 1: 100, 2: 0, 3: 50}[int(enums.func_cache(int(fc)))]
        self._set_attribute((int(enums.function_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT), share))

    def set_shared_config(self, config: Int) -> None:
        """Do nothing: current devices have one bank size.

        :param shared_config config: Checked and ignored.
        """
        enums.shared_config(int(config))

    def param_set_texref(self, texref: Reference) -> None:
        """Require that a texture reference is bound at each prepared call.

        :param TextureReference texref: A reference of the kernel's module.
        :raises ArgumentError: If the module declares no texture reference.
        """
        raise errors.ArgumentError(f"{self.name}: its module declares no texture reference")

    def __getattr__(self, name: str) -> int:
        attribute = enums.function_attribute.names.get(name.upper())
        if attribute is None or name.startswith("_") or name.isupper():
            raise AttributeError(f"a Function has no attribute {name!r}")
        return self._get_attribute(int(attribute))


class Module:
    """Compiled code that is loaded on the current device.

    :param image: Compiled code, as of ``compiler.compile``.
    :param source: Source text of the image, for messages.
    :param dict names: {C++ name expression: name in the image}.
    :param mapping parameters: {kernel: [(name, kind, bytes) of each parameter]}.
    :param iterable of (int, int) options: Pairs of jit_option and value.

    >>> from PyGPU.compiler import compile
    >>> module = drv.Module(compile("__global__ void nothing() {}"))
    >>> module.get_function("nothing")
    <Function nothing() on device 0>
    """

    _owner: tuple[type, tuple[Any, ...]] | None = (
        None  # SourceModule and its arguments, for pickles
    )

    def __init__(
        self,
        image: bytes,
        source: str | None = None,
        names: dict[str, str] | None = None,
        parameters: Mapping[str, Sequence[tuple[str, str, int]]] = MappingProxyType({}),
        options: Iterable[tuple[int, int]] = (),
    ) -> None:
        self._image, self._jit_options = bytes(image), list(options)
        self._module = core._Module(self._image, self._jit_options)
        self._source = source
        self._names = names or {}
        self._parameters = parameters
        if source is not None and are_several():
            from PyGPU._compile.source import variables

            if variables.has_variables(source):
                self._module._set_has_variables()
        self._references = self._module._references() if REFERENCES_SYMBOL in self._image else None

    def __repr__(self) -> str:
        name = type(self).__name__
        module: core._Module | None = self.__dict__.get("_module")
        if module is None:
            return f"<{name}, not initialized>"
        lost = "" if module.is_loaded else ", unloaded by cudaDeviceReset"
        return f"<{name} of {len(self._image)} bytes on device {module.device}{lost}>"

    def _lookup(self, name: str) -> str:
        """Return the name in the image of a kernel, a variable or a C++ name expression."""
        from PyGPU._driver.kernel_names import name_in_image

        return name_in_image(name, self._names)

    def _signature_of(self, name: str, lowered: str) -> Sequence[tuple[str, str, int]] | None:
        from PyGPU._driver.kernel_names import parameters_of

        return parameters_of(self._image, name, lowered, self._names, self._parameters)

    def get_function(self, name: str) -> Function:
        """Return a kernel of the module.

        :param name: Plain name, mangled name or C++ name expression.
        :returns: The kernel.
        :raises LogicError: If the module has no such kernel; the message lists the kernels of the
            source.
        """
        if not isinstance(name, str):
            raise TypeError(f"get_function: expected a str, got {type(name).__name__}")
        lowered = self._lookup(name)
        try:
            found = self._function(name, lowered)
        except errors.LogicError as error:
            if not _is_missing(error):
                raise
            found = self._by_other_names(name, lowered, error)
        found._origin = self, name
        return found

    def _by_other_names(self, name: str, lowered: str, error: errors.Error) -> Function:
        """Return a kernel by the other names that the image may have for it."""
        from PyGPU._driver.kernel_names import missing_kernel, other_names

        for other in other_names(self._image, name, lowered, self._parameters):
            try:
                return self._function(name, other)
            except errors.LogicError as second:
                if not _is_missing(second):
                    raise
        raise missing_kernel(name, error, self._source) from None

    def __reduce__(self) -> Any:
        if self._owner is not None:
            return _compiled, self._owner
        given = self._image, self._source, self._names, dict(self._parameters)
        return _loaded, (type(self), *given, self._jit_options)

    def _function(self, name: str, lowered: str) -> Function:
        kind = Function if self._references is None else self._references.function
        return kind(self._module, lowered, self._signature_of(name, lowered))

    def get_global(self, name: str) -> tuple[int, int]:
        """Return the memory of a ``__device__`` or ``__constant__`` variable.

        :param name: Plain name, mangled name or C++ name expression (``&q::x``).
        :returns: (address, size in bytes).
        :raises LogicError: If the module has no such variable.
        """
        return self._variable("get_global", name)[1]

    def _variable(self, call: str, name: str) -> tuple[str, tuple[int, int]]:
        """Return the name in the image of a variable, its address and its size in bytes."""
        if not isinstance(name, str):
            raise TypeError(f"name: expected a str, got {type(name).__name__}")
        lowered = self._lookup(name)
        try:
            return lowered, self._module.get_global(lowered)
        except errors.LogicError as error:
            if not _is_missing(error):
                raise
            from PyGPU._driver.kernel_names import missing_variable, variable_in

            other = variable_in(self._image, name)
            if other is None:
                raise missing_variable(call, name, error, self._source) from None
            return other, self._module.get_global(other)

    def get_texref(self, name: str) -> TextureReference:
        """Return a texture reference of the module.

        :param name: Plain name, or C++ name (``q::image``).
        :returns: The same object at each call.
        :raises LogicError: If the module declares no such reference.
        """
        found = self._declared_references(name)
        return found.texture(name, self._variable("get_texref", name)[0])

    def get_surfref(self, name: str) -> SurfaceReference:
        """Return a surface reference of the module.

        :param name: Plain name, or C++ name (``q::image``).
        :returns: The same object at each call.
        :raises LogicError: If the module declares no such reference.
        """
        found = self._declared_references(name)
        return found.surface(name, self._variable("get_surfref", name)[0])

    def _declared_references(self, name: str) -> References:
        if not isinstance(name, str):
            raise TypeError(f"name: expected a str, got {type(name).__name__}")
        if self._references is None:
            raise errors.LogicError(
                f"name={name!r}: the module declares no texture or surface reference"
            )
        return self._references


# (kind as in src/python/launch/packing.h, bytes) of each format character of struct.
_PROMISES = {
    **{"P": ("P", 8), "F": ("c", 8), "D": ("c", 16), "?": ("b", 1)},
    **{"b": ("i", 1), "h": ("i", 2), "i": ("i", 4), "l": ("i", 8), "q": ("i", 8), "n": ("i", 8)},
    **{"B": ("u", 1), "H": ("u", 2), "I": ("u", 4), "L": ("u", 8), "Q": ("u", 8), "N": ("u", 8)},
    **{"e": ("f", 2), "f": ("f", 4), "d": ("f", 8), "c": ("s", 1)},
}


def declared_parameters(arg_types: ArgTypes) -> list[tuple[str, int]]:
    """Return [(kind, bytes)] of the argument types that prepare() receives."""
    if isinstance(arg_types, str):
        found = re.findall(r"(\d*)([A-Za-z?])", arg_types)
        if "".join(number + char for number, char in found) != re.sub(r"\s", "", arg_types):
            raise errors.ArgumentError(
                f"prepare: arg_types={arg_types!r}: expected a format as of struct"
            )
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
    return [parameter for arg_type in arg_types for parameter in _declared(arg_type)]


def _declared(arg_type: Any) -> list[tuple[str, int]]:
    if isinstance(arg_type, str):
        return declared_parameters(arg_type)
    if isinstance(arg_type, np.dtype) or (
        isinstance(arg_type, type) and issubclass(arg_type, np.generic)
    ):
        dtype = np.dtype(arg_type)
        return [(dtype.kind if dtype.kind in "iufcb" else "s", dtype.itemsize)]
    return [("P", 8)]


docstrings.complete(__name__)
