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
}

# Names that programs give types of their own; equal in size to ours, but another type for C++.
_OWN_NAME = r"(u?int(?:8|64|ptr|max)_t|ulong|ssize_t)"
_OWN_TYPE = r"((?:\b(?:char|int|long|signed|unsigned)\s+)+)"
_OWN = rf"\btypedef\s+{_OWN_TYPE}{_OWN_NAME}\s*[;,]|\busing\s+{_OWN_NAME}\s*=\s*([a-z ]+);"

# CUDA's headers of asynchronous copies declare types themselves if NVRTC reads them.
_ASYNCHRONOUS = rb"\bcuda_(?:pipeline|awbarrier)|\bmemcpy_async\.h"
_ITS_TYPES = b"typedef unsigned long long uint64_t; typedef unsigned long long uintptr_t;"


def own_integers(texts: Iterable[bytes]) -> dict[str, str]:
    """Return {name of an integer type: the type that the texts give it}.

    Names with several types, under conditions, keep the types that nvcc has.
    """
    from PyGPU._compile.source import declarations

    found: dict[str, set[str]] = {}
    for data in texts:
        if not re.search(_OWN.encode(), data):
            continue
        text = declarations.source(data.decode("utf-8", "replace"))
        around = [one for one in text.scopes if one.name != ""]
        for match in re.finditer(_OWN, text.code):
            if not any(one.start <= match.start() < one.end for one in around):
                words = (match[1] or match[4]).split()
                found.setdefault(match[2] or match[3], set()).add(" ".join(words))
    return {name: types.pop() for name, types in found.items() if len(types) == 1}


def prelude_switches(texts: Iterable[bytes], is_complete: bool) -> list[str]:
    """Return the macros that enable the parts of the prelude that the texts need.

    The texts are a source and the user's headers. If some headers are unknown (`is_complete` is
    False), the parts that they may need are enabled as well.
    """
    texts = list(texts)
    text = b"\n".join(texts)
    texts += [_ITS_TYPES] if re.search(_ASYNCHRONOUS, text) else []
    needed = [
        switch
        for switch, pattern in _SWITCHES.items()
        if re.search(pattern, text) or not is_complete
    ]
    traits = "-DPYGPU_USES_TRAITS"
    needed = [one for one in needed if one != traits or "-DPYGPU_USES_STD" in needed]
    return [*needed, *(f"-DPYGPU_OWN_{name}=~,{one}" for name, one in own_integers(texts).items())]


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
