"""Files that processes share, and perhaps users: read if trusted, written completely or not at all.

The files are run as code. So their owner must be this user or root, and no other user may be able
to replace them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from PyGPU._runtime import encoded, warn

_USED_AT_MOST_EVERY = 3600.0  # seconds; the resolution of the time of use


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """Make a temporary folder for the time of a ``with`` block.

    A :class:`tempfile.TemporaryDirectory` would be removed by the exit of a child process that
    another thread forks meanwhile.
    """
    import shutil  # only needed when a compiler runs
    import tempfile

    folder = tempfile.mkdtemp(prefix="PyGPU-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(path: Path, data: bytes) -> None:
    """Write a temporary file. An error names the file, and the variable that names its folder."""
    try:
        path.write_bytes(data)
    except OSError as error:
        reason = f"{error.strerror} (TMPDIR names another folder for temporary files)"
        raise OSError(error.errno, reason, str(path)) from None


def write_text(path: Path, text: str) -> None:
    """Write a text for a compiler: in UTF-8, whatever the locale, as in the cache's keys."""
    write(path, encoded(text))


_SHARED = stat.S_IWOTH | stat.S_ISVTX | stat.S_ISGID  # bits of a folder that many users share


def is_trusted(state: os.stat_result) -> bool:
    """Report whether only this user or root could have written the file."""
    return state.st_uid in (os.geteuid(), 0) and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@cache
def _refuse(folder: str, owner: int, mode: int) -> None:
    """Warn once: without a cache, every program waits for the compiler."""
    warn(
        f"the cache folder {folder} is not used: others could put code there (owner {owner}, mode "
        f"{mode:o}; it must be yours or root's, and writable by nobody else: chmod go-w). "
        "PYGPU_CACHE_DIR names another one"
    )


def is_trusted_folder(state: os.stat_result) -> bool:
    """Report whether only this user or root could have put files into the folder.

    This user's folder of mode 775, as a umask of 002 makes, is trusted: its group is most often the
    user alone. The folder keeps its mode, and its files are checked one by one.
    """
    return is_trusted(state) or (state.st_uid == os.geteuid() and not state.st_mode & _SHARED)


def has_trusted(*folders: Path) -> bool:
    """Report whether the folders exist and are trusted; warn of one that is not trusted."""
    for folder in folders:
        try:
            state = os.stat(folder)
        except OSError:
            return False
        if not is_trusted_folder(state):
            _refuse(str(folder), state.st_uid, stat.S_IMODE(state.st_mode))
            return False
    return True


def read(path: Path) -> bytes | None:
    """Return the contents of a regular, trusted file, and set its time of use; otherwise None."""
    try:
        # O_NONBLOCK: opening a named pipe must not block.
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
    except OSError:  # missing, or a disk error
        return None


def note_use(file: int | Path, state: os.stat_result) -> None:
    """Set the modification time, by which the least recently used files are found, to now."""
    if time.time() - state.st_mtime > _USED_AT_MOST_EVERY:
        with contextlib.suppress(OSError):  # only root and the owner may
            os.utime(file)


def make_folder(path: Path) -> None:
    """Make a trusted folder and its parents, or raise OSError."""
    try:
        os.mkdir(path, 0o755)
    except FileExistsError:
        pass
    except FileNotFoundError:
        make_folder(path.parent)
        with contextlib.suppress(FileExistsError):  # made by another process meanwhile
            os.mkdir(path, 0o755)


def place(path: Path, data: bytes, mode: int = 0o644) -> bool:
    """Write a file completely or not at all; return False if it cannot be written."""
    temporary = path.with_name(f".new-{os.urandom(8).hex()}")
    try:
        make_folder(path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        handle = os.open(temporary, flags, mode)  # minus the umask
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
    """Run a ``with`` block in one process at a time; in all at once if no lock is available."""
    try:
        make_folder(path.parent)
        # O_NOFOLLOW: a link could make us create a file of somebody else.
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError:
        yield
        return
    with os.fdopen(handle, "r+b") as lock:
        with contextlib.suppress(OSError):  # the file system has no locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
