"""Names and parameters of the kernels in a text, read without a compiler.

The runtime reports only the sizes of a kernel's parameters. Their kinds, which decide whether a
plain Python number can be passed, are in the source. The reader marks types that it does not
understand as unknown, and kernels that a preprocessor may change as unsure. kernel_types.py asks
the compiler about both.
"""

from __future__ import annotations

import math
import re
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from PyGPU._compile.source import c_names, declarations


class Parameter(NamedTuple):
    """A parameter of a kernel."""

    name: str
    # Kind as in src/python/launch/packing.h. A pointer's kind has the type that it points to, if
    # that is known: "Pf4w" for numbers, "Pf4x2w" for float2, "Ps24w" for structures of 24 bytes.
    # The "w" is missing if the type is const.
    kind: str
    nbytes: int  # 0: unknown


class Kernel(NamedTuple):
    """A ``__global__`` function with a body."""

    name: str
    parameters: tuple[Parameter, ...]
    is_template: bool
    scope: str  # "outer::inner" for a kernel in namespaces
    is_sure: bool  # False: only the compiler knows the parameters' types
    types: str = ""  # declarations of the parameters, as in C++

    @property
    def full_name(self) -> str:
        return f"{self.scope}::{self.name}" if self.scope else self.name


_WORD_ORDER = {"unsigned": 0, "signed": 0, "long": 1, "short": 1, "char": 2, "int": 3}


def bare_name(expression: str) -> str:
    """Return the qualified name in a name expression, without cast, ``&`` and leading ``::``."""
    name = expression.strip()
    while match := re.match(r"(?:&|::)\s*|(?=\()", name):
        end = match.end() or declarations.closing(name, 0)
        if end < 1:
            break
        name = name[end:].lstrip() or name[1 : end - 1].strip()
    return name


def aliases(text: declarations.Source) -> Iterator[tuple[str, str]]:
    """Yield (new name, type) of the names that typedef and using declare."""
    for match in re.finditer(r"\btypedef\b|\busing\s+(\w+)\s*=(?!=)", text.code):
        declared = declarations.read(text.code, match.start() if match[1] is None else match.end())
        for one in declared.declarators:
            if one.is_nested:
                yield match[1] or one.name, "void*"  # an address
            elif "{}" not in declared.words and not one.arrays and one.parameters is None:
                yield match[1] or one.name, declared.type_of(one)


def _types(text: declarations.Source, macros: Iterable[str]) -> dict[str, set[str]]:
    """Return the aliases of types: typedef, using and simple macros, of the text and the options.

    An alias may mean several types, since conditions are not evaluated.
    """
    found: dict[str, set[str]] = {}
    rows = [*aliases(text)]
    definition = r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([\w:<> *]+?)[ \t]*$"
    rows += re.findall(definition, text.blank)
    for macro in macros:
        name, _, value = macro[2:].partition("=")
        rows.append((name.strip(), value.strip() if macro.startswith("-D") else ""))
    for new, old in rows:
        found.setdefault(new, set()).add(old)
    return found


def _normal(declared: str) -> str:
    """Return one spelling for each type: "unsigned int" for "int unsigned"."""
    words = declarations.read_type(declared).base().split()
    if len(words) > 1 and all(word in _WORD_ORDER for word in words):
        words.sort(key=_WORD_ORDER.__getitem__)
        if "int" in words and words not in (["signed", "int"], ["unsigned", "int"]):
            words.remove("int")
    return " ".join(words)


def _resolve(declared: str, types: Mapping[str, set[str]], depth: int = 0) -> tuple[str, int]:
    """Return (kind, bytes) of a type; ("?", 0) if it is unknown or ambiguous."""
    if re.search(r"[*&][\w\s*&]*$", declared):
        return "P", 8
    declared = _normal(declared)
    if declared not in types or depth == 8:
        return c_names.TYPES.get(declared, ("?", 0))
    found = {_resolve(one, types, depth + 1) for one in types[declared]}
    return found.pop() if len(found) == 1 else ("?", 0)


def _may_be_const(declared: str, types: Mapping[str, set[str]], depth: int = 0) -> bool:
    """Report whether a type is const, itself or as an alias."""
    words = re.findall(r"\w+", declared)
    return (
        "const" in words
        or depth == 8
        or any(
            _may_be_const(one, types, depth + 1) for word in words for one in types.get(word, ())
        )
    )


def _element(declared: str, types: Mapping[str, set[str]]) -> tuple[str, int, int]:
    """Return the code of a type, "f4", "f4x2" or "s24", its bytes and its alignment; 0: unknown."""
    kind, nbytes = _resolve(declared, types)
    if nbytes:  # classes of complex numbers differ in their alignment
        return f"{kind[0]}{nbytes}", nbytes, nbytes if kind != "c" else 0
    declared = _normal(declared)
    found = types.get(declared.rpartition("::")[2], {declared})
    one = next(iter(found)) if len(found) == 1 else ""
    if hip := re.fullmatch(r"HIP_vector_type<([\w ]+),(\d)u?>", one):
        kind, nbytes = _resolve(hip[1], {})
        return f"{kind}{nbytes}x{hip[2]}", 0, 0
    if one in c_names.VECTORS:
        kind, nbytes, count = c_names.VECTORS[one]
        alignment = nbytes if count == 3 else min(16, nbytes * count)
        return f"{kind}{nbytes}x{count}", nbytes * count, 0 if "_" in one else alignment
    structure = re.fullmatch(r"structure<(\d+),(\d+)>", one)
    return (f"s{structure[1]}", int(structure[1]), int(structure[2])) if structure else ("", 0, 0)


_STRUCTURE = r"\bstruct\b[^;{}=]*\{"
_HEAD = r"[\w\s]*?(?:(?:__align__|alignas)\s*\(\s*(\d+)\s*\))?[\w\s]*"


def _structures(text: declarations.Source, types: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return {name: "structure<bytes,alignment>"} of the structures with fields of known types."""
    found: dict[str, set[str]] = {}
    for match in re.finditer(_STRUCTURE, text.code):
        declared = text.statement(match.start())
        if declared.body is None or declared.template is not None:
            continue
        start, end = declared.body
        head = re.fullmatch(_HEAD, text.code[declared.start : start - 1])
        if not head or "(" in text.code[end : declared.end]:  # a base, other attributes
            continue
        size = _size_of(text.blank[start:end], ChainMap(types, found), int(head[1] or 1))
        names = [declared.words[declared.words.index("struct") + 1]]
        if "typedef" in declared.words:
            names += [one.name for one in declared.declarators if not one.pointers]
        for name in names:
            found.setdefault(name, set()).add(size)
    return found


def _size_of(members: str, types: Mapping[str, set[str]], alignment: int) -> str:
    """Return "structure<bytes,alignment>"; "" if a member is of unknown size."""
    if re.search(
        r"#|[:({=]|\b(?:static|virtual|struct|union|enum|typedef|using)\b",
        members.replace("::", ""),
    ):
        return ""
    size = 0
    for part in members.split(";"):
        declared = declarations.read(part)
        for one in declared.declarators:
            dims = re.fullmatch(r"(?:\[\s*\d+\s*\])*", "".join(one.arrays))
            _, nbytes, needed = _element(declared.type_of(one), types)
            if not needed or not dims or not one.name:
                return ""
            size = (size + needed - 1) // needed * needed
            size += nbytes * math.prod(map(int, re.findall(r"\d+", dims.group())))
            alignment = max(alignment, needed)
    size = (max(size, 1) + alignment - 1) // alignment * alignment
    return f"structure<{size},{alignment}>"


def parameter(text: str, types: Mapping[str, set[str]] = MappingProxyType({})) -> Parameter:
    """Return the parameter that a declaration means; `types` has the aliases of types."""
    declared = declarations.read(text)
    if not declared.declarators or "#" in text:  # a condition inside the declaration
        return Parameter("", "?", 0)
    one = declared.declarators[0]
    depth = sum(mark in "*&&" for mark in one.pointers)  # a reference is an address
    if one.is_nested or one.parameters is not None:
        return Parameter(one.name, "P", 8)
    if depth + len(one.arrays) == 1:
        kind = declared.type_of(one._replace(pointers=()))
        element, *_ = _element(kind, types)
        is_written = element and not _may_be_const(kind, types)
        return Parameter(one.name, f"P{element}{'w' if is_written else ''}", 8)
    if depth or one.arrays:
        return Parameter(one.name, "PP8" if depth > 1 else "P", 8)
    return Parameter(one.name, *_resolve(declared.type_of(one), types))


def _marks(text: str, macros: Iterable[str]) -> str:
    """Return the pattern of ``__global__`` and of macros that contain it."""
    found = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t][^\n]*\b__global__\b", text, re.M)
    found += [macro[2:].partition("=")[0] for macro in macros if "__global__" in macro]
    return rf"\b(?:{'|'.join(['__global__', *map(re.escape, found)])})\b"


def kernels(source: str, macros: Sequence[str] = ()) -> list[Kernel]:
    """Return the kernels that a source defines, in their order; macros are ``-DNAME=value``.

    Kernels made by a macro with arguments are missing. Kernels under conditions are included.
    """
    text = declarations.source(source)
    types = _types(text, macros)
    pointees = ChainMap(types, _structures(text, types))
    found = []
    for position, declared, one in text.functions(_marks(text.blank, macros)):
        if not declared.has_body:
            continue
        inside = text.blank[slice(*one.parameters or (0, 0))]
        parameters = [] if inside.strip() in ("", "void") else declarations.split_top(inside)
        scope = "::".join(one.name for one in text.around(position) if one.name)
        known = tuple(parameter(part, pointees) for part in parameters)
        is_sure = types.keys().isdisjoint(re.findall(r"\w+", f"{one.name} {inside}"))
        own_names = [name for name in types.get(one.name, ()) if name.isidentifier()]
        found.append(
            Kernel(
                own_names[0] if len(own_names) == 1 else one.name,
                known,
                declared.template is not None,
                scope,
                is_sure and all(one.kind != "?" for one in known),
                ", ".join(re.split(r"=(?!=)", part)[0].strip() for part in parameters),
            )
        )
    several = {name for name, count in Counter(one.full_name for one in found).items() if count > 1}
    return [one._replace(is_sure=one.is_sure and one.full_name not in several) for one in found]
