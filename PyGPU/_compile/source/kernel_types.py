"""Types of kernels' parameters as the compiler knows them, read from the image.

The mangled name of a template's instance contains the types of a function's parameters. So
instances are appended to the text for kernels whose types the text alone does not show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from PyGPU._compile.source import declarations, signature, variables
from PyGPU._compile.source.signature import Parameter
from PyGPU._runtime import CompileError, core

#: {kernel: ((name, kind, bytes), ...)}
Table = dict[str, tuple[Parameter, ...]]


class _Compiled(Protocol):
    """An image, and the names in the image of the requested instances."""

    @property
    def image(self) -> bytes: ...
    @property
    def names(self) -> dict[str, str]: ...


_C = TypeVar("_C", bound=_Compiled)

#: Names of the instances that `questions` adds, as they appear in an image.
INSTANCE = rb"_Z10PyGPU_typeILi(\d+)E\w+Evv(?!\w)"


#: Name of the questions' text in messages of compilers.
QUESTIONS = "(types of kernels)"


def questions(names: Sequence[str]) -> str:
    """Return the text with an instance for each kernel, whose mangled name has its types."""
    if not names:
        return ""
    rows = [f'\n#line 1 "{QUESTIONS}"\ntemplate <int, class> __global__ void PyGPU_type() {{}}']
    rows += [
        f"template __global__ void PyGPU_type<{number}, decltype({name})>();"
        for number, name in enumerate(names)
    ]
    return "\n".join(rows) + "\n"


def answers(image: bytes, names: Sequence[str]) -> Table:
    """Return the parameters that the image of a text with these questions shows."""
    found = {}
    for match in re.finditer(INSTANCE, image):
        parameters = of_mangled(match.group().decode())
        if parameters is not None and int(match.group(1)) < len(names):
            found[names[int(match.group(1))]] = parameters
    return found


def in_brackets(text: str) -> str:
    """Return the parameters in the brackets that end a demangled name."""
    depth, start = 1, len(text) - 1
    while depth and start:
        start -= 1
        depth += {")": 1, "(": -1}.get(text[start], 0)
    return text[start + 1 : -1]


def of_mangled(name: str) -> tuple[Parameter, ...] | None:
    """Return the parameters, without names, of a mangled C++ name such as ``_Z4axpyPff``."""
    text = core._demangled(name)
    if text is None:
        return None
    asked = re.fullmatch(r"void PyGPU_type<\d+, void ?(?:\(\*\) ?)?\((.*)\)>\(\)", text)
    if text.startswith("void PyGPU_type<") and not asked:  # a variable
        return None
    if asked:
        inside = asked.group(1)
    elif text.endswith(")"):
        inside = in_brackets(text)
    else:  # a variable
        return None
    parts = [] if inside in ("", "void") else declarations.split_top(inside)
    return tuple(signature.parameter(f"{part} _")._replace(name="") for part in parts)


def named(parameters: tuple[Parameter, ...], text: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Return the compiler's parameters with names, and kinds unknown to it, from the text."""
    if len(parameters) != len(text):
        return parameters
    return tuple(
        b if a.kind == "?" or (a.kind == "P" and b.kind[0] == "P") else a._replace(name=b.name)
        for a, b in zip(parameters, text)
    )


def doubtful(kernels: Iterable[signature.Kernel]) -> list[str]:
    """Return the names of the kernels whose types the text does not show."""
    return list(
        dict.fromkeys(
            kernel.full_name for kernel in kernels if not (kernel.is_sure or kernel.is_template)
        )
    )


def _agreed(a: Parameter, b: Parameter) -> Parameter:
    """Return the parameter that agrees with both, unknown in what they differ."""
    if a[1:] == b[1:]:
        return a
    if a.kind.rstrip("w") == b.kind.rstrip("w") and a.nbytes == b.nbytes:
        return a._replace(kind=a.kind.rstrip("w"))
    return a._replace(kind="P") if a.kind[0] == b.kind[0] == "P" else Parameter(a.name, "?", 0)


def stated(found: Iterable[signature.Kernel]) -> dict[str, tuple[Parameter, ...]]:
    """Return the parameters of each kernel, unknown if its definitions disagree."""
    result: dict[str, tuple[Parameter, ...]] = {}
    for kernel in found:
        before = result.setdefault(kernel.full_name, kernel.parameters)
        if len(before) != len(kernel.parameters):
            result[kernel.full_name] = ()
        else:
            result[kernel.full_name] = tuple(
                _agreed(a, b) for a, b in zip(before, kernel.parameters)
            )
    return result


def table(kernels: Sequence[signature.Kernel], reported: Table, names: dict[str, str]) -> Table:
    """Return the parameters of each kernel, by its name and by its name expression.

    Parameters
    ----------
    kernels : sequence of signature.Kernel
        Kernels of the text.
    reported : dict
        Parameters from the compiler.
    names : dict
        Name expression -> name in the image.
    """
    result = stated(kernels)
    for name in doubtful(kernels):  # the compiler may use another definition
        result[name] = tuple(
            one if one.kind[0] == "P" else one._replace(kind="?", nbytes=0) for one in result[name]
        )
    for expression, lowered in names.items():
        plain = signature.bare_name(expression).partition("<")[0].strip()
        known = reported.get(expression) or of_mangled(lowered)
        if known is not None:
            result[expression] = named(known, result.get(plain, ()))
    for name, parameters in reported.items():
        result[name] = named(parameters, result.get(name, ()))
    for kernel in kernels:
        if kernel.is_template:
            result.pop(kernel.full_name, None)
    return result


def compiled(
    source: str | None,
    macros: Sequence[str],
    is_binary: bool,
    compile: Callable[[Sequence[str], Sequence[str]], _C],
) -> tuple[_C, Table]:
    """Compile a text together with the questions about its kernels; return both results.

    Only binary images have the answers, and nothing is asked about a `source` of None.
    ``compile(names, expressions)`` compiles the text, the questions about kernels of these names,
    and the expressions, of variables that an image has by other names than the text.
    """
    if source is None:
        return compile([], []), {}
    kernels, expressions = signature.kernels(source, macros), variables.expressions(source)
    asked = doubtful(kernels) if is_binary else []
    try:
        made = compile(asked, expressions)
    except CompileError:
        if not (asked or expressions):
            raise
        asked = []  # a condition may exclude one of the kernels or variables
        made = compile([], [])
    return made, table(kernels, answers(made.image, asked), made.names)
