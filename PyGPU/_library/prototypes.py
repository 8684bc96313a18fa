"""Plain declarations of functions, read without a compiler: ``int f(double *a, long n);``."""

from __future__ import annotations

import re
from typing import NamedTuple

from PyGPU._compile.source import comments, declarations, signature

_STREAMS = {"cudaStream_t", "hipStream_t", "CUstream", "hipStream"}
_ERRORS = {"cudaError_t", "hipError_t", "cudaError"}
_NUMBERS = "iufbBc"

Element = tuple[str, int]
_UNKNOWN: Element = ("?", 0)


class Type(NamedTuple):
    """A type as <PyGPU/export.h> writes it into a library."""

    kind: str
    nbytes: int
    is_const: bool = False
    element: Element = _UNKNOWN
    component: Element = _UNKNOWN


class Prototype(NamedTuple):
    """The declaration of a function."""

    name: str  # with its namespaces
    result: Type
    parameters: tuple[tuple[str, Type], ...]
    text: str  # in one line

    @property
    def short_name(self) -> str:
        return self.name.rpartition("::")[2]


class DeclarationError(ValueError):
    """A declaration that cannot be read."""


def _aliases(text: declarations.Source) -> dict[str, str]:
    """Return the types that a text defines by other types."""
    aliases = dict(signature.aliases(text))
    enumeration = r"\benum\s+(?:class\s+|struct\s+)?(\w+)(?:\s*:\s*([\w: ]+?)\s*(?=[{;]))?"
    for name, underlying in re.findall(enumeration, text.code):
        aliases.setdefault(name, underlying or "int")
    for match in re.finditer(r"\btypedef\s+enum\b[^;{}]*\{", text.code):
        declared = declarations.read(text.code, match.start())
        aliases.update((one.name, "int") for one in declared.declarators if not one.pointers)
    return aliases


def _resolved(words: str, aliases: dict[str, str]) -> str:
    for _ in range(8):
        replaced = re.sub(r"\b\w+\b", lambda m: aliases.get(m.group(), m.group()), words)
        if replaced == words:
            break
        words = replaced
    return words


def _type(text: str, aliases: dict[str, str], line: str) -> Type:
    base = declarations.read_type(text).base()
    if "*" not in text and base in _STREAMS | _ERRORS:
        return Type("S", 8) if base in _STREAMS else Type("E", 4)
    declared = declarations.read_type(_resolved(text, aliases))
    (one, *_) = declared.declarators or (declarations.Declarator("", 0, ("&",)),)
    if one.is_nested or one.parameters or not {"&", "&&"}.isdisjoint(one.pointers):
        raise DeclarationError(
            f"declarations: {line}: references and function types cannot be read"
        )
    base, depth, is_const = declared.base(), one.pointers.count("*"), "const" in declared.words
    kind, nbytes = signature.parameter(f"{base} _")[1:]
    if depth:
        element = ("P", 8) if depth > 1 else (kind[0], nbytes) if nbytes else _UNKNOWN
        return Type("P", 8, is_const and depth == 1, element)
    if base == "void":
        return Type("v", 0)
    if kind == "?" or kind not in _NUMBERS:
        raise DeclarationError(f"declarations: {line}: the type {text.strip()!r} is unknown")
    return Type(kind, nbytes)


def types_of(parameters: str) -> list[Type] | None:
    """Return the types in a list of parameters as a demangler writes it; None if one is unknown."""
    names = r"\b(?:CUstream_st|ihipStream_t|PyGPUHostStream)\s*\*"
    text = re.sub(names, "cudaStream_t", parameters)
    try:
        return [
            _type(re.sub(r"(\w+(?: \w+)*?) const\b", r"const \1", one), {}, parameters)
            for one in declarations.split_top(text)
            if one != "void"
        ]
    except DeclarationError:
        return None


def _parameter(text: str, aliases: dict[str, str], line: str) -> tuple[str, Type]:
    declared = declarations.read(text)
    if not declared.declarators:
        raise DeclarationError(f"declarations: cannot read {line!r}")
    (one, *_) = declared.declarators
    is_plain = not (one.is_nested or one.parameters)
    kind = declared.type_of(one) + "*" * len(one.arrays) if is_plain else text
    return one.name, _type(kind, aliases, line)


# A macro whose expansion changes no type: nothing, an attribute, a linkage, one specifier.
_EMPTY_MACRO = (
    r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]*"
    r"(?=$|(?:__restrict__|__restrict|restrict|inline|static)[ \t]*$"
    r'|(?:__attribute__|__declspec|\[\[|extern(?:\s*"\s*")?\s*(?:$|__))[^;{}]*$)'
)
_SPECIFIERS = r'\b(?:extern(?:\s*"[^"]*")?|static|inline|__host__|noexcept)(?!\w)'


def read(text: str, unreadable: dict[str, str] | None = None) -> list[Prototype]:
    """Return the functions that a text of C, or of C++ with plain types, declares.

    The types are numbers, pointers to them, streams, and errors of the runtime; typedefs, using and
    enumerations are understood. Bodies, variables, templates, operators and members are left out. A
    declaration that cannot be read raises DeclarationError, which shows it; a dict `unreadable`
    gets the messages instead, by the functions' names.
    """
    if not text.strip():
        return []
    blanked = comments.blanked(text)
    empty = "|".join(re.findall(_EMPTY_MACRO, blanked)) or "(?!)"
    plain = comments.without_directives(blanked)
    source = declarations.Source(re.sub(rf"\b(?:{empty})\b", comments.spaces, plain))
    aliases = _aliases(source)
    found = []
    for start, end in zip(source.starts, [*source.starts[1:], len(plain)]):
        around = source.around(start)
        is_body = any(one.name is None or one.is_class for one in around)
        if is_body or "(" not in source.code[start:end]:
            continue
        declared = source.statement(start)
        line = " ".join(re.sub(_SPECIFIERS, " ", source.code[start : declared.end]).split())
        try:
            if one := _function(declared, line, source.code):
                namespaces = "".join(f"{scope.name}::" for scope in around if scope.name)
                found.append(_prototype(declared, one, namespaces, line, source, aliases))
        except DeclarationError as error:
            name = re.search(r"(\w+)\s*\(", line)
            if unreadable is None:
                raise
            if name:
                unreadable[name[1]] = str(error)
    return found


def _function(
    declared: declarations.Declaration, line: str, code: str
) -> declarations.Declarator | None:
    """Return the function that a statement declares, or None for something else."""
    words = declared.words
    if declared.template is not None or not {"typedef", "using", "friend", "~"}.isdisjoint(words):
        return None
    one = declared.declarators[0] if declared.declarators else None
    if one and one.parameters:
        is_of_device = "__global__" in words or ("__device__" in words and "__host__" not in words)
        tail = code[one.parameters[1] + 1 : declared.end]
        if not is_of_device and not re.match(r"\s*(?:const|volatile|&|->)", tail):
            return one
    elif not any("(" in word for word in words) and not re.match(r"\s*\(", code[declared.end :]):
        return None
    raise DeclarationError(f"declarations: cannot read {line!r}")


def _prototype(
    declared: declarations.Declaration,
    one: declarations.Declarator,
    namespaces: str,
    line: str,
    source: declarations.Source,
    aliases: dict[str, str],
) -> Prototype:
    inside = source.code[slice(*one.parameters)] if one.parameters else ""
    parts = [] if inside.strip() in ("", "void") else declarations.split_top(inside)
    if any(part == "..." for part in parts):
        raise DeclarationError(f"declarations: {line}: variable arguments cannot be passed")
    parameters = tuple(_parameter(part, aliases, line) for part in parts)
    result = _type(declared.type_of(one), aliases, line)
    return Prototype(namespaces + one.name, result, parameters, line + ";")
