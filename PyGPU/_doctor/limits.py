"""Checks of the limits of containers and batch systems: memory, shared memory, files."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from PyGPU._doctor.findings import Finding, fault, ok, size, warn

_LITTLE_MEMORY = 1 << 30
_LITTLE_LOCKED = 8 << 20  # Linux's default
_LITTLE_SHARED = 256 << 20  # Docker's default is 64 MiB
_LITTLE_TEMPORARY = 64 << 20


class _Names(NamedTuple):
    """Files of a version of control groups."""

    mounted: str
    limit: str
    used: str
    reclaimable: str


_VERSION_1 = _Names(
    "/sys/fs/cgroup/memory",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "total_inactive_file",
)
_VERSION_2 = _Names("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")


def _text(path: str) -> str:
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _number(path: str) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _line(text: str, word: str) -> int:
    """Return the number after a word at the start of a line; 0 if there is no such line."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == [word] and words[1].isdigit():
            return int(words[1])
    return 0


def _groups(root: str) -> Iterator[tuple[_Names, str]]:
    """Yield the control groups of this process that may limit memory, and their parents."""
    for line in _text(f"{root}/proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        names = _VERSION_1 if controllers else _VERSION_2
        while group.strip("/"):
            yield names, group
            group = os.path.dirname(group)
        yield names, ""


def memory(root: str = "") -> Iterator[Finding]:
    """Find the memory of this computer, and what a control group leaves of it.

    Parameters
    ----------
    root : str, optional
        Folder that holds ``/proc`` and ``/sys``.
    """
    info = _text(f"{root}/proc/meminfo")
    total, free = (_line(info, word) << 10 for word in ("MemTotal:", "MemAvailable:"))
    text = f"memory: {size(free)} of {size(total)} are available"
    if total and free < _LITTLE_MEMORY:
        yield warn(text, "End other programs, or use a computer with more memory.")
    else:
        yield ok(text)
    for names, group in _groups(root):
        folder = f"{root}{names.mounted}{group}"
        limit = _number(f"{folder}/{names.limit}")
        if limit is None or limit >= (total or limit):  # version 1 writes a huge number for none
            continue
        used = _number(f"{folder}/{names.used}") or 0
        used -= min(used, _line(_text(f"{folder}/memory.stat"), names.reclaimable))
        left = max(0, limit - used)
        text = f"the control group {group or '/'} leaves {size(left)} of its {size(limit)}"
        if left < _LITTLE_MEMORY:
            yield warn(
                text, "Ask for more memory (Docker: --memory, Slurm: --mem), or end other programs."
            )
        else:
            yield ok(text)


def locked_memory() -> Iterator[Finding]:
    """Find the limit of locked memory, which network adapters and some drivers need."""
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    is_unlimited = limit == resource.RLIM_INFINITY
    text = f"RLIMIT_MEMLOCK is {'unlimited' if is_unlimited else size(limit)}"
    has_adapter = os.path.isdir("/dev/infiniband")
    if is_unlimited or (limit >= _LITTLE_LOCKED and not has_adapter):
        yield ok(text)
        return
    need = "InfiniBand adapters need more" if has_adapter else "page-locked memory may need more"
    yield warn(
        f"{text}: {need}",
        "Raise the limit: `ulimit -l unlimited`, in a container --ulimit memlock=-1, with systemd "
        "LimitMEMLOCK=infinity.",
    )


def shared_memory(folder: str = "/dev/shm") -> Iterator[Finding]:
    """Find the size of the file system that processes share memory in."""
    try:
        state = os.statvfs(folder)
    except OSError as error:
        yield warn(f"{folder}: {error.strerror}", f"Mount a tmpfs at {folder}.")
        return
    total, free = state.f_blocks * state.f_frsize, state.f_bavail * state.f_frsize
    text = f"{folder}: {size(free)} of {size(total)} are free"
    if free >= _LITTLE_SHARED:
        yield ok(text)
        return
    yield warn(
        f"{text}: NCCL, MPI and worker processes may need more",
        f"Start the container with --shm-size=1g (or --ipc=host), or remove files in {folder}.",
    )


def temporary_files() -> Iterator[Finding]:
    """Find whether compilers can write temporary files."""
    remedy = "Set TMPDIR to a folder with space that you may write."
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 16))
        state = os.statvfs(folder)
    except OSError as error:
        yield fault(True, f"temporary files: {error.strerror or error}", remedy)
        return
    free = state.f_bavail * state.f_frsize
    text = f"temporary files: {size(free)} are free in {folder}"
    yield ok(text) if free >= _LITTLE_TEMPORARY else warn(text, remedy)
