"""
Ray marching
============

A kernel that walks along a ray for each pixel, in steps of the distance to the nearest surface:
spheres above a plane, with shadows.
"""

import matplotlib.pyplot as plt
import numpy as np

import PyGPU.gpuarray as gpuarray
from PyGPU.compiler import SourceModule

WIDTH, HEIGHT = 480, 320

module = SourceModule("""
__device__ float distance(float3 p) {
  float x = p.x - 2 * rintf(p.x / 2), z = p.z - 2 * rintf(p.z / 2);  // spheres in a grid
  return fminf(sqrtf(x * x + p.y * p.y + z * z) - 0.5f, p.y + 0.5f);
}
__device__ float3 along(float3 p, float3 d, float t) {
  return make_float3(p.x + t * d.x, p.y + t * d.y, p.z + t * d.z);
}
__device__ float march(float3 p, float3 d, float far) {
  float t = 0.02f;
  for (int step = 0; step < 160 && t < far; ++step) {
    float free = distance(along(p, d, t));
    if (free < 0.001f) return t;
    t += 0.8f * free;
  }
  return far;
}
__device__ float3 unit(float x, float y, float z) {
  float length = sqrtf(x * x + y * y + z * z);
  return make_float3(x / length, y / length, z / length);
}
__global__ void render(float *image, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  float3 eye = make_float3(1, 0.9f, -3), light = unit(0.6f, 0.8f, -0.4f);
  float3 ray = unit((column - width / 2.0f) / height, 0.25f - float(row) / height, 1);
  float far = 30, t = march(eye, ray, far), shade = 0.75f;
  if (t < far) {
    float3 p = along(eye, ray, t);
    float e = 0.001f, here = distance(p);
    float3 n = unit(distance(along(p, make_float3(1, 0, 0), e)) - here,
                    distance(along(p, make_float3(0, 1, 0), e)) - here,
                    distance(along(p, make_float3(0, 0, 1), e)) - here);
    float lit = fmaxf(n.x * light.x + n.y * light.y + n.z * light.z, 0.0f);
    if (march(along(p, n, 0.01f), light, 8) < 8) lit = 0;  // in a shadow
    float fog = expf(-0.08f * t);
    shade = fog * (0.15f + 0.8f * lit) + (1 - fog) * 0.75f;
  }
  image[row * width + column] = shade;
}
""")

# %%

image = gpuarray.empty((HEIGHT, WIDTH), np.float32)
grid = (-(-WIDTH // 16), -(-HEIGHT // 8))
module.get_function("render")(image, WIDTH, HEIGHT, block=(16, 8, 1), grid=grid)
picture = image.get()
print(f"darkest pixel: {picture.min():.2f}, brightest: {picture.max():.2f}")

# %%

figure, axes = plt.subplots(figsize=(8, 5.4), layout="constrained")
axes.imshow(picture, cmap="bone", vmin=0, vmax=1)
axes.set_axis_off()
