"""Files that many processes, and perhaps users, share: read if trusted, written whole or not.

What is read here is run as code. So it must be written by this user or root, and be in folders
where nobody else can put anything in its place.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# Of a folder that a umask of 002 made, only the first is set; others are shared on purpose.
_SHARED = stat.S_IWGRP | stat.S_IWOTH | stat.S_ISVTX | stat.S_ISGID
_USED_AT_MOST_EVERY = 3600.0  # seconds: finer times of use are not kept


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """A folder for the time of a block.

    Not :class:`tempfile.TemporaryDirectory`, which a process that another thread forked meanwhile
    removes at its end.
    """
    import shutil  # not before a compiler runs
    import tempfile

    folder = tempfile.mkdtemp(prefix="PyGPU-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Text for a compiler: UTF-8 in every locale, as the cache's names have it."""
    path.write_text(text, "utf-8", "surrogatepass")


def is_trusted(state: os.stat_result) -> bool:
    """Could only this user, or root, write it?"""
    return state.st_uid in (os.geteuid(), 0) and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@cache
def _refuse(folder: str, owner: int, mode: int) -> None:
    """Say it once: without a cache, every program waits for the compiler."""
    warnings.warn(
        f"the cache folder {folder} is not used: others could put code there (owner {owner}, mode "
        f"{mode:o}; it must be yours or root's, and writable by nobody else: chmod go-w). "
        "PYGPU_CACHE_DIR names another one",
        stacklevel=2,
    )


def has_trusted(*folders: Path) -> bool:
    """Are the folders there, and trusted? What is not trusted is warned of."""
    for folder in folders:
        try:
            state = os.stat(folder)
            mode = stat.S_IMODE(state.st_mode)
            if state.st_uid == os.geteuid() and mode & _SHARED == stat.S_IWGRP:
                # Made by ourselves under a umask of 002, once. Files are looked at one by one.
                os.chmod(folder, mode & ~stat.S_IWGRP)
                state = os.stat(folder)
        except OSError:
            return False
        if not is_trusted(state):
            _refuse(str(folder), state.st_uid, mode)
            return False
    return True


def read(path: Path) -> bytes | None:
    """What a file holds, if it is a plain, trusted one; its time of use is noted."""
    try:
        # A pipe must not block.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        handle = os.open(path, flags)
        try:
            state = os.fstat(handle)
            if not (stat.S_ISREG(state.st_mode) and is_trusted(state)):
                return None
            note_use(handle, state)
            with open(handle, "rb", closefd=False) as file:
                return file.read()
        finally:
            os.close(handle)
    except OSError:  # not there, or a fault of the disk
        return None


def note_use(file: int | Path, state: os.stat_result) -> None:
    """The time of a file is that of its last use, by which the oldest are found."""
    if time.time() - state.st_mtime > _USED_AT_MOST_EVERY:
        with contextlib.suppress(OSError):  # nobody but root and the owner can
            os.utime(file)


def make_folder(path: Path) -> None:
    """Make a folder that is trusted, and those above it. OSError where that is not possible."""
    try:
        os.mkdir(path, 0o755)
    except FileExistsError:
        pass
    except FileNotFoundError:
        make_folder(path.parent)
        with contextlib.suppress(FileExistsError):  # another process was quicker
            os.mkdir(path, 0o755)


def place(path: Path, data: bytes) -> bool:
    """Write a file whole or not at all; False where that is not possible."""
    temporary = path.with_name(f".new-{os.urandom(8).hex()}")
    try:
        make_folder(path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        handle = os.open(temporary, flags, 0o644)  # less what the umask takes
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        return False
    return True


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let one process at a time in; where no lock can be had, all of them."""
    try:
        make_folder(path.parent)
        # Through a link, somebody else's file would be made.
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError:
        yield
        return
    with os.fdopen(handle, "r+b") as lock:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
