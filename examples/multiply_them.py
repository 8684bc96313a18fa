"""Multiply two vectors, then two matrices of 20 x 10, element-wise."""

import numpy as np

import PyGPU.autoinit  # noqa: F401
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule

module = SourceModule("""
__global__ void multiply_them(float *dest, float *a, float *b) {
    const int i = threadIdx.x;
    dest[i] = a[i] * b[i];
}

__global__ void multiply_matrices(float *dest, const float *a, const float *b, int rows, int cols) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols) {
        const int i = row * cols + col;  // row after row, as NumPy stores them
        dest[i] = a[i] * b[i];
    }
}
""")
random = np.random.default_rng()

multiply_them = module.get_function("multiply_them")
a = random.standard_normal(400).astype(np.float32)
b = random.standard_normal(400).astype(np.float32)
dest = np.zeros_like(a)
multiply_them(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
assert np.allclose(dest, a * b)
print(f"vectors: dest = a * b at {np.count_nonzero(np.isclose(dest, a * b))} of {a.size} elements")
print(f"a[:3] = {a[:3]}\nb[:3] = {b[:3]}\ndest[:3] = {dest[:3]}")

# Blocks of 8 x 8 threads tile the matrix; those that reach over its edges do nothing there.
multiply_matrices = module.get_function("multiply_matrices")
rows, cols = 20, 10
x = random.standard_normal((rows, cols)).astype(np.float32)
y = random.standard_normal((rows, cols)).astype(np.float32)
product = np.zeros_like(x)
multiply_matrices(
    drv.Out(product),
    drv.In(x),
    drv.In(y),
    np.int32(rows),
    np.int32(cols),
    block=(8, 8, 1),
    grid=((cols + 7) // 8, (rows + 7) // 8),
)
assert np.allclose(product, x * y)
print(f"matrices {rows} x {cols}: x * y at {np.count_nonzero(np.isclose(product, x * y))} elements")
print(f"last row of x = {x[-1]}\nlast row of y = {y[-1]}\nlast row of x * y = {product[-1]}")
