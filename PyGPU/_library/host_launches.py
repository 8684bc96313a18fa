"""Launches in CUDA's sources, ``kernel<<<grid, block>>>(x)``, as C++ for the host machine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from PyGPU._compile import child_launches, dynamic_shared, signature

#: A kernel's name with its namespaces and a template's arguments, at the end of a text.
_KERNEL = (
    r"((?:::\s*)?(?:\w+\s*(?:<[^<>;{}]*>)?\s*::\s*(?:template\s+)?)*"
    r"\w+\s*(?:<(?:[^<>;{}]|<[^<>;{}]*>)*>)?)\s*$"
)
_REACH = 500  # characters before <<< that may name the kernel
# Text before a name that is a member, or a part of a name that a macro pastes.
_IN_EXPRESSION = r"(?:\.|->|#)\s*$"


class _Kernel(NamedTuple):
    """A declaration of a kernel."""

    name: str
    parameters: tuple[str, ...]  # types
    has_defaults: bool
    template: tuple[str, ...] | None  # parameters of the template


_QUALIFIERS = r"\b(?:__restrict__|__restrict|restrict|volatile|struct|class|enum)\b"
_BUILT_IN = r"(?:const|int|long|short|char|unsigned|signed|float|double|bool)"


def _type(parameter: str) -> str:
    """Return the type of a parameter; declarations that differ in names have the same."""
    text = re.sub(_QUALIFIERS, " ", re.split(r"=(?!=)", parameter)[0])
    text, arrays = re.subn(r"\[[^\]]*\]", " ", text)
    found = re.fullmatch(r"(.*[\s*&>])(\w+)", text.strip(), re.DOTALL)
    if found and not re.fullmatch(_BUILT_IN, found[2]) and found[1].replace("const", "").strip():
        text = found[1]
    base, rest = re.fullmatch(r"([^*&]*)(.*)", text + "*" * arrays, re.DOTALL).groups()  # type: ignore[union-attr]
    words = sorted(base.split())
    if not rest:  # a parameter that is const in its function alone
        words = [word for word in words if word != "const"]
    return " ".join([*words, re.sub(r"\s|\bconst\s*$", "", rest)])


def _template(before: str) -> tuple[str, ...] | None:
    """Return the parameters of a template, whose head is the end of a text; None for none."""
    heads = [*re.finditer(r"\btemplate\s*<", before)]
    if not heads:
        return None
    end = signature.matching(before, heads[-1].end() - 1, "<", ">")
    parameters = signature.split_top(before[heads[-1].end() : end - 1])
    return tuple(" ".join(one.replace("typename", "class").split()) for one in parameters)


def _kernels(text: str) -> Iterator[_Kernel]:
    """Yield the kernels that a text declares. Macros and attributes may stand before the name."""
    text = signature.without_directives(signature.blanked(text))
    call = re.compile(r"[^;{}]*?\b([A-Za-z_]\w*)\s*\(")
    for match in re.finditer(r"\b__global__\b", text):
        position = match.end()
        while name := call.match(text, position):
            end = signature.matching(text, name.end() - 1)
            if end < 0:
                break
            if re.match(r"\s*[;{]", text[end:]):
                parameters = text[name.end() : end - 1]
                types = tuple(map(_type, signature.split_top(parameters)))
                before = re.split(r"[;{}]", text[: match.start()])[-1]
                yield _Kernel(name[1], types, "=" in parameters, _template(before))
                break
            position = end


def ambiguous(texts: Iterable[str]) -> dict[str, int]:
    """Return the names of kernels that have no address without a template's arguments.

    These are templates, overloads, and kernels with default arguments.

    Returns
    -------
    dict of str to int
        The number of a template's arguments with which the name has an address; 0 if a call alone
        can choose the function. A kernel whose declaration names other types than its definition
        may be among these.
    """
    found: dict[str, int] = {}
    first: dict[str, _Kernel] = {}
    for text in texts:
        for one in _kernels(text):
            is_other = first.setdefault(one.name, one) != one
            if one.has_defaults or is_other:
                found[one.name] = 0
            elif one.template is not None:
                has_pack = any("..." in parameter for parameter in one.template)
                found.setdefault(one.name, 0 if has_pack else len(one.template))
    return found


def _has_address(kernel: str, name: str, ambiguous: Mapping[str, int]) -> bool:
    """Report whether a text that names a kernel has its address, without a call's arguments."""
    if name not in ambiguous:
        return True
    given = re.search(rf"\b{name}\s*<(.*)>$", kernel, re.DOTALL)
    return (
        given is not None
        and "..." not in given[1]
        and len(signature.split_top(given[1])) == ambiguous[name]
    )


def rewritten(source: str, ambiguous: Mapping[str, int]) -> str:
    """Return a text with calls instead of launches; lines keep their numbers.

    ``kernel<<<grid, block>>>(x)`` becomes ``::PyGPU_Launch("kernel", grid, block).of(kernel)(x)``.
    A function object calls the kernels that have no address, by `ambiguous`. An expression that
    names the kernel begins at an unknown index, so an operator follows it:
    ``kernels[i] ->* ::PyGPU_Launch("", grid, block)(x)``.
    """
    result, last = [], 0
    for launch in child_launches.launches(source):
        before, name = source[last : launch.start], launch.name
        shape = source[slice(*launch.shape)]
        start = max(0, len(before) - _REACH)
        kernel = re.search(_KERNEL, before[start:]) if name else None
        if kernel and not re.search(_IN_EXPRESSION, before[: start + kernel.start()]):
            call, tail = kernel.group(1), before[start + kernel.end(1) :]
            if not _has_address(call, name, ambiguous):
                call = f"[&](auto&... PyGPU_a) {{ {call}(PyGPU_a...); }}"
            result += [before[: start + kernel.start()]]
            result += [f' ::PyGPU_Launch("{name}", {shape}).of({call}{tail})']
        else:
            result += [before, f' ->* ::PyGPU_Launch("{name}", {shape})']
        last = launch.end
    return dynamic_shared.in_cpp("".join([*result, source[last:]]))
