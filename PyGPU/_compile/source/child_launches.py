"""Launches in kernel text, ``child<<<grid, block>>>(x)``, rewritten as C++."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from PyGPU._compile.source import signature

# The kernel's name: an identifier, perhaps with a template's arguments.
_NAMED = r"([A-Za-z_]\w*)\s*(?:<[^<>;{}()]*>)?\s*$"
_OPERATOR = r"\boperator\s*$"  # `operator<<<T>` is a template's operator, no launch


def _end(blank: str, start: int) -> int:
    """Return the index of the ``>>>`` that closes the ``<<<`` before `start`; -1 for no launch."""
    depth = 0
    for index in range(start, len(blank)):
        char = blank[index]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == ";" or depth < 0:
            return -1
        elif depth == 0 and blank.startswith(">>>", index):
            return index if re.match(r"\s*(?:\\\n\s*)?\(", blank[index + 3 :]) else -1
    return -1


def has_launches(source: str) -> bool:
    """Report whether a kernel of the text launches kernels."""
    return "<<<" in source and rewritten(source) != source


def hint(source: str, relocatable: bool) -> str:
    """Return advice for a text that does not compile; often nothing."""
    if re.search(r"\bcudaDeviceSynchronize\b", signature.blanked(source)):
        return (
            "device code cannot wait for its launches since CUDA 12, which removed "
            "cudaDeviceSynchronize() from it: launch later work into the stream "
            "cudaStreamTailLaunch"
        )
    if has_launches(source) and not relocatable:
        return "a kernel that launches kernels needs DynamicSourceModule, which links it"
    return ""


class Launch(NamedTuple):
    """A launch in a text: the indices of ``<<<`` and of ``>>>``, and the kernel's name."""

    start: int
    end: int
    name: str  # "" for an expression


def launches(source: str) -> Iterator[Launch]:
    """Yield the launches of a text in their order."""
    if "<<<" not in source:
        return
    blank = signature.blanked(source)
    last, start = 0, blank.find("<<<")
    while start >= 0:
        end = _end(blank, start + 3)
        if end >= 0 and not re.search(_OPERATOR, blank[:start]):
            name = re.search(_NAMED, blank[max(0, start - 200) : start])
            yield Launch(start, end, name.group(1) if name else "")
            last = end + 3
        start = blank.find("<<<", max(start + 3, last))


def rewritten(source: str) -> str:
    """Return the text with an operator for each launch; lines keep their numbers.

    include/PyGPU/host/child_launch.h has the operator. The text before ``<<<`` stays as it is.
    """
    result, last = [], 0
    for launch in launches(source):
        result += [
            source[last : launch.start],
            f' ->* ::PyGPU_ChildLaunch("{launch.name}", ',
            source[launch.start + 3 : launch.end],
            ")",
        ]
        last = launch.end + 3
    return "".join([*result, source[last:]])
