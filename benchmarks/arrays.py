"""Throughput of operations on large arrays, in GB/s, compared with other libraries in one run.

Run: python benchmarks/arrays.py [--json FILE] [--exponent 28]. `raw` is the fastest of the plain
kernels out = a + b of `python -m PyGPU bench`. Rounds of the candidates alternate, so that all see
the same clocks.
"""

import time

import numpy as np
from timing import alone, argument, medians, peer, pycuda, report

import PyGPU
import PyGPU.gpuarray as gpuarray
from PyGPU import cumath, curandom
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.scan import InclusiveScanKernel

ROUNDS = 11
COLUMNS = 1 << 13  # of the matrix


def raw(n):
    """{"a + b": callable} of the fastest raw kernel."""
    # Older packages, which compare.py runs alone, lack the module.
    from PyGPU._tools.bench_limits import raw

    return {"a + b": raw("add", n)[1]}


def ours(n):
    a = gpuarray.zeros(n, np.float32) + 0.5
    b = gpuarray.zeros(n, np.float32) + 0.25
    c = gpuarray.empty_like(a)
    whole = gpuarray.zeros(n, np.int32) + 1
    scanned = gpuarray.empty_like(whole)
    scan = InclusiveScanKernel(np.int32, "a + b")
    matrix, row = a.reshape(-1, COLUMNS), b[:COLUMNS]
    transposed = gpuarray.empty(matrix.shape[::-1], np.float32)
    axpy = ElementwiseKernel("float *z, float s, float *x, float *y", "z[i] = s * x[i] + y[i]")
    return {
        "a + b": lambda: a + b,
        "a += b": lambda: c.__iadd__(b),
        "2 * a + b, one kernel": lambda: axpy(c, 2.0, a, b),
        "sin(a)": lambda: cumath.sin(a),
        "sum(a)": lambda: gpuarray.sum(a),
        "dot(a, b)": lambda: gpuarray.dot(a, b),
        "max(a)": lambda: gpuarray.max(a),
        "inclusive scan, int32": lambda: scan(whole, scanned),
        "a[::2] copied": lambda: a[::2].copy(),
        "matrix + row": lambda: matrix + row,
        "transposed[...] = matrix.T": lambda: transposed.__setitem__(..., matrix.T),
        "rand, float32": lambda: curandom.rand(n),
    }


def of_torch(torch, n):
    a = torch.full((n,), 0.5, device="cuda")
    b = torch.full((n,), 0.25, device="cuda")
    c = torch.empty_like(a)
    whole = torch.ones(n, dtype=torch.int32, device="cuda")
    scanned = torch.empty_like(whole)
    matrix, row = a.reshape(-1, COLUMNS), b[:COLUMNS]
    transposed = torch.empty(matrix.shape[::-1], device="cuda")
    return {
        "a + b": lambda: a + b,
        "a += b": lambda: c.add_(b),
        "2 * a + b, one kernel": lambda: torch.add(b, a, alpha=2.0, out=c),
        "sin(a)": lambda: torch.sin(a),
        "sum(a)": lambda: torch.sum(a),
        "dot(a, b)": lambda: torch.dot(a, b),
        "max(a)": lambda: torch.max(a),
        "inclusive scan, int32": lambda: torch.cumsum(whole, 0, dtype=torch.int32, out=scanned),
        "a[::2] copied": lambda: a[::2].contiguous(),
        "matrix + row": lambda: matrix + row,
        "transposed[...] = matrix.T": lambda: transposed.copy_(matrix.T),
        "rand, float32": lambda: torch.rand(n, device="cuda"),
    }


def of_cupy(cupy, n):
    a = cupy.full(n, 0.5, np.float32)
    b = cupy.full(n, 0.25, np.float32)
    c = cupy.empty_like(a)
    whole = cupy.ones(n, np.int32)
    scanned = cupy.empty_like(whole)
    matrix, row = a.reshape(-1, COLUMNS), b[:COLUMNS]
    transposed = cupy.empty(matrix.shape[::-1], np.float32)
    axpy = cupy.ElementwiseKernel("float32 s, float32 x, float32 y", "float32 z", "z = s * x + y")
    return {
        "a + b": lambda: a + b,
        "a += b": lambda: c.__iadd__(b),
        "2 * a + b, one kernel": lambda: axpy(np.float32(2), a, b, c),
        "sin(a)": lambda: cupy.sin(a),
        "sum(a)": lambda: a.sum(),
        "dot(a, b)": lambda: cupy.dot(a, b),
        "max(a)": lambda: a.max(),
        "inclusive scan, int32": lambda: cupy.cumsum(whole, dtype=np.int32, out=scanned),
        "a[::2] copied": lambda: a[::2].copy(),
        "matrix + row": lambda: matrix + row,
        "transposed[...] = matrix.T": lambda: transposed.__setitem__(..., matrix.T),
        "rand, float32": lambda: cupy.random.random(n, np.float32),
    }


def of_pycuda(n):
    """PyCUDA's arrays, from a pool, as its documentation advises."""
    arrays, math = peer("pycuda.gpuarray"), peer("pycuda.cumath")
    pool = peer("pycuda.tools").DeviceMemoryPool()
    a = arrays.empty(n, np.float32, allocator=pool.allocate).fill(np.float32(0.5))
    b = arrays.empty(n, np.float32, allocator=pool.allocate).fill(np.float32(0.25))
    c = arrays.empty_like(a)
    whole = arrays.empty(n, np.int32, allocator=pool.allocate).fill(np.int32(1))
    axpy = peer("pycuda.elementwise").ElementwiseKernel(
        "float *z, float s, float *x, float *y", "z[i] = s * x[i] + y[i]"
    )
    work = {
        "a + b": lambda: a + b,
        "a += b": lambda: c.__iadd__(b),
        "2 * a + b, one kernel": lambda: axpy(c, np.float32(2), a, b),
        "sin(a)": lambda: math.sin(a),
        "sum(a)": lambda: arrays.sum(a),
        "dot(a, b)": lambda: arrays.dot(a, b),
        "max(a)": lambda: arrays.max(a),
    }
    if peer("mako"):  # its scans are templates
        scan = peer("pycuda.scan").InclusiveScanKernel(np.int32, "a + b")
        work["inclusive scan, int32"] = lambda: scan(whole)
    return work


#: Arrays of 4-byte elements that each kind of work reads and writes.
MOVED = {
    "a + b": 3,
    "a += b": 3,
    "2 * a + b, one kernel": 3,
    "sin(a)": 2,
    "sum(a)": 1,
    "dot(a, b)": 2,
    "max(a)": 1,
    "inclusive scan, int32": 2,
    "a[::2] copied": 1,  # half is written; of what is read, all lines
    "matrix + row": 2,
    "transposed[...] = matrix.T": 2,
    "rand, float32": 1,
}


def seconds(work, wait, calls=8):
    """The time of one call, work queued and done."""
    work()
    wait()
    start = time.perf_counter()
    for _ in range(calls):
        work()
    wait()
    return (time.perf_counter() - start) / calls


def candidates(n):
    """{library: ({work: callable}, wait)}"""
    found = {"PyGPU": (ours(n), PyGPU.cudaDeviceSynchronize)}
    if not alone():
        found["raw"] = (raw(n), PyGPU.cudaDeviceSynchronize)
    cupy = peer("cupy")
    if cupy:
        found["CuPy"] = (of_cupy(cupy, n), cupy.cuda.runtime.deviceSynchronize)
    torch = peer("torch")
    if torch and torch.cuda.is_available():
        found["torch"] = (of_torch(torch, n), torch.cuda.synchronize)
    driver = pycuda()
    if driver:
        found["PyCUDA"] = (of_pycuda(n), driver.Context.synchronize)
    return found


def main():
    n = 2 ** int(argument("--exponent", 28))
    found = candidates(n)
    table = {}
    for work, arrays in MOVED.items():
        times = medians(
            ROUNDS,
            {
                name: lambda call=calls[work], wait=wait: seconds(call, wait)
                for name, (calls, wait) in found.items()
                if work in calls
            },
        )
        table[work] = {name: arrays * 4 * n / one / 1e9 for name, one in times.items()}
    report(f"{n} elements", "GB/s", table, PyGPU.cudaDeviceProp(0).name())


if __name__ == "__main__":
    main()
