"""Alignment attributes after a structure's brace, moved to where NVRTC applies them.

In ``struct {...} __align__(32)``, nvcc and other C++ compilers apply the attribute. NVRTC ignores
it, so ``sizeof`` would differ. NVRTC applies attributes before the name.
"""

from __future__ import annotations

import re

from PyGPU._compile.source.comments import blanked
from PyGPU._compile.source.declarations import closing, template_end

_WORDS = "__align__|__builtin_align__|__attribute__|__attribute"
_DIRECTIVE = r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"
# Macros of the text that expand to such attributes, with parameters or without.
_MACRO = rf"#[ \t]*define[ \t]+(\w+)(\([^)\n]*\))?[ \t]+(?:{_WORDS})[ \t]*\("
_KEYWORD = r"\b(?:struct|class|union)\b"
_TEMPLATE = r"\btemplate\s*<"


def in_front(source: str) -> str:
    """Return the text with these attributes before the structure's name, line by line."""
    if not re.search(_WORDS, source):
        return source
    macros = re.findall(_MACRO, source)
    with_value = "|".join([_WORDS, *(name for name, parameters in macros if parameters)])
    alone = "|".join(name for name, parameters in macros if not parameters) or r"\b\B"
    attribute = re.compile(rf"\s*\b(?:(?:{with_value})\b\s*(\()|(?:{alone})\b)")
    text = re.sub(_DIRECTIVE, _blank, blanked(source))
    changes: list[tuple[int, int, str]] = []  # start, end, replacement
    for brace in re.finditer(r"\}", text):
        end = _behind(text, brace.end(), attribute)
        place = None if end == brace.end() else _name_of(text, brace.start(), attribute)
        if place is not None:
            attributes = source[brace.end() : end]
            changes.append((place, place, " " + " ".join(attributes.split())))
            changes.append((brace.end(), end, "\n" * attributes.count("\n")))
    parts, last = [], 0
    for start, stop, instead in sorted(changes):
        parts += [source[last:start], instead]
        last = stop
    return "".join([*parts, source[last:]])


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _behind(text: str, start: int, attribute: re.Pattern[str]) -> int:
    """Return the index after the attributes that begin at `start`."""
    while found := attribute.match(text, start):
        end = closing(text, found.start(1)) if found.group(1) else found.end()
        if end < 0:
            break
        start = end
    return start


def _name_of(text: str, closing: int, attribute: re.Pattern[str]) -> int | None:
    """Return the index after the ``struct`` whose brace closes there; None for other braces."""
    depth = 0
    for opening in range(closing, -1, -1):
        depth += (text[opening] == "}") - (text[opening] == "{")
        if depth == 0:
            break
    else:
        return None
    start = max(text.rfind(mark, 0, opening) for mark in ";{}") + 1
    start = _behind(text, start, attribute)  # attributes of the previous structure
    template = re.compile(_TEMPLATE).search(text, start, opening)
    if template:
        end = template_end(text[:opening], template.end() - 1)
        start = opening if end < 0 else end
    found = re.compile(_KEYWORD).search(text, start, opening)
    if found is None or re.search(r"\benum\b", text[start:opening]):
        return None
    # Parentheses mean a function.
    behind = _behind(text, found.end(), attribute)
    return None if "(" in text[behind:opening] else found.end()
