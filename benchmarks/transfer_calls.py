"""Time of every blocking transfer call from 8 bytes to 1 GB, beside the runtime's own copies.

``raw`` and ``pinned`` are loops of ``cudaMemcpy`` in C++ with pageable and page-locked memory. The
candidates take turns within each size; a call that is not timed precedes each turn, as in a loop.
``get()`` keeps its last result until the next one, like ``x = a.get()`` in a loop. Each size is
also printed as soon as it is measured.
Run: python benchmarks/transfer_calls.py [--most MB] [--json FILE]
"""

import ctypes
import sys
from functools import partial

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


def copier(raw, address, host, is_up):
    """Return a function that makes a number of raw copies and returns the seconds of one."""

    def copy(calls):
        ends = (int(address), host.ctypes.data)
        seconds = raw(calls, *(ends if is_up else reversed(ends)), host.nbytes, is_up)
        if seconds < 0:
            raise RuntimeError(f"raw copies of {host.nbytes} bytes failed")
        return seconds

    return copy


def in_a_loop(call, batch):
    """Return a function that makes the call, and then times the batch."""

    def timed():
        call()
        return batch()

    return timed


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

    def timed(works, pageable, is_up):
        timers = {}
        for name, memory in (("raw", pageable), ("pinned", locked)):
            copy = copier(raw, address, memory, is_up)
            timers[name] = in_a_loop(partial(copy, 1), partial(copy, calls))
        for name, call in works.items():
            timers[name] = in_a_loop(call, batch_of(call, calls))
        return timers

    return timed(up, host, True), timed(down, out, False)


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
            row = {name: seconds * 1e6 for name, seconds in medians(rounds, timers).items()}
            table[size_text(nbytes)] = row
            cells = (f"{name} {microseconds:.3g}" for name, microseconds in row.items())
            print(f"{size_text(nbytes)}:", ", ".join(cells), file=sys.stderr, flush=True)
    for title, table in zip(("Uploads", "Downloads"), tables):
        report(f"{title}, time of a call", "microseconds", table, device)


if __name__ == "__main__":
    main()
