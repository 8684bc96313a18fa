"""Facts about the runtime, devices and compilers, and rates: the best of a few runs."""

from __future__ import annotations

import functools
import operator
import os
import textwrap
from collections.abc import Callable

import numpy as np

from PyGPU import compiler, driver, gpuarray
from PyGPU._compile.compilers import rtc
from PyGPU._runtime import capabilities, core, errors, settings, targets, toolkits
from PyGPU._tools.findings import program_version
from PyGPU._tools.measuring import batch_of

_SIZES = {"4 KiB": 1 << 12, "1 MiB": 1 << 20, "64 MiB": 1 << 26}


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


def _line(name: str, work: Callable[[], object], calls: int, nbytes: int = 0) -> str:
    """Return the time of a call, the best of five rounds, and the rate if it moves memory."""
    batch = batch_of(work, calls, driver.Context.synchronize)
    driver.Context.synchronize()
    seconds = min(batch() for _ in range(5))
    if nbytes:
        return f"{name:40} {seconds * 1e6:12.1f} us {nbytes / seconds / 1e9:9.2f} GB/s"
    return f"{name:40} {seconds * 1e6:12.2f} us"


def transfer_rates() -> str:
    """Measure transfers between host and device, pageable and page-locked."""
    lines = []
    for size, nbytes in _SIZES.items():
        calls, a = max(1, min(50, (1 << 22) // nbytes)), gpuarray.empty(nbytes, np.int8)
        locked = driver.pagelocked_zeros(nbytes, np.int8)
        for kind, x in (("pageable", np.ones(nbytes, np.int8)), ("page-locked", locked)):
            for way, copy in (("to", a.set), ("from", a.get)):
                name = f"{way} the device, {size}, {kind}"
                lines.append(_line(name, functools.partial(copy, x), calls, nbytes))
    return "\n".join(lines)


def copy_rates() -> str:
    """Measure a copy, a sum of two arrays and a total on the device: bytes read and written."""
    lines = []
    for size in ("1 MiB", "64 MiB"):
        nbytes = _SIZES[size]
        a, b, out = (gpuarray.zeros(nbytes // 4, np.float32) for _ in range(3))
        copy = functools.partial(driver.memcpy_dtod, out.gpudata, a.gpudata, nbytes)
        lines += [
            _line(f"{size}, copy", copy, 5, 2 * nbytes),
            _line(f"{size}, a + b", functools.partial(operator.add, a, b), 5, 3 * nbytes),
            _line(f"{size}, a.sum()", a.sum, 5, nbytes),
        ]
    return "\n".join(lines)


def call_times() -> str:
    """Measure small calls, as a program makes them."""
    source = "__global__ void empty(float *a, int n) {}"
    empty, prepared = (compiler.SourceModule(source).get_function("empty") for _ in range(2))
    prepared.prepare("Pi")
    a = gpuarray.zeros(1024, np.float32)
    shape = {"block": (64, 1, 1), "grid": (1, 1)}
    works = {
        "launch": (lambda: empty(a, 1, **shape), 1000),
        "prepared launch": (lambda: prepared.prepared_call((1, 1), (64, 1, 1), a.ptr, 1), 1000),
        "launch and wait": (lambda: (empty(a, 1, **shape), driver.Context.synchronize()), 100),
        "a + a of 1024 float32": (lambda: a + a, 1000),
        "empty(1024)": (lambda: gpuarray.empty(1024, np.float32), 1000),
    }
    return "\n".join(_line(name, *work) for name, work in works.items())
