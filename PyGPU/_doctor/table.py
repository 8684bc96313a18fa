"""Names of the checks, in the order in which they run: group -> functions of the module so named.

A check is a generator of findings. Checks that use the runtime come last, because they may hang.
"""

from __future__ import annotations

_GROUPS = {
    "target": ("choice", "variables"),
    "machine": ("system_files", "nodes", "visibility"),
    "limits": (
        *("memory", "address_space", "locked_memory", "shared_memory"),
        *("processors", "processes", "files", "temporary_files"),
    ),
    "libraries": ("variables", "duplicates", "stubs"),
    "compilers": ("versions", "headers"),
    "cache": ("folder",),
    "mpi": ("device_memory",),
    "runtime": ("driver",),
    "devices": ("memory", "bandwidth", "peers", "kernel"),
}

#: Every check, "group.name".
CHECKS = tuple(f"{group}.{name}" for group, names in _GROUPS.items() for name in names)

#: Prefixes of the checks that use the runtime: where one hangs, the next would hang as well.
OF_RUNTIME = ("runtime.", "devices.")
#: Prefixes of the checks that run once: all.
ONCE = ("",)
