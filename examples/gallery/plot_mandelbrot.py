"""
Mandelbrot set
==============

An ``ElementwiseKernel`` computes each pixel: how many steps of ``z = z * z + c`` stay near zero.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU.gpuarray as gpuarray
from PyGPU.elementwise import ElementwiseKernel

WIDTH, HEIGHT, STEPS = 900, 600, 200

x = gpuarray.to_gpu(np.linspace(-2.2, 0.8, WIDTH, dtype=np.float32))
y = gpuarray.to_gpu(np.linspace(-1.0, 1.0, HEIGHT, dtype=np.float32))

# %%
# The kernel runs once for each index ``i`` of its first array, ``count``, and divides ``i`` into a
# row and a column.

escape = ElementwiseKernel(
    "float *count, float *x, float *y, int width, int steps",
    """
    float a = x[i % width], b = y[i / width];
    float re = 0, im = 0;
    int step = 0;
    while (step < steps && re * re + im * im < 64) {
      float next = re * re - im * im + a;
      im = 2 * re * im + b;
      re = next;
      ++step;
    }
    // A smooth count hides the steps; points of the set have the largest one.
    count[i] = step == steps ? steps : step + 2 - log2f(0.5f * log2f(re * re + im * im));
    """,
    "escape",
)
count = gpuarray.empty((HEIGHT, WIDTH), np.float32)
escape(count, x, y, WIDTH, STEPS)
inside = int((count == STEPS).sum())
area = 3.0 * 2.0 * inside / count.size
print(f"area of the set: {area:.3f}")

# %%

figure, axes = plt.subplots(figsize=(8, 5.4), layout="constrained")
axes.imshow(np.log(count.get()), extent=(-2.2, 0.8, -1, 1), cmap="twilight_shifted")
axes.set(xlabel="real part", ylabel="imaginary part")
