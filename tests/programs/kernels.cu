// Kernels of tests/test_user_kernels.py: what a user's source may use on every target.
#include <PyGPU/gpu.h>

__global__ void reverse_kernel(int* a, int n) {
  __shared__ int tile[256];
  const int i = threadIdx.x;
  if (i >= n) return;  // the others are not waited for
  tile[i] = a[blockIdx.x * n + i];
  __syncthreads();
  a[blockIdx.x * n + i] = tile[n - 1 - i];
}

__global__ void block_sum_kernel(const double* x, double* sums) {
  PYGPU_DYNAMIC_SHARED(double, part);
  const unsigned i = threadIdx.x;
  part[i] = x[blockIdx.x * blockDim.x + i];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (i < half) part[i] += part[i + half];
  }
  if (i == 0) sums[blockIdx.x] = part[0];
}

__global__ void histogram_kernel(const int* values, int n, unsigned* bins, float* total) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[values[i]], 1u);
    atomicAdd(total, 1.0f);
  }
}

__global__ void indices_kernel(int* out) {
  const dim3 b(blockDim.x, blockDim.y, blockDim.z);
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + b.x * (threadIdx.y + b.y * threadIdx.z);
  const int place = block * int(b.x * b.y * b.z) + thread;
  out[place] = place;
}

template <class T, int factor>
__global__ void scale_kernel(T* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

__global__ void deep_kernel(int* out) {
  char local[100 << 10];
  for (unsigned i = 0; i < sizeof local; i += 4096) local[i] = char(threadIdx.x);
  __syncthreads();
  int sum = 0;
  for (unsigned i = 0; i < sizeof local; i += 4096) sum += local[i] == char(threadIdx.x);
  out[threadIdx.x] = sum;
}

// The launch's own error, as an int.
static int outcome() { return int(cudaGetLastError()); }

extern "C" int reverse(int* a, int n, int blocks) {
  PYGPU_LAUNCH(reverse_kernel, blocks, 256, 0, nullptr)(a, n);
  return outcome();
}

extern "C" int block_sums(const double* x, double* sums, int blocks, int threads) {
  PYGPU_LAUNCH(block_sum_kernel, blocks, threads, threads * sizeof(double), nullptr)(x, sums);
  return outcome();
}

extern "C" int histogram(const int* values, int n, unsigned* bins, float* total) {
  PYGPU_LAUNCH(histogram_kernel, 8, 128, 0, nullptr)(values, n, bins, total);
  return outcome();
}

extern "C" int indices(int* out) {
  PYGPU_LAUNCH(indices_kernel, dim3(3, 4, 5), dim3(4, 3, 2), 0, nullptr)(out);
  return outcome();
}

extern "C" int scale(float* x, int n) {
  PYGPU_LAUNCH((scale_kernel<float, 3>), (n + 255) / 256, 256, 0, nullptr)(x, n);
  return outcome();
}

extern "C" int deep(int* out, int threads) {
  PYGPU_LAUNCH(deep_kernel, 1, threads, 0, nullptr)(out);
  return outcome();
}

extern "C" int launch(int grid, int block, int shared_bytes) {
  PYGPU_LAUNCH(reverse_kernel, grid, block, shared_bytes, nullptr)(nullptr, 0);
  return outcome();
}
