"""Plain declarations of functions, read without a compiler: ``int f(double *a, long n);``."""

from __future__ import annotations

import re
from typing import NamedTuple

from PyGPU._compile import signature

_STREAMS = {"cudaStream_t", "hipStream_t", "CUstream", "hipStream"}
_ERRORS = {"cudaError_t", "hipError_t", "cudaError"}
_ATTRIBUTE = r"__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\]|__declspec\s*\([^()]*\)"
_FUNCTION = re.compile(r"(.*?)((?:\w+\s*::\s*)*\w+)\s*\((.*)\)\s*", re.DOTALL)
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


def _aliases(text: str) -> tuple[str, dict[str, str]]:
    """Return the text without typedefs and definitions of types, and the types by their names."""
    aliases: dict[str, str] = {}
    for old, new in re.findall(r"\btypedef\s+([\w:<> ]+?[\w>](?:\s*\*)*)\s*\b(\w+)\s*;", text):
        aliases[new] = old
    for new, old in re.findall(r"\busing\s+(\w+)\s*=\s*([\w:<> *]+?)\s*;", text):
        aliases[new] = old
    for name in re.findall(r"\benum\s+(?:class\s+|struct\s+)?(\w+)", text):
        aliases.setdefault(name, "int")
    for name in re.findall(r"\btypedef\s+enum\b[^{};]*\{[^{}]*\}\s*(\w+)\s*;", text):
        aliases[name] = "int"
    text = re.sub(
        r"\b(?:typedef\s+)?(?:enum|struct|union|class)\b[^(){};]*\{[^{}]*\}[^;{}]*;", " ", text
    )
    text = re.sub(r"\b(?:typedef|using)\b[^;{}]*;", " ", text)
    return re.sub(r"\b(?:enum|struct|class)\s+\w+\s*;", " ", text), aliases


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
    kind_words = r"(?:int|long|short|char|unsigned|signed|float|double|bool|const|\w+_t)"
    if found and not re.fullmatch(kind_words, found.group(2)):
        declared, name = found.group(1), found.group(2)
    else:
        declared, name = text, ""
    return name, _type(declared + "*" * stars, aliases, line)


def read(text: str) -> list[Prototype]:
    """Return the functions that a text declares.

    Parameters
    ----------
    text : str
        Declarations of C, or of C++ with plain types: numbers, pointers to them, streams, and
        errors of the runtime. typedefs, using and enumerations are understood; bodies are skipped.

    Raises
    ------
    DeclarationError
        A declaration that cannot be read; the message shows it.
    """
    plain = signature.blanked(text)
    plain = re.sub(r"(?m)^[ \t]*#(?:[^\\\n]|\\.|\\\n)*", " ", plain)
    plain = re.sub(r'\bextern\s*"[^"]*"\s*\{', " ", plain)
    plain = re.sub(r'\bextern\s*"[^"]*"', " ", plain)
    plain = re.sub(_ATTRIBUTE, " ", plain, flags=re.DOTALL)
    plain = re.sub(
        r"\b(?:extern|static|inline|__host__|noexcept|__restrict__|__restrict|restrict)\b",
        " ",
        plain,
    )
    plain, aliases = _aliases(plain)
    plain = re.sub(r"\)\s*\{[^{}]*\}", ");", plain)
    found = []
    for statement in re.split(r"[;{}]", plain):
        line = " ".join(statement.split())
        if not line or ("(" not in line and re.fullmatch(r"namespace\b.*|[\w\s*]+", line)):
            continue
        match = _FUNCTION.fullmatch(line)
        if not match or not match.group(1).strip():
            raise DeclarationError(f"declarations: cannot read {line!r}")
        result, name, inside = match.groups()
        parts = [] if inside.strip() in ("", "void") else signature.split_top(inside)
        if any(part == "..." for part in parts):
            raise DeclarationError(f"declarations: {line}: variable arguments cannot be passed")
        parameters = tuple(_parameter(part, aliases, line) for part in parts)
        found.append(
            Prototype(re.sub(r"\s", "", name), _type(result, aliases, line), parameters, line + ";")
        )
    return found
