"""Alignment attributes after a structure's brace, moved to where NVRTC applies them.

In ``struct {...} __align__(32)``, nvcc and other C++ compilers apply the attribute. NVRTC ignores
it, so ``sizeof`` would differ. NVRTC applies attributes before the name.
"""

from __future__ import annotations

import re

from PyGPU._compile.source import declarations

_WORDS = "__align__|__builtin_align__|__attribute__|__attribute"
# Macros of the text that expand to such attributes, with parameters or without.
_MACRO = rf"#[ \t]*define[ \t]+(\w+)(\([^)\n]*\))?[ \t]+(?:{_WORDS})[ \t]*\("
_KEYWORD = r"\b(?:struct|class|union)\b"
_HEAD = re.compile(rf"(?:(?!{_KEYWORD})[^;{{}}()])*\{{")  # parentheses mean a function


def in_front(source: str) -> str:
    """Return the text with these attributes before the structure's name, line by line."""
    if not re.search(_WORDS, source):
        return source
    macros = re.findall(_MACRO, source)
    with_value = "|".join([_WORDS, *(name for name, parameters in macros if parameters)])
    alone = "|".join(name for name, parameters in macros if not parameters) or r"\b\B"
    attribute = re.compile(rf"\s*\b(?:(?:{with_value})\b\s*(\()|(?:{alone})\b)")
    text = declarations.source(source).code
    changes: list[tuple[int, int, str]] = []  # start, end, replacement
    for keyword in re.finditer(rf"(?<!enum ){_KEYWORD}", text):
        head = _HEAD.match(text, _behind(text, keyword.end(), attribute))
        brace = declarations.closing(text, head.end() - 1) if head else -1
        end = _behind(text, brace, attribute) if brace > 0 else brace
        if end > brace:
            attributes = source[brace:end]
            changes.append((keyword.end(), keyword.end(), " " + " ".join(attributes.split())))
            changes.append((brace, end, "\n" * attributes.count("\n")))
    parts, last = [], 0
    for start, stop, instead in sorted(changes):
        parts += [source[last:start], instead]
        last = stop
    return "".join([*parts, source[last:]])


def _behind(text: str, start: int, attribute: re.Pattern[str]) -> int:
    """Return the index after the attributes that begin at `start`."""
    while found := attribute.match(text, start):
        end = declarations.closing(text, found.start(1)) if found.group(1) else found.end()
        if end < 0:
            break
        start = end
    return start
