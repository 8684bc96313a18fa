"""Precompiled header of the ``host`` target's kernels, in the cache.

A precompiled header makes a compilation three times as fast, but a damaged one makes it fail. So it
is checked when a compilation fails, and the plain header replaces a damaged one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from PyGPU._compile.cache import eviction, files
from PyGPU._runtime import digests, settings

_HEADER = "PyGPU/host/prelude.h"
TEXT = f"#include <{_HEADER}>\n"
PLAIN = ("-include", _HEADER)
_HEAD = 4096  # bytes
_BYTES = 40 << 20  # approximate size of a precompiled header
_bad: set[Path] = set()  # damaged headers that could not be removed


def _described(nbytes: int, head: bytes) -> list[str]:
    """Return the facts checked at each use: a compiler ignores a file with a wrong head, slowly."""
    return [str(nbytes), digests.of(head).hex()]


def _digest(path: Path) -> str:
    digest = digests.new()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError:
        return ""
    return digest.hexdigest()


def _is_ready(place: Path) -> bool:
    """Report whether the precompiled header looks usable, without reading all of it."""
    made = place / "prelude.h.gch"
    if place in _bad or not files.has_trusted(place, place.parent, place.parent.parent):
        return False
    try:
        state = os.stat(made)
        with open(made, "rb") as file:
            described = _described(state.st_size, file.read(_HEAD))
        expected = (place / "digest").read_text().split()[1:]
    except (OSError, ValueError):
        return False
    if described != expected or not files.is_trusted(state) or not (place / "prelude.h").exists():
        return False
    files.note_use(made, state)
    return True


def options(folder: Path, name: str, precompile: Callable[[Path, Path], bool]) -> list[str]:
    """Return the compiler's options that include our header before the text.

    Parameters
    ----------
    folder : Path
        Folder of the cache.
    name : str
        Digest of everything that the precompiled header depends on.
    precompile : callable(header, made) -> bool
        Precompiles a header; returns False if that fails.
    """
    place = folder / eviction.PRELUDE / name
    if (
        settings.value("PYGPU_CACHE_MAXSIZE") < 4 * _BYTES
        or place in _bad
        or (os.path.exists(folder) and not files.has_trusted(folder))
    ):
        return [*PLAIN]
    ready = ["-include", str(place / "prelude.h")]
    if _is_ready(place):
        return ready
    with files.alone(place / "lock"):
        # Another process may have made the header meanwhile.
        if _is_ready(place) or _make(place, precompile):
            return ready
    return [*PLAIN]


def _make(place: Path, precompile: Callable[[Path, Path], bool]) -> bool:
    """Precompile the header into the cache; return False if that fails."""
    if not files.has_trusted(place, place.parent, place.parent.parent):
        return False
    header = place / "prelude.h"  # the path where clang++ will look for the header again
    try:
        if not files.place(header, TEXT.encode()):
            return False
        with files.scratch() as scratch:
            made = Path(scratch, "prelude.h.gch")
            if not precompile(header, made):
                return False
            data = made.read_bytes()
    except OSError:  # the compilation that follows reports the error
        return False
    described = " ".join([digests.of(data).hex(), *_described(len(data), data[:_HEAD])])
    # The digest is written last: its presence means that all files are complete.
    kept = files.place(place / "prelude.h.gch", data) and files.place(
        place / "digest", described.encode()
    )
    eviction.shrink(place.parent.parent, settings.value("PYGPU_CACHE_MAXSIZE"))
    return kept


def drop_if_damaged(words: list[str]) -> bool:
    """Remove the precompiled header of these options if it is damaged; report whether it was."""
    if words == [*PLAIN]:
        return False
    place = Path(words[1]).parent
    made = place / "prelude.h.gch"
    try:
        expected = (place / "digest").read_text().split()[0]
    except (OSError, ValueError, IndexError):
        expected = "gone"
    if _digest(made) == expected:
        return False
    _bad.add(place)
    with contextlib.suppress(OSError):  # not permitted: the header stays in _bad
        made.unlink(missing_ok=True)
        _bad.discard(place)
    return True
