"""Check of the cache of compiled kernels: its folder, trust, space."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from PyGPU._compile.cache import entries, eviction, files
from PyGPU._runtime import settings
from PyGPU._tools.findings import Finding, ok, size, warn

_LITTLE = 64 << 20
_ANOTHER = "set PYGPU_CACHE_DIR to a folder of your own"


def folder() -> Iterator[Finding]:
    """Find whether kernels can be kept, and how many are."""
    off = "the cache is off, so each program compiles its kernels: "
    if settings.value("PYGPU_DISABLE_CACHE"):
        yield warn(f"{off}PYGPU_DISABLE_CACHE is set", "Unset PYGPU_DISABLE_CACHE.")
    elif (path := entries.directory(None)) is None:
        yield warn(f"{off}there is no home folder", f"Set HOME, or {_ANOTHER}.")
    else:
        yield judged(path)


def judged(folder: Path) -> Finding:
    """Return the state of a folder for the cache."""
    parent = next((path for path in [folder, *folder.parents] if os.path.exists(path)), folder)
    try:
        problem = _problem(folder, parent)
    finally:  # a check leaves nothing behind
        with contextlib.suppress(OSError):  # not made, or another process uses it
            for path in [folder, *folder.parents][: len(folder.parts) - len(parent.parts)]:
                path.rmdir()
    if problem:
        why, remedy = problem
        why = f"the cache {folder} cannot be used, so each program compiles its kernels: {why}"
        return warn(why, remedy)
    state = os.statvfs(parent)
    free = state.f_bavail * state.f_frsize
    used = sum(item.nbytes for item in eviction.items(folder))
    limit = settings.value("PYGPU_CACHE_MAXSIZE")
    text = f"{folder}: {size(used)} of at most {size(limit)}, {size(free)} free on the disk"
    if free < _LITTLE:
        clear = " (`python -m PyGPU cache --clear` empties the cache)" if used else ""
        return warn(text, f"Free space on the disk{clear}, or {_ANOTHER}.")
    if state.f_flag & os.ST_NOEXEC:
        return warn(
            f"{text}; its file system is mounted with noexec, so libraries that PyGPU.build makes "
            "there cannot be loaded",
            "Mount it without noexec, or set PYGPU_CACHE_DIR to a folder of another file system.",
        )
    return ok(text if parent == folder else f"{text}; made by the first compilation")


def _problem(folder: Path, parent: Path) -> tuple[str, str] | None:
    """Return the reason why a folder cannot keep kernels and the remedy, or None."""
    if parent.is_file():
        return f"{parent} is a file", f"Remove the file {parent}, or {_ANOTHER}."
    try:
        files.make_folder(folder)
        state = os.stat(folder)
    except OSError as error:
        return (
            f"the folder cannot be made ({error.strerror}: {error.filename})",
            f"Make {os.path.dirname(error.filename)} writable, or {_ANOTHER}.",
        )
    if not files.is_trusted_folder(state):
        mode = stat.S_IMODE(state.st_mode)
        return (
            f"others could put code there (owner {state.st_uid}, mode {mode:o})",
            f"Run `chmod go-w {folder}` as its owner, or {_ANOTHER}.",
        )
    probe = folder / f"doctor-{os.getpid()}"
    try:
        with open(probe, "xb") as file:
            file.write(bytes(1 << 16))
    except OSError as error:
        why = f"no file can be written there ({error.strerror})"
        if error.errno == errno.EFBIG:
            return why, "Raise the limit of a file's size: `ulimit -f unlimited`."
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        first = "Free space or inodes on its disk" if is_full else f"Make {folder} writable"
        return why, f"{first}, or {_ANOTHER}."
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
    return None
