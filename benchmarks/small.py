"""Time of functions of small arrays, compared with a lower bound and with other libraries.

Run: python benchmarks/small.py [--json FILE] [--calls 2000]. `floor` is the runtime's own part in a
loop of C++: the launches that the work needs, memory of the pool taken and given back, and for
results whose size or validity the device decides, one read of a few bytes that waits. Batches of
the candidates alternate, so that all see the same machine; each ends with a synchronization.
"""

import ctypes

import numpy as np
from timing import alone, argument, batch_of, library, medians, peer, pycuda, report

import PyGPU
from PyGPU import cumath, gpuarray

ROUNDS = 15

#: What the floor of each work has: launches, blocks of memory, reads that wait.
FLOORS = {
    "a.sum()": (1, 1, 0),
    "a.max()": (1, 1, 0),
    "dot(a, b)": (1, 1, 0),
    "a.sum(axis=0), 32 x 32": (1, 1, 0),
    "where(c, a, b)": (1, 1, 0),
    "concatenate([a, b])": (1, 1, 0),
    "a[mask]": (2, 2, 1),  # positions are counted, their number read, elements gathered
    "take(a, i)": (1, 1, 1),
    'take(a, i, mode="clip")': (1, 1, 0),
    "a + b": (1, 1, 0),
    "exp(a)": (1, 1, 0),
    "np.exp(a)": (1, 1, 0),
    "a > 0.5": (1, 1, 0),
    "a.astype(float64)": (1, 1, 0),
}


def operands():
    """Return the operands of all libraries as NumPy arrays: a, b, a mask, indices."""
    random = np.random.default_rng(1)
    a, b = random.random((2, 1024), np.float32)
    return a, b, a > 0.5, random.integers(0, 1024, 1024)


def ours():
    a, b, mask, i = map(gpuarray.to_gpu, operands())
    square = a.reshape(32, 32)
    return {
        "a.sum()": a.sum,
        "a.max()": a.max,
        "dot(a, b)": lambda: gpuarray.dot(a, b),
        "a.sum(axis=0), 32 x 32": lambda: square.sum(axis=0),
        "where(c, a, b)": lambda: gpuarray.where(mask, a, b),
        "concatenate([a, b])": lambda: gpuarray.concatenate([a, b]),
        "a[mask]": lambda: a[mask],
        "take(a, i)": lambda: gpuarray.take(a, i),
        'take(a, i, mode="clip")': lambda: gpuarray.take(a, i, mode="clip"),
        "a + b": lambda: a + b,
        "exp(a)": lambda: cumath.exp(a),
        "np.exp(a)": lambda: np.exp(a),
        "a > 0.5": lambda: a > 0.5,
        "a.astype(float64)": lambda: a.astype(np.float64),
    }


def of_torch(torch):
    """torch checks an index on the device, where a wrong one ends the process."""
    a, b, mask, i = (torch.from_numpy(one).cuda() for one in operands())
    square = a.reshape(32, 32)
    return {
        "a.sum()": a.sum,
        "a.max()": a.max,
        "dot(a, b)": lambda: torch.dot(a, b),
        "a.sum(axis=0), 32 x 32": lambda: square.sum(dim=0),
        "where(c, a, b)": lambda: torch.where(mask, a, b),
        "concatenate([a, b])": lambda: torch.cat([a, b]),
        "a[mask]": lambda: a[mask],
        "take(a, i)": lambda: torch.take(a, i),
        "a + b": lambda: a + b,
        "exp(a)": lambda: torch.exp(a),
        "a > 0.5": lambda: a > 0.5,
        "a.astype(float64)": lambda: a.to(torch.float64),
    }


def of_cupy(cupy):
    """CuPy's take wraps indices around and checks none."""
    a, b, mask, i = map(cupy.asarray, operands())
    square = a.reshape(32, 32)
    return {
        "a.sum()": a.sum,
        "a.max()": a.max,
        "dot(a, b)": lambda: cupy.dot(a, b),
        "a.sum(axis=0), 32 x 32": lambda: square.sum(axis=0),
        "where(c, a, b)": lambda: cupy.where(mask, a, b),
        "concatenate([a, b])": lambda: cupy.concatenate([a, b]),
        "a[mask]": lambda: a[mask],
        "take(a, i)": lambda: cupy.take(a, i),
        'take(a, i, mode="clip")': lambda: cupy.take(a, i),
        "a + b": lambda: a + b,
        "exp(a)": lambda: cupy.exp(a),
        "np.exp(a)": lambda: np.exp(a),
        "a > 0.5": lambda: a > 0.5,
        "a.astype(float64)": lambda: a.astype(np.float64),
    }


def of_pycuda():
    """PyCUDA's arrays, from a pool, as its documentation advises; its indices are 32 bits wide."""
    arrays, math = peer("pycuda.gpuarray"), peer("pycuda.cumath")
    take = peer("pycuda.tools").DeviceMemoryPool().allocate
    host_a, host_b, mask, indices = operands()
    a, b, c = (arrays.to_gpu(x, allocator=take) for x in (host_a, host_b, mask.astype(np.float32)))
    i = arrays.to_gpu(indices.astype(np.uint32), allocator=take)
    return {
        "a.sum()": lambda: arrays.sum(a),
        "a.max()": lambda: arrays.max(a),
        "dot(a, b)": lambda: arrays.dot(a, b),
        "where(c, a, b)": lambda: arrays.if_positive(c, a, b),
        "concatenate([a, b])": lambda: arrays.concatenate([a, b]),
        "take(a, i)": lambda: arrays.take(a, i),
        "a + b": lambda: a + b,
        "exp(a)": lambda: math.exp(a),
        "a > 0.5": lambda: a > 0.5,
        "a.astype(float64)": lambda: a.astype(np.float64),
    }


def floors(calls):
    """{work: function that returns the seconds of one call of the C++ loop}"""
    loop = ctypes.CDLL(library("small.cu")).raw_calls
    loop.restype = ctypes.c_double
    arrays = [gpuarray.zeros(1024, np.float32) for _ in range(2)]
    pointers = [ctypes.c_void_p(one.ptr) for one in arrays]

    def measure(parts, keep=arrays):
        seconds = loop(calls, *parts, *pointers)
        assert seconds > 0, "the runtime reported an error"
        return seconds / calls

    return {work: lambda parts=parts: measure(parts) for work, parts in FLOORS.items()}


def candidates(calls):
    """{library: {work: function that returns the seconds of one call}}"""
    tables = {"PyGPU": ours()}
    if (torch := peer("torch")) and torch.cuda.is_available():
        tables["torch"] = of_torch(torch)
    if cupy := peer("cupy"):
        tables["CuPy"] = of_cupy(cupy)
    if pycuda():
        tables["PyCUDA"] = of_pycuda()
    found = {
        name: {work: batch_of(call, calls) for work, call in table.items()}
        for name, table in tables.items()
    }
    return found if alone() else {"floor": floors(calls), **found}


def main():
    found = candidates(int(argument("--calls", 2000)))
    rows = {}
    for work in FLOORS:
        times = medians(
            ROUNDS, {name: table[work] for name, table in found.items() if work in table}
        )
        row = {"PyGPU": times.pop("PyGPU") * 1e6}
        if floor := times.pop("floor", None):
            row["floor"] = floor * 1e6
            row["PyGPU/floor"] = row["PyGPU"] / row["floor"]
        rows[work] = {**row, **{name: seconds * 1e6 for name, seconds in times.items()}}
    report("1024 float32", "microseconds", rows, PyGPU.cudaDeviceProp(0).name())


if __name__ == "__main__":
    main()
