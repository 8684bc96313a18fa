"""Sections of docstrings in NumPy's style, made from fields and annotations.

In the source, a docstring has a field for each parameter and exception::

    :param size: Size in bytes.
    :param {4, 8, 16} itemsize: Bytes of an element.
    :param stream:
    :returns: The address.
    :raises MemoryError: If the device has too little memory.

A field without a type (``{4, 8, 16}``) has that of the annotation, one without a text that of the
table `_TEXTS`. Examples need no heading. `complete` makes the sections when a module is loaded.
"""

from __future__ import annotations

import functools
import inspect
import sys
from types import FunctionType
from typing import Any

# No regular expressions: they would double the time that this takes of an import.
_SECTIONS = {"param": "Parameters", "returns": "Returns", "raises": "Raises"}
#: Text of the fields that have none, by the parameter's name.
_TEXTS = {
    "dtype": "Data type of the elements.",
    "order": "Order of the elements in memory.",
    "shape": "Shape of the array.",
    "stream": "The null stream by default.",
}
#: Words of the documentation for annotations.
_TYPES = {
    "Address": "int or device memory",
    "AllocatorLike": "callable(nbytes)",
    "ArrayLike": "array_like",
    "BufferLike": "buffer",
    "BytesLike": "bytes-like",
    "CacheDir": "str or False",
    "Callable[P, R]": "callable",
    "DType": "dtype",
    "DTypeLike": "dtype",
    "HostArray": "numpy.ndarray",
    "Int": "int",
    "Iterable[str]": "iterable of str",
    "Order": '{"C", "F"}',
    "SeedGetter": "callable(int)",
    "Sequence[str]": "sequence of str",
    "Shape": "int or tuple of int",
    "StreamLike": "Stream or None",
    "_Array": "Array",
    "cudaEvent_t": "Event",
    "os.PathLike[str]": "path-like",
    "tuple[int, int]": "tuple of int",
}


@functools.cache
def _type(annotation: str, is_optional: bool) -> str:
    """Return the documented type of a parameter or result."""
    words = [word if "[" in word else word.rpartition(".")[2] for word in annotation.split(" | ")]
    text = " or ".join([_TYPES.get(word, word) for word in words])
    return f"{text.removesuffix(' or None')}, optional" if is_optional else text


def _split(words: str) -> tuple[str, str]:
    """Return (type, names) of a field: ``int a`` or ``a, b`` or ``*a``."""
    first, _, last = words.rpartition(" ")
    if not first or first[-1] == ",":  # several parameters of one annotation
        return "", words
    return first, last


def _optional(function: Any) -> set[str]:
    """Return the names of the parameters with a default."""
    code, defaults = function.__code__, function.__defaults__ or ()
    positional = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    return {*positional, *(function.__kwdefaults__ or ())}


def _sections(fields: list[str], function: Any, margin: str) -> str:
    annotations, optional = function.__annotations__, _optional(function)
    text = section = ""
    for field in fields:
        words, _, description = field.partition(":")
        kind, _, words = words.partition(" ")
        if kind != section:
            title = _SECTIONS[kind]
            text += f"{margin if section else ''}{margin}{title}{margin}{'-' * len(title)}"
            section = kind
        if kind == "param":
            given, names = _split(words)
            name = names.lstrip("*").partition(",")[0]
            if not given:
                given = _type(annotations[name], name in optional)
            elif name in optional:
                given += ", optional"
            words = f"{names} : {given}"
            description = description.strip() or _TEXTS[name]
        elif not words:
            words = _type(annotations["return"], False)
        text += f"{margin}{words}{margin}    {description.strip()}"
    return text


def numpy_style(documentation: str, function: Any, margin: str) -> str:
    """Return the docstring of a function, or of its class, with sections in place of fields.

    `margin` is a line's end and the indentation.
    """
    for kind in _SECTIONS:
        before, start, rest = documentation.partition(f"\n{margin}:{kind}")
        if start:
            fields, gap, after = rest.partition("\n\n")
            listed = f"{kind}{fields}".split(f"{margin}:")
            sections = _sections(listed, inspect.unwrap(function), margin)
            documentation = f"{before}\n{sections}{gap}{after}"
            break
    example = f"\n{margin}>>> "
    if example in documentation and "Examples\n" not in documentation:
        heading = f"\n{margin}Examples{margin}--------{margin}>>> "
        return documentation.replace(example, heading, 1)
    return documentation


def _complete(thing: Any, function: Any, margin: str) -> None:
    text = thing.__doc__
    if text and "\n" in text:
        thing.__doc__ = numpy_style(text, function, margin)


def complete(module: str) -> None:
    """Make the sections of the docstrings of all functions and classes that a module defines."""
    outer, inner = "\n    ", "\n        "
    if sys.version_info >= (3, 13):  # the compiler removes the indentation
        outer = inner = "\n"
    for thing in [*vars(sys.modules[module]).values()]:
        if getattr(thing, "__module__", None) != module:
            continue
        if isinstance(thing, type):
            maker = vars(thing).get("__new__", vars(thing).get("__init__"))
            _complete(thing, getattr(maker, "__func__", maker), outer)
            for member in vars(thing).values():
                function = getattr(member, "__func__", member)
                if isinstance(function, FunctionType):
                    _complete(function, function, inner)
        elif isinstance(thing, FunctionType):
            _complete(thing, thing, outer)
