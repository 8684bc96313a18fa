"""Raw limits of this machine: memory bandwidth, launch time, copies of page-locked memory.

They are measured with simple kernels, which prepared calls launch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._bench.measuring import Measure, batch_of, interleaved, medians, summary
from PyGPU._driver import SourceModule
from PyGPU._runtime import core, errors

if TYPE_CHECKING:
    from PyGPU._types import HostArray

#: Kernels of the limits. copy_0 and add_0 process one element per thread, which the host's compiler
#: vectorizes. In the others, a thread starts `accesses` loads of 16 bytes before it uses them.
_SOURCE = """
template <int accesses, bool adds>
__device__ void stream(float4 *out, const float4 *a, const float4 *b) {
  const size_t first = size_t(blockIdx.x) * blockDim.x * accesses + threadIdx.x;
  float4 x[accesses], y[accesses];
#pragma unroll
  for (int k = 0; k < accesses; ++k) {
    x[k] = a[first + k * blockDim.x];
    if (adds) y[k] = b[first + k * blockDim.x];
  }
#pragma unroll
  for (int k = 0; k < accesses; ++k) {
    if (adds) {
      x[k].x += y[k].x;
      x[k].y += y[k].y;
      x[k].z += y[k].z;
      x[k].w += y[k].w;
    }
    out[first + k * blockDim.x] = x[k];
  }
}
#define KERNELS(n)                                                             \\
  extern "C" __global__ void copy_##n(float4 *out, const float4 *a) {          \\
    stream<n, false>(out, a, nullptr);                                         \\
  }                                                                            \\
  extern "C" __global__ void add_##n(float4 *out, const float4 *a, const float4 *b) { \\
    stream<n, true>(out, a, b);                                                \\
  }
KERNELS(1)
KERNELS(2)
KERNELS(4)
extern "C" __global__ void copy_0(float *out, const float *a) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = a[i];
}
extern "C" __global__ void add_0(float *out, const float *a, const float *b) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = a[i] + b[i];
}
extern "C" __global__ void nothing() {}
"""
_ARRAYS = {"copy": 2, "add": 3}
_THREADS = (128, 256, 512, 1024)


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


def _module() -> Any:
    return SourceModule(_SOURCE, no_extern_c=True)


def _streaming(module: Any, kind: str, n: int) -> dict[str, Callable[[], object]]:
    """Return {launch shape: call} of a raw kernel on arrays of `n` float32, a power of two."""
    arrays = [core.zeros(n, np.float32) for _ in range(_ARRAYS[kind])]
    found: dict[str, Callable[[], object]] = {}
    for accesses in (0, 1, 2, 4):
        function = module.get_function(f"{kind}_{accesses}").prepare("P" * len(arrays))
        for threads in _THREADS:
            blocks = n // ((4 * accesses or 1) * threads)
            if blocks == 0:
                continue

            def launch(
                call: Any = function.prepared_call,
                shape: Any = ((blocks, 1), (threads, 1, 1)),
                memory: Any = tuple(array.gpudata for array in arrays),
                keep: Any = arrays,
            ) -> None:
                call(*shape, *memory)

            found[f"{threads} threads, {16 * accesses or 4} bytes each"] = launch
    return found


def raw(kind: str, n: int) -> tuple[str, Callable[[], object]]:
    """Return (launch shape, call) of the fastest raw kernel on arrays of `n` float32.

    Parameters
    ----------
    kind : {"copy", "add"}
        Operation of the kernel.
    n : int
        Number of elements, a power of two of at least 2048.
    """
    calls = _streaming(_module(), kind, n)
    for call in calls.values():
        call()
    times = medians(3, {shape: on_device(call, 4) for shape, call in calls.items()}, wait)
    best = min(times, key=times.__getitem__)
    return best, calls[best]


def bandwidth(n: int, samples: int) -> dict[str, Any]:
    """Return the memory bandwidth in GB/s of the raw copy and addition of `n` float32."""
    found: dict[str, Any] = {}
    for kind, arrays in _ARRAYS.items():
        shape, call = raw(kind, n)
        times = interleaved(samples, {kind: on_device(call, 4)}, wait)[kind]
        found[kind] = {
            "GB/s": arrays * 4 * n / summary(times)["median"] / 1e9,
            "launch": shape,
            "seconds": summary(times),
        }
    return found


def launch(samples: int, number: int) -> dict[str, Any]:
    """Return the time of launching an empty kernel, in microseconds."""
    call = _module().get_function("nothing").prepare("").prepared_call
    work = batch_of(lambda: call((1, 1), (32, 1, 1)), number, wait)
    work()
    times = interleaved(samples, {"launch": work}, wait)["launch"]
    return {"us": summary(times)["median"] * 1e6, "seconds": summary(times)}


def transfer(direction: str, device: Any, pinned: HostArray, number: int) -> Measure:
    """Return a function that times a raw copy of page-locked memory, in seconds per copy.

    The direction is "up" (to the device) or "down" (to the host).
    """
    nbytes = pinned.nbytes
    if direction == "up":
        arguments = (device.gpudata, pinned, nbytes, core.cudaMemcpyHostToDevice)
    else:
        arguments = (pinned, device.gpudata, nbytes, core.cudaMemcpyDeviceToHost)

    def copy() -> None:
        status = core.cudaMemcpyAsync(*arguments)
        if status:
            errors.check(status, "cudaMemcpyAsync")

    return batch_of(copy, number, wait)
