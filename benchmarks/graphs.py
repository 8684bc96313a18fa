"""Time per kernel in a graph of 1,000 launches: PyGPU, C++ and other libraries in one run.

Run: python benchmarks/graphs.py [--json FILE]. Times are from the graph's launch to its end, and
include the kernels, which do next to nothing. `one by one` are the same launches without a graph.
"""

import ctypes
import time

import numpy as np
from timing import library, medians, peer, report

import PyGPU
import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

LAUNCHES, ROUNDS = 1000, 30
SOURCE = """
__global__ void axpy(float *y, const float *x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


def raw_graph(y, x):
    """The replay of a graph of C++, as a callable that gives its seconds."""
    built = ctypes.CDLL(library("graphs.cu"))
    arguments = (ctypes.c_void_p(y.ptr), ctypes.c_void_p(x.ptr), ctypes.c_float(2), 32)
    code = built.capture(LAUNCHES, *arguments)
    assert code == 0, f"the runtime's error {code}"
    built.replay.restype = ctypes.c_double
    return built.replay


def until_done(launch, wait):
    """A callable that gives the seconds of a launch and what it starts."""

    def seconds():
        start = time.perf_counter()
        launch()
        wait()
        return time.perf_counter() - start

    return seconds


def ours(y, x):
    stream = drv.Stream(1)
    call = SourceModule(SOURCE).get_function("axpy").prepare("PPfi").prepared_async_call
    memory = y.gpudata, x.gpudata

    def one_by_one():
        for _ in range(LAUNCHES):
            call((1, 1), (32, 1, 1), stream, *memory, 2.0, 32)

    with stream.capture() as kernels:
        one_by_one()
    with stream.capture() as arrays:
        for _ in range(LAUNCHES):
            y.__iadd__(x)
    return {
        ("kernels", "PyGPU"): until_done(lambda: kernels.launch(stream), stream.synchronize),
        ("arrays: y += x", "PyGPU"): until_done(lambda: arrays.launch(stream), stream.synchronize),
        ("kernels", "one by one"): until_done(one_by_one, stream.synchronize),
    }


def peers():
    """The graphs of the libraries that are installed: {(work, library): callable}."""
    found = {}
    cupy = peer("cupy")
    if cupy:
        stream = cupy.cuda.Stream(non_blocking=True)
        y, x = cupy.zeros(32, np.float32), cupy.zeros(32, np.float32)
        kernel = cupy.RawKernel(f'extern "C" {{ {SOURCE} }}', "axpy")
        arguments = (y, x, np.float32(2), np.int32(32))
        kernel((1,), (32,), arguments)
        with stream:
            stream.begin_capture()
            for _ in range(LAUNCHES):
                kernel((1,), (32,), arguments)
            graph = stream.end_capture()
        found["kernels", "CuPy"] = until_done(lambda: graph.launch(stream), stream.synchronize)
    torch = peer("torch")
    if torch and torch.cuda.is_available():
        a, b = (torch.zeros(32, device="cuda") for _ in range(2))
        a += b
        torch.cuda.synchronize()
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            for _ in range(LAUNCHES):
                a += b
        found["arrays: y += x", "torch"] = until_done(recorded.replay, torch.cuda.synchronize)
    return found


def main():
    y, x = gpuarray.zeros(32, np.float32), gpuarray.zeros(32, np.float32)
    candidates = {("kernels", "raw"): raw_graph(y, x), **ours(y, x), **peers()}
    rows = {}
    for (work, name), seconds in medians(ROUNDS, candidates).items():
        rows.setdefault(work, {})[name] = seconds / LAUNCHES * 1e6
    for row in rows.values():
        row["PyGPU/raw"] = row["PyGPU"] / rows["kernels"]["raw"]
    report("A kernel of a graph", "microseconds", rows, PyGPU.cudaDeviceProp(0).name())


if __name__ == "__main__":
    main()
