"""The header before each kernel of the ``host`` target, precompiled once into the cache.

A precompiled header makes a compilation three times as fast, and a bad one makes it fail: it is
checked when something fails, and where it is bad the plain header takes its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from PyGPU._compile.cache import eviction, files

_HEADER = "PyGPU/host/prelude.h"
TEXT = f"#include <{_HEADER}>\n"
PLAIN = ("-include", _HEADER)
_HEAD = 4096  # bytes
_BYTES = 40 << 20  # of a precompiled header, about
_bad: set[Path] = set()  # those that could not be removed


def _described(nbytes: int, head: bytes) -> list[str]:
    """What is looked at each time: a compiler passes over what does not begin well, slowly."""
    return [str(nbytes), hashlib.sha256(head).hexdigest()]


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError:
        return ""
    return digest.hexdigest()


def _is_ready(place: Path) -> bool:
    """Can it be used, as far as is seen without reading all of it?"""
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
    """The compiler's options that put our header before the text.

    Parameters
    ----------
    folder : Path
        The cache.
    name : str
        A digest of all that decides what a precompiled header is good for.
    precompile : callable(header, made) -> bool
        Makes one.
    """
    place = folder / eviction.PRELUDE / name
    if (
        eviction.limit() < 4 * _BYTES
        or place in _bad
        or (os.path.exists(folder) and not files.has_trusted(folder))
    ):
        return [*PLAIN]
    ready = ["-include", str(place / "prelude.h")]
    if _is_ready(place):
        return ready
    with files.alone(place / "lock"):
        # Another process may have made it meanwhile.
        if _is_ready(place) or _make(place, precompile):
            return ready
    return [*PLAIN]


def _make(place: Path, precompile: Callable[[Path, Path], bool]) -> bool:
    """Precompile the header; False where that, or keeping it, is not possible."""
    if not files.has_trusted(place, place.parent, place.parent.parent):
        return False
    header = place / "prelude.h"  # where clang++ will look for it again
    try:
        if not files.place(header, TEXT.encode()):
            return False
        with files.scratch() as scratch:
            made = Path(scratch, "prelude.h.gch")
            if not precompile(header, made):
                return False
            data = made.read_bytes()
    except OSError:  # the compilation that follows tells what is wrong
        return False
    described = " ".join([hashlib.sha256(data).hexdigest(), *_described(len(data), data[:_HEAD])])
    # The digest last: whoever sees that finds all of them.
    kept = files.place(place / "prelude.h.gch", data) and files.place(
        place / "digest", described.encode()
    )
    eviction.shrink(place.parent.parent)
    return kept


def drop_if_damaged(words: list[str]) -> bool:
    """Remove the precompiled header that :func:`options` gave, if it is not what was made."""
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
    with contextlib.suppress(OSError):  # not ours to remove: not used again
        made.unlink(missing_ok=True)
        _bad.discard(place)
    return True
