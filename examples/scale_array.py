"""Send a float32 array to the device, multiply it by a constant there, and fetch the result."""

import numpy as np

import PyGPU.autoinit  # noqa: F401
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

scale = SourceModule("""
__global__ void scale(float *result, const float *data, float factor, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) result[i] = factor * data[i];
}
""").get_function("scale")

# C's float is float32. NumPy would choose float64 by itself, so the type is said here.
host_data = np.array([1, 2, 3, 4, 5], dtype=np.float32)
device_data = gpuarray.to_gpu(host_data)
device_result = gpuarray.empty_like(device_data)

# Scalars get the type of the kernel's parameter: float and int.
scale(
    device_result,
    device_data,
    np.float32(2),
    np.int32(host_data.size),
    block=(32, 1, 1),
    grid=(1, 1),
)
host_result = device_result.get()
print(f"{host_data} * 2 = {host_result}")
assert host_result.dtype == np.float32
assert np.array_equal(host_result, 2 * host_data)

# The array's own arithmetic says the same shorter.
assert np.array_equal((2 * device_data).get(), host_result)
