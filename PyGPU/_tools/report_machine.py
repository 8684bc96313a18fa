"""Facts about the machine from the runtime, its devices and the compilers."""

from __future__ import annotations

import os
import textwrap

from PyGPU import compiler, driver
from PyGPU._compile.compilers import rtc
from PyGPU._runtime import capabilities, core, errors, settings, targets, toolkits
from PyGPU._tools.findings import program_version


def runtime() -> str:
    """Return the versions of the runtime and the driver, and the number of devices."""
    count, status = core.cudaGetDeviceCount()
    lines = [
        f"runtime {core.cudaRuntimeGetVersion()[0]}, driver {core.cudaDriverGetVersion()[0]}",
        f"library {targets.runtime_library(capabilities.target) or 'linked'}",
        f"built for {core.architectures or 'every architecture'}",
        f"devices {count}, status {status.code} {status.name}",
    ]
    if not count:
        hidden = filter(None, [targets.hiding() if status.code == errors.NO_DEVICE else None])
        raise AssertionError("\n".join(["no device is visible", *hidden, *lines]))
    return "\n".join(lines)


def devices() -> str:
    """Return the names and attributes of all devices.

    A later device lists only attributes that differ from the first device's.
    """
    lines: list[str] = []
    first: dict[str, int] = {}
    for ordinal in range(core.cudaGetDeviceCount()[0]):
        properties = core.cudaDeviceProp(ordinal)
        device = driver.Device(ordinal)
        architecture = ":".join(filter(None, (properties.architecture(), properties.features())))
        lines.append(
            f"device {ordinal}: {properties.name()}, {architecture}, "
            f"{properties.totalGlobalMem()} bytes, {properties.multiProcessorCount()} "
            f"multiprocessors, bus {device.pci_bus_id()}"
        )
        own = {str(name): value for name, value in device.get_attributes().items()}
        items = ", ".join(f"{name}\0{own[name]}" for name in own if first.get(name) != own[name])
        indented = textwrap.wrap(items, 97, initial_indent="  ", subsequent_indent="  ")
        lines += [line.removesuffix(",").replace("\0", " ") for line in indented]
        first = first or own
    free, total, status = core.cudaMemGetInfo()
    lines.append(f"memory: {free} of {total} bytes are free, status {status.code}")
    return "\n".join(lines)


def compilers() -> str:
    """Return the run-time compilers and the compilers on PATH, with their versions."""
    try:
        lines = [f"in use: {compiler.get_nvcc_version()}"]
    except errors.CompileError as error:
        lines = [f"in use: {error.msg}"]
    for prefix in ("nvrtc", "hiprtc"):
        try:
            path = rtc.locate(prefix)
            lines.append(f"{prefix}: {path}, version {rtc.library(prefix).version()}")
        except errors.CompileError as error:
            lines.append(f"{prefix}: {error.msg}")
    for name in ("hipcc", "nvcc", settings.value("PYGPU_HOST_CXX") or "g++", "clang++"):
        program = toolkits.program_on(os.environ.get("PATH", os.defpath), name)
        lines.append(f"{name}: {program_version(program) if program else 'not on PATH'}")
    return "\n".join(lines)
