"""Checks of the vendors' toolkits and libraries: wrong folders, several versions, stubs."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator

from PyGPU._compile.compilers import libraries
from PyGPU._doctor.findings import Finding, fault, of_error, ok, warn
from PyGPU._doctor.vendors import VENDORS, Vendor
from PyGPU._runtime import programs, toolkits

_TOOLKIT_FOLDERS = [*toolkits.library_subfolders(), *toolkits.header_subfolders(), "bin"]


def variables() -> Iterator[Finding]:
    """Find wrong variables such as CUDA_HOME."""
    for vendor in VENDORS:
        toolkit = libraries.VENDORS[vendor.compiler]
        values = {name: os.environ[name] for name in toolkit.variables if os.environ.get(name)}
        text = ", ".join(f"{name}={value!r}" for name, value in values.items())
        try:
            toolkits.check_named(toolkit, vendor.toolkit_files, _TOOLKIT_FOLDERS)
        except toolkits.Misnamed as error:
            yield of_error(vendor.is_used, error)
            continue
        if len({os.path.realpath(value) for value in values.values()}) > 1:
            first, *others = values
            yield warn(
                f"{text} differ: {first} counts",
                f"Set {' and '.join(others)} to the value of {first}, or unset it.",
            )
        elif values:
            yield ok(text)
    if not any(toolkits.named(libraries.VENDORS[vendor.compiler]) for vendor in VENDORS):
        yield ok("no variable names a toolkit: the usual folders are searched")


def loader_folders() -> list[str]:
    """Return the folders of LD_LIBRARY_PATH."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    return list(dict.fromkeys(os.path.abspath(one) for one in folders if one))


def _cached_by_loader() -> list[str]:
    """Return the paths of the libraries in the loader's cache."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/sbin", "/usr/sbin"])
    program = toolkits.program_on(path, "ldconfig")
    if program is None:
        return []
    try:
        done = programs.run([program, "-p"], timeout=5)
    except (OSError, TimeoutError):
        return []
    return re.findall(r" => (/\S.*)", done.stdout)


def _folders(vendor: Vendor) -> list[str]:
    """Return the folders of the vendor's libraries in toolkits and wheels."""
    toolkit = libraries.VENDORS[vendor.compiler]
    try:
        return toolkits.folders(toolkit, toolkits.library_subfolders())
    except toolkits.Misnamed:  # the check of toolkits reports it
        return []


def copies(stem: str, paths: Iterable[str]) -> list[str]:
    """Return the different files of a library, by the names with the longest versions."""
    found: dict[str, str] = {}
    for path in paths:
        if re.fullmatch(rf"{stem}\.so(\.\d+)*", os.path.basename(path)) and os.path.isfile(path):
            found.setdefault(os.path.realpath(path), path)
    return list(found)


def version(path: str) -> tuple[int, ...]:
    """Return the version in a library's name: (12, 4) of ``libx.so.12.4``; () without one."""
    return tuple(map(int, re.findall(r"\.(\d+)", os.path.basename(path).partition(".so")[2])))


def _differ(versions: list[tuple[int, ...]]) -> bool:
    """Report whether two versions differ in a number that both have."""
    return any(a != b for one in versions for other in versions for a, b in zip(one[:2], other[:2]))


def duplicates() -> Iterator[Finding]:
    """Find several versions of a vendor's library that a process may load together."""
    cached, folders = _cached_by_loader(), loader_folders()
    for vendor in VENDORS:
        where = [*folders, *_folders(vendor)]
        for stem in vendor.libraries:
            found = [
                path
                for folder in where
                for path in sorted(glob.glob(f"{glob.escape(folder)}/{stem}.so*"))
            ]
            yield from duplicate(vendor, copies(stem, [*found, *cached]))


def duplicate(vendor: Vendor, found: list[str]) -> Iterator[Finding]:
    """Judge the copies of a library.

    Parameters
    ----------
    vendor : Vendor
        Vendor of the library.
    found : list of str
        Paths of the copies, in the order of the search.
    """
    if len(found) > 1 and _differ([version(path) for path in found]):
        variable = libraries.VENDORS[vendor.compiler].variables[0]
        yield warn(
            f"several versions: {', '.join(found)}",
            f"Name the one to use by {variable}, and remove the others from LD_LIBRARY_PATH and "
            "from the Python environment.",
        )
    elif found:
        yield ok(found[0] if len(found) == 1 else f"one version: {', '.join(found)}")


def stubs() -> Iterator[Finding]:
    """Find stubs of the driver's library, which the linker needs and no program may load."""
    wrong = [
        folder
        for folder in loader_folders()
        if os.path.basename(folder) == "stubs" and glob.glob(f"{glob.escape(folder)}/lib*.so*")
    ]
    for folder in wrong:
        yield fault(
            False,
            f"LD_LIBRARY_PATH has {folder}, whose libraries cannot run anything",
            f"Remove {folder} from LD_LIBRARY_PATH; LIBRARY_PATH is the variable for linkers.",
        )
    if not wrong:
        yield ok("LD_LIBRARY_PATH has no stubs of libraries")
