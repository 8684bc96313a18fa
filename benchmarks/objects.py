"""Time to create small arrays and to compute with them, compared with other libraries in one run.

Run: python benchmarks/objects.py [--json FILE]. `raw` is the runtime's own part: memory taken from
the pool and given back, with a kernel launched in between for `a + b`, in a loop of C++. Rounds of
the candidates alternate, so that all see the same machine.
"""

import ctypes
import time

import numpy as np
from timing import alone, library, medians, peer, pycuda, report

import PyGPU

CALLS, ROUNDS = 5000, 15


def calls_on(a, b, empty):
    """Return {name: function}: operations on two arrays of 1024 float32, and `empty`."""
    return {
        "empty(1024)": empty,
        "a + b": lambda: a + b,
        "a += b": lambda: a.__iadd__(b),
        "a[10:500]": lambda: a[10:500],
        "a.reshape(32, 32)": lambda: a.reshape(32, 32),
    }


def of_numpys_kind(library):
    """PyGPU's and CuPy's calls have NumPy's names."""
    a, b = library.zeros(1024, np.float32), library.zeros(1024, np.float32)
    return calls_on(a, b, lambda: library.empty(1024, np.float32))


def of_torch(torch):
    a, b = torch.zeros(1024, device="cuda"), torch.zeros(1024, device="cuda")
    calls = calls_on(a, b, lambda: torch.empty(1024, device="cuda"))
    return {**calls, "a += b": lambda: a.add_(b)}


def of_pycuda():
    """PyCUDA's arrays, from a pool, as its documentation advises."""
    arrays, take = peer("pycuda.gpuarray"), peer("pycuda.tools").DeviceMemoryPool().allocate
    a = arrays.zeros(1024, np.float32, allocator=take)
    b = arrays.zeros(1024, np.float32, allocator=take)
    return calls_on(a, b, lambda: arrays.empty(1024, np.float32, allocator=take))


def rounds_of(call):
    """A function that makes `CALLS` calls and returns the seconds of one."""

    def one_round():
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        return (time.perf_counter() - start) / CALLS

    return one_round


def raw():
    loops = ctypes.CDLL(library("objects.cu"))
    loops.raw_empty.restype = loops.raw_add.restype = ctypes.c_double
    arrays = [PyGPU.zeros(1024, np.float32) for _ in range(2)]
    pointers = [ctypes.c_void_p(one.ptr) for one in arrays]
    return {
        "empty(1024)": lambda: loops.raw_empty(CALLS) / CALLS,
        "a + b": lambda keep=arrays: loops.raw_add(CALLS, *pointers) / CALLS,
    }


def candidates():
    """{library: {work: function that returns the seconds of one call}}"""
    calls = {"PyGPU": of_numpys_kind(PyGPU)}
    if cupy := peer("cupy"):
        calls["CuPy"] = of_numpys_kind(cupy)
    if (torch := peer("torch")) and torch.cuda.is_available():
        calls["torch"] = of_torch(torch)
    if pycuda():
        calls["PyCUDA"] = of_pycuda()
    found = {name: {w: rounds_of(c) for w, c in table.items()} for name, table in calls.items()}
    return found if alone() else {"raw": raw(), **found}


def main():
    found = candidates()
    times = {}
    for work in found["PyGPU"]:
        entered = {name: table[work] for name, table in found.items() if work in table}
        times[work] = {name: one * 1e6 for name, one in medians(ROUNDS, entered).items()}
    report("Small objects", "microseconds", times, PyGPU.cudaDeviceProp(0).name())


if __name__ == "__main__":
    main()
