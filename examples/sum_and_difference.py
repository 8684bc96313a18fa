"""Two matrices in, more than one result out: x * y, and x + y with x - y in a single kernel."""

import numpy as np

import PyGPU.autoinit  # noqa: F401
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

module = SourceModule("""
__global__ void product(const float *x, const float *y, float *z, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) z[i] = x[i] * y[i];
}

__global__ void sum_and_difference(const float *x, const float *y, float *sum, float *difference,
                                   int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) {
        float a = x[i], b = y[i];  // each element is read once for both results
        sum[i] = a + b;
        difference[i] = a - b;
    }
}
""")

x = np.arange(12, dtype=np.float32).reshape(3, 4)
y = 10 * x + 1
x_gpu, y_gpu = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
launch = {"block": (128, 1, 1), "grid": (-(-x.size // 128), 1)}

z_gpu = gpuarray.empty_like(x_gpu)
module.get_function("product")(x_gpu, y_gpu, z_gpu, np.int32(x.size), **launch)
z = z_gpu.get()
print(f"x * y:\n{z}")
assert np.allclose(z, x * y)

sum_gpu, difference_gpu = gpuarray.empty_like(x_gpu), gpuarray.empty_like(x_gpu)
module.get_function("sum_and_difference")(
    x_gpu, y_gpu, sum_gpu, difference_gpu, np.int32(x.size), **launch
)
total, difference = sum_gpu.get(), difference_gpu.get()
print(f"x + y:\n{total}")
print(f"x - y:\n{difference}")
assert np.allclose(total, x + y)
assert np.allclose(difference, x - y)
