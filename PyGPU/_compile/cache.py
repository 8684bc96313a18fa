"""Compiled kernels kept on disk, safe for many processes.

An entry is one file, written beside its place and moved there, so that a reader sees a whole entry
or none. What cannot be read, or written, costs a compilation and nothing else.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PyGPU._types import CacheDir

_FORMAT = 2  # of an entry; a new number leaves old entries alone


class Entry(NamedTuple):
    """A compilation's outcome."""

    image: bytes
    log: str
    names: dict[str, str]  # name expression -> name in the image


def directory(asked: CacheDir) -> Path | None:
    """The folder that is used, or None where caching is off.

    Parameters
    ----------
    asked : str, os.PathLike, None or False
        None: ``PYGPU_CACHE_DIR`` or ``PYCUDA_CACHE_DIR``, else the user's cache folder.
    """
    for name in ("PYGPU_DISABLE_CACHE", "PYCUDA_DISABLE_CACHE"):
        if os.environ.get(name):
            return None
    if asked is False:
        return None
    if asked:
        return Path(asked)
    for name in ("PYGPU_CACHE_DIR", "PYCUDA_CACHE_DIR"):
        if os.environ.get(name):
            return Path(os.environ[name])
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "PyGPU", "kernels")


def key(*parts: str | bytes | bool) -> str:
    """The name of the entry that these strings and bytes determine."""
    digest = hashlib.sha256(str(_FORMAT).encode())
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogateescape")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def load(folder: Path | None, name: str) -> Entry | None:
    """The entry, if it is there and whole."""
    if folder is None:
        return None
    try:
        data = (folder / name[:2] / name).read_bytes()
        digest, size, rest = data[:32], int.from_bytes(data[32:40], "little"), data[40:]
        if hashlib.sha256(data[32:]).digest() != digest:
            return None
        head = json.loads(rest[:size])
        return Entry(rest[size:], head["log"], head["names"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def store(folder: Path | None, name: str, entry: Entry) -> None:
    """Keep an entry, if the folder can be written."""
    if folder is None:
        return
    head = json.dumps({"log": entry.log, "names": entry.names}).encode()
    data = len(head).to_bytes(8, "little") + head + entry.image
    place(folder / name[:2] / name, hashlib.sha256(data).digest() + data)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let one process at a time in; where no lock can be had, all of them."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open(path, "w")  # noqa: SIM115
    except OSError:
        yield
        return
    with lock:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def place(path: Path, data: bytes) -> bool:
    """Write a file whole or not at all; False where that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        return False
    return True
