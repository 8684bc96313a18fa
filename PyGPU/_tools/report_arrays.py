"""Checks of arrays: copies, operators, reductions, scans, masks, indices, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import PyGPU
from PyGPU import cumath, curandom, driver, gpuarray, scan
from PyGPU._tools.checks import Skipped, expect

_DTYPES = ("b1", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16")
_SIZES = (1, 31, 1000, 65_537, 1_000_000)


def _numbers(n: int, dtype: str = "f4") -> np.ndarray:
    """Return numbers from 0 to 250 in a changing order, the same at every run."""
    return (np.arange(n, dtype="u8") * 7919 % 251).astype(dtype)


def transfers() -> str:
    """Check copies to the device and back: sizes, dtypes, Fortran order, strides."""
    for dtype in _DTYPES:
        for n in _SIZES:
            x = _numbers(n, dtype)
            expect(f"{n} elements of {dtype}", gpuarray.to_gpu(x).get(), x)
    x = _numbers(600, "f8").reshape(20, 30)
    for name, one in (("F order", np.asfortranarray(x)), ("strides", x[::-2, 3::4])):
        expect(name, gpuarray.to_gpu(one).get(), one)
    big = _numbers(12_000_000, "f4")  # 48 MB are copied in chunks
    expect("48 MB", gpuarray.to_gpu(big).get(), big)
    return f"{len(_DTYPES)} dtypes, {len(_SIZES)} sizes"


def operators() -> None:
    """Check arithmetic and comparisons with NumPy's result types, broadcasting and views."""
    for dtype in ("i4", "f4", "c16"):
        x, y = _numbers(5001, dtype), _numbers(5001, dtype)[::-1] + 1
        a, b = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
        expect(f"a * b of {dtype}", (a * b).get(), x * y)
    expect("a / b", (a / b).get(), x / y, 1e-14)
    x = _numbers(600, "f4").reshape(20, 30)
    a = gpuarray.to_gpu(x)
    expect("broadcasting", (a + a[:, :1]).get(), x + x[:, :1])
    expect("views", (a[::2, ::-1] * 2).get(), x[::2, ::-1] * 2)
    expect("comparison", np.greater(a, 100).get(), x > 100)
    a += 1
    expect("in place", a.get(), x + 1)


def functions() -> None:
    """Check mathematical functions of float32 and float64."""
    kinds = [("f4", 2e-6, ("sin", "exp")), ("f8", 1e-14, ("sin", "log", "tanh"))]
    for dtype, tolerance, names in kinds:
        x = np.linspace(0.1, 5, 4001).astype(dtype)
        a = gpuarray.to_gpu(x)
        for name in names:
            found = getattr(cumath, name)(a).get()
            expect(f"{name} of {dtype}", found, getattr(np, name)(x), tolerance)


def fused() -> None:
    """Check a kernel fused from a Python function."""

    def damped(t: Any, d: Any) -> Any:
        return np.exp(-d * t) * np.where(t < 0, 0, np.sin(t))

    x = np.linspace(-1, 1, 1001)
    expect("values", PyGPU.fuse(damped)(gpuarray.to_gpu(x), 1.5).get(), damped(x, 1.5), 1e-14)


def reductions() -> None:
    """Check sums, minima and dot products, also along axes and of several blocks."""
    for n in (1, 1000, 2_000_003):
        x = _numbers(n, "i8")
        a = gpuarray.to_gpu(x)
        expect(f"sum of {n}", gpuarray.sum(a).get(), x.sum())
        expect(f"dot of {n}", gpuarray.dot(a, a).get(), x @ x)
    small = _numbers(4099, "i1")
    expect("min of int8", gpuarray.min(gpuarray.to_gpu(small)).get(), small.min())
    x = _numbers(120_000, "f8").reshape(300, 400)
    for axis in (0, 1):
        expect(f"axis {axis}", gpuarray.to_gpu(x).sum(axis=axis).get(), x.sum(axis=axis))


def scans() -> None:
    """Check running sums and maxima over more tiles than run at once."""
    for n in (1, 1000, 3_000_001):
        x = _numbers(n, "i4")
        sums = scan.InclusiveScanKernel(np.int32, "a + b")(gpuarray.to_gpu(x))
        expect(f"sums of {n}", sums.get(), np.cumsum(x, dtype="i4"))
        most = scan.InclusiveScanKernel(np.int32, "a > b ? a : b")(gpuarray.to_gpu(x))
        expect(f"maxima of {n}", most.get(), np.maximum.accumulate(x))


def masks() -> None:
    """Check selection and assignment by masks of few and many elements."""
    for n in (100, 2_000_000):
        x = _numbers(n, "f4")
        a = gpuarray.to_gpu(x)
        mask = np.greater(a, 100)
        expect(f"a[mask] of {n}", a[mask].get(), x[x > 100])
        a[mask] = -1
        expect(f"a[mask] = -1 of {n}", a.get(), np.where(x > 100, -1, x))


def gather() -> None:
    """Check reads and writes by arrays of indices, joined arrays, and an index out of range."""
    x, indices = _numbers(10_000, "f8"), (np.arange(5000) * 37 % 10_000)[::-1].copy()
    a, i = gpuarray.to_gpu(x), gpuarray.to_gpu(indices)
    expect("a[i]", a[i].get(), x[indices])
    expect("take", gpuarray.take(a, i).get(), x[indices])
    a[i] = 5
    x[indices] = 5
    expect("a[i] = 5", a.get(), x)
    expect("concatenate", gpuarray.concatenate([a, a[::2]]).get(), np.concatenate([x, x[::2]]))
    try:
        a[gpuarray.to_gpu(np.array([10_000]))]
    except IndexError:
        return
    raise AssertionError("index 10000 of 10000 elements: no IndexError")


def random_numbers() -> None:
    """Check Philox against its published known answer, and the moments of normal numbers."""
    known = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]  # Random123's kat_vectors
    generator = curandom.Philox4x32RandomNumberGenerator(seed=0)
    expect("words", generator.gen_uniform(4, np.uint32).get(), np.array(known, "u4"))
    normal = generator.gen_normal(1_000_000, np.float32).get().astype("f8")
    expect("mean + 1", normal.mean() + 1, 1.0, 0.005)
    expect("deviation", normal.std(), 1.0, 0.005)


def large_indices() -> str:
    """Check an array of more than 2**32 bytes, if the device has the memory."""
    free, _ = driver.mem_get_info()
    nbytes, cores = (1 << 32) + (1 << 20), driver.Device(0).MULTIPROCESSOR_COUNT
    if not PyGPU.cuda_enabled or free < 3 * nbytes or cores < 16:
        raise Skipped(f"needs a GPU of 16 multiprocessors with {3 * nbytes} bytes of free memory")
    a = gpuarray.zeros(nbytes, np.int8)
    a[-5:] = 3
    a += 1
    expect("the end", a[-6:].get(), np.array([1, 4, 4, 4, 4, 4], "i1"))
    expect("the sum", gpuarray.sum(a, dtype=np.int64).get(), nbytes + 15)
    return f"{nbytes} elements of int8"
