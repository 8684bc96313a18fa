"""
Heat equation
=============

Views and arithmetic only: a plate with two warm sources, cooled at its edges. ``PyGPU.fuse`` makes
one kernel of the update.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU
import PyGPU.gpuarray as gpuarray

SIZE, STEPS = 200, 2000
RATE = 0.24  # of diffusion; at most 0.25, where the scheme becomes unstable

# %%
# Every neighbour of a point is a view of the same array, moved by one element. No view copies.


@PyGPU.fuse
def diffused(centre, north, south, west, east, source):
    return centre + RATE * (north + south + west + east - 4 * centre) + source


source = np.zeros((SIZE, SIZE), np.float32)
source[SIZE // 4, SIZE // 4] = 2
source[SIZE // 2 : SIZE // 2 + SIZE // 5, 2 * SIZE // 3] = 0.1
source = gpuarray.to_gpu(source[1:-1, 1:-1])
now = gpuarray.zeros((SIZE, SIZE), np.float32)
new = gpuarray.zeros_like(now)
for _ in range(STEPS):
    diffused(
        now[1:-1, 1:-1],
        now[:-2, 1:-1],
        now[2:, 1:-1],
        now[1:-1, :-2],
        now[1:-1, 2:],
        source,
        out=new[1:-1, 1:-1],
    )
    now, new = new, now
temperature = now.get()
print(f"warmest point: {temperature.max():.2f}, sum: {float(np.sum(now)):.0f}")

# %%

figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
picture = axes.imshow(temperature, cmap="inferno")
axes.contour(temperature, levels=8, colors="white", linewidths=0.5)
figure.colorbar(picture, label="temperature")
