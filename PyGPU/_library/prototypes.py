"""Plain declarations of functions, read without a compiler: ``int f(double *a, long n);``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from PyGPU._compile.source import comments, signature

_STREAMS = {"cudaStream_t", "hipStream_t", "CUstream", "hipStream"}
_ERRORS = {"cudaError_t", "hipError_t", "cudaError"}
_ATTRIBUTE = r"__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\]|__declspec\s*\([^()]*\)"
_FUNCTION = r"(?s)(.*?)((?:\w+\s*::\s*)*\w+)\s*\((.*)\)\s*"
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


def _aliases(text: str) -> dict[str, str]:
    """Return the types that a text defines by other types."""
    aliases: dict[str, str] = {}
    for old, new in re.findall(r"\btypedef\s+([\w:<> ]+?[\w>](?:\s*\*)*)\s*\b(\w+)\s*;", text):
        aliases[new] = old
    for new, old in re.findall(r"\busing\s+(\w+)\s*=\s*([\w:<> *]+?)\s*;", text):
        aliases[new] = old
    for new in re.findall(r"\btypedef\s[^;{}]*\(\s*\*\s*(\w+)\s*\)\s*\([^;{}]*\)\s*;", text):
        aliases[new] = "void *"  # a function's address
    enumeration = r"\benum\s+(?:class\s+|struct\s+)?(\w+)(?:\s*:\s*([\w: ]+?)\s*(?=[{;]))?"
    for name, underlying in re.findall(enumeration, text):
        aliases.setdefault(name, underlying or "int")
    for name in re.findall(r"\btypedef\s+enum\b[^{};]*\{[^{}]*\}\s*(\w+)\s*;", text):
        aliases[name] = "int"
    return aliases


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """Yield the declarations in namespaces, each in one line, with the names of its namespaces."""
    scopes = signature.scopes(text)
    for scope in scopes:
        if scope.name is None or scope.is_class:  # a body
            inside = text[scope.start : scope.end]
            text = f"{text[: scope.start - 1]};{' ' * len(inside)}{text[scope.end :]}"
    for match in re.finditer(r"[^;{}]+", text):
        inner = [one.name for one in scopes if one.start <= match.start() < one.end and one.name]
        line = re.sub(r'\bextern\s*"[^"]*"', " ", match.group())
        yield " ".join(line.split()), "".join(f"{name}::" for name in inner)


def _resolved(words: str, aliases: dict[str, str]) -> str:
    for _ in range(8):
        replaced = re.sub(r"\b\w+\b", lambda m: aliases.get(m.group(), m.group()), words)
        if replaced == words:
            break
        words = replaced
    return words


def _type(declared: str, aliases: dict[str, str], line: str) -> Type:
    words = " ".join(declared.replace("*", " * ").split())
    bare = re.sub(r"\b(?:const|volatile|struct|enum)\b", " ", words).strip()
    if bare in _STREAMS:
        return Type("S", 8)
    if bare in _ERRORS:
        return Type("E", 4)
    words = " ".join(_resolved(words, aliases).replace("*", " * ").split())
    if "&" in words or "(" in words:
        raise DeclarationError(
            f"declarations: {line}: references and function types cannot be read"
        )
    base, star, rest = words.partition("*")
    is_const = bool(re.search(r"\bconst\b", base))
    base = " ".join(re.sub(r"\b(?:const|volatile|struct|enum)\b", " ", base).split())
    if not star:
        if base == "void":
            return Type("v", 0)
        kind, nbytes = signature.parameter(f"{base} x")[1:]
        if kind == "?" or kind not in _NUMBERS:
            raise DeclarationError(
                f"declarations: {line}: the type {declared.strip()!r} is unknown"
            )
        return Type(kind, nbytes)
    if "*" in rest:
        return Type("P", 8, False, ("P", 8))
    if base == "void":
        return Type("P", 8, is_const)
    kind, nbytes = signature.parameter(f"{base} x")[1:]
    return Type("P", 8, is_const, (kind[0], nbytes) if nbytes else _UNKNOWN)


def types_of(parameters: str) -> list[Type] | None:
    """Return the types in a list of parameters as a demangler writes it; None if one is unknown."""
    names = r"\b(?:CUstream_st|ihipStream_t|PyGPUHostStream)\s*\*"
    text = re.sub(names, "cudaStream_t", parameters)
    try:
        return [
            _type(re.sub(r"(\w+(?: \w+)*?) const\b", r"const \1", one), {}, parameters)
            for one in signature.split_top(text)
            if one != "void"
        ]
    except DeclarationError:
        return None


def _parameter(text: str, aliases: dict[str, str], line: str) -> tuple[str, Type]:
    text = re.split(r"=(?!=)", text)[0].strip()
    stars = text.count("[")
    text = re.sub(r"\[[^\]]*\]", " ", text).strip()
    found = re.fullmatch(r"(.*?[\s*])(\w+)", text, re.DOTALL)
    declared, name = found.groups() if found else (text, "")
    is_type = re.fullmatch(r"int|long|short|char|unsigned|signed|float|double|bool|const", name)
    if is_type or not re.sub(r"\b(?:const|volatile|struct|enum)\b|\w+\s*::|\s", "", declared):
        declared, name = text, ""
    return name, _type(declared + "*" * stars, aliases, line)


# A macro whose expansion changes no type: nothing, an attribute, a linkage.
_EMPTY_MACRO = (
    r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]*"
    r'(?=$|(?:__attribute__|__declspec|\[\[|extern(?:\s*"\s*")?\s*(?:$|__))[^;{}]*$)'
)
_IGNORED = (
    r'\b(?:extern(?!\s*")|static|inline|__host__|noexcept|__restrict__|__restrict|restrict)\b'
)


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
    plain = comments.without_directives(blanked)
    empty = "|".join(re.findall(_EMPTY_MACRO, blanked)) or "(?!)"
    for noise in (_ATTRIBUTE, _IGNORED, rf"\b(?:{empty})\b"):
        plain = re.sub(noise, comments.spaces, plain, flags=re.DOTALL)
    aliases = _aliases(plain)
    found = []
    for line, namespaces in _statements(plain):
        if "(" not in line or re.match(r"(?:typedef|using|template|friend)\b", line):
            continue
        if re.search(r"\boperator\b|^[\w:]*~", line):
            continue
        try:
            found.append(_prototype(line, namespaces, aliases))
        except DeclarationError as error:
            name = re.search(r"(\w+)\s*\(", line)
            if unreadable is None or not name:
                raise
            unreadable[name[1]] = str(error)
    return found


def _prototype(line: str, namespaces: str, aliases: dict[str, str]) -> Prototype:
    match = re.fullmatch(_FUNCTION, line)
    if not match or not match.group(1).strip():
        raise DeclarationError(f"declarations: cannot read {line!r}")
    result, name, inside = match.groups()
    parts = [] if inside.strip() in ("", "void") else signature.split_top(inside)
    if any(part == "..." for part in parts):
        raise DeclarationError(f"declarations: {line}: variable arguments cannot be passed")
    parameters = tuple(_parameter(part, aliases, line) for part in parts)
    full_name = namespaces + re.sub(r"\s", "", name)
    return Prototype(full_name, _type(result, aliases, line), parameters, line + ";")
