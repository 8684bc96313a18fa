"""C++ name expressions: ``f<int>``, ``&q::x``, ``(void (*)(float *))g``, as NVRTC defines them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from PyGPU._compile.source import c_names, comments, signature

_KNOWN = {word for name in (*c_names.TYPES, *c_names.VECTORS) for word in name.split()}
_INSTANCE = (
    r"\btemplate\s*(?:<\s*>)?\s*(?=[^;{}<]*__global__)(?:(?!\bvoid\b)[^;{}])*\bvoid\s(?:\s*__\w+(?:\([^()]*\))?)*"
    r"\s*([\w:]+)\s*(<[^;{}]*?>)?\s*\(([^;{}]*)\)\s*[;{]"
)


def instances(source: str) -> list[str]:
    """Return name expressions of the kernels that a text instantiates or specializes.

    In a namespace, types of the text are left out: an expression would need their scopes.
    """
    text = comments.without_directives(comments.blanked(source))
    around, found = signature.scopes(text), []
    for match in re.finditer(_INSTANCE, text):
        scopes = [one.name for one in around if one.name and one.start <= match.start() < one.end]
        name = "::".join([*scopes, match[1]]) + (match[2] or "")
        if not scopes or _KNOWN.issuperset(re.findall(r"[A-Za-z_]\w*", match[2] or match[3])):
            found.append(name if match[2] else f"(void (*)({match[3]}))&{name}")
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
