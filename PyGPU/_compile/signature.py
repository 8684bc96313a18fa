"""What kernel text says of its kernels: names and parameters, read without a compiler.

The runtime tells only the sizes of a kernel's parameters. Their kinds, which decide whether a plain
Python number can be passed, are in the source. What this reader does not understand it calls
unknown; a wrong guess is caught by the sizes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Parameter(NamedTuple):
    """One parameter of a kernel."""

    name: str
    kind: str  # as in src/python/launch/packing.h
    nbytes: int  # 0: not known


class Kernel(NamedTuple):
    """A ``__global__`` function with a body."""

    name: str
    parameters: tuple[Parameter, ...]
    is_template: bool
    scope: str  # "outer::inner" for a kernel in namespaces


#: C's names of NumPy's types; kernel text that we write has the first.
C_NAMES: dict[str, tuple[str, ...]] = {
    "b1": ("bool",),
    "i1": ("signed char", "char", "int8_t"),
    "u1": ("unsigned char", "uint8_t", "uchar"),
    "i2": ("short", "signed short", "short int", "signed short int", "int16_t"),
    "u2": ("unsigned short", "unsigned short int", "uint16_t", "ushort"),
    "i4": ("int", "signed int", "signed", "int32_t"),
    "u4": ("unsigned", "unsigned int", "uint32_t", "uint"),
    "i8": ("long", "long int", "signed long", "signed long int", "long long", "long long int")
    + ("signed long long", "int64_t", "ssize_t", "ptrdiff_t", "intptr_t", "npy_int64"),
    "u8": ("unsigned long", "unsigned long int", "unsigned long long", "unsigned long long int")
    + ("uint64_t", "size_t", "ulong", "uintptr_t", "cudaTextureObject_t", "cudaSurfaceObject_t"),
    "f2": ("half", "__half"),
    "f4": ("float",),
    "f8": ("double",),
    "c8": ("pycuda::complex<float>", "cuFloatComplex", "cuComplex"),
    "c16": ("pycuda::complex<double>", "cuDoubleComplex"),
}
_TYPES = {
    prefix + name: (code[0], int(code[1:]))
    for code, names in C_NAMES.items()
    for name in names
    for prefix in ("", "std::")
}

_NOISE = re.compile(
    r"\b(?:const|volatile|register|struct|__restrict__|__restrict|restrict|__grid_constant__"
    r"|typename)\b"
)
_WORD_ORDER = {"unsigned": 0, "signed": 0, "long": 1, "short": 1, "char": 2, "int": 3}


def without_comments(text: str) -> str:
    """The text with comments and the contents of literals blanked out, line by line in place."""

    def blank(match: re.Match[str]) -> str:
        token = match.group(0)
        if token.startswith("/"):
            return re.sub(r"[^\n]", " ", token)
        return token[0] + re.sub(r"[^\n]", " ", token[1:-1]) + token[-1]

    return re.sub(
        r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", blank, text, flags=re.S
    )


def matching(text: str, start: int, opening: str = "(", closing: str = ")") -> int:
    """Index behind the bracket that closes the one at ``start``; -1 where none does."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] == opening:
            depth += 1
        elif text[index] == closing:
            depth -= 1
            if depth == 0:
                return index + 1
    return -1


def split_top(text: str) -> list[str]:
    """Split at the commas that no bracket encloses."""
    parts, depth, last = [], 0, 0
    for index, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[last:index])
            last = index + 1
    parts.append(text[last:])
    return [part.strip() for part in parts if part.strip()]


def _aliases(text: str) -> dict[str, str]:
    """Types that the text gives another name: typedef, using and simple macros."""
    found = {}
    for old, new in re.findall(r"\btypedef\s+([\w:<> ]+?[\w>](?:\s*\*)*)\s*\b(\w+)\s*;", text):
        found[new] = old
    for new, old in re.findall(r"\busing\s+(\w+)\s*=\s*([\w:<> *]+?)\s*;", text):
        found[new] = old
    for new, old in re.findall(
        r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([\w:<> ]+?)[ \t]*$", text, re.M
    ):
        found[new] = old
    return found


def _normal(name: str) -> str:
    """One spelling for each type: "int unsigned" and "unsigned int" are the same."""
    name = re.sub(r"\s*([<>,:])\s*", r"\1", " ".join(name.split()))
    words = name.split()
    if len(words) > 1 and all(word in _WORD_ORDER for word in words):
        words.sort(key=_WORD_ORDER.__getitem__)
        if "int" in words and words not in (["signed", "int"], ["unsigned", "int"]):
            words.remove("int")
        name = " ".join(words)
    return name


def _parameter(text: str, types: dict[str, str]) -> Parameter:
    text = re.split(r"=(?!=)", text)[0].strip()
    name = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", text)
    label = name.group(1) if name else ""
    if "*" in text or re.search(r"\[[^\]]*\]\s*$", text):
        return Parameter(label, "P", 8)
    if "&" in text or name is None:
        return Parameter(label, "?", 0)
    declared = _normal(_NOISE.sub(" ", text[: name.start()]))
    if not declared:  # a type without a name
        declared, label = _normal(_NOISE.sub(" ", text)), ""
    for _ in range(8):
        if declared in _TYPES:
            kind, nbytes = _TYPES[declared]
            return Parameter(label, kind, nbytes)
        if declared not in types:
            break
        declared = types[declared]
        if "*" in declared:
            return Parameter(label, "P", 8)
        declared = _normal(_NOISE.sub(" ", declared))
    return Parameter(label, "?", 0)


def _scopes(text: str) -> list[tuple[int, int, str]]:
    """Where each namespace of the text begins and ends."""
    found = []
    for match in re.finditer(r"\bnamespace\s+([\w:]*)\s*\{", text):
        end = matching(text, match.end() - 1, "{", "}")
        found.append((match.end(), end if end > 0 else len(text), match.group(1)))
    return found


_GLOBAL = re.compile(r"\b__global__\b")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\(")
_ATTRIBUTE = ("__launch_bounds__", "__attribute__", "__cluster_dims__", "__maxnreg__", "alignas")


def kernels(source: str) -> list[Kernel]:
    """The kernels that a source defines, in their order.

    Parameters
    ----------
    source : str
        CUDA C++ text.

    Returns
    -------
    list of Kernel
        What a macro makes of nothing that looks like a kernel is not found.
    """
    text = without_comments(source)
    scopes, types = _scopes(text), _aliases(text)
    found = []
    for match in _GLOBAL.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if text[line_start : match.start()].lstrip().startswith("#"):
            continue  # a macro's body
        position = match.end()
        while True:
            name = _NAME.search(text, position)
            if not name:
                break
            end = matching(text, name.end() - 1)
            if name.group(1) not in _ATTRIBUTE or end < 0:
                break
            position = end
        if not name or end < 0 or not re.match(r"\s*\{", text[end:]):
            continue
        inside = text[name.end() : end - 1]
        parameters = [] if inside.strip() in ("", "void") else split_top(inside)
        before = re.split(r"[;{}]", text[: match.start()])[-1]
        scope = "::".join(
            label for begin, stop, label in scopes if label and begin <= match.start() < stop
        )
        found.append(
            Kernel(
                name.group(1),
                tuple(_parameter(part, types) for part in parameters),
                bool(re.search(r"\btemplate\b", before)),
                scope,
            )
        )
    return found


def of_instance(source: str, expression: str) -> tuple[Parameter, ...] | None:
    """Parameters of a kernel named as in C++: ``axpy``, ``scope::axpy`` or ``axpy<float, 4>``."""
    name, _, rest = expression.partition("<")
    name = name.strip().lstrip(":")
    for kernel in kernels(source):
        full = f"{kernel.scope}::{kernel.name}" if kernel.scope else kernel.name
        if name not in (full, kernel.name):
            continue
        if not kernel.is_template:
            return kernel.parameters
        return _with_arguments(source, kernel, split_top(rest.rstrip()[:-1]) if rest else [])
    return None


def _with_arguments(source: str, kernel: Kernel, arguments: Sequence[str]) -> tuple[Parameter, ...]:
    """The parameters of a template's instance: its type parameters become aliases."""
    text = without_comments(source)
    head = re.search(
        rf"\btemplate\s*<([^{{}};]*)>\s*(?:extern\s*\"C\"\s*)?[\w\s]*__global__[^;{{}}]*?\b{kernel.name}\s*\(",
        text,
    )
    if not head:
        return kernel.parameters
    names = []
    for parameter in split_top(head.group(1)):
        match = re.match(r"(?:typename|class)\s+(\w+)", parameter)
        names.append(match.group(1) if match else "")
    types = _aliases(text)
    types.update({name: value for name, value in zip(names, arguments) if name})
    start = head.end() - 1
    inside = text[start + 1 : matching(text, start) - 1]
    return tuple(_parameter(part, types) for part in split_top(inside))
