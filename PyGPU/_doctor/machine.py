"""Checks of /proc, of device nodes and of the variables that hide devices."""

from __future__ import annotations

import glob
import grp
import os
import pwd
import stat
from collections.abc import Iterator, Sequence

from PyGPU._doctor.findings import Finding, fault, ok, warn
from PyGPU._doctor.vendors import VENDORS, Vendor
from PyGPU._runtime import targets

_GROUP_MAY = stat.S_IRGRP | stat.S_IWGRP


def system_files(root: str = "") -> Iterator[Finding]:
    """Find whether ``/proc`` is mounted, which a plain chroot lacks.

    Parameters
    ----------
    root : str, optional
        Folder that holds ``/proc``.
    """
    if os.path.exists(f"{root}/proc/self/maps"):
        yield ok("/proc is mounted")
    else:
        yield fault(
            True,
            "/proc is not mounted: compiled kernels and the drivers are found through it",
            "Run `mount -t proc proc /proc` as root, or start the container in the usual way.",
        )


def nodes(root: str = "") -> Iterator[Finding]:
    """Find the device nodes that are missing or that this user may not open.

    Parameters
    ----------
    root : str, optional
        Folder that holds ``/dev``.
    """
    found = False
    for vendor in VENDORS:
        missing = targets.missing_node(vendor.target, root)
        first, *others = targets.NODES[vendor.target]
        paths = _existing(first, root)
        if paths:  # the nodes of /dev/dri may be another vendor's
            paths += [path for group in others for path in _existing(group, root)]
        if missing and (vendor.is_built or paths):
            yield warn(missing, vendor.driver_remedy)  # the check of the runtime decides
        if not paths:
            continue
        found = True
        is_usual = bool(_existing(first[:1], root))  # control nodes belong to the usual nodes
        yield from _permissions(vendor, paths, vendor.control_nodes if is_usual else (), root)
    if not found and not any(vendor.is_built for vendor in VENDORS):
        yield ok("no device nodes of GPUs, and no GPU target is built")


def _existing(patterns: tuple[str, ...], root: str) -> list[str]:
    return [path for pattern in patterns for path in sorted(glob.glob(root + pattern))]


def _permissions(
    vendor: Vendor, paths: list[str], control: Sequence[str], root: str
) -> Iterator[Finding]:
    """Find the nodes that this user may not open, and the control nodes that are missing."""
    absent = [path for path in control if not os.path.exists(root + path)]
    paths = [*paths, *(root + path for path in control if path not in absent)]
    closed = [path for path in paths if not os.access(path, os.R_OK | os.W_OK)]
    for path in closed:
        yield fault(vendor.is_used, *closed_node(path, os.stat(path)))
    for path in absent:
        yield warn(
            f"{path} is missing, though the device nodes exist",
            f"Run `nvidia-modprobe -u -c 0` as root, or start the container with "
            f"{vendor.container}.",
        )
    if len(closed) < len(paths):
        may = ", ".join(path for path in paths if path not in closed)
        yield ok(f"may be opened: {may}")


def closed_node(path: str, state: os.stat_result) -> tuple[str, str]:
    """Return the reason why a node cannot be opened, and the remedy."""
    owner = _name(pwd.getpwuid, state.st_uid)
    group = _name(grp.getgrgid, state.st_gid)
    mode = stat.S_IMODE(state.st_mode)
    found = f"{path}: no permission (owner {owner}, group {group}, mode {mode:o})"
    if state.st_gid and mode & _GROUP_MAY == _GROUP_MAY:
        return found, (
            f"Join the group {group} (`sudo usermod -aG {group} $USER`, then log in again), or "
            f"start the container with --group-add {state.st_gid}."
        )
    return found, "Ask the administrator for permission to read and write the node."


def _name(entry: object, number: int) -> str:
    """Return the first field of a user's or a group's entry, or the number without an entry."""
    try:
        return str(entry(number)[0])  # type: ignore[operator]
    except KeyError:
        return str(number)


def visibility() -> Iterator[Finding]:
    """Find the variables that hide every device."""
    names = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
    is_set = [name for name in names if name in os.environ]
    faults: dict[str, bool] = {}
    for vendor in VENDORS:
        message = targets.hidden_from(vendor.target)
        if message:
            faults[message] = faults.get(message, False) or vendor.is_used
    for message, is_needed in faults.items():
        name = message.partition("=")[0]
        yield fault(is_needed, message, f"Unset {name}, or name a device that exists: {name}=0.")
    if not faults:
        values = ", ".join(f"{name}={os.environ[name]!r}" for name in is_set)
        yield ok(f"devices are chosen by {values}" if is_set else "no variable hides a device")
