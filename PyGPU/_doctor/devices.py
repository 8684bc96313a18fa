"""Checks of devices: memory, transfers, peer access, and a kernel on each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from PyGPU._doctor.findings import Finding, fault, of_error, ok, size, warn
from PyGPU._doctor.vendors import OWN
from PyGPU._runtime import core, errors, targets

_NBYTES = 32 << 20  # of a transfer
_SLOW = 2.0  # GB/s: PCI Express 3.0 with 4 lanes reaches 3


def _count() -> int:
    count, status = core.cudaGetDeviceCount()
    return 0 if status else count


def memory() -> Iterator[Finding]:
    """Find each device's name, architecture and free memory."""
    for ordinal in range(_count()):
        properties = core.cudaDeviceProp(ordinal)
        with core.device(ordinal):
            free, total = errors.check(core.cudaMemGetInfo(), "cudaMemGetInfo")
        text = (
            f"device {ordinal}: {properties.name()}, {properties.architecture()}, "
            f"{size(free)} of {size(total)} are free"
        )
        if free < total // 20:
            yield warn(text, "End the other programs that use the device, or choose another one.")
        else:
            yield ok(text)


def _rate(copy: Any) -> float:
    """Return the rate of a copy in GB/s, the better of two runs."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        errors.check(copy(), "cudaMemcpy")
        times.append(time.perf_counter() - start)
    return _NBYTES / min(times) / 1e9


def _rates(host: int) -> list[float]:
    """Return the rates of copies to the current device and back, in GB/s."""
    memory = errors.check(core.cudaMalloc(_NBYTES), "cudaMalloc")
    up, down = core.cudaMemcpyHostToDevice, core.cudaMemcpyDeviceToHost
    try:
        return [
            _rate(lambda: core.cudaMemcpy(memory, host, _NBYTES, up)),
            _rate(lambda: core.cudaMemcpy(host, memory, _NBYTES, down)),
        ]
    finally:
        errors.check(core.cudaFree(memory), "cudaFree")


def bandwidth() -> Iterator[Finding]:
    """Measure transfers of page-locked and of pageable memory, to each device and back."""
    pageable = np.ones(_NBYTES, np.int8)
    for ordinal in range(_count()):
        with core.device(ordinal):
            locked = errors.check(core.cudaMallocHost(_NBYTES), "cudaMallocHost")
            try:
                fast = _rates(locked)
            finally:
                errors.check(core.cudaFreeHost(locked), "cudaFreeHost")
            slow = _rates(pageable.ctypes.data)
        yield speed(ordinal, fast, slow)


def speed(ordinal: int, locked: list[float], pageable: list[float]) -> Finding:
    """Judge the rates of transfers to a device and back, in GB/s."""
    text = f"device {ordinal}: " + "; ".join(
        f"{name} {up:.1f} GB/s to the device, {down:.1f} back"
        for name, (up, down) in (("page-locked", locked), ("pageable", pageable))
    )
    if min(locked) >= _SLOW:
        return ok(text)
    if OWN is None:  # both sides are the computer's memory
        return warn(f"{text}: slow", "End other programs, which keep the processors busy.")
    return warn(
        f"{text}: slow",
        f"End other programs, and look at the device's link to the host (`{OWN.link}`): its slot, "
        "its number of lanes, its generation.",
    )


def peers() -> Iterator[Finding]:
    """Find the pairs of devices that cannot access each other's memory."""
    count = _count()
    apart = [
        f"{one}-{other}"
        for one in range(count)
        for other in range(count)
        if one != other
        and not errors.check(core.cudaDeviceCanAccessPeer(one, other), "cudaDeviceCanAccessPeer")
    ]
    if count < 2:
        if count:
            yield ok("peer access: there is one device")
    elif apart:
        command = f"`{OWN.link}` shows the links" if OWN else "the host machine has none"
        yield warn(
            f"peer access: none between the devices {', '.join(apart)}",
            f"Expect copies between them to go through the host's memory; {command}.",
        )
    else:
        yield ok(f"peer access: between all {count} devices")


_TEXT = """
__global__ void doctor(int *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 3 * x[i] + 1;
}
"""


def kernel() -> Iterator[Finding]:
    """Compile a kernel, run it on each device and check its result."""
    count = _count()
    if not targets.has_arrays:
        yield ok("kernels: this build has the low level alone (PYGPU_PARTS=runtime)")
        return
    from PyGPU import compiler, driver

    for ordinal in range(count):
        before, start = np.arange(1024, dtype=np.int32), time.perf_counter()
        after = before.copy()
        context = driver.Device(ordinal).retain_primary_context()
        context.push()
        try:
            module = compiler.SourceModule(_TEXT, cache_dir=False)
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
