"""Facts about the machine that need no device call, and removal of users' names from texts."""

from __future__ import annotations

import getpass
import glob
import os
import platform
import re
import sys
from pathlib import Path

import numpy as np

from PyGPU._runtime import capabilities, programs, targets, toolkits

_VARIABLES = re.compile(
    r"(HIP|HIPCC|HIPRTC|ROCR|ROCM|HSA|HCC|GPU|AMD|AMDGPU|CUDA|NVIDIA|NVCC|PYGPU|PYCUDA|MPICH_GPU)(_.*)?"
    r"|LD_LIBRARY_PATH|LD_PRELOAD|CPATH|CPLUS_INCLUDE_PATH|CXX|LOADEDMODULES|OMP_NUM_THREADS"
)
_SECRET = re.compile(r"TOKEN|KEY|SECRET|PASS", re.I)


def _homes() -> list[str]:
    """Return the paths of the user's home folder, with and without symbolic links resolved."""
    home = os.path.expanduser("~")
    return [one for one in dict.fromkeys((home, os.path.realpath(home))) if len(one) > 1]


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user has no entry
        return ""


def anonymous(text: str) -> str:
    """Return the text with ``~`` for home folders and ``USER`` for the user's name in paths."""
    for home in _homes():
        text = re.sub(rf"{re.escape(home)}(?=$|[/:;,'\"\s)])", "~", text)
    text = re.sub(r"/(?:home|users|Users)/[^/\s:'\"]+", "~", text)
    user = _user()
    if user and user != "root":
        text = re.sub(rf"(?<=/){re.escape(user)}(?=$|[/:;,'\"\s)])", "USER", text)
    return text


def _first_line(path: str) -> str | None:
    try:
        with open(path, errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return None


def _nodes() -> list[str]:
    """Return the device nodes, and whether this user may open them."""
    lines = []
    for pattern in ("/dev/kfd", "/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/nvidiactl"):
        for path in sorted(glob.glob(pattern)):
            may = os.access(path, os.R_OK | os.W_OK)
            lines.append(f"{path}: {'may be opened' if may else 'no permission (see groups)'}")
    return lines or ["no device nodes (/dev/kfd, /dev/dri/renderD*, /dev/nvidia*)"]


def _versions_on_disk() -> list[str]:
    """Return the versions of kernel modules and of ROCm, read from their files."""
    roots = [root for toolkit in toolkits.toolkits(toolkits.ROCM) for root in toolkit]
    paths = ["/sys/module/amdgpu/version", "/proc/driver/nvidia/version"]
    paths += [f"{root}/.info/version" for root in roots]
    found = ((path, _first_line(path)) for path in paths)
    return [f"{path}: {line}" for path, line in found if line]


def program_version(path: str) -> str:
    """Return the path of a program and the first lines of its ``--version``."""
    try:
        done = programs.run([path, "--version"], timeout=20)
    except TimeoutError:
        return f"{path}: no end within 20 s"
    if done.status in programs.CANNOT_RUN:
        return f"{path}: does not run: {done.stderr.strip()}"
    return f"{path}: " + "; ".join(filter(None, map(str.strip, done.stdout.splitlines()[:4])))


def lines(version: str) -> list[str]:
    """Return the facts at the head of a report."""
    result = [f"PyGPU {version}, target {capabilities.target} ({targets.reason})"]
    result += [f"not {target}: {why}" for target, why in targets.refused.items()]
    built = ", ".join(target for target in targets.TARGETS if targets.is_built(target))
    result.append(f"targets built: {built}; in {Path(__file__).resolve().parents[1]}")
    result.append(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, {platform.platform()}")
    result.append(f"{_processor()}, {len(os.sched_getaffinity(0))} processors for this process")
    result += _versions_on_disk() + _nodes()
    for name, value in sorted(os.environ.items()):
        if _VARIABLES.fullmatch(name) and not _SECRET.search(name):
            result.append(f"{name}={value}")
    return result


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", errors="replace") as file:
            names = (line for line in file if line.startswith("model name"))
            return next(names).partition(":")[2].strip()
    except (OSError, StopIteration):
        return platform.machine()
