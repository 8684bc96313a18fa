"""Names of kernels: which kernel of an image a program's name means, and the errors for none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from PyGPU._compile import kernel_types, signature
from PyGPU._runtime import capabilities, errors


def plain_name(name: str) -> str | None:
    """Return the plain name in a mangled one: saxpy for _Z5saxpyPfi."""
    match = re.match(r"_Z(\d+)", name)
    return name[match.end() : match.end() + int(match.group(1))] if match else None


def mangled_name(name: str, image: bytes) -> str | None:
    """Return the mangled name of the only kernel with a plain name; None if not unique."""
    plain = name.split("::")[-1]
    pattern = rb"\b_Z(?:N\w*?)?%d%s\w*" % (len(plain), re.escape(plain.encode()))
    found = {match.decode() for match in re.findall(pattern, image)}
    return found.pop() if len(found) == 1 else None


def stated_parameters(
    name: str,
    lowered: str,
    names: Mapping[str, str],
    parameters: Mapping[str, Sequence[tuple[str, str, int]]],
) -> Sequence[tuple[str, str, int]] | None:
    """Return a kernel's parameters as the source text and the mangled name state them.

    Parameters
    ----------
    name, lowered : str
        Name that the program uses, and name in the image.
    names : mapping
        {C++ name expression: name in the image}.
    parameters : mapping
        {kernel: [(name, kind, bytes) of each parameter]}, from the source text.
    """
    for alias in (lowered, *(e for e, its_name in names.items() if its_name == lowered)):
        if alias in parameters:
            return parameters[alias]
    mangled = kernel_types.of_mangled(lowered) if lowered.startswith("_Z") else None
    plain = plain_name(name) or name
    same = [p for full, p in parameters.items() if plain in (full, full.split("::")[-1])]
    if mangled is None:
        return same[0] if len(same) == 1 else None
    if len(same) == 1 and len(same[0]) == len(mangled):
        return [(a[0], b.kind, b.nbytes) for a, b in zip(same[0], mangled)]
    return mangled


def _overloads(name: str) -> str:
    advice = "give each a name of its own, or make them a template"
    if capabilities.mangles_names:
        advice = f"pass the mangled name (_Z...), or {advice}"
    return f"; the source has several kernels {name}: {advice}"


def missing_kernel(name: str, error: errors.Error, source: str | None) -> errors.LogicError:
    """Return the error for an unknown kernel, which lists the kernels of the source."""
    text = str(error)
    if source is not None:
        kernels = signature.kernels(source)
        same = [k.full_name for k in kernels if name in (k.name, k.full_name)]
        if "<" in name or any(k.is_template and k.name == name for k in kernels):
            text += f"; request instances of templates by name_expressions=[{name!r}]"
        elif len(set(same)) < len(same):
            text += _overloads(name)
        elif kernels:
            text += f"; the source has {', '.join(dict.fromkeys(k.full_name for k in kernels))}"
        elif "__global__" not in signature.blanked(source):
            text += "; no function in the source is __global__, which makes it a kernel"
    return _with_text(error, text)


def missing_variable(
    error: errors.LogicError, source: str | None, names: Callable[[str], list[str]]
) -> errors.LogicError:
    """Return the error for an unknown variable or reference, which lists those of the source."""
    found = names(source) if source and "not found in the module" in str(error) else []
    return _with_text(error, f"{error}; the source has {', '.join(found)}") if found else error


def _with_text(error: errors.Error, text: str) -> errors.LogicError:
    made = errors.LogicError(text)
    made.call, made.status = error.call, error.status
    return made
