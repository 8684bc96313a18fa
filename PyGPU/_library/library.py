"""Library: the functions of a shared library as attributes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from PyGPU._compile.cache import architectures
from PyGPU._compile.compilers import device_names
from PyGPU._library import elf, prototypes
from PyGPU._runtime import capabilities, core

_TYPE_TEXTS = {
    **{("i", 1): "int8_t", ("i", 2): "int16_t", ("i", 4): "int", ("i", 8): "int64_t"},
    **{("u", 1): "uint8_t", ("u", 2): "uint16_t", ("u", 4): "unsigned", ("u", 8): "uint64_t"},
    **{("f", 2): "half", ("f", 4): "float", ("f", 8): "double", ("B", 2): "bfloat16"},
    **{("c", 8): "complex<float>", ("c", 16): "complex<double>", ("b", 1): "bool"},
    **{("P", 8): "void*", ("v", 0): "void", ("S", 8): "stream", ("E", 4): "cudaError_t"},
}


def _element_text(element: prototypes.Element) -> str:
    kind, nbytes = element
    if kind == "?":
        return "void"
    return _TYPE_TEXTS.get((kind, nbytes), f"struct[{nbytes}]")


def _type_text(one: prototypes.Type) -> str:
    if one.kind != "P":
        return _element_text((one.kind, one.nbytes))
    component, size = one.component
    element = _element_text(one.element)
    if component != "?":
        element = f"{_element_text(one.component)}{one.element[1] // size}"
    return f"{'const ' if one.is_const else ''}{element}*"


def _signature(name: str, result: prototypes.Type, parameters: Sequence[prototypes.Type]) -> str:
    return f"{_type_text(result)} {name}({', '.join(map(_type_text, parameters))})"


class _Docstring:
    """The docstring of LibraryFunction, and of each function its own."""

    def __init__(self, of_class: str | None) -> None:
        self._of_class = of_class

    def __get__(self, function: core.LibraryFunction | None, owner: object) -> str | None:
        if function is None:
            return self._of_class
        return (
            f"{function.signature}\n\n"
            "Compiled function whose arguments are checked against these types. A stream is the "
            "keyword ``stream``.\nSee PyGPU.LibraryFunction."
        )


core.LibraryFunction.__doc__ = _Docstring(core.LibraryFunction.__doc__)  # type: ignore[assignment]


class Declarations(NamedTuple):
    """Functions that a program declares."""

    prototypes: Sequence[prototypes.Prototype]
    unreadable: Mapping[str, str] = {}  # messages by the names of functions
    is_header: bool = False  # it may declare more than a library has


def in_text(text: str) -> Declarations:
    """Return the functions of a text, all of which must be readable."""
    return Declarations(prototypes.read(text))


def in_header(text: str) -> Declarations:
    """Return the functions of a header."""
    unreadable: dict[str, str] = {}
    return Declarations(prototypes.read(text, unreadable), unreadable, True)


class Library:
    """The functions of a shared library as attributes, made by :func:`PyGPU.load`.

    ``library.name`` and ``library["name"]`` are a :class:`PyGPU.LibraryFunction`. ``dir(library)``
    lists the functions.

    Attributes
    ----------
    path : pathlib.Path
        File of the library, unless the library has a function ``path``.

    Examples
    --------
    >>> import PyGPU
    >>> maths = PyGPU.load("libm.so.6", "double cos(double x);")
    >>> maths.cos(0.0)
    1.0
    """

    path: Path
    __iter__ = None  # names have no order, and Python would try the numbers from 0

    # Private names are mangled: functions of the library may have any other name.
    def __fill(
        self,
        path: Path,
        label: str,
        handle: int,
        declared: Declarations,
        errors: bool,
        facts: elf.Facts | None,
    ) -> None:
        """Add the functions that the library exports with their types, and those declared."""
        self.__label = label
        self.__functions: dict[str, core.LibraryFunction] = {}
        self.__exported = facts.functions if facts else ()
        for name, parameters, result, call in reversed(core._library_exports(handle)):
            types = [prototypes.Type(*one) for one in parameters]
            text = _signature(name, prototypes.Type(*result), types)
            rows = [("", *one) for one in types]
            self.__functions[name] = core._library_function(
                name, text, core._library_symbol(handle, name), call, rows, result[:2], errors
            )
        # Messages about functions of a header that cannot be called, by their names.
        self.__wrong = dict(declared.unreadable)
        for one in declared.prototypes:
            try:
                self.__functions[one.short_name] = self.__declared(handle, one, errors)
            except AttributeError as error:
                if not declared.is_header:
                    raise
                self.__wrong[one.short_name] = str(error)
        if "path" not in self.__functions:
            self.path = path

    def __declared(
        self, handle: int, one: prototypes.Prototype, errors: bool
    ) -> core.LibraryFunction:
        address = core._library_symbol(handle, one.name) or core._library_symbol(
            handle, self.__mangled(one)
        )
        if not address:
            raise AttributeError(
                f"{self.__label} has no function {one.name}() for the declaration {one.text!r}"
                + self.__near(one.short_name)
            )
        rows = [(name, *kind) for name, kind in one.parameters]
        return core._library_function(
            one.short_name, one.text.rstrip(";"), address, 0, rows, one.result[:2], errors
        )

    def __mangled(self, one: prototypes.Prototype) -> str:
        """Return the symbol of a C++ function with the name and the parameters of a declaration."""
        candidates = []
        for symbol in self.__exported:
            if one.short_name not in symbol or not symbol.startswith("_Z"):
                continue
            text = core._demangled(symbol)
            if not text or not re.match(rf"(?:[\w:<> ,*&]* )?{re.escape(one.name)}\(", text):
                continue
            kinds = text[text.index("(") + 1 : text.rindex(")")]
            types = prototypes.types_of(kinds)
            if types == [kind._replace(component=("?", 0)) for _, kind in one.parameters]:
                candidates.append(symbol)
        return candidates[0] if len(candidates) == 1 else ""

    def __plain_names(self) -> list[str]:
        """Return the names of the functions that the library exports, those without types too."""
        texts = [core._demangled(name) or name for name in self.__exported]
        names = [
            re.split(r"[<(]", text)[0].rpartition("::")[2].rpartition(" ")[2] for text in texts
        ]
        return [name for name in names if re.fullmatch(r"[A-Za-z]\w*", name)]

    def __near(self, name: str) -> str:
        import difflib  # slow to import, and needed for this message alone

        near = difflib.get_close_matches(name, [*self.__functions, *self.__plain_names()], 3, 0.6)
        near = list(dict.fromkeys(near))
        return f"; it has {', '.join(near)}" if near else ""

    def __getattr__(self, name: str) -> core.LibraryFunction:
        functions: dict[str, core.LibraryFunction] = self.__dict__.get("_Library__functions", {})
        if name in functions:
            return functions[name]
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self.__wrong:
            raise AttributeError(self.__wrong[name])
        if name in self.__plain_names():
            raise AttributeError(
                f"{self.__label} has {name}(), but not the types of its parameters: write "
                f"PYGPU_EXPORT({name}) into its source (<PyGPU/export.h>), or give "
                f'declarations="..." with its prototype'
            )
        known = f"; it has {', '.join(functions)}" if 0 < len(functions) <= 8 else self.__near(name)
        raise AttributeError(f"{self.__label} has no function {name}(){known}")

    def __getitem__(self, name: str) -> core.LibraryFunction:
        return self.__functions[name] if name in self.__functions else self.__getattr__(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.__functions]

    def __repr__(self) -> str:
        return f"<PyGPU.Library {self.__label}: {', '.join(self.__functions) or 'no functions'}>"


def _refuse_other_target(path: Path, facts: elf.Facts | None) -> None:
    """Raise OSError for a library of another target, or without code for the current device."""
    if facts is None or facts.built_for is None:
        return
    own = capabilities.target
    if facts.built_for != own:
        raise OSError(
            f"{path} was built for the target {facts.built_for}, but {own} is in use: build it for "
            f"{own}, or set PYGPU_TARGET={facts.built_for}"
        )
    if not facts.architectures or not core.cudaGetDeviceCount()[0]:
        return
    device = device_names.device_image()
    if architectures.best(facts.architectures, device) is None:
        raise OSError(
            f"{path} has device code for {', '.join(facts.architectures)}, and the current device "
            f"is {device}: build it with arch={device.split(':')[0]!r}"
        )


def opened(path: Path, label: str, declared: Declarations, errors: bool) -> Library:
    """Load a shared library.

    Raises
    ------
    OSError
        The file is missing, is no library of this target, or the loader refuses it.
    """
    facts = elf.read(path) if path.is_file() else None
    _refuse_other_target(path, facts)
    try:
        handle = core._open_library(str(path))
    except OSError as error:
        why = str(error)
        if "PyGPU_host" in why:
            why += ": link it with -lPyGPU_host (python -m PyGPU --ldflags), or use PyGPU.build()"
        elif os.path.exists(path) and os.statvfs(path).f_flag & os.ST_NOEXEC:
            why += (
                ": its file system is mounted with noexec; set PYGPU_CACHE_DIR (or TMPDIR, if the "
                "cache is off) to a folder of another file system"
            )
        raise OSError(f"{path} cannot be loaded: {why}") from None
    library = Library()
    library._Library__fill(path, label, handle, declared, errors, facts)
    return library
