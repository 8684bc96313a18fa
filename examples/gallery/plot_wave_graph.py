"""
Wave equation by graph replay
=============================

Two steps of the simulation are captured once, and launched as a graph again and again: waves on a
lake with a wall that has two gaps.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

SIZE, STEPS = 300, 520

module = SourceModule("""
__global__ void wave(const float *now, float *old, const float *wall, int size, int *step) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= size - 1 || y >= size - 1) return;
  int i = y * size + x;
  float bend = now[i - 1] + now[i + 1] + now[i - size] + now[i + size] - 4 * now[i];
  float next = wall[i] * (1.998f * now[i] - 0.998f * old[i] + 0.4f * bend);
  if (x == 8) next = sinf(0.25f * *step);  // a wave maker at the left
  old[i] = next;                           // becomes the present; the caller exchanges the two
}
__global__ void count(int *step) { ++*step; }
""")
wave, count = module.get_function("wave"), module.get_function("count")

# %%
# The graph has two steps, after which the arrays have their roles again. Run the steps once outside
# of the capture, so that nothing has to be compiled in it.

wall = np.ones((SIZE, SIZE), np.float32)
wall[:, SIZE // 3] = 0
for gap in (SIZE // 2 - SIZE // 9, SIZE // 2 + SIZE // 9):
    wall[gap - 4 : gap + 4, SIZE // 3] = 1
wall = gpuarray.to_gpu(wall)
now, old = (gpuarray.zeros((SIZE, SIZE), np.float32) for _ in range(2))
step = gpuarray.zeros(1, np.int32)
blocks = -(-SIZE // 16)


def two_steps(stream):
    for first, second in ((now, old), (old, now)):
        wave(
            first,
            second,
            wall,
            SIZE,
            step,
            block=(16, 16, 1),
            grid=(blocks, blocks),
            stream=stream,
        )
        count(step, block=(1, 1, 1), stream=stream)


stream = drv.Stream()
two_steps(stream)
with stream.capture() as graph:
    two_steps(stream)
for _ in range(STEPS // 2 - 1):
    graph.launch(stream)
height = now.get()
print(f"steps: {int(step[0])}, highest wave behind the wall: {height[:, SIZE // 2 :].max():.2f}")

# %%

figure, axes = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
picture = axes.imshow(height, cmap="RdBu", vmin=-1, vmax=1)
figure.colorbar(picture, label="height")
