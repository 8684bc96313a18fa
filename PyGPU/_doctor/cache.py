"""Check of the cache of compiled kernels: its folder, trust, space."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from PyGPU._compile.cache import entries, eviction, files
from PyGPU._doctor.findings import Finding, ok, size, warn
from PyGPU._runtime import settings

_LITTLE = 64 << 20
_ANOTHER = "set PYGPU_CACHE_DIR to a folder of your own"


def folder() -> Iterator[Finding]:
    """Find whether kernels can be kept, and how many are."""
    if settings.value("PYGPU_DISABLE_CACHE"):
        yield warn(
            "the cache is off, so each program compiles its kernels: PYGPU_DISABLE_CACHE is set",
            "Unset PYGPU_DISABLE_CACHE.",
        )
        return
    found = entries.directory(None)
    if found is None:
        yield warn(
            "the cache is off, so each program compiles its kernels: there is no home folder",
            "Set HOME, or set PYGPU_CACHE_DIR to a folder of your own.",
        )
        return
    yield judged(found)


def judged(folder: Path) -> Finding:
    """Return the state of a folder for the cache."""
    obstacle = next((one for one in [folder, *folder.parents] if os.path.exists(one)), folder)
    if os.path.isfile(obstacle):
        return _unusable(
            folder, f"{obstacle} is a file", f"Remove the file {obstacle}, or {_ANOTHER}."
        )
    made = obstacle != folder
    try:
        problem = _problem(folder)
    finally:
        if made:  # a check leaves nothing behind
            _remove_empty(folder, obstacle)
    if problem:
        return _unusable(folder, *problem)
    state = os.statvfs(obstacle)
    free = state.f_bavail * state.f_frsize
    kept = sum(item.nbytes for item in eviction.items(folder))
    limit = settings.value("PYGPU_CACHE_MAXSIZE")
    text = f"{folder}: {size(kept)} of at most {size(limit)}, {size(free)} free on the disk"
    if free < _LITTLE:
        clear = " (`python -m PyGPU cache --clear` empties the cache)" if kept else ""
        return warn(text, f"Free space on the disk{clear}, or {_ANOTHER}.")
    if state.f_flag & os.ST_NOEXEC:
        return warn(
            f"{text}; its file system is mounted with noexec, so libraries that PyGPU.build makes "
            "there cannot be loaded",
            "Mount it without noexec, or set PYGPU_CACHE_DIR to a folder of another file system.",
        )
    return ok(f"{text}; made by the first compilation" if made else text)


def _unusable(folder: Path, why: str, remedy: str) -> Finding:
    return warn(
        f"the cache {folder} cannot be used, so each program compiles its kernels: {why}", remedy
    )


def _problem(folder: Path) -> tuple[str, str] | None:
    """Return the reason why a folder cannot keep kernels and the remedy, or None."""
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


def _remove_empty(folder: Path, until: Path) -> None:
    """Remove empty folders from `folder` up to the parent `until`, which stays."""
    while folder != until:
        try:
            folder.rmdir()
        except OSError:  # not made, or another process uses it
            return
        folder = folder.parent
