"""``extern __shared__ T name[];`` in kernel text for the ``host`` target."""

from __future__ import annotations

import re

from PyGPU._compile import signature

_DYNAMIC = (
    r"\bextern\s+(volatile\s+)?__shared__\s+(volatile\s+)?(?:__align__\s*\([^)]*\)\s*|"
    r"alignas\s*\([^)]*\)\s*)?([\w:<>,\s*]+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
_CONTAINER = r'(?:\bnamespace\b[\s\w:]*|\bextern\s*"[^"]*"\s*)$'


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

    for match in re.finditer(_DYNAMIC, blank):
        advance(match.start())
        before, behind, kind, name = match.groups()
        kind = f"{'volatile ' if before or behind else ''}{kind.strip()}"
        if stack and stack[-1]:
            text = f"PYGPU_DYNAMIC_SHARED({kind}, {name});"
        else:
            text = f"static const ::PyGPU_DynamicShared<{kind}> {name};"
        result += [source[last : match.start()], text, "\n" * match.group(0).count("\n")]
        last = match.end()
    return "".join([*result, source[last:]])
