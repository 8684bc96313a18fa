// The raw loop that launches are compared with: what nvcc makes of kernel<<<...>>>.
#include <PyGPU/gpu.h>

#include <chrono>

__global__ void axpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// Seconds for `count` launches to be queued.
extern "C" double launch_loop(int count, float* y, const float* x, float a, int n) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) PYGPU_LAUNCH(axpy, 1, 32, 0, nullptr)(y, x, a, n);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
