"""Search for the vendors' libraries in toolkits and in NVIDIA's wheels."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path


def program_on(path: str, name: str) -> str | None:
    """Return the file of a program on `path`, or None. Importing shutil would take longer."""
    places = [""] if os.path.dirname(name) else path.split(os.pathsep)
    for candidate in (os.path.join(place, name) for place in places):
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def _toolkits(prefix: str) -> list[str]:
    if prefix == "nvrtc":
        roots = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME")]
        program, usual = "nvcc", ["/usr/local/cuda", "/usr"]
    else:
        roots = [os.environ.get("ROCM_PATH"), os.environ.get("HIP_PATH")]
        program, usual = "hipcc", ["/opt/rocm", "/usr"]
    found = program_on(os.environ.get("PATH", os.defpath), program)
    roots += [str(Path(found).resolve().parent.parent)] if found else []
    return [*filter(None, roots), *usual]


def _in_wheels(prefix: str, sub: str) -> list[str]:
    """Return the folders of this name in NVIDIA's wheels."""
    if prefix != "nvrtc":
        return []
    return [
        wheel
        for entry in sys.path
        for wheel in sorted(glob.glob(os.path.join(entry or ".", "nvidia", "*", sub)))
    ]


def folders(prefix: str) -> list[str]:
    """Return folders that may have the libraries of a compiler's vendor, the likeliest first."""
    machine = os.uname().machine
    subs = ("lib64", "lib", f"lib/{machine}-linux-gnu", f"targets/{machine}-linux/lib")
    found = [f"{root}/{sub}" for root in _toolkits(prefix) for sub in subs]
    return [*found, *_in_wheels(prefix, "lib")]


def include_folders(prefix: str) -> list[str]:
    """Return folders that may have the headers of a compiler's vendor, the likeliest first."""
    found = [f"{root}/include" for root in _toolkits(prefix)]
    return [*found, *_in_wheels(prefix, "include")]


def beside(path: str) -> list[str]:
    """Return the folders of the libraries installed with this one, in the same place or wheels."""
    folder = Path(os.path.realpath(path)).parent
    wheels = folder.parent.parent
    others = wheels.glob("*/lib") if wheels.name == "nvidia" else ()
    return [str(folder), *sorted(map(str, others))]


def shared(stem: str, where: Sequence[str]) -> list[str]:
    """Return the paths of a library's files; those without a version come first in a folder."""
    paths = []
    for folder in where:
        paths += sorted(
            (p for p in glob.glob(os.path.join(folder, f"{stem}.so*")) if ".alt." not in p),
            key=lambda p: (len(re.findall(r"\d+", os.path.basename(p))), p),
        )
    return paths
