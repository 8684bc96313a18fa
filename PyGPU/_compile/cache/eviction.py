"""The size of the cache on disk: what was not used for longest goes first."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_LIMIT = 1 << 30
_ENTRY = r"[0-9a-f]{64}"
_FOLDER = r"[0-9a-f]{2}"
_UNFINISHED = ".new-"
_STALE = 3600.0  # seconds after which an unfinished file is nobody's
PRELUDE = "prelude"  # the folder of precompiled headers
_SMALL = ("prelude.h", "digest", "lock")  # what stands beside them


class Item(NamedTuple):
    """A file of ours."""

    used: float  # seconds since the epoch
    nbytes: int
    path: str


def limit() -> int:
    """How many bytes the cache may hold: PYGPU_CACHE_MAXSIZE, else 1 GiB."""
    text = os.environ.get("PYGPU_CACHE_MAXSIZE", "").strip()
    if not text:
        return _LIMIT
    found = re.fullmatch(r"([0-9]+)([KMGT]?)", text.upper())
    if not found:
        raise ValueError(
            f"PYGPU_CACHE_MAXSIZE={text!r}: expected a number of bytes, or one with K, M, G or T"
        )
    return int(found[1]) << 10 * " KMGT".index(found[2] or " ")


def is_entry(name: str) -> bool:
    """Is it a compiled kernel's file, by its name?"""
    return re.fullmatch(_ENTRY, name) is not None


def _scan(folder: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _items(folder: str | os.PathLike[str]) -> Iterator[Item]:
    """The files in a folder that are the cache's by their names."""
    for one in _scan(folder):
        if is_entry(one.name) or one.name.startswith((_UNFINISHED, *_SMALL)):
            with contextlib.suppress(OSError):  # gone meanwhile
                state = one.stat(follow_symlinks=False)
                yield Item(state.st_mtime, state.st_size, one.path)


def _preludes(folder: Path) -> Iterator[Item]:
    for one in _scan(folder / PRELUDE):
        if is_entry(one.name):
            yield from _items(one.path)


def items(folder: Path) -> list[Item]:
    """All files of the cache. What else is in its folder is none of ours."""
    found = list(_preludes(folder))
    for one in _scan(folder):
        if re.fullmatch(_FOLDER, one.name):
            found += _items(one.path)
    return found


def _remove(item: Item) -> None:
    with contextlib.suppress(OSError):  # another process did, or it is not ours to remove
        os.unlink(item.path)


def shrink(folder: Path) -> None:
    """Where the limit is passed, remove what was not used for longest until a tenth is free."""
    found = sorted(item for item in items(folder) if not item.path.endswith(_SMALL))
    total = sum(item.nbytes for item in found)
    goal, now = (limit() * 9 // 10 if total > limit() else total), time.time()
    for item in found:
        stale = os.path.basename(item.path).startswith(_UNFINISHED) and now - item.used > _STALE
        if total > goal or stale:
            _remove(item)
            total -= item.nbytes


def after_storing(folder: Path, below: Path) -> None:
    """Keep to the limit. The names of entries are digests, so one of the 256 folders of them tells
    about how much is in all."""
    about = 256 * sum(item.nbytes for item in _items(below))
    if about + sum(item.nbytes for item in _preludes(folder)) > limit():
        shrink(folder)


def clear(folder: Path) -> list[Item]:
    """Remove the cache's files and the folders that are empty then: what was removed."""
    found = items(folder)
    for item in found:
        _remove(item)
    for one in [*_scan(folder / PRELUDE), *_scan(folder)]:
        if is_entry(one.name) or re.fullmatch(_FOLDER, one.name) or one.name == PRELUDE:
            with contextlib.suppress(OSError):  # something else is in it
                os.rmdir(one.path)
    return [item for item in found if not os.path.lexists(item.path)]
