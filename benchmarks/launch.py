"""Time to launch a kernel with four arguments: PyGPU, C++ and other libraries in one run.

Run: python benchmarks/launch.py [--json FILE]. The target's own compiler builds the C++ loop (nvcc,
hipcc or g++). Rounds of the candidates alternate, so that all see the same clocks.
"""

import ctypes
import timeit

import numpy as np
from timing import library, medians, peer, pycuda, report

import PyGPU
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

LAUNCHES, ROUNDS = 500, 60
SOURCE = """
__global__ void axpy(float *y, const float *x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


def raw_loop(y, x):
    """The C++ loop as a callable that gives the seconds of its launches."""
    loop = ctypes.CDLL(library("launch.cu")).launch_loop
    loop.restype = ctypes.c_double
    arguments = (ctypes.c_void_p(y.ptr), ctypes.c_void_p(x.ptr), ctypes.c_float(2), 32)
    return lambda: loop(LAUNCHES, *arguments)


def timed(statement, **names):
    """The seconds that LAUNCHES runs of a statement take."""
    timer = timeit.Timer(statement, globals=names)
    return lambda: timer.timeit(LAUNCHES)


SHAPE = {"grid": (1, 1), "block": (32, 1, 1), "a": np.float32(2), "n": np.int32(32)}


def ours(y, x):
    general = SourceModule(SOURCE).get_function("axpy")
    prepared = SourceModule(SOURCE).get_function("axpy").prepare("PPfi")
    arrays, memory = {"y": y, "x": x}, {"y": y.gpudata, "x": x.gpudata}
    return {
        "prepared": timed(
            "call(grid, block, y, x, 2.0, 32)", call=prepared.prepared_call, **memory, **SHAPE
        ),
        "general": timed("f(y, x, a, n, block=block, grid=grid)", f=general, **arrays, **SHAPE),
        "general, plain numbers": timed(
            "f(y, x, 2.0, 32, block=block, grid=grid)", f=general, **arrays, **SHAPE
        ),
    }


def peers(y, x):
    """The same launch by the libraries that are installed: {(work, library): callable}."""
    found = {}
    source = f'extern "C" {{ {SOURCE} }}'
    cupy = peer("cupy")
    if cupy:
        arrays = {"y": cupy.zeros(32, np.float32), "x": cupy.zeros(32, np.float32)}
        kernel = cupy.RawKernel(source, "axpy")
        found["general", "CuPy"] = timed(
            "f(grid, block, (y, x, a, n))", f=kernel, **arrays, **SHAPE
        )
    core = peer("cuda.core") or peer("cuda.core.experimental")
    if core:
        device = core.Device()
        device.set_current()
        options = core.ProgramOptions(arch=f"sm_{device.arch}")
        kernel = core.Program(source, "c++", options).compile("cubin").get_kernel("axpy")
        config = core.LaunchConfig(grid=1, block=32)
        found["general", "cuda.core"] = timed(
            "launch(stream, config, f, y, x, a, n)",
            **{"launch": core.launch, "stream": device.default_stream, "config": config},
            **{"f": kernel, "y": y.ptr, "x": x.ptr, "a": SHAPE["a"], "n": SHAPE["n"]},
        )
    their_driver = pycuda()
    if their_driver:
        f = peer("pycuda.compiler").SourceModule(SOURCE).get_function("axpy").prepare("PPfi")
        memory = {"y": their_driver.mem_alloc(128), "x": their_driver.mem_alloc(128)}
        found["general", "PyCUDA"] = timed(
            "f(y, x, a, n, block=block, grid=grid)", f=f, **memory, **SHAPE
        )
        found["prepared", "PyCUDA"] = timed(
            "call(grid, block, y, x, 2.0, 32)", call=f.prepared_call, **memory, **SHAPE
        )
    return found


def main():
    y, x = gpuarray.zeros(32, np.float32), gpuarray.zeros(32, np.float32)
    # Also alone: what a GPU takes for a launch differs from process to process by more than ours.
    raw = {("prepared", "raw"): raw_loop(y, x)}
    mine = {(work, "PyGPU"): call for work, call in ours(y, x).items()}
    rows = {}
    for (work, name), seconds in medians(ROUNDS, {**raw, **mine, **peers(y, x)}).items():
        rows.setdefault(work, {})[name] = seconds / LAUNCHES * 1e6
    for row in rows.values():
        row["PyGPU/raw"] = row["PyGPU"] / rows["prepared"]["raw"]
    device = PyGPU.cudaDeviceProp(0).name()
    report("A launch with four arguments", "microseconds", rows, device)


if __name__ == "__main__":
    main()
