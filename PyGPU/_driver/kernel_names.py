"""Names of kernels and variables: which one of an image a name means, and the errors for none."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from PyGPU._compile.compilers import code_object
from PyGPU._compile.source import (
    comments,
    kernel_types,
    name_expressions,
    signature,
    variables,
)
from PyGPU._runtime import core, errors


def plain_name(name: str) -> str | None:
    """Return the plain name in a mangled one: saxpy for _Z5saxpyPfi."""
    match = re.match(r"_Z(\d+)", name)
    return name[match.end() : match.end() + int(match.group(1))] if match else None


def _in_image(image: bytes) -> dict[str, str]:
    """Return {mangled name: C++ name} of the functions and variables in an image."""
    found = {}
    for match in set(re.findall(rb"(?<![\w$])_Z\w+", image)):
        name = core._demangled(match.decode())
        if name and not name.startswith(
            ("guard variable", "typeinfo", "vtable", "void PyGPU_type<")
        ):
            # Compilers put internal names into scopes of their own.
            name = re.sub(r"\(anonymous namespace\)::|\b_INTERNAL_\w+::", "", name)
            found[match.decode()] = name
    return found


def _named(mangled: Mapping[str, str], name: str) -> str | None:
    """Return the mangled name of the only object with a C++ name; None if not unique.

    A name without scopes matches in all scopes, and one without template arguments all instances.
    """
    short = name_expressions.unqualified
    for form in (
        lambda one: one,
        lambda one: short(one) if "::" not in name else "",
        lambda one: short(one).partition("<")[0] if "::" not in name else "",
    ):
        found = [key for key, one in mangled.items() if re.sub(r"\s+", "", form(one)) == name]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def kernel_in(image: bytes, name: str) -> str | None:
    """Return the mangled name of the only kernel in an image with a C++ name, or None."""
    kernels = {}
    for key, one in _in_image(image).items():
        if one.endswith(")"):
            head = one[: len(one) - len(kernel_types.in_brackets(one)) - 2]
            kernels[key] = head.removeprefix("void ")
    return _named(kernels, re.sub(r"\s+", "", signature.bare_name(name)))


def variable_in(image: bytes, name: str) -> str | None:
    """Return the mangled name of the only variable in an image with a C++ name, or None."""
    named = {key: one for key, one in _in_image(image).items() if not one.endswith(")")}
    return _named(named, re.sub(r"\s+", "", signature.bare_name(name)))


def expression_of(name: str, known: Iterable[str]) -> str | None:
    """Return the known name expression that means a name; a name without scopes if it is unique."""
    found = name_expressions.equal(name, known)
    bare = signature.bare_name(name)
    return found or (None if "::" in bare else name_expressions.only(bare, known))


def name_in_image(name: str, names: Mapping[str, str]) -> str:
    """Return the name in the image of a kernel, a variable or a C++ name expression."""
    found = expression_of(name, names)
    return name_expressions.plain(name) if found is None else names[found]


def other_names(image: bytes, name: str, lowered: str, declared: Container[str]) -> Iterator[str]:
    """Yield the other names that an image may have for a kernel."""
    plain, unique = plain_name(name), kernel_in(image, name)
    if unique:
        yield unique
    if plain and not kernel_in(image, plain):  # extern "C" leaves out the types
        yield plain
    if lowered in declared:  # extern "C" leaves out the scopes
        yield name_expressions.unqualified(lowered)


def parameters_of(
    image: bytes,
    name: str,
    lowered: str,
    names: Mapping[str, str],
    parameters: Mapping[str, Sequence[tuple[str, str, int]]],
) -> Sequence[tuple[str, str, int]] | None:
    """Return a kernel's parameters, with the sizes of the image if it states them."""
    found = stated_parameters(name, lowered, names, parameters)
    known = code_object.parameters(image, lowered)
    if known is None or found is None or len(found) != len(known):
        return found if found is not None else known
    return [(a[0], a[1], nbytes) for a, (_, _, nbytes) in zip(found, known)]


def stated_parameters(
    name: str,
    lowered: str,
    names: Mapping[str, str],
    parameters: Mapping[str, Sequence[tuple[str, str, int]]],
) -> Sequence[tuple[str, str, int]] | None:
    """Return a kernel's parameters as the source text and the mangled name state them.

    :param name, lowered: Name that the program uses, and name in the image.
    :param mapping names: {C++ name expression: name in the image}.
    :param mapping parameters: {kernel: [(name, kind, bytes) of each parameter]}, from the source
        text.
    """
    for alias in (lowered, *(e for e, its_name in names.items() if its_name == lowered)):
        if alias in parameters:
            return parameters[alias]
    mangled = kernel_types.of_mangled(lowered) if lowered.startswith("_Z") else None
    plain = plain_name(name) or signature.bare_name(name)
    same = [p for full, p in parameters.items() if plain in (full, full.split("::")[-1])]
    if mangled is None:
        return same[0] if len(same) == 1 else None
    if len(same) == 1 and len(same[0]) == len(mangled):
        declared = tuple(signature.Parameter(*one) for one in same[0])
        return kernel_types.named(mangled, declared)
    return mangled


def _overloads(name: str) -> str:
    return (
        f"; the source has several kernels {name}: pass the mangled name (_Z...), or give each a "
        "name of its own, or make them a template"
    )


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
            there = dict.fromkeys(k.full_name for k in kernels if not k.is_template)
            text += f"; the source has {', '.join(there)}" if there else ""
        elif "__global__" not in comments.blanked(source):
            text += "; no function in the source is __global__, which makes it a kernel"
    return _with_text(error, text)


def missing_variable(
    call: str, name: str, error: errors.Error, source: str | None
) -> errors.LogicError:
    """Return the error for an unknown variable or reference, which lists those of the source."""
    is_global = call == "get_global"
    kind = "global" if is_global else "reference"
    text = str(error).replace("get_global", call, 1)
    text = re.sub(r"global '.*' not found", lambda _: f"{kind} {name!r} not found", text)
    declared = variables.variables if is_global else variables.references
    found = declared(source) if source else []
    plain = name_expressions.unqualified(name).partition("<")[0]
    if any(one.has("template") and one.full_name.split("::")[-1] == plain for one in found):
        expression = f"&{signature.bare_name(name)}" + ("" if "<" in name else "<...>")
        text += f"; request instances of templates by name_expressions=[{expression!r}]"
    elif names := [one.full_name for one in found if one.is_nameable()]:
        text += f"; the source has {', '.join(names)}"
    return _with_text(error, text, call)


def _with_text(error: errors.Error, text: str, call: str | None = None) -> errors.LogicError:
    made = errors.LogicError(text)
    made.call, made.status = call or error.call, error.status
    return made
