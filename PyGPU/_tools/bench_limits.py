"""Raw limits of this machine: memory bandwidth, launch time, copies of page-locked memory.

They are measured with simple kernels, which prepared calls launch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._runtime import core, errors
from PyGPU._tools.measuring import Measure, batch_of, interleaved, medians, summary
from PyGPU.compiler import SourceModule

if TYPE_CHECKING:
    from PyGPU._types import HostArray

#: Kernels of the limits. A thread starts `accesses` loads before it uses them. One float per thread
#: is for the host, whose compiler vectorizes it.
_SOURCE = """
__device__ float sum(float x, float y) { return x + y; }
__device__ float4 sum(float4 x, float4 y) {
  return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
template <class T, int accesses, bool adds>
__device__ void stream(T *out, const T *a, const T *b) {
  const size_t first = size_t(blockIdx.x) * blockDim.x * accesses + threadIdx.x;
  T x[accesses], y[accesses];
#pragma unroll
  for (int k = 0; k < accesses; ++k) {
    x[k] = a[first + k * blockDim.x];
    if (adds) y[k] = b[first + k * blockDim.x];
  }
#pragma unroll
  for (int k = 0; k < accesses; ++k)
    out[first + k * blockDim.x] = adds ? sum(x[k], y[k]) : x[k];
}
#define KERNEL(T, accesses, adds)                                              \\
  extern "C" __global__ void T##_##accesses(T *out, const T *a, const T *b) {  \\
    stream<T, accesses, adds>(out, a, b);                                      \\
  }
"""
_ARRAYS = {"copy": 2, "add": 3}


def wait() -> None:
    """Wait until all work of the device is done."""
    errors.check(core.cudaDeviceSynchronize(), "cudaDeviceSynchronize")


def on_device(work: Callable[[], object], number: int) -> Measure:
    """Return a function that times `number` calls on the device, and returns seconds per call.

    Two events on the null stream measure the time. They do so for all libraries, whose streams are
    ordered with the null stream.
    """
    start, end = core.cudaEvent_t(), core.cudaEvent_t()

    def measure() -> float:
        errors.check(core.cudaEventRecord(start), "cudaEventRecord")
        for _ in range(number):
            work()
        errors.check(core.cudaEventRecord(end), "cudaEventRecord")
        errors.check(core.cudaEventSynchronize(end), "cudaEventSynchronize")
        return float(errors.check(core.cudaEventElapsedTime(start, end), "event")) / 1e3 / number

    return measure


def raw(kind: str, n: int) -> tuple[str, Callable[[], object]]:
    """Return (launch shape, call) of the fastest raw kernel on arrays of `n` float32.

    `kind` is "copy" or "add", `n` a power of two of at least 2048.
    """
    shapes = [("float", 1), ("float4", 1), ("float4", 2), ("float4", 4)]
    kernels = [f"KERNEL({dtype}, {loads}, {int(kind == 'add')})\n" for dtype, loads in shapes]
    module = SourceModule(_SOURCE + "".join(kernels), no_extern_c=True)
    arrays = [core.zeros(n, np.float32) for _ in range(_ARRAYS[kind])]
    addresses = [array.gpudata for array in (*arrays, arrays[1])[:3]]
    calls: dict[str, Callable[[], object]] = {}
    for dtype, loads in shapes:
        function = module.get_function(f"{dtype}_{loads}").prepare("PPP")
        nbytes = loads * (16 if dtype == "float4" else 4)
        for threads in (128, 256, 512, 1024):
            shape = (4 * n // nbytes // threads, 1), (threads, 1, 1)
            if shape[0][0]:
                call = functools.partial(function.prepared_call, *shape, *addresses)
                calls[f"{threads} threads, {nbytes} bytes each"] = call
                call()
    times = medians(3, {shape: on_device(call, 4) for shape, call in calls.items()}, wait)
    best = min(times, key=times.__getitem__)
    return best, calls[best]


def bandwidth(n: int, samples: int) -> dict[str, Any]:
    """Return the memory bandwidth in GB/s of the raw copy and addition of `n` float32."""
    found: dict[str, Any] = {}
    for kind, arrays in _ARRAYS.items():
        shape, call = raw(kind, n)
        times = summary(interleaved(samples, {kind: on_device(call, 4)}, wait)[kind])
        rate = arrays * 4 * n / times["median"] / 1e9
        found[kind] = {"GB/s": rate, "launch": shape, "seconds": times}
    return found


def launch(samples: int, number: int) -> dict[str, Any]:
    """Return the time of launching an empty kernel, in microseconds."""
    function = SourceModule("__global__ void nothing() {}").get_function("nothing").prepare("")
    call = functools.partial(function.prepared_call, (1, 1), (32, 1, 1))
    work = batch_of(call, number, wait)
    work()
    times = summary(interleaved(samples, {"launch": work}, wait)["launch"])
    return {"us": times["median"] * 1e6, "seconds": times}


def transfer(direction: str, device: Any, pinned: HostArray, number: int) -> Measure:
    """Return a function that times a raw copy of page-locked memory, in seconds per copy.

    The direction is "up" (to the device) or "down" (to the host).
    """
    if direction == "up":
        arguments = (device.gpudata, pinned, pinned.nbytes, core.cudaMemcpyHostToDevice)
    else:
        arguments = (pinned, device.gpudata, pinned.nbytes, core.cudaMemcpyDeviceToHost)

    def copy() -> None:
        status = core.cudaMemcpyAsync(*arguments)
        if status:
            errors.check(status, "cudaMemcpyAsync")

    return batch_of(copy, number, wait)
