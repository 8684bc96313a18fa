"""A saxpy over 16 M floats on the host machine, beside NumPy's a*x + y on the same cores.

Run: PYGPU_TARGET=host PYGPU_HOST_THREADS=1 python benchmarks/host_saxpy.py [--json FILE]. NumPy has
one core; PYGPU_HOST_THREADS gives the kernel as many as one likes.
"""

import numpy as np
from timing import median_seconds, report

import PyGPU
import PyGPU.driver as driver
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

SOURCE = """
__global__ void saxpy(float *y, const float *x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


def main():
    n = 1 << 24
    x, y = np.ones(n, np.float32), np.ones(n, np.float32)
    x_gpu, y_gpu = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    saxpy = SourceModule(SOURCE).get_function("saxpy")
    shape = {"block": (256, 1, 1), "grid": (n // 256, 1)}
    a = np.float32(1e-3)

    def launch():
        saxpy(y_gpu, x_gpu, a, n, **shape)
        driver.Context.synchronize()

    ours, numpy = median_seconds(launch, 5), median_seconds(lambda: a * x + y, 5)
    device = PyGPU.cudaDeviceProp(0).name()
    rows = {"saxpy, 2**24 float32": {"PyGPU": ours * 1e3, "NumPy": numpy * 1e3}}
    report("One kernel without barriers", "milliseconds", rows, device)


if __name__ == "__main__":
    main()
