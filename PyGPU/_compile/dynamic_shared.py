"""``extern __shared__ T name[];`` in kernel text for the ``host`` target."""

from __future__ import annotations

import re

from PyGPU._compile import signature

_ALIGNMENT = r"(?:__align__|alignas)\s*\([^()]*\)"
_DEFINITION = r"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)(.*)$"
_CONTAINER = r'(?:\bnamespace\b[\s\w:]*|\bextern\s*"[^"]*"\s*)$'


def _specifiers(blank: str) -> tuple[dict[str, set[str]], str]:
    """Words that may stand before the type, and what they mean; macros of the text included, if
    they mean the same wherever they are defined. And the text without those definitions."""
    found = {word: {word} for word in ("extern", "volatile", "__shared__")}
    others = set()
    for name, words in re.findall(_DEFINITION, blank, re.MULTILINE):
        # What follows the name at once are parameters; no word at all is #undef, or nothing.
        known = words[:1].isspace() and words.split()
        meaning = {one for word in known or () for one in found.get(word, {""})}
        if not meaning or "" in meaning or found.setdefault(name, meaning) != meaning:
            others.add(name)
    for name in others:
        found.pop(name, None)

    def hide(match: re.Match[str]) -> str:
        return ";" * len(match.group()) if match.group(1) in found else match.group()

    return found, re.sub(_DEFINITION, hide, blank, flags=re.MULTILINE)


def _declared(text: str) -> tuple[str, str] | None:
    """(type, name) of ``type name[]``."""
    text = text.rstrip()
    text, bracket = text[:-1].rstrip(), text[-1:]
    if bracket != "]" or not text.endswith("["):
        return None
    name = re.search(r"\w+$", text[:-1].rstrip())
    kind = text[: name.start()].strip() if name else ""
    return (kind, name.group()) if name and re.fullmatch(r"[\w:<>,\s*]+", kind) else None


def in_cpp(source: str) -> str:
    """``extern __shared__ T name[];``, which no macro can express, in terms that C++ has."""
    if "__shared__" not in source:
        return source
    blank = signature.blanked(source)
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

    specifiers, code = _specifiers(blank)
    words = rf"\b(?:(?:{'|'.join(specifiers)})\b\s*|{_ALIGNMENT}\s*)+"
    for match in re.finditer(words, code):
        end = code.find(";", match.end())
        meanings = {
            meaning
            for word in re.findall(r"\w+", re.sub(_ALIGNMENT, " ", match.group()))
            for meaning in specifiers[word]
        }
        declared = _declared(code[match.end() : end]) if end >= 0 else None
        if not declared or not {"extern", "__shared__"} <= meanings:
            continue
        advance(match.start())
        kind, name = declared
        kind = f"{'volatile ' if 'volatile' in meanings else ''}{kind}"
        if stack and stack[-1]:
            text = f"PYGPU_DYNAMIC_SHARED({kind}, {name});"
        else:
            text = f"static const ::PyGPU_DynamicShared<{kind}> {name};"
        lines = code.count("\n", match.start(), end)
        result += [source[last : match.start()], text, "\n" * lines]
        last = end + 1
    return "".join([*result, source[last:]])
