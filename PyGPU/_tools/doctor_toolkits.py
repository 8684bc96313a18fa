"""Checks of toolkits, libraries, compilers and MPI: wrong folders, versions, stubs."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import importlib
import importlib.util
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from PyGPU._compile.compilers import host_compiler, libraries, rtc
from PyGPU._runtime import errors, include_root, programs, toolkits
from PyGPU._tools import findings
from PyGPU._tools.findings import OWN, VENDORS, Finding, Vendor, fault, ok, warn, warn_if

_TOOLKIT_FOLDERS = [*toolkits.library_subfolders(), *toolkits.header_subfolders(), "bin"]
# Variables that switch the support of device memory on, in Cray MPICH, MVAPICH and Intel MPI.
_MPI_SWITCHES = ("MPICH_GPU_SUPPORT_ENABLED", "MV2_USE_CUDA", "MV2_USE_ROCM", "I_MPI_OFFLOAD")


def variables() -> Iterator[Finding]:
    """Find wrong variables such as CUDA_HOME."""
    for vendor in VENDORS:
        toolkit = libraries.VENDORS[vendor.compiler]
        values = {name: os.environ[name] for name in toolkit.variables if os.environ.get(name)}
        try:
            toolkits.check_named(toolkit, vendor.toolkit_files, _TOOLKIT_FOLDERS)
        except toolkits.Misnamed as error:
            yield findings.of_error(vendor.is_used, error)
            continue
        if values:
            first, *others = values
            yield warn_if(
                len({os.path.realpath(value) for value in values.values()}) > 1,
                ", ".join(f"{name}={value!r}" for name, value in values.items()),
                f" differ: {first} counts",
                f"Set {' and '.join(others)} to the value of {first}, or unset it.",
            )
    if not any(toolkits.named(libraries.VENDORS[vendor.compiler]) for vendor in VENDORS):
        yield ok("no variable names a toolkit: the usual folders are searched")


def _output(name: str, folders: str, *options: str) -> str:
    """Return what a program prints; empty if the folders lack it or it does not end soon."""
    program = toolkits.program_on(folders, name)
    try:
        return programs.run([program, *options], timeout=5).stdout if program else ""
    except (OSError, TimeoutError):
        return ""


def _loader_folders() -> list[str]:
    """Return the folders of LD_LIBRARY_PATH."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    return list(dict.fromkeys(os.path.abspath(folder) for folder in folders if folder))


def copies(stem: str, paths: Iterable[str]) -> list[str]:
    """Return the different files of a library, by the names with the longest versions."""
    found: dict[str, str] = {}
    for path in paths:
        if re.fullmatch(rf"{stem}\.so(\.\d+)*", os.path.basename(path)) and os.path.isfile(path):
            found.setdefault(os.path.realpath(path), path)
    return list(found)


def duplicates() -> Iterator[Finding]:
    """Find several versions of a vendor's library that a process may load together."""
    search = os.pathsep.join([os.environ.get("PATH", os.defpath), "/sbin", "/usr/sbin"])
    cached = re.findall(r" => (/\S.*)", _output("ldconfig", search, "-p"))  # by the loader
    for vendor in VENDORS:
        folders = _loader_folders()
        with contextlib.suppress(toolkits.Misnamed):  # the check of variables reports it
            toolkit = libraries.VENDORS[vendor.compiler]
            folders += toolkits.folders(toolkit, toolkits.library_subfolders())
        for stem in vendor.libraries:
            found = [
                path
                for folder in folders
                for path in sorted(glob.glob(f"{glob.escape(folder)}/{stem}.so*"))
            ]
            yield from duplicate(vendor, copies(stem, [*found, *cached]))


def duplicate(vendor: Vendor, found: list[str]) -> Iterator[Finding]:
    """Judge the copies of a library, in the order of the search.

    The name libx.so.12.4 has the version (12, 4). Two versions differ in one of the first two
    numbers, if both have it.
    """
    suffixes = [os.path.basename(path).partition(".so")[2] for path in found]
    versions = [re.findall(r"\.(\d+)", suffix)[:2] for suffix in suffixes]
    if any(a != b for pair in itertools.combinations(versions, 2) for a, b in zip(*pair)):
        yield warn(
            f"several versions: {', '.join(found)}",
            f"Name the one to use by {libraries.VENDORS[vendor.compiler].variables[0]}, and remove "
            "the others from LD_LIBRARY_PATH and from the Python environment.",
        )
    elif found:
        yield ok(found[0] if len(found) == 1 else f"one version: {', '.join(found)}")


def stubs() -> Iterator[Finding]:
    """Find stubs of the driver's library, which the linker needs and no program may load."""
    wrong = [
        folder
        for folder in _loader_folders()
        if os.path.basename(folder) == "stubs" and glob.glob(f"{glob.escape(folder)}/lib*.so*")
    ]
    for folder in wrong:
        yield warn(
            f"LD_LIBRARY_PATH has {folder}, whose libraries cannot run anything",
            f"Remove {folder} from LD_LIBRARY_PATH; LIBRARY_PATH is the variable for linkers.",
        )
    if not wrong:
        yield ok("LD_LIBRARY_PATH has no stubs of libraries")


def versions() -> Iterator[Finding]:
    """Find the compiler of each target that is built, and its version."""
    for vendor in VENDORS:
        if not vendor.is_built:
            continue
        try:
            found = rtc.library(vendor.compiler).version()
            yield age(vendor, rtc.locate(vendor.compiler), found)
        except errors.CompileError as error:
            yield findings.of_error(vendor.is_used, error)
    try:
        text = findings.program_version(host_compiler.compiler())
    except errors.CompileError as error:
        yield findings.of_error(OWN is None, error)
        return
    if "does not run" in text or "no end within" in text:
        yield fault(OWN is None, text, host_compiler.REMEDY)
    else:
        yield ok(text.partition("; ")[0])


def age(vendor: Vendor, path: str, found: tuple[int, int]) -> Finding:
    """Judge the version of a vendor's run-time compiler, whose library is `path`."""
    text = f"{vendor.compiler} {'.'.join(map(str, found))}: {path}"
    if found >= vendor.oldest:
        return ok(text)
    return fault(
        vendor.is_used,
        f"{text} is too old",
        f"Install {vendor.toolkit} {'.'.join(map(str, vendor.oldest))} or newer, or name its "
        f"library in PYGPU_{vendor.compiler.upper()}.",
    )


def headers() -> Iterator[Finding]:
    """Find PyGPU's headers, and those of the vendors."""
    own = os.path.join(include_root(), "PyGPU", "gpu.h")
    if os.path.isfile(own):
        yield ok(f"PyGPU's headers: {include_root()}")
    else:
        yield fault(True, f"{own} is missing", "Install PyGPU again.")
    for vendor in VENDORS:
        if not vendor.is_built:
            continue
        with contextlib.suppress(errors.CompileError):  # the check of compilers reports it
            path = rtc.locate(vendor.compiler)
            found = libraries.headers(vendor.compiler, path)
            if found:
                yield ok(f"headers of {vendor.toolkit}: {', '.join(found)}")
            else:
                yield warn(
                    f"no headers of {vendor.toolkit} go with {path}",
                    f"Install the headers of {vendor.toolkit}, if kernels include them.",
                )


def device_memory() -> Iterator[Finding]:
    """Find whether MPI accepts device memory; nothing if mpi4py is not installed."""
    if importlib.util.find_spec("mpi4py") is None:
        return
    if OWN is None:
        yield ok("mpi4py is installed: every MPI accepts the memory of the target host")
        return
    try:
        importlib.import_module("mpi4py").rc.initialize = False
        module = importlib.import_module("mpi4py.MPI")
    except (ImportError, OSError, RuntimeError) as error:  # mpi4py's wheels have no MPI library
        yield warn(
            f"mpi4py is installed, but does not load: {str(error).splitlines()[0]}",
            "Load the module of an MPI library, or add the library's folder to LD_LIBRARY_PATH.",
        )
        return
    name = module.Get_library_version().strip("\0 \n").splitlines()[0].partition(",")[0]
    library, description = None, ""
    # MPICH ends a process that asks before MPI_Init; MPI_Init may fail outside of a job.
    if name.startswith("Open MPI"):
        library = ctypes.CDLL(module.__file__)
        search = os.environ.get("PATH", os.defpath)
        description = _output("ompi_info", search, "--parsable", "--all")
    yield judged(name, mpi_support(OWN, library, description))


def mpi_support(vendor: Vendor, library: Any, description: str) -> bool | None:
    """Return the support that an MPI library reports before MPI_Init; None if it is unknown.

    `library` has the functions that may be called before MPI_Init, or is None. `description` is the
    output of ``ompi_info``: Open MPI 5 answers its query only after MPI_Init.
    """
    kind = vendor.mpi_kind
    query = getattr(library, f"MPIX_Query_{kind}_support", None)
    marks = (f"mpi_built_with_{kind}_support:value:true", f"mca:accelerator:{kind}:")
    if query is not None:
        return bool(query()) or any(mark in description for mark in marks)
    is_on = any(os.environ.get(name, "0") not in ("", "0") for name in _MPI_SWITCHES)
    return True if is_on else None


def judged(name: str, supports: bool | None) -> Finding:
    """Return whether an MPI library accepts device memory; None: unknown."""
    if supports:
        return ok(f"{name}: accepts device memory")
    unknown = "before MPI_Init, it is unknown whether it accepts device memory"
    return warn(
        f"{name}: {unknown if supports is None else 'it does not accept device memory'}",
        "Pass host arrays to MPI, or use an MPI that is built for the GPU (Cray MPICH: set "
        "MPICH_GPU_SUPPORT_ENABLED=1).",
    )
