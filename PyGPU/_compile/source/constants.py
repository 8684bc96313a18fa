"""Constants that a text computes from floating-point constants: ``const double b = 2 * a;``.

nvcc evaluates them as its host compiler does. NVRTC follows the standard, by which only
``constexpr`` makes them constants.
"""

from __future__ import annotations

import re

from PyGPU._compile.source import declarations

#: Messages of NVRTC about such constants.
REFUSED = r"dynamic initialization|constant (?:value|expression)"
_CONSTANT = r"(?:\A|[;{}])[\w\s:]*?\b(const)(?=\s+[\w\s:]*\w\s*(?:\[[^\]]*\]\s*)*=(?!=))"


def as_constexpr(source: str) -> str:
    """Return the text with ``constexpr`` for ``const`` at variables of namespaces with a value."""
    text = declarations.source(source)
    around = [one for one in text.scopes if one.name is None or one.is_class]
    parts, last = [], 0
    for match in re.finditer(_CONSTANT, text.code):
        if not any(one.start <= match.start(1) < one.end for one in around):
            parts += [source[last : match.start(1)], "constexpr"]
            last = match.end(1)
    return "".join([*parts, source[last:]])
