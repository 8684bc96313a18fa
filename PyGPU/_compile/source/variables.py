"""Variables and texture references that a text declares in device memory, read without a compiler.

Only the compiler knows the names in the image of variables in namespaces and classes, and of those
with internal linkage. Name expressions such as ``&q::C`` ask it for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from PyGPU._compile.source import comments, signature


class Variable(NamedTuple):
    """A variable of a text, or a texture or surface reference."""

    full_name: str  # "outer::inner::x"; anonymous namespaces are left out, as in C++
    specifiers: str  # text of the declaration before the first declarator
    scopes: tuple[signature.Scope, ...]  # from the outermost to the innermost
    is_private: bool  # a member that other code must not name
    position: int  # index of the keyword in the text

    def has(self, words: str) -> bool:
        """Report whether the declaration has one of these words: ``"const|constexpr"``."""
        return re.search(rf"\b(?:{words})\b", self.specifiers) is not None

    def is_elsewhere(self) -> bool:
        """Report whether another text defines the variable."""
        return re.search(r'\bextern\b(?!\s*")', self.specifiers) is not None

    def is_in_namespace(self) -> bool:
        """Report whether the declaration is of a namespace, and defines no member of a class."""
        if any(scope.name is None or scope.is_class for scope in self.scopes):
            return False
        outer = [part for scope in self.scopes if scope.name for part in scope.name.split("::")]
        return len(self.full_name.split("::")) == len(outer) + 1

    def is_nameable(self) -> bool:
        """Report whether the name alone means a variable that this text defines."""
        is_open = all(scope.name is not None and not scope.is_template for scope in self.scopes)
        return is_open and not (self.is_private or self.is_elsewhere() or self.has("template"))

    def has_plain_name(self) -> bool:
        """Report whether the image has the variable by the name that it has in the text."""
        is_inside = any(scope.is_anonymous for scope in self.scopes) or "::" in self.full_name
        is_unnamed = re.search(r"\b(?:struct|class|union|enum)\s*$", self.specifiers)
        return not (is_inside or is_unnamed or self.has("static|const"))


_KEYWORD = r"\b(?:__device__|__constant__|__managed__)\b"
_REFERENCE = r"\b(?:texture|surface)\s*<[\w\s:,]*>"
_ATTRIBUTE = r"\b(?:__align__|alignas)\s*\([^()]*\)|\b__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\]"
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_STRUCTURE = r"\b(?:struct|class|union|enum)\b[^()=]*$"
_POINTER = r"\(\s*[*&][\s*&]*(?:const\b\s*)?(\w+)[^()]*\)"  # to a function, an array
# The last name of a declarator, after a type.
_NAME = r"(?:\w\s+|[*&>]\s*)(?:::)?(\w+(?:\s*::\s*\w+)*)\s*(?:\[[^\]]*\]\s*)*$"


def _declarators(text: str, position: int, before: str) -> Iterator[str]:
    """Yield the name of each variable in the declaration that continues at `position`.

    Parameters
    ----------
    text : str
        Text without comments, attributes and directives.
    position : int
        Index after the keyword that the declaration has.
    before : str
        The declaration's text before the keyword.
    """
    part, is_value, depth = f"{before} ", False, 0
    while position < len(text) and text[position] not in ";}":
        char = text[position]
        end = position + 1
        if char in _CLOSING:
            end = signature.matching(text, position, char, _CLOSING[char])
            if end < 0:
                return
        if is_value and char != ",":
            pass
        elif char == "(" or (char == "=" and re.search(r"\boperator\s*$", part)):
            pointer = re.fullmatch(_POINTER, text[position:end])
            if not pointer:  # a function
                return
            yield pointer[1]
            part, is_value = "", True
        elif char == "{" and re.search(_STRUCTURE, part):
            part = "structure "
        elif char in "={":
            is_value = True
            yield from _name_of(part)
            part = ""
        elif char == "," and depth <= 0:
            yield from _name_of(part)
            part, is_value = "more ", False
        else:
            depth += (char == "<") - (char == ">")
            part += text[position:end]
        position = end
    yield from _name_of(part)


def _name_of(part: str) -> Iterator[str]:
    name = re.search(_NAME, part)
    if name and not re.search(r"\b(?:struct|class|union|enum)\s+\w+\s*$", part):
        yield re.sub(r"\s+", "", name[1])


def _access(members: str, access: str) -> str:
    """Return the access to a member after other members of its class."""
    labels = re.findall(r"\b(public|private|protected)\s*:(?!:)", members)
    return labels[-1] if labels else access


def _declared(pattern: str, source: str) -> list[Variable]:
    """Return the variables in the declarations with a keyword, in the order of the text."""
    text = re.sub(
        _ATTRIBUTE, comments.spaces, comments.without_directives(comments.blanked(source))
    )
    scopes = signature.scopes(text)
    found: dict[str, Variable] = {}
    for match in re.finditer(pattern, text):
        begin = max(text.rfind(mark, 0, match.start()) for mark in ";{}") + 1
        before = text[begin : match.end()]
        around = tuple(one for one in scopes if one.start <= match.start() < one.end)
        outer = [one.name for one in around if one.name]
        access = [_access(text[one.start : match.start()], one.access) for one in around]
        words = before + re.split(r"[;={(,]", text[match.end() :], maxsplit=1)[0]
        for name in _declarators(text, match.end(), before):
            full_name = "::".join([*outer, name])
            is_private = access != ["public"] * len(around)
            found.setdefault(
                full_name, Variable(full_name, words, around, is_private, match.start())
            )
    return [*found.values()]


def variables(source: str) -> list[Variable]:
    """Return the ``__device__``, ``__constant__`` and ``__managed__`` variables of a text."""
    return _declared(_KEYWORD, source)


def references(source: str) -> list[Variable]:
    """Return the texture and surface references of a text, which are variables of its module."""
    # wrapping.with_visible_references removes the same word for the compiler.
    return _declared(_REFERENCE, re.sub(r"\bstatic\b", "", source))


def has_variables(source: str) -> bool:
    """Report whether the text declares variables in device memory that kernels can write."""
    return any(
        not (one.has("const|constexpr|__constant__") or one.is_elsewhere())
        for one in variables(source)
    )


def expressions(source: str) -> list[str]:
    """Return name expressions of the variables that an image has by other names than the text."""
    found = [*variables(source), *references(source)]
    return [
        f"&{one.full_name}"
        for one in found
        if one.is_nameable() and not one.has_plain_name() and not one.has("constexpr")
    ]
