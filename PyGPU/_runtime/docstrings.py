"""Sections of docstrings in NumPy's style, made from fields and annotations.

In the source, a docstring has a field for each parameter and exception::

    :param size: Size in bytes.
    :param {4, 8, 16} itemsize: Bytes of an element.
    :param order, stream:
    :returns: The address.
    :raises MemoryError: If the device has too little memory.

A field without a type (``{4, 8, 16}``) has that of the annotation. Parameters without a text have
that of the table `_TEXTS`, or of the module's call of `complete`, which makes the sections when the
module is loaded. Examples need no heading, and no imports of `np` and `drv`.
"""

from __future__ import annotations

import functools
import sys
from types import FunctionType
from typing import Any

# No regular expressions: they would double the time that this takes of an import.
#: Line's end and indentation of a function's docstring; newer compilers remove the indentation.
MARGIN = "\n" if sys.version_info >= (3, 13) else "\n    "
_SECTIONS = {"param": "Parameters", "returns": "Returns", "raises": "Raises"}
#: Text of the fields that have none, by the parameter's name.
_TEXTS = {
    "dtype": "Data type of the elements.",
    "order": "Order of the elements in memory.",
    "shape": "Shape of the array.",
    "stream": "The null stream by default.",
}
_IMPORTS = {"np": "import numpy as np", "drv": "import PyGPU.driver as drv"}
#: Words of the documentation for annotations.
_TYPES = {
    "Address": "int or device memory",
    "AllocatorLike": "callable(nbytes)",
    "ArrayLike": "array_like",
    "Axis": "int or tuple of int or None",
    "BufferLike": "buffer",
    "BytesLike": "bytes-like",
    "CacheDir": "str or False",
    "Callable[P, R]": "callable",
    "DType": "dtype",
    "DTypeLike": "dtype",
    "HostArray": "numpy.ndarray",
    "Int": "int",
    "Iterable[str]": "iterable of str",
    "Number": "number",
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


def _sections(fields: list[str], function: Any, margin: str, texts: dict[str, str]) -> str:
    annotations, code = function.__annotations__, function.__code__
    count, defaults = code.co_argcount, function.__defaults__ or ()
    optional = code.co_varnames[count - len(defaults) : count] + (*(function.__kwdefaults__ or ()),)
    text = section = ""
    for field in fields:
        words, _, description = field.partition(":")
        kind, _, words = words.partition(" ")
        description = description.strip()
        if kind != section:
            line = margin + "-" * len(_SECTIONS[kind])
            text += f"{margin if section else ''}{margin}{_SECTIONS[kind]}{line}"
            section = kind
        if kind == "raises":
            entries = [(words, description)]
        elif kind == "returns":
            entries = [(words or _type(annotations["return"], False), description)]
        elif words in annotations:
            given = _type(annotations[words], words in optional)
            entries = [(f"{words} : {given}", description or texts[words])]
        else:
            entries = _several(words, description, annotations, optional, texts)
        for head, body in entries:
            text += f"{margin}{head}{margin}    {body}"
    return text


def _several(
    words: str,
    description: str,
    annotations: dict[str, str],
    optional: tuple[str, ...],
    texts: dict[str, str],
) -> list[tuple[str, str]]:
    """Return the entries of a field with a type, ``int a``, or with several names, ``a, b``."""
    given, _, names = words.rpartition(" ")
    if given and given[-1] != ",":
        given += ", optional" if names in optional else ""
        return [(f"{names} : {given}", description or texts[names])]
    each = words.split(", ")
    types = [_type(annotations[name], name in optional) for name in each]
    if description:
        return [(f"{words} : {types[0]}", description)]
    return [(f"{name} : {its_type}", texts[name]) for name, its_type in zip(each, types)]


def numpy_style(
    documentation: str, function: Any, margin: str = MARGIN, texts: dict[str, str] = _TEXTS
) -> str:
    """Return the docstring of a function, or of its class, with sections in place of fields.

    :param margin: A line's end and the indentation.
    :param texts: Texts of the parameters without one.
    """
    for kind in _SECTIONS:
        before, start, rest = documentation.partition(f"\n{margin}:{kind}")
        if start:
            fields, gap, after = rest.partition("\n\n")
            function = getattr(function, "__wrapped__", function)
            sections = _sections(f"{kind}{fields}".split(f"{margin}:"), function, margin, texts)
            documentation = f"{before}\n{sections}{gap}{after}"
            break
    before, start, after = documentation.partition(f"\n{margin}>>> ")
    if not start or "Examples\n" in before:
        return documentation
    head = f"\n{margin}Examples{margin}--------"
    for name, line in _IMPORTS.items():
        if f"{name}." in after and line not in after:
            head += f"{margin}>>> {line}"
    return f"{before}{head}{start[1:]}{after}"


def complete(module: str, **texts: str) -> None:
    """Make the sections of the docstrings of all functions and classes that a module defines.

    :param module: Name of the module.
    :param texts: Texts of the parameters without one, besides those of `_TEXTS`.
    """
    known = {**_TEXTS, **texts}

    def make(thing: Any, function: Any, margin: str) -> None:
        text = thing.__doc__
        if text and "\n" in text:
            thing.__doc__ = numpy_style(text, function, margin, known)

    inner = MARGIN if MARGIN == "\n" else f"{MARGIN}    "
    for thing in [*vars(sys.modules[module]).values()]:
        if not isinstance(thing, (type, FunctionType)) or thing.__module__ != module:
            continue
        if isinstance(thing, type):
            maker = vars(thing).get("__new__", vars(thing).get("__init__"))
            make(thing, getattr(maker, "__func__", maker), MARGIN)
            for member in vars(thing).values():
                if isinstance(member, (FunctionType, staticmethod, classmethod)):
                    function = getattr(member, "__func__", member)
                    make(function, function, inner)
        else:
            make(thing, thing, MARGIN)
