"""Launches in kernel text, ``child<<<grid, block>>>(x)``, rewritten as C++."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from PyGPU._compile.source import comments

# The kernel's name: an identifier, perhaps with a template's arguments.
_NAMED = r"([A-Za-z_]\w*)\s*(?:<(?:[^<>;{}]|<[^<>;{}]*>)*>)?\s*$"
_OPERATOR = r"\boperator\s*$"  # `operator<<<T>` is a template's operator, no launch


# Formatters that know C++ alone write ``<< <`` and ``>> >``, which nvcc accepts.
_OPENING = r"<<[ \t]*<"
_CLOSING = r">>[ \t]*>(?=\s*(?:\\\n\s*)?\()"


def _closing(blank: str, start: int) -> re.Match[str] | None:
    """Return the ``>>>`` that closes a ``<<<``, which ends at `start`; None for no launch."""
    depth = 0
    for index in range(start, len(blank)):
        char = blank[index]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == ";" or depth < 0:
            return None
        elif depth == 0 and char == ">" and (found := re.compile(_CLOSING).match(blank, index)):
            return found
    return None


def has_launches(source: str) -> bool:
    """Report whether a kernel of the text launches kernels."""
    return rewritten(source) != source


def hint(source: str, relocatable: bool) -> str:
    """Return advice for a text that does not compile; often nothing."""
    if re.search(r"\bcudaDeviceSynchronize\b", comments.blanked(source)):
        return (
            "device code cannot wait for its launches since CUDA 12, which removed "
            "cudaDeviceSynchronize() from it: launch later work into the stream "
            "cudaStreamTailLaunch"
        )
    if has_launches(source) and not relocatable:
        return "a kernel that launches kernels needs DynamicSourceModule, which links it"
    return ""


class Launch(NamedTuple):
    """A launch in a text, ``name<<<shape>>>``: indices in the text, and the kernel's name."""

    start: int  # of <<<
    shape: tuple[int, int]
    end: int  # of >>>
    name: str  # "" for an expression


def launches(source: str) -> Iterator[Launch]:
    """Yield the launches of a text in their order."""
    if not re.search(_OPENING, source):
        return
    blank = comments.blanked(source)
    at = 0
    while opening := re.compile(_OPENING).search(blank, at):
        at, closing = opening.end(), _closing(blank, opening.end())
        before = blank[max(0, opening.start() - 200) : opening.start()]
        if closing and not re.search(_OPERATOR, before):
            name = re.search(_NAMED, before)
            shape = opening.end(), closing.start()
            yield Launch(opening.start(), shape, closing.end(), name.group(1) if name else "")
            at = closing.end()


def rewritten(source: str) -> str:
    """Return the text with an operator for each launch; lines keep their numbers.

    include/PyGPU/host/child_launch.h has the operator. The text before ``<<<`` stays as it is.
    """
    result, last = [], 0
    for launch in launches(source):
        result += [
            source[last : launch.start],
            f' ->* ::PyGPU_ChildLaunch("{launch.name}", ',
            source[slice(*launch.shape)],
            ")",
        ]
        last = launch.end
    return "".join([*result, source[last:]])
