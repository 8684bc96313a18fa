"""Check of the cache of compiled kernels: its folder, trust, space."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from PyGPU._compile import entries, eviction, files
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
        return warn(
            text, f"Free space there (`python -m PyGPU cache --clear` empties it), or {_ANOTHER}."
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
        return (
            f"no file can be written there ({error.strerror})",
            f"Make {folder} writable and free space on its disk, or {_ANOTHER}.",
        )
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
