"""Checks of the runtime and the driver: their versions, and why there is no device."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any

from PyGPU._compile.compilers import rtc
from PyGPU._doctor.findings import Finding, fault, ok, warn
from PyGPU._doctor.vendors import OWN, Vendor
from PyGPU._runtime import capabilities, core, errors, targets

_TOO_OLD = 35  # cudaErrorInsufficientDriver
_UNKNOWN = (9, 0)  # HIPRTC of ROCm 5 to 7, if the name of its file has no version


def version(number: int) -> tuple[int, int]:
    """Return (major, minor) of a runtime's version: 12040 of CUDA, 60443484 of HIP."""
    if number >= 1_000_000:
        return number // 10_000_000, number // 100_000 % 100
    return number // 1000, number % 1000 // 10


def driver() -> Iterator[Finding]:
    """Find the runtime, the driver and their versions."""
    count, status = core.cudaGetDeviceCount()
    numbers = [core.cudaRuntimeGetVersion()[0], core.cudaDriverGetVersion()[0]]
    library = targets.runtime_library(capabilities.target)
    if OWN is not None and not numbers[1]:
        own = ".".join(map(str, version(numbers[0])))
        yield fault(True, f"runtime {own}, no driver: {status.name}", OWN.driver_remedy)
        return
    yield from judged(numbers[0], numbers[1], status.code, library)
    if status:
        yield fault(True, *_no_device(status))
        return
    yield ok(f"{count} device{'s' if count != 1 else ''} of the target {capabilities.target}")
    if OWN is not None:
        with contextlib.suppress(errors.CompileError):  # the check of compilers reports it
            yield from compiler(OWN, rtc.library(OWN.compiler).version(), version(numbers[1]))


def compiler(vendor: Vendor, own: tuple[int, int], driver: tuple[int, int]) -> Iterator[Finding]:
    """Find a run-time compiler whose images the driver may refuse.

    Parameters
    ----------
    vendor : Vendor
        Vendor of the compiler.
    own, driver : (int, int)
        Versions of the compiler and the driver.
    """
    if own[0] > driver[0] and own != _UNKNOWN:
        yield warn(
            f"{vendor.compiler} {own[0]}.{own[1]} is newer than the driver, which is for "
            f"{driver[0]}.{driver[1]}: kernels may not load",
            f"Update the driver, or name a {vendor.compiler} of version {driver[0]} in "
            f"PYGPU_{vendor.compiler.upper()}.",
        )


def judged(runtime: int, driver: int, code: int, library: str | None) -> Iterator[Finding]:
    """Judge the versions of the runtime and the driver.

    Parameters
    ----------
    runtime, driver : int
        Versions, as the runtime reports them.
    code : int
        Status of the first call.
    library : str or None
        The vendor's library that this process has loaded.
    """
    own, others = (".".join(map(str, version(number))) for number in (runtime, driver))
    text = f"runtime {own}, driver for {others}"
    text += f", {library}" if library else ""
    if code == _TOO_OLD or version(driver)[0] < version(runtime)[0]:
        yield fault(
            True,
            f"{text}: the driver is too old for the runtime",
            f"Install a driver for version {own} or newer, or install PyGPU again with a toolkit "
            "of the driver's version.",
        )
    elif version(driver) < version(runtime):
        yield warn(
            f"{text}: the driver is older than the runtime",
            "Update the driver, if calls or PTX are reported as not supported.",
        )
    else:
        yield ok(text)


def driver_mismatch(root: str = "", library: str | None = None) -> str | None:
    """Return a message if NVIDIA's library and kernel module have different versions.

    Parameters
    ----------
    root : str, optional
        Folder that holds ``/proc``.
    library : str, optional
        The driver's library.
    """
    try:
        with open(f"{root}/proc/driver/nvidia/version", errors="replace") as file:
            module = re.search(r"Kernel Module(?: for \S+)?\s+([\d.]+)", file.read())
    except OSError:
        return None
    own = re.search(r"\.so\.(\d+\.[\d.]+)", os.path.realpath(library)) if library else None
    if not (module and own) or module[1] == own[1]:
        return None
    return f"{library} is of driver {own[1]}, the loaded kernel module of {module[1]}"


def _no_device(status: Any) -> tuple[str, str]:
    """Return the reason why the runtime finds no device, and the remedy."""
    found = f"no devices: {status.string} ({status.name}, {status.code})"
    mismatch = driver_mismatch(library=targets.runtime_library(capabilities.target))
    if mismatch:
        return f"{found}; {mismatch}", "Restart the computer, so that it loads the new module."
    if status.code == errors.NO_DEVICE and (hiding := targets.hiding()):
        return f"{found}; {hiding}", "Unset the variable, or name a device that exists."
    if OWN is None:
        return found, "Unset the settings PYGPU_HOST_...: the host machine has a device."
    if missing := targets.missing_node(OWN.target):
        return f"{found}; {missing}", OWN.driver_remedy
    return found, f"Read the kernel's log (`dmesg`), and update {OWN.name}'s driver."
