"""Translation of launches in CUDA sources, ``kernel<<<grid, block>>>(x)``, to C++ for the host."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from PyGPU._compile.source import child_launches, declarations, dynamic_shared

#: Pattern of a kernel's name at the end of a text, with namespaces and template arguments.
_KERNEL = (
    r"((?:::\s*)?(?:\w+\s*(?:<[^<>;{}]*>)?\s*::\s*(?:template\s+)?)*"
    r"\w+\s*(?:<(?:[^<>;{}]|<[^<>;{}]*>)*>)?)\s*$"
)
_REACH = 500  # number of characters before <<< that may contain the kernel's name
# Text before a name that is a member, or that a macro pastes to another name.
_IN_EXPRESSION = r"(?:\.|->|#)\s*$"


class _Kernel(NamedTuple):
    """A declaration of a kernel."""

    name: str
    parameters: tuple[str, ...]  # types of the parameters
    has_defaults: bool  # some parameters have default arguments
    template: tuple[str, ...] | None  # parameters of the template; None if it is not a template


def _type(parameter: str) -> str:
    """Return the type of a parameter in a normal form, without the parameter's name."""
    declared = declarations.read(parameter)
    (one, *_) = declared.declarators or (declarations.Declarator("", 0, ()),)
    marks = [mark for mark in one.pointers if "_restrict" not in mark and mark != "restrict"]
    marks += ["*"] * len(one.arrays)
    while marks and marks[-1] == "const":  # the function's own matter
        marks.pop()
    words = {*declared.base().split(), *(["const"] if marks and "const" in declared.words else [])}
    return " ".join([*sorted(words), *marks])


def _kernels(source: str) -> Iterator[_Kernel]:
    """Yield the kernels that a text declares."""
    text = declarations.source(source)
    for _, declared, one in text.functions(r"\b__global__\b"):
        parameters = text.code[slice(*one.parameters or (0, 0))]
        types = tuple(map(_type, declarations.split_top(parameters)))
        template = declared.template and tuple(
            " ".join(part.replace("typename", "class").split()) for part in declared.template
        )
        yield _Kernel(one.name, types, "=" in parameters, template)


def ambiguous(texts: Iterable[str]) -> dict[str, int]:
    """Return the kernels whose plain name does not identify one function.

    These are templates, overloads, and kernels with default arguments. A kernel whose declaration
    and definition write its types differently may be among them.

    Returns
    -------
    dict of str to int
        For each name, the number of template arguments with which it identifies one function; 0 if
        only the arguments of a call do so.
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
    """Return True if the text `kernel`, with the kernel's `name`, identifies one function."""
    if name not in ambiguous:
        return True
    given = re.search(rf"\b{name}\s*<(.*)>$", kernel, re.DOTALL)
    return (
        given is not None
        and "..." not in given[1]
        and len(declarations.split_top(given[1])) == ambiguous[name]
    )


def rewritten(source: str, ambiguous: Mapping[str, int]) -> str:
    """Replace the launches in a source text by calls. Lines keep their numbers.

    ``kernel<<<grid, block>>>(x)`` becomes ``::PyGPU_Launch("kernel", grid, block).of(kernel)(x)``.
    If the kernel's name is in `ambiguous`, `of` receives a function object that calls the kernel.
    The beginning of an expression that yields the kernel is unknown, so an operator is appended to
    it: ``kernels[i] ->* ::PyGPU_Launch("", grid, block)(x)``.
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
