"""Precompiled header of the ``host`` target's kernels, in the cache.

A precompiled header makes a compilation three times as fast, but a damaged one makes it fail. So it
is checked when a compilation fails, and the plain header replaces a damaged one.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from PyGPU._compile.cache import entries, eviction, files
from PyGPU._compile.compilers import host_compiler
from PyGPU._compile.source import includes
from PyGPU._runtime import CompileError, digests, include_root, settings

_HEADER = "PyGPU/host/prelude.h"
_TEXT = f"#include <{_HEADER}>\n"
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


def options(folder: Path | None, base: list[str]) -> list[str]:
    """Return the options that include our header before a text compiled with the flags `base`.

    The header is precompiled in `folder`, that of the cache, unless it is None.
    """
    if (
        folder is None
        or settings.value("PYGPU_CACHE_MAXSIZE") < 4 * _BYTES
        or (os.path.exists(folder) and not files.has_trusted(folder))
    ):
        return [*PLAIN]
    flags = [word for word in base if word not in ("-w", "-shared")]
    place = folder / eviction.PRELUDE / _name(folder, flags)
    if place in _bad:
        return [*PLAIN]
    ready = ["-include", str(place / "prelude.h")]
    if _is_ready(place):
        return ready
    with files.alone(place / "lock"):
        # Another process may have made the header meanwhile.
        if _is_ready(place) or _make(place, flags):
            return ready
    return [*PLAIN]


def _name(folder: Path, flags: list[str]) -> str:
    """Return the digest of everything that the precompiled header depends on.

    Of PyGPU's files, these are the included ones alone: after other changes, it remains valid.
    """
    root = str(include_root())
    read = includes.scan(_TEXT, [root]).files
    parts = [part for path in sorted(read) for part in (os.path.relpath(path, root), read[path])]
    # clang++ looks for the header at the path where it was precompiled, and identifies other
    # headers by their paths.
    where = (
        f"{os.path.realpath(folder)}:{os.path.realpath(root)}" if host_compiler.is_clang() else ""
    )
    return entries.key("prelude", where, host_compiler.identity(), *flags, *parts)


def _make(place: Path, flags: list[str]) -> bool:
    """Precompile the header into the cache; return False if that fails."""
    if not files.has_trusted(place, place.parent, place.parent.parent):
        return False
    header = place / "prelude.h"  # the path where clang++ will look for the header again
    try:
        if not files.place(header, _TEXT.encode()):
            return False
        with files.scratch() as scratch:
            made = Path(scratch, "prelude.h.gch")
            words = [host_compiler.compiler(), *flags, "-x", "c++-header", "-I"]
            words += [str(include_root()), str(header), "-o", str(made)]
            host_compiler.run(words, "PyGPU's header for kernels")
            data = made.read_bytes()
    except (CompileError, OSError):  # the compilation that follows reports the error
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
