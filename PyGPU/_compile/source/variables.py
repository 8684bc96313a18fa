"""Variables and texture references that a text declares in device memory, read without a compiler.

Only the compiler knows the names in the image of variables in namespaces and classes, and of those
with internal linkage. Name expressions such as ``&q::C`` ask it for them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from PyGPU._compile.source import declarations
from PyGPU._compile.source.headers import REFERENCE_TYPE


class Variable(NamedTuple):
    """A variable of a text, or a texture or surface reference."""

    full_name: str  # "outer::inner::x"; anonymous namespaces are left out, as in C++
    words: tuple[str, ...]  # the declaration before the name
    scopes: tuple[declarations.Scope, ...]  # from the outermost to the innermost
    is_private: bool  # a member that other code must not name
    position: int  # index of the keyword in the text

    def has(self, words: str) -> bool:
        """Report whether the declaration has one of these words: ``"const|constexpr"``."""
        return not set(words.split("|")).isdisjoint(self.words)

    def is_elsewhere(self) -> bool:
        """Report whether another text defines the variable."""
        return any(
            word == "extern" and after[:1] != '"'
            for word, after in zip(self.words, [*self.words[1:], ""])
        )

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
        types = zip(self.words, self.words[1:])
        is_unnamed = any(a in declarations.CLASSES and b == "{}" for a, b in types)
        return not (is_inside or is_unnamed or self.has("static|const"))


_KEYWORD = r"\b(?:__device__|__constant__|__managed__)\b"


def _access(members: str, access: str) -> str:
    """Return the access to a member after other members of its class."""
    labels = re.findall(r"\b(public|private|protected)\s*:(?!:)", members)
    return labels[-1] if labels else access


def _declared(pattern: str, source: str) -> list[Variable]:
    """Return the variables in the declarations with a keyword, in the order of the text."""
    text = declarations.source(source)
    found: dict[str, Variable] = {}
    for match in re.finditer(pattern, text.code):
        declared = text.statement(match.start())
        if not declared.words or declared.words[0] in ("typedef", "using"):
            continue
        around = text.around(match.start())
        outer = [one.name for one in around if one.name]
        access = [_access(text.code[one.start : match.start()], one.access) for one in around]
        is_private = access != ["public"] * len(around)
        template = [] if declared.template is None else ["template"]
        for one in declared.declarators:
            if not one.name or one.parameters or one.start < match.start():
                continue
            full_name = "::".join([*outer, one.name])
            words = (*template, *declared.words, *one.pointers)
            found.setdefault(
                full_name, Variable(full_name, words, around, is_private, match.start())
            )
    return [*found.values()]


def variables(source: str) -> list[Variable]:
    """Return the ``__device__``, ``__constant__`` and ``__managed__`` variables of a text."""
    return _declared(_KEYWORD, source)


def references(source: str) -> list[Variable]:
    """Return the texture and surface references of a text, which are variables of its module."""
    # wrapping.with_visible_references removes this word for the compiler.
    return [
        one._replace(words=tuple(word for word in one.words if word != "static"))
        for one in _declared(REFERENCE_TYPE, source)
    ]


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
