"""Search for the vendors' toolkits: their folders of libraries and headers, and their programs.

setup.py runs this file by its path before the package is built, so the file imports nothing of
PyGPU. A toolkit is a tuple of folders: one root, or the folders of a vendor's pip wheels.
"""

from __future__ import annotations

import fnmatch
import functools
import glob
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class NotFound(Exception):
    """No toolkit has the files; the message lists the folders that were searched."""


class Misnamed(Exception):
    """An environment variable names a toolkit that lacks a file or does not exist."""


class Vendor:
    """A vendor's toolkit."""

    name: str  # in messages
    variables: Sequence[str]  # variables that name the root; the first that is set counts
    program: str  # compiler in the folder ``bin``
    usual: Sequence[str]  # usual roots
    wheels: Sequence[str]  # patterns of the folders of pip wheels in site-packages


class _Cuda(Vendor):
    name, program = "the CUDA toolkit", "nvcc"
    variables = ("CUDA_PATH", "CUDA_HOME")
    usual = ("/usr/local/cuda", "/usr")
    wheels = ("nvidia/*",)


class _Rocm(Vendor):
    name, program = "ROCm", "hipcc"
    variables = ("ROCM_PATH", "HIP_PATH")
    usual = ("/opt/rocm", "/usr")
    # `rocm-sdk init` unpacks the first, which has the headers and the links of the other wheels.
    wheels = ("_rocm_sdk_devel", "_rocm_sdk_core", "_rocm_sdk_libraries*")


CUDA, ROCM = _Cuda(), _Rocm()


def program_on(path: str, name: str) -> str | None:
    """Return the file of a program on `path`, or None. Importing shutil would take longer."""
    places = [""] if os.path.dirname(name) else path.split(os.pathsep)
    for candidate in (os.path.join(place, name) for place in places):
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def _targets() -> list[str]:
    """Return the folders of this machine's CUDA target; ARM servers are ``sbsa-linux``."""
    machine = os.uname().machine
    names = ["sbsa", machine] if machine == "aarch64" else [machine]
    return [f"targets/{name}-linux" for name in names]


def library_subfolders() -> list[str]:
    """Return the folders of libraries below a root, the likeliest first."""
    multiarch = f"lib/{os.uname().machine}-linux-gnu"
    return ["lib64", "lib", multiarch, *(f"{target}/lib" for target in _targets())]


def header_subfolders() -> list[str]:
    """Return the folders of headers below a root, the likeliest first."""
    return ["include", *(f"{target}/include" for target in _targets())]


def wheels(vendor: Vendor, sites: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the vendor's wheels in each site-packages folder, as one toolkit per folder."""
    found = []
    for site in dict.fromkeys(sites):
        matches = [sorted(glob.glob(os.path.join(site or ".", one))) for one in vendor.wheels]
        folders = [path for paths in matches for path in paths if os.path.isdir(path)]
        if folders:
            found.append(tuple(folders))
    return found


def _sites(prefix: str) -> list[str]:
    """Return the site-packages folders of a Python installed under `prefix`."""
    return sorted(glob.glob(os.path.join(prefix, "lib", "python3*", "site-packages")))


def _with_siblings(vendor: Vendor, root: str) -> tuple[str, ...]:
    """Return the root; for a folder of a wheel, followed by the vendor's wheels next to it."""
    parts = os.path.abspath(root).split(os.sep)
    for pattern in vendor.wheels:
        count = pattern.count("/") + 1
        site = os.sep.join(parts[:-count])
        # Elsewhere, such as in /opt/nvidia, the folders are versions of a toolkit.
        is_site = site.endswith(("site-packages", "dist-packages")) or site in sys.path
        if is_site and fnmatch.fnmatch("/".join(parts[-count:]), pattern):
            others = wheels(vendor, [site])
            return (root, *(one for found in others for one in found if one != root))
    return (root,)


@functools.lru_cache
def _reported(vendor: Vendor, program: str) -> tuple[str, ...]:
    """Return the folders of the toolkit that nvcc reports, if the usual folders lack its headers.

    A script or a link to ccache may stand for nvcc. The folders of NVIDIA's HPC SDK, Nix and Guix
    are apart.
    """
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    is_usual = holder(below([prefix], header_subfolders()), "cuda_runtime.h") is not None
    if vendor.program != "nvcc" or is_usual or not os.access(program, os.X_OK):
        return ()
    import subprocess  # slow to import

    words = [program, "--dryrun", "-c", "-x", "cu", os.devnull]
    try:
        done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace")
    except OSError:
        return ()
    lines = re.findall(r"(?m)^#\$ (?:INCLUDES|LIBRARIES)=(.*)", done.stderr)
    folders = re.findall(r'"-[IL]([^"]+)"|(?<!\S)-[IL](\S+)', "\n".join(lines))
    parents = [re.sub(r"/[^/]+(/stubs)?/*$", "", one or other) for one, other in folders]
    return tuple(dict.fromkeys(map(os.path.realpath, parents)))


def named(vendor: Vendor) -> tuple[str, tuple[str, ...]] | None:
    """Return the variable that names a toolkit and the toolkit; None if no variable is set."""
    for variable in vendor.variables:
        root = os.environ.get(variable)
        if root:
            program = os.path.join(root, "bin", vendor.program)
            return variable, (*_with_siblings(vendor, root), *_reported(vendor, program))
    return None


def toolkits(vendor: Vendor) -> list[tuple[str, ...]]:
    """Return the toolkits that may be installed, the likeliest first."""
    chosen = named(vendor)
    found = [chosen[1]] if chosen else []
    program = program_on(os.environ.get("PATH", os.defpath), vendor.program)
    if program:
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(program)))
        found += [_reported(vendor, program)]
        # The program of a pip wheel is a script in the Python environment.
        found += [(prefix,), *wheels(vendor, _sites(prefix))]
    environments = [os.environ.get("CONDA_PREFIX"), sys.prefix]
    found += [(one,) for one in environments if one and one not in vendor.usual]
    found += [(root,) for root in vendor.usual]
    found += wheels(vendor, [*sys.path, *_sites(sys.prefix)])
    return list(dict.fromkeys(filter(None, found)))


def below(toolkit: Iterable[str], subfolders: Sequence[str]) -> list[str]:
    """Return the subfolders of a toolkit that exist."""
    paths = [os.path.join(root, sub) for root in toolkit for sub in subfolders]
    return [path for path in paths if os.path.isdir(path)]


def check_named(vendor: Vendor, files: Sequence[str] = (), subfolders: Sequence[str] = ()) -> None:
    """Raise Misnamed if a variable names no folder, or one without a file of these patterns."""
    chosen = named(vendor)
    if chosen is None:
        return
    variable, toolkit = chosen
    start = f"{variable}={os.environ[variable]!r}"
    end = f"correct the variable, or unset it to have {vendor.name} searched for"
    if not os.path.isdir(toolkit[0]):
        raise Misnamed(f"{start}: there is no such folder; {end}")
    for folder in below(toolkit, subfolders):
        if any(glob.glob(os.path.join(glob.escape(folder), file)) for file in files):
            return
    if files:
        where = ", ".join(subfolders)
        raise Misnamed(f"{start}: there is no {' or '.join(files)} in its {where}; {end}")


def folders(vendor: Vendor, subfolders: Sequence[str]) -> list[str]:
    """Return the existing folders of all toolkits, the likeliest first, or raise Misnamed."""
    check_named(vendor)
    found = [path for toolkit in toolkits(vendor) for path in below(toolkit, subfolders)]
    return list(dict.fromkeys(found))


def near(vendor: Vendor, path: str, subfolders: Sequence[str]) -> list[str]:
    """Return the existing folders of the toolkit or the wheels that a library belongs to."""
    parents = [os.path.dirname(os.path.realpath(path))]
    while len(parents) < 5 and parents[-1] != os.sep:
        parents.append(os.path.dirname(parents[-1]))
    siblings = [one for parent in parents for one in _with_siblings(vendor, parent)[1:]]
    return list(dict.fromkeys(below([*parents, *siblings], subfolders)))


def program(vendor: Vendor) -> str:
    """Return the path of the toolkit's compiler, or raise Misnamed or NotFound."""
    check_named(vendor, [vendor.program], ["bin"])
    if chosen := named(vendor):
        if found := program_on(os.pathsep.join(below(chosen[1], ["bin"])), vendor.program):
            return found
        raise Misnamed(
            f"{chosen[0]}={os.environ[chosen[0]]!r}: bin/{vendor.program} is not executable"
        )
    bins = folders(vendor, ["bin"])
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *bins])
    if found := program_on(path, vendor.program):
        return found
    raise NotFound(f"{vendor.program} is neither on PATH nor in one of {', '.join(bins)}")


class Build(NamedTuple):
    """The files of a toolkit that an extension is built with."""

    root: str  # first folder of the toolkit
    library: str  # its path
    include_dirs: Sequence[str]  # the header's own first


def for_build(
    vendor: Vendor, headers: Sequence[str], libraries: Sequence[str], root: str | None = None
) -> Build:
    """Return the first toolkit that has all headers and a library, or raise Misnamed or NotFound.

    The patterns of the library's file begin with the preferred one. `root` is the only toolkit to
    use; by default the toolkits are searched for.
    """
    if root is None:
        for header in headers:
            check_named(vendor, [header], header_subfolders())
        check_named(vendor, libraries, library_subfolders())
    searched = [(root,)] if root else toolkits(vendor)
    incomplete = []
    for toolkit in searched:
        where = below(toolkit, header_subfolders())
        holders = [holder(where, header) for header in headers]
        found = [
            path
            for pattern in libraries
            for folder in below(toolkit, library_subfolders())
            for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern)))
        ]
        if all(holders) and found:
            # The wheels spread the headers over several folders.
            folders = [one for one in [*holders, *where] if one]
            return Build(toolkit[0], found[0], list(dict.fromkeys(folders)))
        absent = [one for one, folder in zip(headers, holders) if folder is None]
        absent += [] if found else libraries[:1]
        if len(absent) <= len(headers):
            incomplete.append(f"{toolkit[0]} has no {' and no '.join(absent)}")
    roots = [root for toolkit in searched for root in toolkit]
    wanted = ", ".join([*headers, libraries[0]])
    raise NotFound("; ".join([f"{wanted} in one of {', '.join(roots)}", *incomplete]))


def holder(folders: Iterable[str], name: str) -> str | None:
    """Return the first folder that has a file."""
    return next((one for one in folders if os.path.exists(os.path.join(one, name))), None)
