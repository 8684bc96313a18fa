"""Checks of the limits of containers and batch systems: memory, processors, files."""

from __future__ import annotations

import errno
import os
import resource
import tempfile
from collections.abc import Iterator

from PyGPU._doctor import control_groups
from PyGPU._doctor.findings import Finding, fault, ok, size, warn
from PyGPU._doctor.vendors import OWN

_LITTLE_MEMORY = 1 << 30
_LITTLE_LOCKED = 8 << 20  # Linux's default
_LITTLE_SHARED = 256 << 20  # Docker's default is 64 MiB
_LITTLE_TEMPORARY = 64 << 20
_LITTLE_FILE = 1 << 30  # an array that is saved, a core dump
_FEW_FILES = 256
_FEW_PROCESSES = 64


def memory(root: str = "") -> Iterator[Finding]:
    """Find the memory of this computer, and what a control group leaves of it.

    Parameters
    ----------
    root : str, optional
        Folder that holds ``/proc`` and ``/sys``.
    """
    info = control_groups.text(f"{root}/proc/meminfo")
    total, free = (control_groups.row(info, word) << 10 for word in ("MemTotal:", "MemAvailable:"))
    text = f"memory: {size(free)} of {size(total)} are available"
    if total and free < _LITTLE_MEMORY:
        yield warn(text, "End other programs, or use a computer with more memory.")
    elif total:
        yield ok(text)
    for group in control_groups.groups("memory", root):
        limit, used = control_groups.memory(group)
        if limit is None or limit >= (total or limit):  # version 1 writes a huge number for none
            continue
        left = max(0, limit - used)
        text = f"the control group {group.name} leaves {size(left)} of its {size(limit)}"
        if left < _LITTLE_MEMORY:
            yield warn(
                text, "Ask for more memory (Docker: --memory, Slurm: --mem), or end other programs."
            )
        else:
            yield ok(text)


def address_space() -> Iterator[Finding]:
    """Find a limit of addresses: a driver reserves many more of them than it uses memory."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        yield ok("RLIMIT_AS is unlimited")
        return
    need = (
        "each thread of a kernel's block reserves addresses for its stack"
        if OWN is None
        else f"{OWN.name}'s driver reserves addresses for the memory of all devices"
    )
    yield warn(
        f"RLIMIT_AS is {size(limit)}, and {need}: calls may report that they are out of memory",
        "Raise the limit: `ulimit -v unlimited`. A control group (Slurm: --mem) limits memory "
        "itself.",
    )


def processors(root: str = "") -> Iterator[Finding]:
    """Find the processors that this process may use, and whether it gets their time.

    Parameters
    ----------
    root : str, optional
        Folder that holds ``/proc`` and ``/sys``.
    """
    count = len(os.sched_getaffinity(0))
    text = f"processors: {count} of {os.cpu_count()} may be used"
    found = [
        (quota, group.name)
        for group in control_groups.groups("cpu", root)
        if (quota := control_groups.processors(group)) is not None
    ]
    quota, name = min(found, default=(float(count), ""))
    if quota >= count:
        yield ok(text)
        return
    few = f"Set PYGPU_HOST_THREADS={max(1, int(quota))}, or ask" if OWN is None else "Ask"
    yield warn(
        f"{text}, but the control group {name} limits their time to that of {quota:.1f}: the "
        "system pauses threads that use more",
        f"{few} for more processors (Docker: --cpus, Slurm: --cpus-per-task).",
    )


def processes(root: str = "") -> Iterator[Finding]:
    """Find how many processes and threads may start.

    Parameters
    ----------
    root : str, optional
        Folder that holds ``/proc`` and ``/sys``.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    is_unlimited = soft == resource.RLIM_INFINITY
    text = f"RLIMIT_NPROC is {'unlimited' if is_unlimited else soft}"
    if not is_unlimited and soft < _FEW_PROCESSES and os.geteuid():  # root is not limited by it
        yield warn(
            f"{text} for all processes and threads of this user: transfers, compilers and kernels "
            "of the target host start some",
            "Raise the limit: `ulimit -u`, in a container --ulimit nproc.",
        )
    else:
        yield ok(text)
    for group in control_groups.groups("pids", root):
        limit, used = control_groups.processes(group)
        if limit is not None and limit - used < _FEW_PROCESSES:
            yield warn(
                f"the control group {group.name} has {used} of at most {limit} processes and "
                "threads: transfers, compilers and kernels of the target host start some",
                "Ask for more (Docker: --pids-limit, systemd: TasksMax), or end other programs.",
            )


def files() -> Iterator[Finding]:
    """Find how many files may be open, and how large one may become."""
    count, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if count < _FEW_FILES:
        yield warn(
            f"RLIMIT_NOFILE is {count}: drivers, MPI and worker processes open more files",
            "Raise the limit: `ulimit -n 1024`, in a container --ulimit nofile=1024.",
        )
    else:
        yield ok(f"RLIMIT_NOFILE is {count}")
    nbytes, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if nbytes != resource.RLIM_INFINITY and nbytes < _LITTLE_FILE:
        yield warn(
            f"RLIMIT_FSIZE is {size(nbytes)}: compilers and the cache may write larger files",
            "Raise the limit: `ulimit -f unlimited`.",
        )


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
    if not os.access(folder, os.W_OK):
        yield warn(
            f"{folder} cannot be written: NCCL, MPI and worker processes share memory there",
            f"Mount a tmpfs at {folder} that every user may write (mode 1777).",
        )
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
        why = f"temporary files: {error.strerror or error}; compilers write some"
        if error.errno == errno.EFBIG:  # the check of files reports the limit
            remedy = "Raise the limit of a file's size: `ulimit -f unlimited`."
        yield fault(True, why, remedy)
        return
    free = state.f_bavail * state.f_frsize
    text = f"temporary files: {size(free)} are free in {folder}"
    asked = os.environ.get("TMPDIR")
    if asked and os.path.abspath(asked) != os.path.abspath(folder):
        yield warn(f"TMPDIR={asked!r} cannot be used; {text}", remedy)
    elif free < _LITTLE_TEMPORARY:
        yield warn(text, remedy)
    else:
        yield ok(text)
