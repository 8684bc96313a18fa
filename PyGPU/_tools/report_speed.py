"""Rates of transfers and copies, and times of calls: the best of a few runs, no benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from PyGPU import driver, gpuarray
from PyGPU.compiler import SourceModule

_SIZES = {"4 KiB": 1 << 12, "1 MiB": 1 << 20, "64 MiB": 1 << 26}


def _best(work: Callable[[], object], calls: int = 1, rounds: int = 5) -> float:
    """Return the seconds of a call: the best of several rounds, each synchronized at its end."""
    times = []
    for _ in range(rounds):
        driver.Context.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            work()
        driver.Context.synchronize()
        times.append((time.perf_counter() - start) / calls)
    return min(times)


def _line(name: str, nbytes: int, seconds: float) -> str:
    return f"{name:40} {seconds * 1e6:12.1f} us {nbytes / seconds / 1e9:9.2f} GB/s"


def transfer_rates() -> str:
    """Measure transfers between host and device, pageable and page-locked."""
    lines = []
    for name, nbytes in _SIZES.items():
        lines += _transfers(f"{name}, pageable", np.ones(nbytes, np.int8))
        lines += _transfers(f"{name}, page-locked", driver.pagelocked_zeros(nbytes, np.int8))
    return "\n".join(lines)


def _transfers(name: str, x: np.ndarray) -> list[str]:
    a, calls = gpuarray.empty(x.shape, x.dtype), max(1, min(50, (1 << 22) // x.nbytes))
    up, down = _best(lambda: a.set(x), calls), _best(lambda: a.get(x), calls)
    return [
        _line(f"to the device, {name}", x.nbytes, up),
        _line(f"from the device, {name}", x.nbytes, down),
    ]


def copy_rates() -> str:
    """Measure a copy, a sum of two arrays and a total on the device: bytes read and written."""
    return "\n".join(_copies(name, _SIZES[name]) for name in ("1 MiB", "64 MiB"))


def _copies(name: str, nbytes: int) -> str:
    a, b, out = (gpuarray.zeros(nbytes // 4, np.float32) for _ in range(3))
    works = {
        "copy": (2, lambda: driver.memcpy_dtod(out.gpudata, a.gpudata, nbytes)),
        "a + b": (3, lambda: a + b),
        "a.sum()": (1, lambda: a.sum()),
    }
    return "\n".join(
        _line(f"{name}, {what}", times * nbytes, _best(work, 5))
        for what, (times, work) in works.items()
    )


def call_times() -> str:
    """Measure small calls, as a program makes them."""
    empty = SourceModule("__global__ void empty(float *a, int n) {}").get_function("empty")
    a = gpuarray.zeros(1024, np.float32)
    shape = {"block": (64, 1, 1), "grid": (1, 1)}
    prepared = SourceModule("__global__ void empty(float *a, int n) {}").get_function("empty")
    prepared.prepare("Pi")
    works = {
        "launch": (lambda: empty(a, 1, **shape), 1000),
        "prepared launch": (lambda: prepared.prepared_call((1, 1), (64, 1, 1), a.ptr, 1), 1000),
        "launch and wait": (lambda: (empty(a, 1, **shape), driver.Context.synchronize()), 100),
        "a + a of 1024 float32": (lambda: a + a, 1000),
        "empty(1024)": (lambda: gpuarray.empty(1024, np.float32), 1000),
    }
    return "\n".join(f"{n:40} {_best(w, c) * 1e6:12.2f} us" for n, (w, c) in works.items())
