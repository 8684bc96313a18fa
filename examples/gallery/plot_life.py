"""
Game of Life
============

A kernel on bytes, with a torus as its board: one small pattern, after hundreds of generations.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

SIZE, GENERATIONS = 256, 600

module = SourceModule("""
typedef unsigned char cell;
__global__ void generation(const cell *now, cell *next, unsigned short *age, int size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) neighbours += now[(y + dy + size) % size * size + (x + dx + size) % size];
  int i = y * size + x;
  next[i] = neighbours == 3 || (neighbours == 2 && now[i]);
  age[i] = next[i] ? 0 : min(age[i] + 1, 1000);
}
""")
generation = module.get_function("generation")

# %%
# The pattern "acorn" has seven living cells, and grows for more than five thousand generations.

board = np.zeros((SIZE, SIZE), np.uint8)
middle = SIZE // 2
for row, columns in enumerate(((1,), (3,), (0, 1, 4, 5, 6))):
    board[middle + row, [middle + column for column in columns]] = 1
now = gpuarray.to_gpu(board)
following = gpuarray.zeros_like(now)
age = gpuarray.full((SIZE, SIZE), 1000, np.uint16)
population = [7]
blocks = -(-SIZE // 16)
for _ in range(GENERATIONS):
    generation(now, following, age, SIZE, block=(16, 16, 1), grid=(blocks, blocks))
    now, following = following, now
    population.append(int(np.sum(now)))
print(f"after {GENERATIONS} generations: {population[-1]} cells")

# %%
# Bright cells live; the darker a cell, the longer ago it lived.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
left.imshow(np.log1p(age.get().astype(float)), cmap="magma_r", interpolation="nearest")
left.set(xticks=[], yticks=[])
right.plot(population)
right.set(xlabel="generation", ylabel="living cells")
