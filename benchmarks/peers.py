"""Copies between two devices: arrays and addresses of PyGPU beside torch and CuPy.

Run: python benchmarks/peers.py [--json FILE], on a machine with two devices. Each copy is waited
for. `through the host` is the same copy in a process with PYGPU_PEER_COPIES=0, where the devices
have no direct access.
"""

import os
import subprocess
import sys
import time

import numpy as np
from timing import medians, peer, report

import PyGPU
import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray

SIZES = {"64 KB": 1 << 16, "1 MB": 1 << 20, "16 MB": 1 << 24, "256 MB": 1 << 28}
ROUNDS = 15


def timed(copy):
    def measure():
        start = time.perf_counter()
        copy()
        return time.perf_counter() - start

    return measure


def ours(nbytes):
    near, far = (gpuarray.zeros(nbytes // 4, np.float32, device=device) for device in (0, 1))
    contexts = [drv.Device(device).retain_primary_context() for device in (0, 1)]

    def assign():
        near[...] = far

    def by_address():
        drv.memcpy_peer(near.gpudata, far.gpudata, nbytes, *contexts)
        drv.Context.synchronize()

    return {"b[...] = a": timed(assign), "memcpy_peer": timed(by_address)}


def theirs(nbytes):
    found = {}
    torch, cupy = peer("torch"), peer("cupy")
    if torch and torch.cuda.device_count() > 1:
        one, other = (torch.zeros(nbytes // 4, device=f"cuda:{device}") for device in (0, 1))

        def by_torch():
            one.copy_(other)
            torch.cuda.synchronize(0)
            torch.cuda.synchronize(1)

        found["torch"] = timed(by_torch)
    if cupy and cupy.cuda.runtime.getDeviceCount() > 1:
        arrays = []
        for device in (0, 1):
            with cupy.cuda.Device(device):
                arrays.append(cupy.zeros(nbytes // 4, np.float32))

        def by_cupy():
            arrays[0].data.copy_from_device(arrays[1].data, nbytes)
            PyGPU.cudaDeviceSynchronize()

        found["CuPy"] = timed(by_cupy)
    return found


def through_the_host(nbytes):
    """The speed without direct access, in GB/s."""
    words = [sys.executable, __file__, "--one", str(nbytes)]
    environment = {**os.environ, "PYGPU_PEER_COPIES": "0"}
    done = subprocess.run(words, check=True, env=environment, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def main():
    if "--one" in sys.argv:
        nbytes = int(sys.argv[-1])
        print(nbytes / medians(ROUNDS, ours(nbytes))["b[...] = a"] / 1e9)
        return
    table = {}
    for name, nbytes in SIZES.items():
        found = medians(ROUNDS, {**ours(nbytes), **theirs(nbytes)})
        row = {library: nbytes / seconds / 1e9 for library, seconds in found.items()}
        row["by host"] = through_the_host(nbytes)
        table[name] = row
    report("copies between two devices", "GB/s", table, drv.Device(0).name())


if __name__ == "__main__":
    main()
