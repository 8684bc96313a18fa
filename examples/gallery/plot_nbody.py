"""
N bodies
========

A kernel from source text in which the threads of a block load bodies into shared memory together:
two clusters of stars that pass through each other.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

BODIES, STEPS = 1024, 140  # bodies: a multiple of 128
STEP, BLOCK = 0.02, 128

module = SourceModule("""
#define BLOCK 128
__global__ void accelerate(const float4 *bodies, float4 *speed, int n, float step) {
  __shared__ float4 tile[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  float4 me = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += BLOCK) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < BLOCK; ++j) {
      float4 other = tile[j];
      float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);  // softened distance
      float factor = other.w * inverse * inverse * inverse;
      ax += dx * factor; ay += dy * factor; az += dz * factor;
    }
    __syncthreads();
  }
  speed[i].x += step * ax; speed[i].y += step * ay; speed[i].z += step * az;
}
""")
accelerate = module.get_function("accelerate")

# %%
# Positions and masses are one array of four columns, which the kernel reads as ``float4``.

random = np.random.default_rng(3)
start = random.normal(0, 0.25, (BODIES, 4)).astype(np.float32)
start[:, 3] = 1 / BODIES  # the masses
side = np.where(np.arange(BODIES) < BODIES // 2, -1, 1).astype(np.float32)
start[:, 0] += side
start[:, 1] += 0.25 * side
bodies = gpuarray.to_gpu(start)
speed = gpuarray.zeros_like(bodies)
speed[:, 0] = gpuarray.to_gpu(-0.8 * side)

paths = [start[:, :2]]
for _ in range(STEPS):
    accelerate(bodies, speed, BODIES, STEP, block=(BLOCK, 1, 1), grid=(BODIES // BLOCK, 1))
    bodies[:, :3] += np.float32(STEP) * speed[:, :3]
    paths.append(bodies[:, :2].get())
drift = float(abs(speed.get()[:, :3].mean(axis=0)).max())
print(f"mean speed, which the forces do not change: {drift:.1e}")

# %%

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained", sharey=True)
colours = np.where(side < 0, "tab:blue", "tab:orange")
for each, moment in zip(axes, (0, STEPS // 2, STEPS)):
    each.scatter(*paths[moment].T, s=2, c=colours)
    each.set(title=f"t = {moment * STEP:.1f}", xlim=(-2, 2), ylim=(-1.5, 1.5), aspect="equal")
