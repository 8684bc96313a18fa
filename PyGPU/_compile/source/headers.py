"""PyGPU's headers for kernels: their folders, and the parts that a text needs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from PyGPU._runtime import include_root


def folder(name: str) -> str:
    """Return the path of a folder of headers, such as "device" or "host/cuda"."""
    return str(include_root() / "PyGPU" / name)


_BUILT_IN = rb"#include <PyGPU/kernels/(\w+\.h)>"


def built_in(text: bytes) -> list[bytes]:
    """Return the headers of built-in kernels that a text includes."""
    names = re.findall(_BUILT_IN, text)
    return [Path(folder("kernels"), os.fsdecode(name)).read_bytes() for name in names]


# Parts of the prelude for run-time compilers; a text pays only for the parts that it needs.
_SWITCHES = {
    "-DPYGPU_USES_STD": rb"\bstd\b",
    "-DPYGPU_USES_LIMITS": rb"\bnumeric_limits\b",
    "-DPYGPU_USES_TRAITS": rb"\b(?:enable_if|is_\w+|conditional|decay|remove_\w+|pair)(?:_t|_v)?\b",
    "-DPYGPU_OWN_INTEGERS": rb"\btypedef\b[^;]*\bu?int(?:8|16|32|64)_t\s*;",
}


def prelude_switches(texts: Iterable[bytes], is_complete: bool) -> list[str]:
    """Return the macros that enable the parts of the prelude that the texts need.

    The texts are a source and the user's headers. If some headers are unknown (`is_complete` is
    False), the parts that they may need are enabled as well.
    """
    text = b"\n".join(texts)
    needed = [
        switch
        for switch, pattern in _SWITCHES.items()
        if re.search(pattern, text) or not (is_complete or "OWN" in switch)
    ]
    traits = "-DPYGPU_USES_TRAITS"
    return [one for one in needed if one != traits or "-DPYGPU_USES_STD" in needed]


#: Type of a texture or surface reference in a declaration; it does not match a comparison.
REFERENCE_TYPE = r"\b(?:texture|surface)\s*<[\w\s:,]*>"
_REFERENCE = REFERENCE_TYPE.encode()

# Intrinsics of several integers in a word. Pasted names (##) may hide one.
_SIMD = rb"##|\b__(?:v[a-z]+\d?|vi[a-z]+\d?_[su]\w+|dp2a_\w+|dp4a)\b"


def on_demand(texts: Iterable[bytes], is_complete: bool, simd: str) -> list[str]:
    """Return PyGPU's headers that the texts need: texture references, and integers in a word.

    The texts are a source and the user's headers. `simd` is the folder of the header with the
    intrinsics for integers in a word that the compiler lacks.
    """
    text = b"\n".join(texts)
    found = [f"{folder('device')}/texture_references.h"] if re.search(_REFERENCE, text) else []
    if re.search(_SIMD, text) or not is_complete:
        found.append(f"{folder(simd)}/simd_integers.h")
    return found
