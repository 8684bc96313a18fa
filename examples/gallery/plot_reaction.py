"""
Patterns of a reaction
======================

Two substances that diffuse and react make spots and stripes (the model of Gray and Scott). A fused
function returns both results from one kernel.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU
import PyGPU.gpuarray as gpuarray

SIZE, STEPS = 160, 4000
FEED, KILL = 0.037, 0.06

# %%
# The four neighbours are summed by a kernel of their own, because a fused
# function has up to eight arguments.


@PyGPU.fuse
def reaction(u, v, around_u, around_v, feed, kill):
    uvv = u * v * v
    new_u = u + 0.16 * (around_u - 4 * u) - uvv + feed * (1 - u)
    new_v = v + 0.08 * (around_v - 4 * v) + uvv - (feed + kill) * v
    return new_u, new_v


@PyGPU.fuse
def total(north, south, west, east):
    return north + south + west + east


def around(a):
    """Return the sum of the four neighbours inside of a frame."""
    return total(a[:-2, 1:-1], a[2:, 1:-1], a[1:-1, :-2], a[1:-1, 2:])


random = np.random.default_rng(7)
u = np.ones((SIZE + 2, SIZE + 2), np.float32)
v = np.zeros_like(u)
for row, column in random.integers(10, SIZE - 10, (12, 2)):
    u[row : row + 8, column : column + 8] = 0.5
    v[row : row + 8, column : column + 8] = 0.25
u, v = gpuarray.to_gpu(u), gpuarray.to_gpu(v)
inside = (slice(1, -1), slice(1, -1))
feed, kill = np.float32(FEED), np.float32(KILL)
for _ in range(STEPS):
    reaction(u[inside], v[inside], around(u), around(v), feed, kill, out=(u[inside], v[inside]))
pattern = v[inside].get()
print(f"v is between {pattern.min():.2f} and {pattern.max():.2f}")

# %%

figure, axes = plt.subplots(figsize=(5.5, 5.5), layout="constrained")
# The edges are left out: the frame supplies them with the first substance.
axes.imshow(pattern[8:-8, 8:-8], cmap="cividis", vmax=0.4, interpolation="bilinear")
axes.set_axis_off()
