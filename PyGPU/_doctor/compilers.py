"""Checks of the run-time compilers and the headers."""

from __future__ import annotations

import os
from collections.abc import Iterator

from PyGPU._compile.compilers import host_compiler, libraries, rtc
from PyGPU._doctor.findings import Finding, fault, of_error, ok, warn
from PyGPU._doctor.vendors import OWN, VENDORS, Vendor
from PyGPU._report import facts
from PyGPU._runtime import errors, include_root


def versions() -> Iterator[Finding]:
    """Find the compiler of each target that is built, and its version."""
    for vendor in VENDORS:
        if vendor.is_built:
            yield from _run_time_compiler(vendor)
    try:
        text = facts.program_version(host_compiler.compiler())
    except errors.CompileError as error:
        yield of_error(OWN is None, error)
        return
    if "does not run" in text or "no end within" in text:
        yield fault(OWN is None, text, host_compiler.REMEDY)
    else:
        yield ok(text.partition("; ")[0])


def _run_time_compiler(vendor: Vendor) -> Iterator[Finding]:
    try:
        found = rtc.library(vendor.compiler).version()
        path = rtc.locate(vendor.compiler)
    except errors.CompileError as error:
        yield of_error(vendor.is_used, error)
        return
    yield from age(vendor, path, found)


def age(vendor: Vendor, path: str, found: tuple[int, int]) -> Iterator[Finding]:
    """Judge the version of a vendor's run-time compiler.

    Parameters
    ----------
    vendor : Vendor
        Vendor of the compiler.
    path : str
        File of the compiler's library.
    found : (int, int)
        Version of the library.
    """
    text = f"{vendor.compiler} {'.'.join(map(str, found))}: {path}"
    if found >= vendor.oldest:
        yield ok(text)
        return
    oldest = ".".join(map(str, vendor.oldest))
    yield fault(
        vendor.is_used,
        f"{text} is too old",
        f"Install {vendor.toolkit} {oldest} or newer, or name its library in "
        f"PYGPU_{vendor.compiler.upper()}.",
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
        try:
            path = rtc.locate(vendor.compiler)
            found = libraries.headers(vendor.compiler, path)
        except errors.CompileError:  # the check of compilers reports it
            continue
        if found:
            yield ok(f"headers of {vendor.toolkit}: {', '.join(found)}")
        else:
            yield warn(
                f"no headers of {vendor.toolkit} go with {path}",
                f"Install the headers of {vendor.toolkit}, if kernels include them.",
            )
