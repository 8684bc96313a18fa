"""Entries of the cache of compiled kernels on disk, safe for many processes.

An entry is one file. It is written under a temporary name and renamed, so a reader sees a whole
entry or none. An entry that cannot be read or written costs a compilation and nothing else.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from PyGPU._compile.cache import dependencies, eviction, files
from PyGPU._runtime import digests, encoded, settings

if TYPE_CHECKING:
    from PyGPU._types import CacheDir

_FORMAT = 5  # of an entry; old entries are ignored after a new number
_MARSHAL = 2  # version of the facts in an entry, which all Pythons read

# Locks of the entries that threads make. They are reentrant, because a signal handler may compile
# in the thread that holds one. A forked child lacks the threads that hold them.
_making: dict[str, contextlib.AbstractContextManager[Any]] = {}
os.register_at_fork(after_in_child=_making.clear)


class Entry(NamedTuple):
    """Result of a compilation."""

    image: bytes
    log: str
    names: dict[str, str]  # name expression -> name in the image
    # kernel -> (name, kind, bytes) of each parameter
    parameters: Mapping[str, Sequence[tuple[str, str, int]]] = MappingProxyType({})
    # System headers that the compiler read: path -> (bytes, modification time in ns). None: some of
    # these files are unknown, so the entry must not be cached.
    system_files: Mapping[str, tuple[int, int]] | None = MappingProxyType({})


def directory(asked: CacheDir) -> Path | None:
    """Return the folder of the cache, or None if caching is off.

    Parameters
    ----------
    asked : str, os.PathLike, None or False
        Folder of a call, or False for no cache. For None, the folder is ``PYGPU_CACHE_DIR`` or
        ``PYCUDA_CACHE_DIR``, by default the user's cache folder.
    """
    if settings.value("PYGPU_DISABLE_CACHE"):
        return None
    if asked is False:
        return None
    if asked:
        return Path(asked)
    if folder := settings.value("PYGPU_CACHE_DIR"):
        return Path(folder)
    for base in (os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache")):
        if os.path.isabs(base):
            return Path(base, "PyGPU", "kernels")
    return None  # the user has no home folder


def key(*parts: str | bytes | bool) -> str:
    """Return the name of the entry that these strings and bytes determine."""
    digest = digests.new(str(_FORMAT).encode())
    for part in parts:
        data = part if isinstance(part, bytes) else encoded(str(part))
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def load(folder: Path | None, name: str) -> Entry | None:
    """Return the entry if it exists and is intact, trusted and up to date; otherwise None."""
    if folder is None:
        return None
    below = folder / name[:2]
    if not files.has_trusted(folder, below):
        return None
    data = files.read(below / name)
    if data is None:
        return None
    given, data = data[: digests.NBYTES], data[digests.NBYTES :]
    if digests.of(name.encode() + data) != given:
        return None
    try:
        size = int.from_bytes(data[:8], "little")
        entry = Entry(data[8 + size :], **marshal.loads(data[8 : 8 + size]))
    except (ValueError, EOFError, KeyError, TypeError):
        return None
    of_system = entry.system_files or {}
    is_current = [*map(dependencies.file_state, of_system)] == [*of_system.values()]
    return entry if is_current else None


def found_or_made(folder: Path | None, name: str, make: Callable[[], Entry]) -> Entry:
    """Return the entry if it exists, or else the result of `make`, which stores it.

    Threads that need the same entry wait for the first of them.
    """
    entry = load(folder, name)
    if entry is None:
        lock = _making.setdefault(name, threading.RLock()) if folder else contextlib.nullcontext()
        try:
            with lock:
                entry = load(folder, name) or make()
        finally:
            _making.pop(name, None)
    return entry


def store(folder: Path | None, name: str, entry: Entry) -> None:
    """Write an entry, if the folder is writable and trusted."""
    if folder is None or entry.system_files is None:
        return
    fields = {**entry._asdict(), "system_files": dict(entry.system_files)}
    fields["parameters"] = {name: [*map(tuple, of)] for name, of in entry.parameters.items()}
    del fields["image"]
    try:
        head = marshal.dumps(fields, _MARSHAL)
    except ValueError:  # a str of another class
        return
    data = len(head).to_bytes(8, "little") + head + entry.image
    put(folder, name, digests.of(name.encode() + data) + data)


def put(folder: Path, name: str, data: bytes, mode: int = 0o644) -> Path | None:
    """Write a file of the cache and return its path; None if the folder cannot be used."""
    below = folder / name[:2]
    try:
        files.make_folder(below)
    except OSError:
        return None
    if not (files.has_trusted(folder, below) and files.place(below / name, data, mode)):
        return None
    eviction.after_storing(folder, below, settings.value("PYGPU_CACHE_MAXSIZE"))
    return below / name
