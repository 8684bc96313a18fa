"""PyGPU's own files that images depend on: headers, and the modules of this package."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from PyGPU._compile.cache import entries
from PyGPU._compile.cache.entries import Entry
from PyGPU._runtime import PACKAGE, digests, include_root

#: File with the digest, which the build of a package writes; a checkout has none.
BUILT = PACKAGE / "_compile" / "digest"
_ROOTS = ((include_root(), ""), (PACKAGE / "_compile", ".py"))


def _states() -> Iterator[tuple[str, str, int, int]]:
    """Yield the path, its part below the root, the size and the modification time of each file."""
    for root, ending in _ROOTS:
        folders = [str(root)] if root.is_dir() else []  # in a frozen program there are no modules
        while folders:
            with os.scandir(folders.pop()) as found:
                for one in found:
                    if one.is_dir():
                        folders.append(one.path)
                    elif one.name.endswith(ending):
                        state = one.stat()
                        below = one.path[len(str(root)) :]
                        yield one.path, below, state.st_size, state.st_mtime_ns


def _digest(folder: Path | None) -> bytes:
    if BUILT.exists():
        return BUILT.read_bytes()
    states = sorted(_states())
    name = entries.key("own files", repr(states))
    kept = entries.load(folder, name)
    if kept is not None:
        return kept.image
    made = digests.new()
    for path, below, *_ in states:
        made.update(os.fsencode(below))
        with open(path, "rb") as file:
            made.update(file.read())
    entries.store(folder, name, Entry(made.digest(), "", {}))
    return made.digest()


_known: list[bytes] = []


def digest(folder: Path | None) -> bytes:
    """Return a digest of the files' contents, the same for the whole process.

    Where no build wrote it, it is kept in the cache of this folder, as long as sizes and
    modification times stay: to read all files takes longer than to find an image.
    """
    if not _known:
        _known.append(_digest(folder))
    return _known[0]
