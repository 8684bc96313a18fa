"""Declarations in C++ and CUDA texts, read without a compiler.

Braces and semicolons divide a text into scopes and statements. A statement is read token by token,
and only when a question about the text needs it. Conditions and macros are not evaluated.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from PyGPU._compile.source import comments

#: Words and marks of a text without comments.
TOKEN = re.compile(r'\w+|"[^"]*"?|::|->|&&|\.\.\.|[^\s\w]')


def words(text: str) -> frozenset[str]:
    """Return the words of a list in a text."""
    return frozenset(text.split())


_QUALIFIERS = words(
    "const volatile register mutable __restrict__ __restrict restrict __grid_constant__ typename "
    "struct class union enum"
)
_STORAGE = words(
    "static extern inline constexpr constinit consteval friend virtual explicit typedef noexcept "
    "thread_local __inline__ __forceinline__ __noinline__ __host__ __device__ __global__ "
    "__constant__ __shared__ __managed__"
)
_SPECIFIERS = _QUALIFIERS | _STORAGE
_BUILT_IN = words("int long short char unsigned signed float double bool void auto")
#: Keywords that precede the name or the body of a type.
CLASSES = frozenset(("struct", "class", "union", "enum"))
_ATTRIBUTES = words(
    "__attribute__ __attribute __declspec alignas __align__ __builtin_align__ __launch_bounds__ "
    "__cluster_dims__ __maxnreg__ noexcept throw requires explicit asm"
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BRACKETS = {one: re.compile(f"[{re.escape(one + end)}]") for one, end in _CLOSING.items()}
_ANGLES = re.compile(r"->|[<>(){};]")
_POINTERS = frozenset(("*", "&", "&&", "..."))
# A declarator in parentheses: (*name), (&name)[3], (*name[2])(int).
_NESTED = re.compile(r"\(\s*(?:\w+\s*::\s*)*[*&][\s*&]*(?:const\b\s*)?(\w*)[^()]*\)")


def closing(code: str, start: int) -> int:
    """Return the index after the bracket that closes the one at `start`; -1 if none does."""
    opening, depth = code[start], 0
    for match in _BRACKETS[opening].finditer(code, start):
        depth += 1 if match.group() == opening else -1
        if depth == 0:
            return match.end()
    return -1


def template_end(code: str, start: int) -> int:
    """Return the index after the template arguments that begin at `start`; -1 for a comparison."""
    depth, position = 0, start
    while match := _ANGLES.search(code, position):
        mark, position = match.group(), match.end()
        if mark in ";{})":
            return -1
        if mark == "(":
            position = closing(code, match.start())
            if position < 0:
                return -1
        elif mark != "->":
            depth += 1 if mark == "<" else -1
            if depth == 0:
                return position
    return -1


def split_top(text: str) -> list[str]:
    """Split a text at the commas outside of brackets."""
    parts, depth, last = [], 0, 0
    for match in re.finditer(r"[(\[{<)\]}>,]", text):
        mark = match.group()
        if mark in "([{<":
            depth += 1
        elif mark != ",":
            depth -= 1
        elif depth == 0:
            parts.append(text[last : match.start()])
            last = match.end()
    parts.append(text[last:])
    return [part.strip() for part in parts if part.strip()]


def spelled(words: Iterable[str]) -> str:
    """Return the text of a type's words, with spaces only where C++ needs them."""
    return re.sub(r"\s*([^\w\s]+)\s*", r"\1", " ".join(words))


class Declarator(NamedTuple):
    """A declared name and its part of the type."""

    name: str  # "S::f"; "": a parameter without a name
    start: int  # index of the name in the text
    pointers: tuple[str, ...]  # "*", "&", "const" between the type and the name
    arrays: tuple[str, ...] = ()  # "[4]"
    is_nested: bool = False  # declared in parentheses: a pointer to a function or an array
    arguments: str = ""  # template arguments of a function
    parameters: tuple[int, int] | None = None  # indices of the text in a function's parentheses


class Declaration(NamedTuple):
    """A statement that declares names, or a parameter."""

    start: int
    end: int
    words: tuple[str, ...]  # specifiers and type before the first declarator; "{}": a body
    declarators: tuple[Declarator, ...]
    template: tuple[str, ...] | None  # parameters; (): a specialization or an explicit instance
    has_body: bool
    body: tuple[int, int] | None  # indices of the text in the braces of a class

    def base(self) -> str:
        """Return the declared type, without specifiers, qualifiers and pointers."""
        return spelled(one for one in self.words if one not in _SPECIFIERS and one[0] != '"')

    def type_of(self, one: Declarator) -> str:
        """Return the type of a declared name, without specifiers; of an array, its elements'."""
        words = (one for one in self.words if one not in _STORAGE and one[0] != '"')
        return spelled([*words, *one.pointers])


class _Token(NamedTuple):
    text: str
    start: int
    end: int


def _tokens(code: str, position: int, stop: int) -> Iterator[_Token]:
    """Yield the tokens of a statement; brackets and what they enclose are one token."""
    before, is_value = "", False
    while match := TOKEN.search(code, position, stop):
        text, start, position = match.group(), *match.span()
        if text in _CLOSING:
            position = closing(code, start)
        elif text == "<" and not is_value and before != "operator":
            position = max(template_end(code, start), position)
        if not start < position <= stop:  # a bracket that nothing closes
            return
        if text in "=,":
            is_value = text == "="
        before = text
        yield _Token(code[start:position], start, position)


class _Reader:
    """The parts of one statement, as its tokens come."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.part: list[_Token] = []  # tokens of the current declarator
        self.words: tuple[str, ...] | None = None
        self.declarators: list[Declarator] = []
        self.function: tuple[int, _Token] | None = None  # tokens up to its name, parentheses
        self.nested: Declarator | None = None

    def name_at(self, part: list[_Token], end: int) -> int:
        """Return the index of the first token of the name that ends at `end`; `end` if none does.

        The only word of a declaration is its type.
        """
        begin = end
        while begin and part[begin - 1].text.isidentifier():
            begin -= 1
            if not begin or part[begin - 1].text != "::":
                break
            begin -= 1
            if begin and part[begin - 1].text[0] == "<":  # S<T>::f
                begin -= 1
        last = part[end - 1].text if end else ""
        has_type = self.words is not None or any(
            one.text not in _SPECIFIERS for one in part[:begin]
        )
        return begin if has_type and last not in _BUILT_IN and last not in _SPECIFIERS else end

    def finish(self) -> None:
        """Add the declarator that the tokens so far show."""
        part, arguments, parameters = self.part, "", None
        if self.function:
            part = part[: self.function[0]]
            parameters = (self.function[1].start + 1, self.function[1].end - 1)
            if part[-1].text[0] == "<":
                arguments = part.pop().text
        arrays = len(part)
        while arrays and part[arrays - 1].text[0] == "[":
            arrays -= 1
        begin = self.name_at(part, arrays)
        # After a pointer, there are qualifiers only, which may be macros.
        marks = (index for index in range(begin) if part[index].text in _POINTERS)
        first = next(marks, begin)
        if self.words is None:
            self.words = tuple(one.text for one in part[:first])
        self.declarators.append(
            self.nested
            or Declarator(
                spelled(one.text for one in part[begin:arrays]),
                part[begin].start if begin < arrays else -1,
                tuple(one.text for one in part[first:begin]),
                tuple(one.text for one in part[arrays:]),
                False,
                arguments,
                parameters,
            )
        )
        self.part, self.nested = [], None

    def parentheses(self, token: _Token) -> None:
        """Read an attribute's arguments, a nested declarator or a function's parameters."""
        part = self.part
        last = part[-1].text if part else ""
        # The attributes of a kernel may be macros: its parameters come last.
        is_first = not self.function or any(one.text == "__global__" for one in part)
        if last in _ATTRIBUTES:
            part.pop()
        elif self.nested or not is_first:
            pass
        elif not self.function and (nested := _NESTED.fullmatch(token.text)):
            self.nested = Declarator(nested[1], token.start + nested.start(1), ("*",), (), True)
        elif part:
            end = len(part) - (last[0] == "<")
            if self.name_at(part, end) < end:
                self.function = len(part), token
            else:  # a macro of a type, decltype, a constructor
                part[-1] = _Token(f"{last}{token.text}", part[-1].start, token.end)


def read(code: str, start: int = 0, stop: int | None = None) -> Declaration:
    """Read the statement or the parameter that begins at an index of a text without comments."""
    reader, body, end, before = _Reader(code), None, start, ""
    template: tuple[str, ...] | None = None
    is_value = is_operator = is_tail = has_body = False
    for token in _tokens(code, start, len(code) if stop is None else stop):
        text, part, end, last = token.text, reader.part, token.end, before
        before = text
        if text in (";", "}"):
            end = token.start
            break
        if text[0] == "{":
            is_class = not is_value and any(one.text in CLASSES for one in part)
            is_operator |= bool(part) and part[-1].text[-1] == ")"  # a constructor
            if is_operator or reader.function:
                has_body, end = True, token.start
                break
            if is_class:
                body = token.start + 1, token.end - 1
                part.append(token._replace(text="{}"))
            elif last[:1] == '"' or any(one.text == "namespace" for one in part):
                end = token.start
                break
            elif part and not is_value:
                reader.finish()
                is_value = True
        elif text == "," and not is_tail:
            if not is_value:
                reader.finish()
            is_value = False
        elif is_value or is_tail:
            continue
        elif text[0] == "(":
            reader.parentheses(token)
        elif text == "operator":
            is_operator = is_tail = True
        elif text in ("=", "->") and reader.function:
            is_tail = True
        elif text == "=":
            reader.finish()
            is_value = True
        elif text == "template" and last != "::":
            template = ()
        elif text[0] == "<" and last == "template":
            template = tuple(split_top(text[1:-1]))
        elif text == ":" and not any(one.text in CLASSES for one in part):
            is_operator = bool(part) and part[-1].text[-1] == ")"  # a constructor
            is_tail = is_operator or bool(reader.function)
            is_field = reader.words is not None or (len(part) > 1 and part[0].text != "case")
            if is_field and not is_tail:
                reader.finish()
                is_value = True
            elif not is_tail:  # a label
                part.clear()
        elif text in (")", "]"):
            part.clear()
        elif text[:2] != "[[":
            part.append(token)
    if not (is_value or is_operator) and (reader.part or reader.nested):
        reader.finish()
    return Declaration(
        start,
        end,
        reader.words or (),
        tuple(reader.declarators),
        template,
        has_body,
        body,
    )


def read_type(text: str) -> Declaration:
    """Read a type, as the declaration of a name with it."""
    return read(f"{text} _")


class Scope(NamedTuple):
    """Text in braces that holds declarations."""

    start: int
    end: int
    name: str | None  # of a namespace or a class; "": it has none; None: a function, a value
    is_anonymous: bool = False
    is_template: bool = False
    access: str = "public"  # of members before the first label
    is_class: bool = False


def _scope(before: str) -> Scope:
    """Return the scope that a text before a brace opens, without its place."""
    kind = re.search(r"\b(?:namespace|extern|struct|class|union)\b", before)
    if not kind or before.rstrip()[-1] in ")=":
        return Scope(0, 0, None)
    if match := re.search(r"\bnamespace\s*([\w:]*)\s*$", before):
        return Scope(0, 0, match[1], is_anonymous=not match[1])
    if re.search(r'\bextern\s*"[^"]*"\s*$', before):
        return Scope(0, 0, "")
    head = read(before)
    words = [*head.words, *(one.name for one in head.declarators), ":"]
    words = [one for one in words[: words.index(":")] if one not in ("", "final")]
    keys = [index for index, word in enumerate(words) if word in ("struct", "class", "union")]
    if (
        not keys
        or any(one.parameters for one in head.declarators)
        or "enum" in words
        or len(words) == keys[-1] + 1
    ):
        return Scope(0, 0, None)
    access = "private" if words[keys[-1]] == "class" else "public"
    return Scope(0, 0, words[-1], False, head.template is not None, access, True)


def scopes(code: str) -> list[Scope]:
    """Return the scopes of a text without comments, the outer ones first."""
    found: list[Scope] = []
    inside: list[Scope] = []
    last = 0
    for match in re.finditer(r"[{};]", code):
        end = match.end()
        if match.group() == "}" and inside:
            found.append(inside.pop()._replace(end=end))
        elif match.group() == "{":
            inside.append(_scope(code[last : match.start()])._replace(start=end, end=len(code)))
        last = end
    return sorted([*found, *inside])


def _reaching(nested: tuple[Scope, ...], position: int) -> tuple[Scope, ...]:
    """Return the scopes without the inner ones that end before an index."""
    while nested and nested[-1].end <= position:
        nested = nested[:-1]
    return nested


class Source:
    """A text, and everything that was read of it so far."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def blank(self) -> str:
        """The text with spaces for comments and the contents of literals."""
        return comments.blanked(self.text)

    @cached_property
    def code(self) -> str:
        """The text with spaces for directives as well."""
        return comments.without_directives(self.blank)

    @cached_property
    def tokens(self) -> list[str]:
        """The words and marks of the text, also of its directives."""
        return TOKEN.findall(self.blank)

    @cached_property
    def starts(self) -> list[int]:
        """Indices at which a statement may begin."""
        return [0, *(match.end() for match in re.finditer(r"[{};]", self.code))]

    @cached_property
    def scopes(self) -> list[Scope]:
        """The scopes of the text, the outer ones first."""
        return scopes(self.code)

    @cached_property
    def _nested(self) -> tuple[list[int], list[tuple[Scope, ...]]]:
        """The starts of the scopes, and each scope behind those around it."""
        nested: list[tuple[Scope, ...]] = [()]
        for scope in self.scopes:
            nested.append((*_reaching(nested[-1], scope.start), scope))
        return [one.start for one in self.scopes], nested

    def around(self, position: int) -> tuple[Scope, ...]:
        """Return the scopes that hold an index of the text, the outer ones first."""
        starts, nested = self._nested
        return _reaching(nested[bisect_right(starts, position)], position)

    def _start(self, position: int) -> int:
        """Return the index at which the statement with an index of the text begins."""
        return self.starts[bisect_right(self.starts, position) - 1]

    def statement(self, position: int) -> Declaration:
        """Read the statement that holds an index of the text."""
        return read(self.code, self._start(position))

    def functions(self, keyword: str) -> Iterator[tuple[int, Declaration, Declarator]]:
        """Yield the functions declared with a keyword, and the keywords' indices.

        Explicit instances of templates are left out.
        """
        for match in re.finditer(keyword, self.code):
            position = match.start()
            start = self._start(position)
            within = self.code.rfind("template", start, position)
            # Where the statement begins elsewhere, the keyword may be in a macro's parentheses.
            for begin in (start, position if within < 0 else within):
                declared = read(self.code, begin)
                one = next(iter(declared.declarators), None)
                if one and one.parameters and one.start > position:
                    if not one.arguments:
                        yield position, declared, one
                    break


@lru_cache(maxsize=8)
def source(text: str) -> Source:
    """Return what is read of a text, once for all questions about it."""
    return Source(text)
