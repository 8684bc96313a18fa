"""Declarations of shared memory, rewritten for compilers other than NVIDIA's."""

from __future__ import annotations

import re

from PyGPU._compile.source import comments

_ALIGNMENT = (
    r"(?:(?:__align__|alignas)\s*\([^()]*\)"
    r"|__attribute__\s*\(\(\s*(?:__)?aligned(?:__)?\s*(?:\([^()]*\)\s*)?\)\))"
)
# Words that g++ and clang++ accept only after alignas; NVIDIA's compilers accept them before.
_SHARED_ALIGNAS = (
    r"\b((?:(?:static|volatile|const)\s+)*__shared__\s+(?:(?:static|volatile|const)\s+)*)"
    r"(alignas\s*\([^()]*\))"
)
_DEFINITION = r"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)(.*)$"
_CONTAINER = r'(?:\bnamespace\b[\s\w:]*|\bextern\s*"[^"]*"\s*)$'


def _specifiers(blank: str) -> tuple[dict[str, set[str]], str]:
    """Return {word before the type: its meanings}, and the text without definitions of such words.

    The words include macros of the text that have one meaning wherever they are defined.
    """
    found = {word: {word} for word in ("extern", "volatile", "__shared__")}
    others = set()
    for name, words in re.findall(_DEFINITION, blank, re.MULTILINE):
        # Text directly after the name is a parameter list. Without a word, the line is an #undef or
        # an empty macro.
        known = words[:1].isspace() and words.split()
        meaning = {one for word in known or () for one in found.get(word, {""})}
        if not meaning or "" in meaning or found.setdefault(name, meaning) != meaning:
            others.add(name)
    for name in others:
        found.pop(name, None)

    def hide(match: re.Match[str]) -> str:
        return ";" * len(match.group()) if match.group(1) in found else match.group()

    return found, re.sub(_DEFINITION, hide, blank, flags=re.MULTILINE)


def _declared(text: str) -> tuple[str, list[str]] | None:
    """Return (type, names) of ``type name[], other[]``, or None."""
    arrays = re.search(r"\w+\s*\[\s*\](?:\s*,\s*\w+\s*\[\s*\])*\s*$", text)
    kind = text[: arrays.start()].strip() if arrays else ""
    if not arrays or not re.fullmatch(r"[\w:<>,\s*]+", kind):
        return None
    return kind, re.findall(r"\w+", arrays.group())


def alignas_first(source: str) -> str:
    """Return the text with ``__shared__ alignas(n) T`` in C++'s order of words."""
    result, last = [], 0
    for match in re.finditer(_SHARED_ALIGNAS, comments.blanked(source)):
        words = (source[slice(*match.span(group))] for group in (2, 1))
        result += [source[last : match.start()], " ".join(words)]
        last = match.end()
    return "".join([*result, source[last:]])


def in_cpp(source: str) -> str:
    """Return the text with dynamic shared memory declared as C++; no macro could express this."""
    if "__shared__" not in source:
        return source
    blank = comments.blanked(source)
    result, last, position = [], 0, 0
    stack: list[bool] = []  # for each open brace: whether it is a function's, or inside one

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
    specifier = rf"\b(?:{'|'.join(specifiers)})\b"
    words = rf"\b(?:{specifier}\s*|{_ALIGNMENT}\s*)+"
    for match in re.finditer(words, code):
        end = code.find(";", match.end())
        meanings = {
            meaning
            for word in re.findall(r"\w+", re.sub(_ALIGNMENT, " ", match.group()))
            for meaning in specifiers[word]
        }
        rest = code[match.end() : end] if end >= 0 else ""
        if "extern" in meanings:  # __shared__ may follow the type
            meanings.update(*(specifiers[word] for word in re.findall(specifier, rest)))
            rest = re.sub(specifier, " ", rest)
        declared = _declared(rest)
        if not declared or not {"extern", "__shared__"} <= meanings:
            continue
        advance(match.start())
        kind, names = declared
        kind = f"{'volatile ' if 'volatile' in meanings else ''}{kind}"
        if stack and stack[-1]:
            text = " ".join(f"PYGPU_DYNAMIC_SHARED({kind}, {name});" for name in names)
        else:
            text = f"static const ::PyGPU_DynamicShared<{kind}> {', '.join(names)};"
        lines = code.count("\n", match.start(), end)
        result += [source[last : match.start()], text, "\n" * lines]
        last = end + 1
    return alignas_first("".join([*result, source[last:]]))
