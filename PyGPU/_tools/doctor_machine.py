"""Checks of the target, settings, device nodes, variables that hide devices, and the cache."""

from __future__ import annotations

import contextlib
import difflib
import errno
import glob
import grp
import os
import pwd
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from PyGPU._compile.cache import entries, eviction, files
from PyGPU._runtime import capabilities, settings, targets
from PyGPU._tools.findings import VENDORS, Finding, fault, ok, size, warn

# Variables of the build and of the tests.
_OTHERS = (
    *("PYGPU_PARTS", "PYGPU_ARCHITECTURES", "PYGPU_HIP_ROOTS"),
    *("PYGPU_REQUIRE", "PYGPU_HYPOTHESIS"),
)
_LITTLE = 64 << 20
_ANOTHER = "set PYGPU_CACHE_DIR to a folder of your own"
_GROUP_MAY = stat.S_IRGRP | stat.S_IWGRP


def choice() -> Iterator[Finding]:
    """Find the targets that are built, the one in use, and the reasons against the others."""
    built = ", ".join(target for target in targets.TARGETS if targets.is_built(target))
    yield ok(f"built: {built}; in use: {capabilities.target} ({targets.reason})")
    if targets.reason != targets.NO_GPU:
        return
    for vendor in VENDORS:
        why, is_missing = targets.refused[vendor.target], targets.missing_node(vendor.target)
        if not vendor.is_built and not is_missing:
            yield warn(
                f"{vendor.name} GPUs are here, but the target {vendor.target} is not built",
                f"Install {vendor.toolkit}, then PyGPU again with "
                f"PYBIND_GPU_TARGET={vendor.architecture}.",
            )
        elif vendor.is_built and not is_missing and not targets.hidden_from(vendor.target):
            # The checks of nodes and of visibility report the other reasons.
            remedy = (
                f"Load the module of {vendor.toolkit}, add the library's folder to "
                "LD_LIBRARY_PATH, or install PyGPU again with the version that is installed."
                if "do not load" in why
                else vendor.driver_remedy
            )
            yield warn(f"{vendor.target} is built but not used: {why}", remedy)


def variables() -> Iterator[Finding]:
    """Find invalid settings, and variables whose names are close to a setting's."""
    names = [name for name in os.environ if name.startswith(("PYGPU_", "PYCUDA_"))]
    wrong = settings.invalid()
    for message in wrong:
        found, _, default = message.partition("; ")
        yield warn(found, f"Correct or unset the variable; {default}.")
    known = {*settings.SETTINGS, *(row.alias for row in settings.ROWS), *_OTHERS}
    for name in names:
        meant = difflib.get_close_matches(name, sorted(known), 1, 0.8)
        if name not in known and meant:
            yield warn(f"{name} is no setting of PyGPU", f"Set {meant[0]}, if that was meant.")
    if not wrong:
        text = ", ".join(f"{name}={os.environ[name]}" for name in sorted(names) if name in known)
        yield ok(f"settings: {text or 'all have their defaults'}")


def system_files(root: str = "") -> Iterator[Finding]:
    """Find whether ``/proc`` is mounted, which a plain chroot lacks."""
    if os.path.exists(f"{root}/proc/self/maps"):
        yield ok("/proc is mounted")
    else:
        yield fault(
            True,
            "/proc is not mounted: compiled kernels and the drivers are found through it",
            "Run `mount -t proc proc /proc` as root, or start the container in the usual way.",
        )


def nodes(root: str = "") -> Iterator[Finding]:
    """Find the device nodes below `root` that are missing or that this user may not open."""

    def existing(patterns: Sequence[str]) -> list[str]:
        return [path for pattern in patterns for path in sorted(glob.glob(root + pattern))]

    is_silent = not any(vendor.is_built for vendor in VENDORS)
    for vendor in VENDORS:
        missing = targets.missing_node(vendor.target, root)
        first, *others = targets.NODES[vendor.target]
        paths = existing(first)
        if missing and (vendor.is_built or paths):
            yield warn(missing, vendor.driver_remedy)  # the check of the runtime decides
        if not paths:
            continue
        is_silent = False
        paths += [path for group in others for path in existing(group)]  # perhaps of another vendor
        control = vendor.control_nodes if existing(first[:1]) else ()  # of the usual nodes
        absent = [path for path in control if not os.path.exists(root + path)]
        paths += [root + path for path in control if path not in absent]
        closed = [path for path in paths if not os.access(path, os.R_OK | os.W_OK)]
        for path in closed:
            yield fault(vendor.is_used, *closed_node(path, os.stat(path)))
        for path in absent:
            yield warn(
                f"{path} is missing, though the device nodes exist",
                "Run `nvidia-modprobe -u -c 0` as root, or start the container with "
                f"{vendor.container}.",
            )
        if len(closed) < len(paths):
            may = ", ".join(path for path in paths if path not in closed)
            yield ok(f"may be opened: {may}")
    if is_silent:
        yield ok("no device nodes of GPUs, and no GPU target is built")


def closed_node(path: str, state: os.stat_result) -> tuple[str, str]:
    """Return the reason why a node cannot be opened, and the remedy."""
    owner, group = str(state.st_uid), str(state.st_gid)  # without an entry, the number
    with contextlib.suppress(KeyError):
        owner = pwd.getpwuid(state.st_uid).pw_name
    with contextlib.suppress(KeyError):
        group = grp.getgrgid(state.st_gid).gr_name
    mode = stat.S_IMODE(state.st_mode)
    found = f"{path}: no permission (owner {owner}, group {group}, mode {mode:o})"
    if state.st_gid and mode & _GROUP_MAY == _GROUP_MAY:
        return found, (
            f"Join the group {group} (`sudo usermod -aG {group} $USER`, then log in again), or "
            f"start the container with --group-add {state.st_gid}."
        )
    return found, "Ask the administrator for permission to read and write the node."


def visibility() -> Iterator[Finding]:
    """Find the variables that hide every device."""
    faults: dict[str, bool] = {}
    for vendor in VENDORS:
        if message := targets.hidden_from(vendor.target):
            faults[message] = faults.get(message, False) or vendor.is_used
    for message, is_needed in faults.items():
        name = message.partition("=")[0]
        yield fault(is_needed, message, f"Unset {name}, or name a device that exists: {name}=0.")
    if not faults:
        names = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
        values = ", ".join(f"{name}={os.environ[name]!r}" for name in names if name in os.environ)
        yield ok(f"devices are chosen by {values}" if values else "no variable hides a device")


def folder() -> Iterator[Finding]:
    """Find whether kernels can be kept, and how many are."""
    off = "the cache is off, so each program compiles its kernels: "
    if settings.value("PYGPU_DISABLE_CACHE"):
        yield warn(f"{off}PYGPU_DISABLE_CACHE is set", "Unset PYGPU_DISABLE_CACHE.")
    elif (path := entries.directory(None)) is None:
        yield warn(f"{off}there is no home folder", f"Set HOME, or {_ANOTHER}.")
    else:
        yield judged(path)


def judged(folder: Path) -> Finding:
    """Return the state of a folder for the cache."""
    parent = next((path for path in [folder, *folder.parents] if os.path.exists(path)), folder)
    try:
        problem = _problem(folder, parent)
    finally:  # a check leaves nothing behind
        with contextlib.suppress(OSError):  # not made, or another process uses it
            for path in [folder, *folder.parents][: len(folder.parts) - len(parent.parts)]:
                path.rmdir()
    if problem:
        why, remedy = problem
        why = f"the cache {folder} cannot be used, so each program compiles its kernels: {why}"
        return warn(why, remedy)
    state = os.statvfs(parent)
    free = state.f_bavail * state.f_frsize
    used = sum(item.nbytes for item in eviction.items(folder))
    limit = settings.value("PYGPU_CACHE_MAXSIZE")
    text = f"{folder}: {size(used)} of at most {size(limit)}, {size(free)} free on the disk"
    if free < _LITTLE:
        clear = " (`python -m PyGPU cache --clear` empties the cache)" if used else ""
        return warn(text, f"Free space on the disk{clear}, or {_ANOTHER}.")
    if state.f_flag & os.ST_NOEXEC:
        return warn(
            f"{text}; its file system is mounted with noexec, so libraries that PyGPU.build makes "
            "there cannot be loaded",
            "Mount it without noexec, or set PYGPU_CACHE_DIR to a folder of another file system.",
        )
    return ok(text if parent == folder else f"{text}; made by the first compilation")


def _problem(folder: Path, parent: Path) -> tuple[str, str] | None:
    """Return the reason why a folder cannot keep kernels and the remedy, or None."""
    if parent.is_file():
        return f"{parent} is a file", f"Remove the file {parent}, or {_ANOTHER}."
    try:
        files.make_folder(folder)
        state = os.stat(folder)
    except OSError as error:
        return (
            f"the folder cannot be made ({error.strerror}: {error.filename})",
            f"Make {os.path.dirname(error.filename)} writable, or {_ANOTHER}.",
        )
    if not files.is_trusted_folder(state):
        mode = stat.S_IMODE(state.st_mode)
        return (
            f"others could put code there (owner {state.st_uid}, mode {mode:o})",
            f"Run `chmod go-w {folder}` as its owner, or {_ANOTHER}.",
        )
    probe = folder / f"doctor-{os.getpid()}"
    try:
        with open(probe, "xb") as file:
            file.write(bytes(1 << 16))
    except OSError as error:
        why = f"no file can be written there ({error.strerror})"
        if error.errno == errno.EFBIG:
            return why, "Raise the limit of a file's size: `ulimit -f unlimited`."
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        first = "Free space or inodes on its disk" if is_full else f"Make {folder} writable"
        return why, f"{first}, or {_ANOTHER}."
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
    return None
