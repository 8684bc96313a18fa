"""Limits of control groups, by which containers and batch systems divide a computer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple


class Group(NamedTuple):
    """A control group of this process, or a parent of one.

    Parameters
    ----------
    name : str
        Name in messages, such as ``/docker/4f1a``.
    folder : str
        Folder with the files of the group's limits.
    is_version_2 : bool
        Files of version 2 have other names.
    """

    name: str
    folder: str
    is_version_2: bool


def text(path: str) -> str:
    """Return the contents of a file of the system; empty if it cannot be read."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def number(path: str) -> int | None:
    """Return the number in a file; None for ``max``, which is no limit, or without the file."""
    found = text(path).strip()
    return int(found) if found.isdigit() else None


def row(text: str, word: str) -> int:
    """Return the number after a word at the start of a line; 0 if there is no such line."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == [word] and words[1].isdigit():
            return int(words[1])
    return 0


def groups(controller: str, root: str = "") -> Iterator[Group]:
    """Yield the control groups of this process that may limit a resource, and their parents.

    Parameters
    ----------
    controller : str
        Name of the resource: memory, pids, cpu.
    root : str, optional
        Folder that holds ``/proc`` and ``/sys``.
    """
    for line in text(f"{root}/proc/self/cgroup").splitlines():
        _, controllers, name = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mounted = f"{root}/sys/fs/cgroup" + (f"/{controller}" if controllers else "")
        while name.strip("/"):
            yield Group(name, f"{mounted}{name}", not controllers)
            name = os.path.dirname(name)
        yield Group("/", mounted, not controllers)


def memory(group: Group) -> tuple[int | None, int]:
    """Return a group's limit of memory in bytes, or None, and the bytes that are used."""
    names = (
        ("memory.max", "memory.current", "inactive_file")
        if group.is_version_2
        else ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    )
    limit, used = (number(f"{group.folder}/{name}") for name in names[:2])
    used = used or 0
    # The system drops cached files before it refuses memory.
    return limit, used - min(used, row(text(f"{group.folder}/memory.stat"), names[2]))


def processes(group: Group) -> tuple[int | None, int]:
    """Return a group's limit of processes and threads, or None, and their number now."""
    limit, used = (number(f"{group.folder}/pids.{name}") for name in ("max", "current"))
    return limit, used or 0


def processors(group: Group) -> float | None:
    """Return the processors whose time a group may use, such as 1.5; None without a limit."""
    if group.is_version_2:
        quota, _, period = text(f"{group.folder}/cpu.max").strip().partition(" ")
    else:
        names = ("quota", "period")
        quota, period = (text(f"{group.folder}/cpu.cfs_{one}_us").strip() for one in names)
    is_limit = quota.isdigit() and period.isdigit() and int(period) > 0
    return int(quota) / int(period) if is_limit else None
