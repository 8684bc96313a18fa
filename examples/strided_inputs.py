"""Multiply matrices that are not contiguous, without copies: the kernel knows their strides."""

import numpy as np

import PyGPU.autoinit  # noqa: F401
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

multiply = SourceModule("""
__global__ void multiply(const float *x, int x_row, int x_col,
                         const float *y, int y_row, int y_col,
                         float *z, int rows, int cols) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols)
        z[row * cols + col] = x[row * x_row + col * x_col] * y[row * y_row + col * y_col];
}
""").get_function("multiply")


def steps(array):
    """The strides in elements, as C integers: how far it is to the next row and column."""
    return [np.int32(stride // array.dtype.itemsize) for stride in array.strides]


def product(x, y):
    """x * y for two matrices of one shape and any strides."""
    rows, cols = x.shape
    z = gpuarray.empty((rows, cols), np.float32)
    # A view passes the address of its element [0, 0] to the kernel, even if a stride is negative.
    multiply(
        x,
        *steps(x),
        y,
        *steps(y),
        z,
        np.int32(rows),
        np.int32(cols),
        block=(16, 16, 1),
        grid=(-(-cols // 16), -(-rows // 16)),
    )
    return z.get()


x = np.arange(48, dtype=np.float32).reshape(6, 8)
y = np.arange(12, dtype=np.float32).reshape(4, 3) + 1
x_gpu, y_gpu = gpuarray.to_gpu(x), gpuarray.to_gpu(y)

for name, x_view, y_view, expected in (
    ("every other", x_gpu[::2, ::2], y_gpu.T, x[::2, ::2] * y.T),
    ("backwards", x_gpu[:4, 2::-1], y_gpu[::-1], x[:4, 2::-1] * y[::-1]),
):
    assert not x_view.flags.c_contiguous
    z = product(x_view, y_view)
    print(f"{name}: x in steps of {x_view.strides} bytes, y of {y_view.strides}; x * y:\n{z}")
    assert np.array_equal(z, expected)
