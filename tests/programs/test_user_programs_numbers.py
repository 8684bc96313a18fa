"""Programs as PyCUDA's users write them: a fractal in real numbers, an orbit in complex ones."""

import numpy as np
import pytest
from contexts import default_context  # noqa: F401

import PyGPU.driver as cuda
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

MANDELBROT = """
__global__ void mandelbrot(unsigned short *counts, int width, int height, double x0, double y0,
                           double step, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    double cr = x0 + px * step, ci = y0 + py * step, zr = 0, zi = 0;
    int n = 0;
    while (n < limit && zr * zr + zi * zi <= 4) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        ++n;
    }
    counts[py * width + px] = n;
}
"""


@pytest.mark.parametrize(
    "options",
    [
        None,
        ["-fmad=false"],
    ],
)
def test_mandelbrot_set(options):
    module = SourceModule(MANDELBROT, options=options)
    width, height, step, limit = 48, 33, 1 / 16, 60
    counts = np.zeros((height, width), np.uint16)
    module.get_function("mandelbrot")(
        *(cuda.Out(counts), np.int32(width), np.int32(height), np.float64(-2), np.float64(-1)),
        *(np.float64(step), np.int32(limit)),
        block=(16, 16, 1),
        grid=(3, 3),
    )
    real = np.broadcast_to(-2 + step * np.arange(width), counts.shape)
    imag = np.broadcast_to(-1 + step * np.arange(height)[:, np.newaxis], counts.shape)
    x, y, expected = np.zeros_like(real), np.zeros_like(imag), np.zeros_like(counts)
    for _ in range(limit):
        inside = x * x + y * y <= 4
        expected += inside
        x, y = np.where(inside, [x * x - y * y + real, 2 * x * y + imag], [x, y])
    assert 100 < (expected == limit).sum() < expected.size / 2
    # Multiplications fused with additions can move a point over the edge a step apart.
    assert (counts == expected).mean() >= (0.98 if options is None else 1)


COMPLEX = """
#include <pycuda-complex.hpp>
typedef pycuda::complex<%(real)s> cmplx;

__global__ void orbit(cmplx *z, const cmplx *roots, cmplx shift, %(real)s scale, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    cmplx w = z[i] * roots[i %% 4] + shift;
    w = scale * pycuda::exp(w) / (w * conj(w) + cmplx(1, 0));
    z[i] = cmplx(pycuda::abs(w), w.imag());
}
"""


@pytest.mark.parametrize("real, dtype", [("float", np.complex64), ("double", np.complex128)])
def test_complex_numbers(real, dtype):
    orbit = SourceModule(COMPLEX % {"real": real}).get_function("orbit")
    rng = np.random.default_rng(9)
    z = (rng.normal(size=300) + 1j * rng.normal(size=300)).astype(dtype)
    roots = np.array([1, 1j, -1, -1j], dtype)
    z_gpu = gpuarray.to_gpu(z)
    orbit(
        *(z_gpu, cuda.In(roots), dtype(0.5 - 0.25j), z.real.dtype.type(3), np.int32(z.size)),
        block=(64, 1, 1),
        grid=(5, 1),
    )
    w = z.astype(complex) * np.tile([1, 1j, -1, -1j], 75) + (0.5 - 0.25j)
    w = 3 * np.exp(w) / (np.abs(w) ** 2 + 1)
    expected = np.abs(w) + 1j * w.imag
    np.testing.assert_allclose(z_gpu.get(), expected, rtol=20 * np.finfo(dtype).eps, atol=1e-6)
