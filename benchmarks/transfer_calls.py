"""Time of every blocking transfer call from 8 bytes to 1 GB, beside the runtime's own copies.

``raw`` and ``pinned`` are loops of ``cudaMemcpy`` in C++ with pageable and page-locked memory. The
candidates take turns within each size. ``get()`` keeps its last result until the next one, like
``x = a.get()`` in a loop.
Run: python benchmarks/transfer_calls.py [--most MB] [--json FILE]
"""

import ctypes

import numpy as np
from timing import argument, batch_of, library, medians, peer, report

import PyGPU
from PyGPU import driver

SIZES = [8, *(1 << n for n in range(10, 31))]
ROUNDS = 9
BYTES_PER_BATCH = 64 << 20


def raw_copies():
    function = ctypes.CDLL(library("transfer.cu")).raw_copies
    function.restype = ctypes.c_double
    pointer = ctypes.c_void_p
    function.argtypes = [ctypes.c_int, pointer, pointer, ctypes.c_size_t, ctypes.c_int]
    return function


def keeping(call):
    """Return a function that makes the call and keeps its result until the next one."""
    kept = [None]

    def keep():
        kept[0] = call()

    return keep


def candidates(nbytes, calls, raw):
    """Return ({name: function that returns seconds}, likewise) of uploads and downloads."""
    host, out = np.ones(nbytes, np.uint8), np.zeros(nbytes, np.uint8)
    locked = driver.pagelocked_empty(nbytes, np.uint8)
    gpu, address = PyGPU.to_gpu(host), driver.mem_alloc(nbytes)
    pair, result = PyGPU.DeviceArray_uint8(host), PyGPU.DeviceArray_uint8(out)
    pair.allocate()
    result.allocate()
    up = {
        "to_gpu": lambda: PyGPU.to_gpu(host),
        "set": lambda: gpu.set(host),
        "memcpy_htod": lambda: driver.memcpy_htod(address, host),
        "cudaMemcpy": lambda: PyGPU.cudaMemcpy(address, host, nbytes, PyGPU.cudaMemcpyHostToDevice),
        "to_device": pair.to_device,
    }
    down = {
        "get": keeping(gpu.get),
        "get(out)": lambda: gpu.get(out),
        "memcpy_dtoh": lambda: driver.memcpy_dtoh(out, address),
        "cudaMemcpy": lambda: PyGPU.cudaMemcpy(out, address, nbytes, PyGPU.cudaMemcpyDeviceToHost),
        "to_host": result.to_host,
    }
    if cupy := peer("cupy"):
        theirs = cupy.asarray(host)
        up["CuPy set"] = lambda: theirs.set(host)
        down["CuPy get(out)"] = lambda: theirs.get(out=out)
        down["CuPy get"] = keeping(theirs.get)
    if torch := peer("torch"):
        source, target = torch.from_numpy(host), torch.from_numpy(out)
        tensor = source.cuda()
        up["torch copy_"] = lambda: tensor.copy_(source)
        down["torch copy_"] = lambda: target.copy_(tensor)
        down["torch cpu"] = keeping(tensor.cpu)

    def timed(works, plain, page_locked):
        timers = {"raw": plain, "pinned": page_locked}
        return timers | {name: batch_of(call, calls) for name, call in works.items()}

    ptr = int(address)
    return (
        timed(
            up,
            lambda: raw(calls, ptr, host.ctypes.data, nbytes, 1),
            lambda: raw(calls, ptr, locked.ctypes.data, nbytes, 1),
        ),
        timed(
            down,
            lambda: raw(calls, out.ctypes.data, ptr, nbytes, 0),
            lambda: raw(calls, locked.ctypes.data, ptr, nbytes, 0),
        ),
    )


def size_text(nbytes):
    for unit, bits in (("GB", 30), ("MB", 20), ("KB", 10)):
        if nbytes >> bits:
            return f"{nbytes >> bits} {unit}"
    return f"{nbytes} B"


def main():
    device = PyGPU.cudaDeviceProp(0).name()
    most = int(argument("--most", 1024)) << 20
    raw = raw_copies()
    tables = {}, {}
    for nbytes in (size for size in SIZES if size <= most):
        calls = max(4, min(1000, BYTES_PER_BATCH // nbytes))
        rounds = ROUNDS if nbytes < 128 << 20 else 3
        for table, timers in zip(tables, candidates(nbytes, calls, raw)):
            table[size_text(nbytes)] = {
                name: seconds * 1e6 for name, seconds in medians(rounds, timers).items()
            }
    for title, table in zip(("Uploads", "Downloads"), tables):
        report(f"{title}, time of a call", "microseconds", table, device)


if __name__ == "__main__":
    main()
