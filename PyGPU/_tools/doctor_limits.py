"""Checks of the limits of containers, batch systems and shells: memory, processors, files."""

from __future__ import annotations

import errno
import math
import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from PyGPU._tools.findings import OWN, Finding, fault, size, text, warn, warn_if

_LITTLE_MEMORY = 1 << 30
_LITTLE_LOCKED = 8 << 20  # Linux's default
_LITTLE_SHARED = 256 << 20  # Docker's default is 64 MiB
_LITTLE_TEMPORARY = 64 << 20
_LITTLE_FILE = 1 << 30  # an array that is saved, a core dump
_FEW_FILES = 256
_FEW_PROCESSES = 64
_START_SOME = "transfers, compilers and kernels of the target host start some"


class Group(NamedTuple):
    """A control group, by which containers and batch systems divide a computer."""

    name: str  # such as "/docker/4f1a"
    folder: str  # of the files with its limits
    is_version_2: bool  # whose files have other names

    def number(self, name: str) -> int | None:
        """Return the number in a file; None for ``max``, which is no limit, or without the file."""
        found = text(f"{self.folder}/{name}").strip()
        return int(found) if found.isdigit() else None

    def processes(self) -> tuple[int | None, int]:
        """Return the limit of processes and threads, or None, and their number now."""
        return self.number("pids.max"), self.number("pids.current") or 0

    def memory(self) -> tuple[int | None, int]:
        """Return the limit of memory in bytes, or None, and the bytes that are used."""
        limit, used, cached = (
            ("memory.max", "memory.current", "inactive_file")
            if self.is_version_2
            else ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        )
        nbytes = self.number(used) or 0
        # The system drops cached files before it refuses memory.
        dropped = _row(text(f"{self.folder}/memory.stat"), cached)
        return self.number(limit), nbytes - min(nbytes, dropped)

    def processors(self) -> float | None:
        """Return the processors whose time the group may use, or None without a limit."""
        if self.is_version_2:
            words = text(f"{self.folder}/cpu.max").split()
        else:
            names = ("quota", "period")
            words = [text(f"{self.folder}/cpu.cfs_{name}_us").strip() for name in names]
        is_limit = len(words) == 2 and all(map(str.isdigit, words)) and int(words[1]) > 0
        return int(words[0]) / int(words[1]) if is_limit else None


def _row(text: str, word: str) -> int:
    """Return the number after a word at the start of a line; 0 if there is no such line."""
    rows = (line.split() for line in text.splitlines())
    return next((int(row[1]) for row in rows if row[:1] == [word] and row[1].isdigit()), 0)


def _groups(controller: str, root: str) -> Iterator[Group]:
    """Yield the control groups of this process that may limit a resource, and their parents."""
    for line in text(f"{root}/proc/self/cgroup").splitlines():
        _, controllers, name = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mounted = f"{root}/sys/fs/cgroup" + (f"/{controller}" if controllers else "")
        while name.strip("/"):
            yield Group(name, f"{mounted}{name}", not controllers)
            name = os.path.dirname(name)
        yield Group("/", mounted, not controllers)


def memory(root: str = "") -> Iterator[Finding]:
    """Find the memory of this computer, and what a control group leaves of it."""
    info = text(f"{root}/proc/meminfo")
    total, free = (_row(info, word) << 10 for word in ("MemTotal:", "MemAvailable:"))
    if total:
        yield warn_if(
            free < _LITTLE_MEMORY,
            f"memory: {size(free)} of {size(total)} are available",
            "",
            "End other programs, or use a computer with more memory.",
        )
    for group in _groups("memory", root):
        limit, used = group.memory()
        if limit is not None and limit < total:  # version 1 writes a huge number for none
            left = max(0, limit - used)
            yield warn_if(
                left < _LITTLE_MEMORY,
                f"the control group {group.name} leaves {size(left)} of its {size(limit)}",
                "",
                "Ask for more memory (Docker: --memory, Slurm: --mem), or end other programs.",
            )


def _limit(name: str, show: Callable[[float], str]) -> tuple[float, str]:
    """Return a limit of this process, perhaps infinite, and its text."""
    limit, _ = resource.getrlimit(getattr(resource, name))
    if limit == resource.RLIM_INFINITY:
        return math.inf, f"{name} is unlimited"
    return limit, f"{name} is {show(limit)}"


def address_space() -> Iterator[Finding]:
    """Find a limit of addresses: a driver reserves many more of them than it uses memory."""
    limit, found = _limit("RLIMIT_AS", size)
    need = (
        "each thread of a kernel's block reserves addresses for its stack"
        if OWN is None
        else f"{OWN.name}'s driver reserves addresses for the memory of all devices"
    )
    yield warn_if(
        limit < math.inf,
        found,
        f", and {need}: calls may report that they are out of memory",
        "Raise the limit: `ulimit -v unlimited`. A control group (Slurm: --mem) limits memory "
        "itself.",
    )


def processors(root: str = "") -> Iterator[Finding]:
    """Find the processors that this process may use, and whether it gets their time."""
    count = len(os.sched_getaffinity(0))
    limits = ((group.processors(), group.name) for group in _groups("cpu", root))
    found = [(quota, name) for quota, name in limits if quota is not None]
    quota, name = min(found, default=(float(count), ""))
    few = f"Set PYGPU_HOST_THREADS={max(1, int(quota))}, or ask" if OWN is None else "Ask"
    yield warn_if(
        quota < count,
        f"processors: {count} of {os.cpu_count()} may be used",
        f", but the control group {name} limits their time to that of {quota:.1f}: the system "
        "pauses threads that use more",
        f"{few} for more processors (Docker: --cpus, Slurm: --cpus-per-task).",
    )


def processes(root: str = "") -> Iterator[Finding]:
    """Find how many processes and threads may start."""
    soft, found = _limit("RLIMIT_NPROC", str)
    yield warn_if(
        soft < _FEW_PROCESSES and os.geteuid() != 0,  # root is not limited by it
        found,
        f" for all processes and threads of this user: {_START_SOME}",
        "Raise the limit: `ulimit -u`, in a container --ulimit nproc.",
    )
    for group in _groups("pids", root):
        limit, used = group.processes()
        if limit is not None and limit - used < _FEW_PROCESSES:
            yield warn(
                f"the control group {group.name} has {used} of at most {limit} processes and "
                f"threads: {_START_SOME}",
                "Ask for more (Docker: --pids-limit, systemd: TasksMax), or end other programs.",
            )


def files() -> Iterator[Finding]:
    """Find how many files may be open, and how large one may become."""
    count, found = _limit("RLIMIT_NOFILE", str)
    yield warn_if(
        count < _FEW_FILES,
        found,
        ": drivers, MPI and worker processes open more files",
        "Raise the limit: `ulimit -n 1024`, in a container --ulimit nofile=1024.",
    )
    nbytes, found = _limit("RLIMIT_FSIZE", size)
    if nbytes < _LITTLE_FILE:
        yield warn(
            f"{found}: compilers and the cache may write larger files",
            "Raise the limit: `ulimit -f unlimited`.",
        )


def locked_memory() -> Iterator[Finding]:
    """Find the limit of locked memory, which network adapters and some drivers need."""
    limit, found = _limit("RLIMIT_MEMLOCK", size)
    has_adapter = os.path.isdir("/dev/infiniband")
    need = "InfiniBand adapters need more" if has_adapter else "page-locked memory may need more"
    yield warn_if(
        limit < (math.inf if has_adapter else _LITTLE_LOCKED),
        found,
        f": {need}",
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
    if not os.access(folder, os.W_OK):
        yield warn(
            f"{folder} cannot be written: NCCL, MPI and worker processes share memory there",
            f"Mount a tmpfs at {folder} that every user may write (mode 1777).",
        )
        return
    total, free = state.f_blocks * state.f_frsize, state.f_bavail * state.f_frsize
    yield warn_if(
        free < _LITTLE_SHARED,
        f"{folder}: {size(free)} of {size(total)} are free",
        ": NCCL, MPI and worker processes may need more",
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
        why = f"temporary files: {error.strerror or error}; compilers write some"
        if error.errno == errno.EFBIG:  # the check of files reports the limit
            remedy = "Raise the limit of a file's size: `ulimit -f unlimited`."
        yield fault(True, why, remedy)
        return
    free = state.f_bavail * state.f_frsize
    found = f"temporary files: {size(free)} are free in {folder}"
    asked = os.environ.get("TMPDIR")
    if asked and os.path.abspath(asked) != os.path.abspath(folder):
        yield warn(f"TMPDIR={asked!r} cannot be used; {found}", remedy)
    else:
        yield warn_if(free < _LITTLE_TEMPORARY, found, "", remedy)
