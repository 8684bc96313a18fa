"""System headers that a compilation read, by the lists that compilers write with ``-MD``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from PyGPU._runtime import include_root


def file_state(path: str) -> tuple[int, int] | None:
    """Return the size in bytes and the modification time in ns of a file; None if it is missing."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns


def _listed(path: Path) -> set[str]:
    """Return the files in a list, which is a rule of a makefile: spaces in names are escaped."""
    text = os.fsdecode(path.read_bytes())
    words = re.findall(r"(?:\\[^\n]|[^\s\\])+", text.partition(": ")[2])
    return {os.path.realpath(re.sub(r"\\(.)|\$(\$)", r"\1\2", word)) for word in words}


def linked(trace: str) -> set[str]:
    """Return the files in the trace of a linker (``-t``): ``a.o``, ``a.a(b.o)``, ``-la (a.so)``."""
    names = {name for line in trace.splitlines() for name in (line, *re.split(r"[()]", line))}
    return {os.path.realpath(name) for name in names if os.path.isfile(name)}


def system_files(
    lists: Sequence[Path],
    own: Iterable[str],
    known: Iterable[str],
    since: float,
    others: Iterable[str] = (),
) -> dict[str, tuple[int, int]] | None:
    """Return the states of the system's files that compilers read; None if they are uncertain.

    The files are those in the compilers' `lists` and the `others`, except for PyGPU's headers,
    files in the folders `own`, and the user's files `known`, on which the entry's name depends. The
    compilation began `since` seconds after the epoch.
    """
    users = {os.path.realpath(path) for path in known}
    ours = tuple(os.path.realpath(folder) + os.sep for folder in (str(include_root()), *own))
    result = {}
    try:
        read = set(others).union(*map(_listed, lists))
    except OSError:
        return None
    for path in read:
        if path in users or path.startswith(ours):
            continue
        state = file_state(path)
        # A file written just now may change again within the resolution of its time.
        if state is None or state[1] > (since - 2) * 1e9:
            return None
        result[path] = state
    return result
