"""Rates of pickling a GPUArray in band and out of band, beside plain copies to and from the host.

``python benchmarks/pickles.py [MIB [ROUNDS]]``. The rounds interleave the operations; each line has
the median rate in GB/s.
"""

import pickle
import statistics
import sys
import time

import numpy as np

import PyGPU
from PyGPU.gpuarray import to_gpu


def out_of_band(array):
    """Return the pickle and its buffers."""
    buffers = []
    return pickle.dumps(array, 5, buffer_callback=buffers.append), buffers


def main(mib=256, rounds=9):
    """Print the rates for an array of `mib` MiB of float32."""
    host = np.random.default_rng(1).random(mib << 18, dtype=np.float32)
    array = to_gpu(host)
    inside, (outside, buffers) = pickle.dumps(array, 5), out_of_band(array)
    operations = {
        "get": array.get,
        "dumps, protocol 4": lambda: pickle.dumps(array, 4),
        "dumps, protocol 5 in band": lambda: pickle.dumps(array, 5),
        "dumps, protocol 5 out of band": lambda: out_of_band(array),
        "to_gpu": lambda: to_gpu(host),
        "loads, protocol 5 in band": lambda: pickle.loads(inside),
        "loads, protocol 5 out of band": lambda: pickle.loads(outside, buffers=buffers),
    }
    seconds = {name: [] for name in operations}
    for _ in range(rounds):
        for name, operation in operations.items():
            start = time.perf_counter()
            result = operation()
            PyGPU.cudaDeviceSynchronize()
            seconds[name].append(time.perf_counter() - start)
            del result
    print(f"target {PyGPU.target}, {mib} MiB, median of {rounds}")
    for name, times in seconds.items():
        print(f"{name:30} {host.nbytes / statistics.median(times) / 1e9:8.2f} GB/s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
