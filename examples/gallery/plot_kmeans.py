"""
Clusters by k-means
===================

Two kernels: each point finds its nearest centre, and atomic additions sum the points of a centre.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

POINTS, CLUSTERS, ROUNDS = 20_000, 6, 15

random = np.random.default_rng(4)
angle = 2 * np.pi * np.arange(CLUSTERS) / CLUSTERS
means = np.stack([np.cos(angle), np.sin(angle)], axis=1)
members = random.integers(CLUSTERS, size=POINTS)
data = (means[members] + random.normal(0, 0.13, (POINTS, 2))).astype(np.float32)

module = SourceModule("""
__global__ void label(const float2 *points, const float2 *centres, int *labels, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float best = 1e30f;
  for (int j = 0; j < k; ++j) {
    float dx = points[i].x - centres[j].x, dy = points[i].y - centres[j].y;
    float squared = dx * dx + dy * dy;
    if (squared < best) { best = squared; labels[i] = j; }
  }
}
__global__ void add(const float2 *points, const int *labels, float *sums, float *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(sums + 2 * labels[i], points[i].x);
  atomicAdd(sums + 2 * labels[i] + 1, points[i].y);
  atomicAdd(counts + labels[i], 1.0f);
}
""")
label, add = module.get_function("label"), module.get_function("add")

# %%
# The first centres are points of the data, each far from those before it.

chosen = [data[0]]
while len(chosen) < CLUSTERS:
    nearest = np.min([((data - centre) ** 2).sum(axis=1) for centre in chosen], axis=0)
    chosen.append(data[nearest.argmax()])
points, centres = gpuarray.to_gpu(data), gpuarray.to_gpu(np.array(chosen))
labels = gpuarray.empty(POINTS, np.int32)
launch = {"block": (256, 1, 1), "grid": (-(-POINTS // 256), 1)}
track = [centres.get()]
for _ in range(ROUNDS):
    label(points, centres, labels, POINTS, CLUSTERS, **launch)
    sums = gpuarray.zeros((CLUSTERS, 2), np.float32)
    counts = gpuarray.zeros((CLUSTERS, 1), np.float32)
    add(points, labels, sums, counts, POINTS, **launch)
    centres = sums / np.maximum(counts, 1)
    track.append(centres.get())
moved = float(abs(track[-1] - track[-2]).max())
print(f"the last round moved the centres by at most {moved:.1e}")

# %%

figure, axes = plt.subplots(figsize=(6, 5.5), layout="constrained")
axes.scatter(*data.T, c=labels.get(), s=1, cmap="tab10", alpha=0.4)
for path in np.swapaxes(track, 0, 1):
    axes.plot(*path.T, "k.-", linewidth=1)
axes.set_aspect("equal")
