"""C++ name expressions: ``f<int>``, ``&q::x``, ``(void (*)(float *))g``, as NVRTC defines them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from PyGPU._compile.source import c_names, declarations, signature

_KNOWN = {word for name in (*c_names.TYPES, *c_names.VECTORS) for word in name.split()}


def instances(source: str) -> list[str]:
    """Return name expressions of the kernels that a text instantiates or specializes.

    In a namespace, types of the text are left out: an expression would need their scopes.
    """
    text, found = declarations.source(source), []
    for match in re.finditer(r"\btemplate\b(?=[^;{}]*\b__global__\b)", text.code):
        declared = text.statement(match.start())
        if declared.template != () or not declared.declarators:
            continue
        (one, *_) = declared.declarators
        if one.parameters is None or "__global__" not in declared.words:
            continue
        types = text.code[slice(*one.parameters)]
        scopes = [scope.name for scope in text.around(match.start()) if scope.name]
        name = "::".join([*scopes, one.name]) + one.arguments
        if not scopes or _KNOWN.issuperset(re.findall(r"[A-Za-z_]\w*", one.arguments or types)):
            found.append(name if one.arguments else f"(void (*)({types}))&{name}")
    return found


def plain(expression: str) -> str:
    """Return the name that an expression stands for, with the cast that chooses an overload."""
    return expression if expression.lstrip().startswith("(") else signature.bare_name(expression)


def _normal(expression: str) -> str:
    """Return one spelling for expressions of equal meaning."""
    name = signature.bare_name(expression)
    cast = expression.strip()[: len(expression.strip()) - len(name)].rstrip("&: \t\n")
    return re.sub(r"\s+", "", cast.lstrip("&: \t\n") + name)


def equal(expression: str, known: Iterable[str]) -> str | None:
    """Return the known expression that names the same object, or None."""
    normal = _normal(expression)
    return next((one for one in known if one == expression or _normal(one) == normal), None)


def unqualified(expression: str) -> str:
    """Return the name without its scopes; template arguments are kept."""
    name = signature.bare_name(expression)
    head = name.partition("<")[0]
    return name[head.rfind("::") + 2 :] if "::" in head else name


def only(name: str, known: Iterable[str]) -> str | None:
    """Return the only known expression whose name without scopes is `name`; None if several are.

    A cast chooses one of several kernels, whose name alone means none of them.
    """
    found = [
        one
        for one in known
        if not one.startswith("(") and re.sub(r"\s+", "", unqualified(one)) == name
    ]
    return found[0] if len(found) == 1 else None
