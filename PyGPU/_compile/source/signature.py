"""Names and parameters of the kernels in a text, read without a compiler.

The runtime reports only the sizes of a kernel's parameters. Their kinds, which decide whether a
plain Python number can be passed, are in the source. The reader marks types that it does not
understand as unknown, and kernels that a preprocessor may change as unsure. kernel_types.py asks
the compiler about both.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from PyGPU._compile.source import c_names, comments


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


_NOISE = (
    r"\b(?:const|volatile|register|struct|__restrict__|__restrict|restrict|__grid_constant__"
    r"|typename)\b"
)
_WORD_ORDER = {"unsigned": 0, "signed": 0, "long": 1, "short": 1, "char": 2, "int": 3}


def matching(text: str, start: int, opening: str = "(", closing: str = ")") -> int:
    """Return the index after the bracket that closes the one at `start`; -1 if none does."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] == opening:
            depth += 1
        elif text[index] == closing:
            depth -= 1
            if depth == 0:
                return index + 1
    return -1


def bare_name(expression: str) -> str:
    """Return the qualified name in a name expression, without cast, ``&`` and leading ``::``."""
    name = expression.strip()
    while match := re.match(r"(?:&|::)\s*|(?=\()", name):
        end = match.end() or matching(name, 0)
        if end < 1:
            break
        name = name[end:].lstrip() or name[1 : end - 1].strip()
    return name


def split_top(text: str) -> list[str]:
    """Split a text at the commas outside of brackets."""
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


def _aliases(text: str, macros: Iterable[str]) -> dict[str, set[str]]:
    """Return the aliases of types: typedef, using and simple macros, of the text and the options.

    An alias may mean several types, since conditions are not evaluated.
    """
    found: dict[str, set[str]] = {}
    rows = [
        (new, old)
        for old, new in re.findall(r"\btypedef\s+([\w:<> ]+?[\w>](?:\s*\*)*)\s*\b(\w+)\s*;", text)
    ]
    rows += re.findall(r"\busing\s+(\w+)\s*=\s*([\w:<> *]+?)\s*;", text)
    rows += re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([\w:<> *]+?)[ \t]*$", text, re.M)
    for macro in macros:
        name, _, value = macro[2:].partition("=")
        rows.append((name.strip(), value.strip() if macro.startswith("-D") else ""))
    for new, old in rows:
        found.setdefault(new, set()).add(old)
    return found


def _normal(name: str) -> str:
    """Return one spelling for each type: "unsigned int" for "int unsigned"."""
    name = re.sub(r"\s*([<>,:])\s*", r"\1", " ".join(name.split()))
    words = name.split()
    if len(words) > 1 and all(word in _WORD_ORDER for word in words):
        words.sort(key=_WORD_ORDER.__getitem__)
        if "int" in words and words not in (["signed", "int"], ["unsigned", "int"]):
            words.remove("int")
        name = " ".join(words)
    return name


def _resolve(declared: str, types: Mapping[str, set[str]], depth: int = 0) -> tuple[str, int]:
    """Return (kind, bytes) of a type; ("?", 0) if it is unknown or ambiguous."""
    if "*" in declared:
        return "P", 8
    declared = _normal(re.sub(_NOISE, " ", declared))
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


def _pointee(text: str, name: re.Match[str] | None, types: Mapping[str, set[str]]) -> str:
    """Return "f4w" for ``float *x`` and ``float x[4]``, "f4" for ``const float *x``.

    Return "" if the type is unknown.
    """
    stars, brackets = text.count("*"), text.count("[")
    if "(" in text or stars + brackets != 1:
        return "P8" if stars > 1 and "(" not in text else ""
    declared = text.partition("*")[0] if stars else text[: name.start() if name else 0]
    element = _element(declared, types)
    return element + ("w" if element and not _may_be_const(declared, types) else "")


def _element(declared: str, types: Mapping[str, set[str]]) -> str:
    """Return "f4" for a number, "f4x2" for a vector, "s24" for a structure; "" if it is unknown."""
    kind, nbytes = _resolve(declared, types)
    if nbytes:
        return f"{kind[0]}{nbytes}"
    declared = _normal(re.sub(_NOISE, " ", declared))
    found = types.get(declared.rpartition("::")[2], {declared})
    one = next(iter(found)) if len(found) == 1 else ""
    if hip := re.fullmatch(r"HIP_vector_type<([\w ]+),(\d)u?>", one):
        kind, nbytes = _resolve(hip[1], {})
        return f"{kind}{nbytes}x{hip[2]}"
    if one in c_names.VECTORS:
        kind, nbytes, count = c_names.VECTORS[one]
        return f"{kind}{nbytes}x{count}"
    structure = re.fullmatch(r"structure<(\d+),\d+>", one)
    return f"s{structure[1]}" if structure else ""


_STRUCTURE = r"(\btypedef\s+)?\bstruct\s+(?:(?:__align__|alignas)\s*\(\s*(\d+)\s*\)\s*)?(\w*)\s*\{"
_FIELD = r"(?s)(.*?[\w>*]\s*?)(\b\w+\s*(?:\[\s*\d+\s*\]\s*)*)"


def _structures(text: str, types: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return {name: "structure<bytes,alignment>"} of the structures with fields of known types."""
    found: dict[str, set[str]] = {}
    code = comments.without_directives(text)
    for match in re.finditer(_STRUCTURE, code):
        end = matching(code, match.end() - 1, "{", "}")
        before = re.split(r"[;{}]", code[: match.start()])[-1]
        if end < 0 or re.search(r"\btemplate\b", before):
            continue
        name = match[3]
        if match[1]:
            named = re.match(r"\s*(\w+)\s*;", code[end:])
            name = named[1] if named else name
        size = _size_of(text[match.end() : end - 1], types, found, int(match[2] or 1))
        found.setdefault(name, set()).add(size)
    return found


def _size_of(
    members: str, types: Mapping[str, set[str]], known: Mapping[str, set[str]], alignment: int
) -> str:
    """Return "structure<bytes,alignment>"; "" if a member is of unknown size."""
    if re.search(
        r"#|[:({=]|\b(?:static|virtual|struct|union|enum|typedef|using)\b",
        members.replace("::", ""),
    ):
        return ""
    size = 0
    for part in members.split(";"):
        base = None
        for declared in split_top(part):
            field = re.fullmatch(_FIELD, declared if base is None else f"{base} {declared}")
            if not field:
                return ""
            base = field[1].replace("*", "") if base is None else base
            nbytes, needed = _layout_of(field[1], types, known)
            if not nbytes:
                return ""
            size = (size + needed - 1) // needed * needed
            size += nbytes * math.prod(map(int, re.findall(r"\[\s*(\d+)", field[2])))
            alignment = max(alignment, needed)
    size = (max(size, 1) + alignment - 1) // alignment * alignment
    return f"structure<{size},{alignment}>"


def _layout_of(
    declared: str, types: Mapping[str, set[str]], known: Mapping[str, set[str]]
) -> tuple[int, int]:
    """Return (bytes, alignment) of a type; (0, 0) if it is unknown."""
    kind, nbytes = _resolve(declared, types)
    if nbytes:
        return (nbytes, nbytes) if kind != "c" else (0, 0)  # classes of complex numbers differ
    name = _normal(re.sub(_NOISE, " ", declared))
    if name in c_names.VECTORS and "_" not in name:
        _, nbytes, count = c_names.VECTORS[name]
        return nbytes * count, min(16, nbytes * count) if count != 3 else nbytes
    found = known.get(name, set())
    match = re.fullmatch(r"structure<(\d+),(\d+)>", next(iter(found))) if len(found) == 1 else None
    return (int(match[1]), int(match[2])) if match else (0, 0)


def parameter(text: str, types: Mapping[str, set[str]] = MappingProxyType({})) -> Parameter:
    """Return the parameter that a declaration means; `types` has the aliases of types."""
    text = re.split(r"=(?!=)", text)[0].replace("&", "*").strip()  # a reference is an address
    name = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", text)
    label = name.group(1) if name else ""
    if "*" in text or re.search(r"\[[^\]]*\]\s*$", text):
        return Parameter(label, "P" + _pointee(text, name, types), 8)
    if name is None:
        return Parameter(label, "?", 0)
    declared = _normal(re.sub(_NOISE, " ", text[: name.start()]))
    if not declared:  # the declaration has a type only
        declared, label = text, ""
    return Parameter(label, *_resolve(declared, types))


class Scope(NamedTuple):
    """Text in braces that holds declarations."""

    start: int
    end: int
    name: str | None  # of a namespace or a class; "": it has none; None: a function, a value
    is_anonymous: bool = False
    is_template: bool = False
    access: str = "public"  # of members before the first label
    is_class: bool = False


_NAMESPACE = r"\bnamespace\s*([\w:]*)\s*$"
_CLASS = r"\b(struct|class|union)\s+(?:\w+\s+)?(\w+)\s*(?:\bfinal\s*)?(?::(?!:)[^()=]*)?$"


def scopes(text: str) -> list[Scope]:
    """Return the scopes of a text without comments, the outer ones first."""
    text = comments.without_directives(text)
    found: list[Scope] = []
    inside: list[Scope] = []
    last = 0
    for match in re.finditer(r"[{};]", text):
        before = text[last : match.start()]
        last = match.end()
        if match.group() == "}" and inside:
            found.append(inside.pop()._replace(end=last))
        elif match.group() == "{":
            inside.append(_scope(before)._replace(start=last, end=len(text)))
    return sorted([*found, *inside])


def _scope(before: str) -> Scope:
    """Return the scope that a text before a brace opens, without its place."""
    if match := re.search(_NAMESPACE, before):
        return Scope(0, 0, match[1], is_anonymous=not match[1])
    if re.search(r'\bextern\s*"[^"]*"\s*$', before):
        return Scope(0, 0, "")
    match = None if re.search(r"\benum\b", before) else re.search(_CLASS, before)
    is_template = bool(re.search(r"\btemplate\b", before))
    access = "private" if match and match[1] == "class" else "public"
    name = match[2] if match else None
    return Scope(0, 0, name, is_template=is_template, access=access, is_class=bool(match))


_NAME = r"([A-Za-z_]\w*)\s*\("
_ATTRIBUTE = ("__launch_bounds__", "__attribute__", "__cluster_dims__", "__maxnreg__", "alignas")


def _marks(text: str, macros: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of ``__global__`` and of macros that contain it."""
    found = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t][^\n]*\b__global__\b", text, re.M)
    found += [macro[2:].partition("=")[0] for macro in macros if "__global__" in macro]
    return re.compile(rf"\b(?:{'|'.join(['__global__', *map(re.escape, found)])})\b")


def kernels(source: str, macros: Sequence[str] = ()) -> list[Kernel]:
    """Return the kernels that a source defines, in their order; macros are ``-DNAME=value``.

    Kernels made by a macro with arguments are missing. Kernels under conditions are included.
    """
    text = comments.blanked(source)
    around, types = scopes(text), _aliases(text, macros)
    structures = _structures(text, types)
    pointees = {**structures, **types}
    found = []
    for match in _marks(text, macros).finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if text[line_start : match.start()].lstrip().startswith("#"):
            continue  # the body of a macro
        position = match.end()
        while True:
            name = re.compile(_NAME).search(text, position)
            if not name:
                break
            end = matching(text, name.end() - 1)
            if name.group(1) not in _ATTRIBUTE or end < 0:
                break
            position = end
        if not name or end < 0 or not re.match(r"\s*\{", text[end:]):
            continue
        if re.search("[;{}]", text[position : name.start()]):  # no name: an explicit instance
            continue
        inside = text[name.end() : end - 1]
        parameters = [] if inside.strip() in ("", "void") else split_top(inside)
        before = re.split(r"[;{}]", text[: match.start()])[-1]
        scope = "::".join(
            one.name for one in around if one.name and one.start <= match.start() < one.end
        )
        known = tuple(parameter(part, pointees) for part in parameters)
        is_sure = types.keys().isdisjoint(re.findall(r"\w+", name.group(1) + " " + inside))
        own_names = [one for one in types.get(name.group(1), ()) if re.fullmatch(_NAME, f"{one}(")]
        found.append(
            Kernel(
                own_names[0] if len(own_names) == 1 else name.group(1),
                known,
                bool(re.search(r"\btemplate\b", before)),
                scope,
                is_sure and all(one.kind != "?" for one in known),
                ", ".join(re.split(r"=(?!=)", part)[0].strip() for part in parameters),
            )
        )
    several = {name for name, count in Counter(one.full_name for one in found).items() if count > 1}
    return [one._replace(is_sure=one.is_sure and one.full_name not in several) for one in found]
