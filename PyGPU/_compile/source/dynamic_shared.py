"""Declarations of shared memory, rewritten for compilers other than NVIDIA's."""

from __future__ import annotations

import re

from PyGPU._compile.source import comments, declarations

# Words that g++ and clang++ accept only after alignas; NVIDIA's compilers accept them before.
_SHARED_ALIGNAS = (
    r"\b((?:(?:static|volatile|const)\s+)*__shared__\s+(?:(?:static|volatile|const)\s+)*)"
    r"(alignas\s*\([^()]*\))"
)
_DIMS = re.compile(r"\[\s*\]")
_DEFINITION = r"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)(.*)$"


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
    blank = declarations.source(source).blank
    specifiers, code = _specifiers(blank)
    result, last = [], 0
    scopes: list[declarations.Scope] | None = None
    for match in re.finditer(rf"(?:\b(?:{'|'.join(specifiers)})\b\s*)+", code):
        end = code.find(";", match.end())
        if match.start() < last or end < 0:
            continue
        declared = declarations.read(code, match.start(), end)
        meanings = {one for word in declared.words for one in specifiers.get(word, ())}
        names = [one.name for one in declared.declarators if _DIMS.fullmatch("".join(one.arrays))]
        if not {"extern", "__shared__"} <= meanings or len(names) != len(declared.declarators):
            continue
        words = [one for one in declared.words if one not in specifiers]
        words += declared.declarators[0].pointers
        volatile = "volatile " if "volatile" in meanings else ""
        kind = volatile + declarations.spelled(words)
        scopes = declarations.scopes(blank) if scopes is None else scopes
        if any(
            one.start <= match.start() < one.end and (one.name is None or one.is_class)
            for one in scopes
        ):
            text = " ".join(f"PYGPU_DYNAMIC_SHARED({kind}, {one});" for one in names)
        else:
            text = f"static const ::PyGPU_DynamicShared<{kind}> {', '.join(names)};"
        lines = code.count("\n", match.start(), end)
        result += [source[last : match.start()], text, "\n" * lines]
        last = end + 1
    return alignas_first("".join([*result, source[last:]]))
