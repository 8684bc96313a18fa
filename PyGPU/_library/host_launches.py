"""Translation of launches in CUDA sources, ``kernel<<<grid, block>>>(x)``, to C++ for the host."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from PyGPU._compile.source import child_launches, comments, dynamic_shared, signature

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


_QUALIFIERS = r"\b(?:__restrict__|__restrict|restrict|volatile|struct|class|enum)\b"
_BUILT_IN = r"(?:const|int|long|short|char|unsigned|signed|float|double|bool)"


def _type(parameter: str) -> str:
    """Return the type of a parameter in a normal form, without the parameter's name."""
    text = re.sub(_QUALIFIERS, " ", re.split(r"=(?!=)", parameter)[0])
    text, arrays = re.subn(r"\[[^\]]*\]", " ", text)
    found = re.fullmatch(r"(.*[\s*&>])(\w+)", text.strip(), re.DOTALL)
    if found and not re.fullmatch(_BUILT_IN, found[2]) and found[1].replace("const", "").strip():
        text = found[1]
    base, rest = re.fullmatch(r"([^*&]*)(.*)", text + "*" * arrays, re.DOTALL).groups()  # type: ignore[union-attr]
    words = sorted(base.split())
    if not rest:  # a const value parameter has the same type outside of the function
        words = [word for word in words if word != "const"]
    return " ".join([*words, re.sub(r"\s|\bconst\s*$", "", rest)])


def _template(before: str) -> tuple[str, ...] | None:
    """Return the parameters of the template whose head ends `before`, or None without one."""
    heads = [*re.finditer(r"\btemplate\s*<", before)]
    if not heads:
        return None
    end = signature.matching(before, heads[-1].end() - 1, "<", ">")
    parameters = signature.split_top(before[heads[-1].end() : end - 1])
    return tuple(" ".join(one.replace("typename", "class").split()) for one in parameters)


def _kernels(text: str) -> Iterator[_Kernel]:
    """Yield the kernels that a text declares. Macros and attributes may precede the name."""
    text = comments.without_directives(comments.blanked(text))
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
        and len(signature.split_top(given[1])) == ambiguous[name]
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
