"""``extern __shared__ T name[];`` in kernel text for the ``host`` target."""

from __future__ import annotations

import re

from PyGPU._compile import signature

_MACRO = r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\w+(?:[ \t]+\w+)*)[ \t]*$"
_DIRECTIVE = r"^[ \t]*#.*$"
_DECLARATION = (
    r"\b((?:(?:{words})\s+)+)(?:__align__\s*\([^)]*\)\s*|alignas\s*\([^)]*\)\s*)?"
    r"([\w:<>,\s*]+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
_CONTAINER = r'(?:\bnamespace\b[\s\w:]*|\bextern\s*"[^"]*"\s*)$'


def _specifiers(blank: str) -> dict[str, set[str]]:
    """Words that may stand before the type: what they mean, macros of the text included."""
    found = {word: {word} for word in ("extern", "volatile", "__shared__")}
    for name, words in re.findall(_MACRO, blank, re.MULTILINE):
        if all(word in found for word in words.split()):
            found[name] = {meaning for word in words.split() for meaning in found[word]}
    return found


def in_cpp(source: str) -> str:
    """``extern __shared__ T name[];``, which no macro can express, in terms that C++ has."""
    if "__shared__" not in source:
        return source
    blank = signature.without_comments(source)
    result, last, position = [], 0, 0
    stack: list[bool] = []  # is each open brace a function's, or inside one?

    def advance(to: int) -> None:
        nonlocal position
        for index in range(position, to):
            if blank[index] == "{":
                inside = bool(stack) and stack[-1]
                stack.append(
                    inside or not re.search(_CONTAINER, blank[max(0, index - 200) : index])
                )
            elif blank[index] == "}" and stack:
                stack.pop()
        position = to

    specifiers = _specifiers(blank)
    declaration = _DECLARATION.format(words="|".join(specifiers))
    code = re.sub(_DIRECTIVE, lambda match: ";" * len(match.group()), blank, flags=re.MULTILINE)
    for match in re.finditer(declaration, code):
        words, kind, name = match.groups()
        meanings = {meaning for word in words.split() for meaning in specifiers[word]}
        if not {"extern", "__shared__"} <= meanings:
            continue
        advance(match.start())
        kind = f"{'volatile ' if 'volatile' in meanings else ''}{kind.strip()}"
        if stack and stack[-1]:
            text = f"PYGPU_DYNAMIC_SHARED({kind}, {name});"
        else:
            text = f"static const ::PyGPU_DynamicShared<{kind}> {name};"
        result += [source[last : match.start()], text, "\n" * match.group(0).count("\n")]
        last = match.end()
    return "".join([*result, source[last:]])
