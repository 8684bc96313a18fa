"""CUDA's sources as C++ for the host machine: copies whose launches are rewritten.

A file and the files that it includes are copied to a folder of their own, below which they have
their own paths. So an ``#include "..."`` finds the copy, and messages name the original.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from PyGPU._compile import child_launches, dynamic_shared, files, signature
from PyGPU._runtime import encoded, in_text

_TEMPLATE = (
    r"\btemplate\s*<[^;{}]*?>\s*(?:static\s+|inline\s+|extern\s+)*"
    r"(?:__launch_bounds__\s*\([^()]*\)\s*)?__global__\b[^;{}()]*?"
    r"(?:__launch_bounds__\s*\([^()]*\)[^;{}()]*?)?\b(\w+)\s*\("
)
#: A kernel's name with its namespaces and a template's arguments, at the end of a text.
_KERNEL = (
    r"((?:::\s*)?(?:\w+\s*(?:<[^<>;{}]*>)?\s*::\s*)*\w+\s*(?:<(?:[^<>;{}]|<[^<>;{}]*>)*>)?)\s*$"
)


_ABSOLUTE = r'(^[ \t]*#[ \t]*include[ \t]*["<])(/[^">\n]+)'


def _to_copy(found: re.Match[str], texts: Mapping[str, str], folder: Path) -> str:
    """Return an ``#include`` of an absolute path as that of the copy, if there is one."""
    path = os.path.abspath(found.group(2))
    return f"{found.group(1)}{folder}{path}" if path in texts else found.group()


def templates(texts: Iterable[str]) -> set[str]:
    """Return the names of the kernels that are templates."""
    return {name for text in texts for name in re.findall(_TEMPLATE, signature.blanked(text))}


def rewritten(source: str, kernel_templates: set[str]) -> str:
    """Return a text with calls instead of launches; lines keep their numbers.

    ``kernel<<<grid, block>>>(x)`` becomes ``kernel ->* ::PyGPU_Launch("kernel", grid, block)(x)``:
    any expression may name the kernel. A template's arguments may be left to the compiler, so a
    template is called from a function object.
    """
    result, last = [], 0
    for launch in child_launches.launches(source):
        before, name = source[last : launch.start], launch.name
        shape = source[slice(*launch.shape)]
        kernel = re.search(_KERNEL, before) if name in kernel_templates else None
        if kernel:
            call = f"[&](auto&... PyGPU_a) {{ {kernel.group(1)}(PyGPU_a...); }}"
            result += [before[: kernel.start()], f'::PyGPU_Launch("{name}", {shape}).of({call})']
        else:
            result += [before, f' ->* ::PyGPU_Launch("{name}", {shape})']
        last = launch.end
    return dynamic_shared.in_cpp("".join([*result, source[last:]]))


def copied_folders(folders: Iterable[str], copies: Path) -> list[str]:
    """Return the options that search the copies of folders, which go before all other options."""
    return [word for one in folders for word in ("-I", f"{copies}{os.path.abspath(one)}")]


def _is_ours(text: str) -> bool:
    return "<<" in text or "__shared__" in text


def copied(sources: Mapping[str, bytes], found: Mapping[str, bytes], folder: Path) -> bool:
    """Copy the sources and the files that they include below a folder, rewritten.

    Parameters
    ----------
    sources, found : mapping of str to bytes
        Contents of the sources, and of the files that they may include, by their paths.
    folder : Path
        Folder of the copies: that of ``/a/b.cu`` is ``folder/a/b.cu``.

    Returns
    -------
    bool
        False if no file needs to be rewritten; then nothing is copied.
    """
    texts = {
        os.path.abspath(path): data.decode("utf-8", "surrogateescape")
        for path, data in {**found, **sources}.items()
    }
    if not any(map(_is_ours, texts.values())):
        return False
    kernel_templates = templates(texts.values())
    for path, text in texts.items():
        copy = Path(f"{folder}{path}")
        files.make_folder(copy.parent)
        body = rewritten(text, kernel_templates) if _is_ours(text) else text
        body = re.sub(_ABSOLUTE, partial(_to_copy, texts=texts, folder=folder), body, flags=re.M)
        name = in_text(path).replace("\\", "\\\\").replace('"', '\\"')
        copy.write_bytes(encoded(f'#line 1 "{name}"\n{body}'))
    return True
