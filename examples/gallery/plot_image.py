"""
Histogram and convolution of an image
=====================================

``np.histogram`` runs on the device, and a kernel with constant memory blurs the image and finds its
edges.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

SIZE = 300

y, x = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j].astype(np.float32)
image = 0.3 + 0.2 * x + 0.4 * (np.hypot(x + 0.3, y) < 0.35) + 0.3 * (abs(x - 0.45) + abs(y) < 0.3)
image += np.random.default_rng(1).normal(0, 0.03, image.shape)
image = gpuarray.to_gpu(image.astype(np.float32))

# %%
# The weights of the filter are in constant memory. Outside of the image, the nearest pixel counts.

module = SourceModule("""
__constant__ float weights[49];
__global__ void convolve(const float *in, float *out, int size, int radius) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= size || column >= size) return;
  float sum = 0;
  for (int i = -radius; i <= radius; ++i)
    for (int j = -radius; j <= radius; ++j) {
      int y = min(max(row + i, 0), size - 1), x = min(max(column + j, 0), size - 1);
      sum += weights[(i + radius) * (2 * radius + 1) + j + radius] * in[y * size + x];
    }
  out[row * size + column] = sum;
}
""")
convolve = module.get_function("convolve")
constant, _ = module.get_global("weights")


def filtered(array, weights):
    drv.memcpy_htod(constant, np.ascontiguousarray(weights, np.float32))
    out, blocks = gpuarray.empty_like(array), -(-SIZE // 16)
    radius = len(weights) // 2
    convolve(array, out, SIZE, radius, block=(16, 16, 1), grid=(blocks, blocks))
    return out


line = np.exp(-(np.arange(-3, 4) ** 2) / 4)
blurred = filtered(image, np.outer(line, line) / line.sum() ** 2)
sobel = np.outer([1, 2, 1], [-1, 0, 1])
edges = np.hypot(filtered(blurred, sobel), filtered(blurred, sobel.T))
counts, limits = np.histogram(blurred, bins=80, range=(0, 1.2))
print(f"pixels: {int(np.sum(counts))} of {image.size}")

# %%

figure, axes = plt.subplots(2, 2, figsize=(8, 7), layout="constrained")
for each, picture, title in zip(axes.flat, (image, blurred, edges), ("image", "blurred", "edges")):
    each.imshow(picture.get(), cmap="gray")
    each.set(title=title, xticks=[], yticks=[])
axes[1, 1].stairs(counts.get(), limits.get(), fill=True)
axes[1, 1].set(title="histogram", xlabel="brightness", ylabel="pixels")
