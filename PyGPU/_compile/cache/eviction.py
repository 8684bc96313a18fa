"""Size limit of the cache on disk: the least recently used files are removed first."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_ENTRY = r"[0-9a-f]{64}"
_FOLDER = r"[0-9a-f]{2}"
_UNFINISHED = ".new-"
_STALE = 3600.0  # seconds after which an unfinished file counts as abandoned
PRELUDE = "prelude"  # the folder of precompiled headers
LIBRARY = ".so"  # ending of a library
_SMALL = ("prelude.h", "digest", "lock")  # other files in their folders


class Item(NamedTuple):
    """A file of the cache."""

    used: float  # seconds since the epoch
    nbytes: int
    path: str


def is_entry(name: str) -> bool:
    """Report whether a file has the name of a compiled kernel."""
    return re.fullmatch(_ENTRY, name) is not None


def _scan(folder: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _items(folder: str | os.PathLike[str]) -> Iterator[Item]:
    """Yield the files in a folder whose names are those of the cache."""
    for one in _scan(folder):
        is_known = is_entry(one.name) or is_entry(one.name.removesuffix(LIBRARY))
        if is_known or one.name.startswith((_UNFINISHED, *_SMALL)):
            with contextlib.suppress(OSError):  # removed meanwhile
                state = one.stat(follow_symlinks=False)
                yield Item(state.st_mtime, state.st_size, one.path)


def _preludes(folder: Path) -> Iterator[Item]:
    for one in _scan(folder / PRELUDE):
        if is_entry(one.name):
            yield from _items(one.path)


def items(folder: Path) -> list[Item]:
    """Return all files of the cache. Other files in its folder are ignored."""
    found = list(_preludes(folder))
    for one in _scan(folder):
        if re.fullmatch(_FOLDER, one.name):
            found += _items(one.path)
    return found


def _remove(item: Item) -> None:
    with contextlib.suppress(OSError):  # removed by another process, or not permitted
        os.unlink(item.path)


def shrink(folder: Path, limit: int) -> None:
    """Above a limit in bytes, remove the least recently used files until a tenth of it is free.

    Abandoned files are always removed.
    """
    found = sorted(item for item in items(folder) if not item.path.endswith(_SMALL))
    total = sum(item.nbytes for item in found)
    goal, now = (limit * 9 // 10 if total > limit else total), time.time()
    for item in found:
        stale = os.path.basename(item.path).startswith(_UNFINISHED) and now - item.used > _STALE
        if total > goal or stale:
            _remove(item)
            total -= item.nbytes


def after_storing(folder: Path, below: Path, limit: int) -> None:
    """Keep to a limit in bytes after an entry was stored in the folder `below`.

    The names of entries are digests, so each of the 256 folders holds about the same.
    """
    about = 256 * sum(item.nbytes for item in _items(below))
    if about + sum(item.nbytes for item in _preludes(folder)) > limit:
        shrink(folder, limit)


def clear(folder: Path) -> list[Item]:
    """Remove the files of the cache and its empty folders; return the removed files."""
    found = items(folder)
    for item in found:
        _remove(item)
    for one in [*_scan(folder / PRELUDE), *_scan(folder)]:
        if is_entry(one.name) or re.fullmatch(_FOLDER, one.name) or one.name == PRELUDE:
            with contextlib.suppress(OSError):  # it holds other files
                os.rmdir(one.path)
    return [item for item in found if not os.path.lexists(item.path)]
