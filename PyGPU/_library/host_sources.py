"""CUDA's sources as C++ for the host machine: copies whose launches are rewritten.

A file and the files that it includes are copied to a folder of their own, below which they have
their own paths. So an ``#include "..."`` finds the copy, and messages name the original.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PyGPU._compile.cache import files
from PyGPU._compile.source import comments, includes, lockstep, variables
from PyGPU._library import host_launches
from PyGPU._runtime import encoded, in_text

_ABSOLUTE = r'(^[ \t]*#[ \t]*include[ \t]*["<])(/[^">\n]+)'


def _to_copy(found: re.Match[str], texts: Mapping[str, str], folder: Path) -> str:
    """Return an ``#include`` of an absolute path as that of the copy, if there is one."""
    path = os.path.abspath(found.group(2))
    return f"{found.group(1)}{folder}{path}" if path in texts else found.group()


def with_internal_variables(source: str, declared: Iterable[variables.Variable]) -> str:
    """Return a text whose variables of a namespace have internal linkage, as nvcc's have."""
    found = {
        one.position
        for one in declared
        if one.is_in_namespace() and not one.has("static|extern|inline|constexpr|template")
    }
    cuts = [0, *sorted(found), len(source)]
    parts = [source[a:b] for a, b in zip(cuts, cuts[1:])]
    return "static ".join(parts)


# A declaration of a variable or a member with the name of an index, or a use of such a member.
_INDEX = r"(?:threadIdx|blockIdx|blockDim|gridDim)\b"
_OWN_INDEX = rf"(?:\.|->)\s*{_INDEX}|(?:[\w>&*,]\s+|[&*,])(?<!return ){_INDEX}\s*(?![.\w\s]|$)"


def definitions(texts: Iterable[bytes]) -> list[str]:
    """Return the options for sources that declare variables named as CUDA's indices."""
    plain = (comments.blanked(_decoded(text)) for text in texts)
    return ["-DPYGPU_NAMED_INDICES"] if any(re.search(_OWN_INDEX, one) for one in plain) else []


def _is_ours(text: str) -> bool:
    # Only device code has indices, so all texts that need definitions() are among these.
    return re.search(r"<<|__shared__|__device__|__constant__", text) is not None


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


class Copies(NamedTuple):
    """Copies of sources, and what compiles them in the originals' place."""

    first: list[str]  # options before all others
    last: list[str]  # options after all others
    lockstep_sources: set[str]  # absolute paths of the sources whose warps run in lockstep


def copied(
    sources: Mapping[str, bytes],
    search: tuple[Sequence[str], Sequence[str], Sequence[str]],
    options: Iterable[str],
    folder: Path,
    relocatable: bool = False,
) -> Copies | None:
    """Copy the sources and the files that they include below a folder, rewritten.

    The copy of ``/a/b.cu`` is ``folder/a/b.cu``. `search` has the folders, pre-included headers and
    macros as for :func:`includes.scan`. If `relocatable`, the sources share variables in device
    memory, as with nvcc's ``-rdc=true``. None if no file needs to be rewritten; then nothing is
    copied.
    """
    contents, lockstep_sources = {}, set()
    for path, data in sources.items():
        found = includes.scan({path: data}, *search).files
        contents.update(found)
        if lockstep.is_needed(_decoded(data), search[2], found, relocatable):
            lockstep_sources.add(os.path.abspath(path))
    contents.update(sources)
    texts = {os.path.abspath(path): _decoded(data) for path, data in contents.items()}
    if not lockstep_sources and not any(map(_is_ours, texts.values())):
        return None
    chosen = host_launches.ambiguous(texts.values())
    declared = {} if relocatable else {path: variables.variables(texts[path]) for path in texts}
    elsewhere = {
        one.full_name for several in declared.values() for one in several if one.is_elsewhere()
    }
    for path, text in texts.items():
        copy = Path(f"{folder}{path}")
        files.make_folder(copy.parent)
        body = text
        if _is_ours(text):
            internal = [one for one in declared.get(path, ()) if one.full_name not in elsewhere]
            body = host_launches.rewritten(with_internal_variables(text, internal), chosen)
        body = re.sub(_ABSOLUTE, partial(_to_copy, texts=texts, folder=folder), body, flags=re.M)
        if path in lockstep_sources:
            body += "\n#include <PyGPU/host/lockstep.h>\n"
        name = in_text(path).replace("\\", "\\\\").replace('"', '\\"')
        copy.write_bytes(encoded(f'#line 1 "{name}"\n{body}'))
    first = [word for one in search[0] for word in ("-I", f"{folder}{os.path.abspath(one)}")]
    renamed = [re.fullmatch(r"(-f\w+-prefix-map=)(.*)", word) for word in options]
    named = [f"{one[1]}{folder}{one[2]}" for one in renamed if one]
    last = [*definitions(contents.values()), f"-ffile-prefix-map={folder}=", *named]
    return Copies(first, last, lockstep_sources)
