"""Checks of the runtime, the driver and the devices: versions, memory, transfers, a kernel."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from PyGPU._compile.compilers import rtc
from PyGPU._runtime import capabilities, core, errors, targets
from PyGPU._tools import findings
from PyGPU._tools.findings import OWN, Finding, Vendor, fault, of_error, ok, size, warn, warn_if
from PyGPU._tools.measuring import batch_of

_TOO_OLD = 35  # cudaErrorInsufficientDriver
_UNKNOWN = (9, 0)  # HIPRTC of ROCm 5 to 7, if the name of its file has no version
_NBYTES = 32 << 20  # of a transfer
_SLOW = 2.0  # GB/s: PCI Express 3.0 with 4 lanes reaches 3


def version(number: int) -> tuple[int, int]:
    """Return (major, minor) of a runtime's version: 12040 of CUDA, 60443484 of HIP."""
    if number >= 1_000_000:
        return number // 10_000_000, number // 100_000 % 100
    return number // 1000, number % 1000 // 10


def driver() -> Iterator[Finding]:
    """Find the runtime, the driver and their versions."""
    count, status = core.cudaGetDeviceCount()
    runtime, driver = core.cudaRuntimeGetVersion()[0], core.cudaDriverGetVersion()[0]
    library = targets.runtime_library(capabilities.target)
    if OWN is not None and not driver:
        own = ".".join(map(str, version(runtime)))
        yield fault(True, f"runtime {own}, no driver: {status.name}", OWN.driver_remedy)
        return
    yield judged(runtime, driver, status.code, library)
    if status:
        yield _no_device(status, library)
        return
    yield ok(f"{count} device{'s' if count != 1 else ''} of the target {capabilities.target}")
    if OWN is not None:
        with contextlib.suppress(errors.CompileError):  # the check of compilers reports it
            yield from compiler(OWN, rtc.library(OWN.compiler).version(), version(driver))


def compiler(vendor: Vendor, own: tuple[int, int], driver: tuple[int, int]) -> Iterator[Finding]:
    """Find a run-time compiler of version `own` whose images the driver may refuse."""
    if own[0] > driver[0] and own != _UNKNOWN:
        yield warn(
            f"{vendor.compiler} {own[0]}.{own[1]} is newer than the driver, which is for "
            f"{driver[0]}.{driver[1]}: kernels may not load",
            f"Update the driver, or name a {vendor.compiler} of version {driver[0]} in "
            f"PYGPU_{vendor.compiler.upper()}.",
        )


def judged(runtime: int, driver: int, code: int, library: str | None) -> Finding:
    """Judge the versions, as the runtime reports them.

    `code` is the status of the first call, `library` the vendor's library that is loaded.
    """
    own, others = (".".join(map(str, version(number))) for number in (runtime, driver))
    text = f"runtime {own}, driver for {others}" + (f", {library}" if library else "")
    if code == _TOO_OLD or version(driver)[0] < version(runtime)[0]:
        return fault(
            True,
            f"{text}: the driver is too old for the runtime",
            f"Install a driver for version {own} or newer, or install PyGPU again with a toolkit "
            "of the driver's version.",
        )
    return warn_if(
        version(driver) < version(runtime),
        text,
        ": the driver is older than the runtime",
        "Update the driver, if calls or PTX are reported as not supported.",
    )


def driver_mismatch(root: str = "", library: str | None = None) -> str | None:
    """Return a message if NVIDIA's library and kernel module have different versions."""
    text = findings.text(f"{root}/proc/driver/nvidia/version")
    module = re.search(r"Kernel Module(?: for \S+)?\s+([\d.]+)", text)
    own = re.search(r"\.so\.(\d+\.[\d.]+)", os.path.realpath(library)) if library else None
    if not (module and own) or module[1] == own[1]:
        return None
    return f"{library} is of driver {own[1]}, the loaded kernel module of {module[1]}"


def _no_device(status: core.cudaError_t, library: str | None) -> Finding:
    """Return the reason why the runtime finds no device, and the remedy."""
    why: str | None = None
    if why := driver_mismatch(library=library):
        remedy = "Restart the computer, so that it loads the new module."
    elif status.code == errors.NO_DEVICE and (why := targets.hiding()):
        remedy = "Unset the variable, or name a device that exists."
    elif OWN is None:
        remedy = "Unset the settings PYGPU_HOST_...: the host machine has a device."
    elif why := targets.missing_node(OWN.target):
        remedy = OWN.driver_remedy
    else:
        remedy = f"Read the kernel's log (`dmesg`), and update {OWN.name}'s driver."
    found = f"no devices: {status.string} ({status.name}, {status.code})"
    return fault(True, "; ".join(filter(None, [found, why])), remedy)


def _ordinals() -> range:
    count, status = core.cudaGetDeviceCount()
    return range(0 if status else count)


def memory() -> Iterator[Finding]:
    """Find each device's name, architecture and free memory."""
    for ordinal in _ordinals():
        properties = core.cudaDeviceProp(ordinal)
        with core.device(ordinal):
            free, total = errors.check(core.cudaMemGetInfo(), "cudaMemGetInfo")
        yield warn_if(
            free < total // 20,
            f"device {ordinal}: {properties.name()}, {properties.architecture()}, "
            f"{size(free)} of {size(total)} are free",
            "",
            "End the other programs that use the device, or choose another one.",
        )


def _rates(device: int, host: int) -> list[float]:
    """Return the rates of copies to the device and back in GB/s, the better of two runs each."""

    def rate(*arguments: Any) -> float:
        copy = batch_of(lambda: errors.check(core.cudaMemcpy(*arguments), "cudaMemcpy"), 1)
        return _NBYTES / min(copy(), copy()) / 1e9

    return [
        rate(device, host, _NBYTES, core.cudaMemcpyHostToDevice),
        rate(host, device, _NBYTES, core.cudaMemcpyDeviceToHost),
    ]


def bandwidth() -> Iterator[Finding]:
    """Measure transfers of page-locked and of pageable memory, to each device and back."""
    pageable = np.ones(_NBYTES, np.int8)
    for ordinal in _ordinals():
        with core.device(ordinal), contextlib.ExitStack() as stack:
            locked = errors.check(core.cudaMallocHost(_NBYTES), "cudaMallocHost")
            stack.callback(core.cudaFreeHost, locked)
            device = errors.check(core.cudaMalloc(_NBYTES), "cudaMalloc")
            stack.callback(core.cudaFree, device)
            yield speed(ordinal, _rates(device, locked), _rates(device, pageable.ctypes.data))


def speed(ordinal: int, locked: list[float], pageable: list[float]) -> Finding:
    """Judge the rates of transfers to a device and back, in GB/s."""
    remedy = "End other programs, which keep the processors busy."
    if OWN is not None:  # otherwise both sides are the computer's memory
        remedy = (
            f"End other programs, and look at the device's link to the host (`{OWN.link}`): its "
            "slot, its number of lanes, its generation."
        )
    text = f"device {ordinal}: " + "; ".join(
        f"{name} {up:.1f} GB/s to the device, {down:.1f} back"
        for name, (up, down) in (("page-locked", locked), ("pageable", pageable))
    )
    return warn_if(min(locked) < _SLOW, text, ": slow", remedy)


def peers() -> Iterator[Finding]:
    """Find the pairs of devices that cannot access each other's memory."""
    ordinals = _ordinals()
    apart = [
        f"{one}-{other}"
        for one, other in itertools.permutations(ordinals, 2)
        if not errors.check(core.cudaDeviceCanAccessPeer(one, other), "cudaDeviceCanAccessPeer")
    ]
    if apart:
        command = f"`{OWN.link}` shows the links" if OWN else "the host machine has none"
        yield warn(
            f"peer access: none between the devices {', '.join(apart)}",
            f"Expect copies between them to go through the host's memory; {command}.",
        )
    elif ordinals:
        several = f"between all {len(ordinals)} devices"
        yield ok(f"peer access: {'there is one device' if len(ordinals) == 1 else several}")


_SOURCE = """
__global__ void doctor(int *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 3 * x[i] + 1;
}
"""


def kernel() -> Iterator[Finding]:
    """Compile a kernel, run it on each device and check its result."""
    if "kernels" not in targets.installed:
        yield ok("kernels: this installation has the low level alone (PYGPU_PARTS=runtime)")
        return
    from PyGPU import compiler, driver

    for ordinal in _ordinals():
        before, start = np.arange(1024, dtype=np.int32), time.perf_counter()
        after = before.copy()
        driver.Device(ordinal).retain_primary_context().push()
        try:
            module = compiler.SourceModule(_SOURCE, cache_dir=False)
            run = module.get_function("doctor")
            run(driver.InOut(after), block=(256, 1, 1), grid=(4, 1))
        except errors.CompilerMissing as error:
            yield of_error(True, error)
            return
        except errors.CompileError as error:
            text = ": ".join([error.msg, *(error.stderr or "").strip().splitlines()[:1]])
            yield fault(
                True,
                f"device {ordinal}: the kernel does not compile: {text}",
                "Free memory, or raise the limits that the checks `limits` report."
                if "killed by signal" in text
                else "Follow the checks of compilers and headers, then run the command again.",
            )
            return
        finally:
            driver.Context.pop()
        wrong = int((after != 3 * before + 1).sum())
        seconds = time.perf_counter() - start
        if wrong:
            yield fault(
                True,
                f"device {ordinal}: a kernel ran, and {wrong} of 1024 results are wrong",
                "Run `python -m PyGPU report -o report.txt` and send us the file.",
            )
        else:
            yield ok(f"device {ordinal}: a kernel compiled and ran in {seconds:.2f} s, as expected")
