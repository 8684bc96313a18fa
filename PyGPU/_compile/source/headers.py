"""Headers that kernels include: ours, and what a user's need of them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache

from PyGPU._compile.source import signature
from PyGPU._runtime import PACKAGE, include_root


def folder(name: str) -> str:
    """A folder of headers for kernels: "device", "rtc", "rtc_hip", "host/cuda"."""
    return str(include_root() / "PyGPU" / name)


def _files_below(root: str, ending: str) -> Iterator[str]:
    for folder, _, names in os.walk(root):
        yield from (os.path.join(folder, name) for name in names if name.endswith(ending))


@cache
def fingerprint() -> bytes:
    """A digest of all of PyGPU's own that becomes part of an image: headers, and what uses them."""
    digest = hashlib.sha256()
    for root, names in ((include_root(), ""), (PACKAGE / "_compile", ".py")):
        for path in sorted(_files_below(str(root), names)):
            digest.update(path[len(str(root)) :].encode())
            with open(path, "rb") as file:
                digest.update(file.read())
    return digest.digest()


# Parts of the prelude for run-time compilers that only some sources need, and pay for.
_SWITCHES = {
    "-DPYGPU_USES_STD": rb"\bstd\b",
    "-DPYGPU_USES_LIMITS": rb"\bnumeric_limits\b",
    "-DPYGPU_USES_TRAITS": rb"\b(?:enable_if|is_\w+|conditional|decay|remove_\w+|pair)(?:_t|_v)?\b",
    "-DPYGPU_OWN_INTEGERS": rb"\btypedef\b[^;]*\bu?int(?:8|16|32|64)_t\s*;",
}


def prelude_switches(texts: Iterable[bytes], is_complete: bool) -> list[str]:
    """The macros that turn on what the texts, a source and the user's headers, need of the prelude;
    what headers that are not known may need as well."""
    text = b"\n".join(texts)
    needed = [
        switch
        for switch, pattern in _SWITCHES.items()
        if re.search(pattern, text) or not (is_complete or "OWN" in switch)
    ]
    traits = "-DPYGPU_USES_TRAITS"
    return [one for one in needed if one != traits or "-DPYGPU_USES_STD" in needed]


_TYPE = r"\b(?:texture|surface)\s*<[\w\s:,]*>"  # and no comparison
_REFERENCE = _TYPE.encode()
_HIDDEN = rf"\bstatic\s(?=\s*(?:__device__\s+)?{_TYPE})"


# Intrinsics of several integers in a word. Pasted names (##) hide them.
_SIMD = rb"##|\b__(?:v[a-z]+\d?|vi[a-z]+\d?_[su]\w+|dp2a_\w+|dp4a)\b"


def on_demand(texts: Iterable[bytes], is_complete: bool, simd: str = "") -> list[str]:
    """Headers of ours that go before texts, a source and the user's headers, that need them: those
    of texture references, and of integers in a word, which is of the folder `simd` where the
    compiler lacks those."""
    text = b"\n".join(texts)
    found = [f"{folder('device')}/texture_references.h"] if re.search(_REFERENCE, text) else []
    if simd and (re.search(_SIMD, text) or not is_complete):
        found.append(f"{folder(simd)}/simd_integers.h")
    return found


def with_visible_references(source: str) -> str:
    """The text with its static texture and surface references to be seen from outside, as the
    driver's modules had them."""
    return re.sub(_HIDDEN, lambda match: " " * len(match.group()), source)


_INCLUDE = r"[ \t]*#[ \t]*(?:include|include_next|import)\b.*(?<!\\)$"


def wrap_extern_c(source: str) -> str:
    """The text with C names, its ``#include`` lines outside: templates cannot have C names.

    Line numbers stay the user's. A header included inside braces stays where it is.
    """
    result, depth = ['extern "C" {\n#line 1'], 0
    lines = zip(source.split("\n"), signature.blanked(source).split("\n"))
    for number, (line, code) in enumerate(lines, 1):
        is_directive = code.lstrip().startswith("#")
        if is_directive and re.match(_INCLUDE, line.rstrip()) and depth == 0:
            result.append(f'}}\n#line {number}\n{line}\nextern "C" {{\n#line {number + 1}')
        else:
            result.append(line)
            if not is_directive:
                depth = max(0, depth + code.count("{") - code.count("}"))
    return "\n".join(result) + "\n}\n"


def wrapped(source: str, extern_c: bool) -> str:
    """Return the text that a compiler gets: visible references and, if asked for, C names."""
    source = with_visible_references(source)
    return wrap_extern_c(source) if extern_c else source


# What g++, clang++ and NVRTC say of templates and overloads with C names.
_C_LINKAGE = (
    r"template with C linkage|conflicting declaration of C function"
    r"|templates must have C\+\+ linkage|conflicting types for"
    r'|may not have extern "C" linkage|overloaded function "[^"]*" has "C" linkage'
)


def hint(log: str) -> str:
    """What to tell a program whose text did not compile with C names; often nothing."""
    if not re.search(_C_LINKAGE, log):
        return ""
    return "templates and overloads have no C names: pass no_extern_c=True"
