// Kernels of tests/test_host_faults.py: what goes wrong in them is reported, no crash or hang.
#include <PyGPU/gpu.h>

#include <cassert>
#include <cstdio>
#include <stdexcept>
#include <vector>

__global__ void branches_kernel() {
  if (threadIdx.x < 40) {
    __syncthreads();  // the one branch
  } else {
    __syncthreads();  // the other branch
  }
}

__global__ void scopes_kernel() {
  if (threadIdx.x % 32 < 3)
    __syncwarp();  // the warp
  else
    __syncthreads();  // the block
}

__global__ void not_named_kernel() { __syncwarp(0xfffffffe); }

__global__ void address_kernel(int* a, long long offset) {
  if (threadIdx.x == 5 && blockIdx.x == 7) a[offset] = 1;
}

__global__ void divide_kernel(int* a) { a[0] = 7 / a[1]; }
__global__ void trap_kernel() {
  if (threadIdx.y == 2) __trap();
}
__global__ void assert_kernel(int* a) { assert(a == nullptr); }
__global__ void throw_kernel() { throw std::runtime_error("thrown text"); }

__device__ int deep(volatile int* a, int n) {
  volatile int local[64];
  local[n % 64] = n;
  return n == a[0] ? 0 : deep(a, n + 1) + local[n % 64];
}
__global__ void recursion_kernel(int* a) { a[1] = deep(a, 0); }

__global__ void after_a_barrier_kernel(int* a, int* wild) {
  __shared__ int tile[64];
  tile[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 33) *wild = 1;
  a[threadIdx.x] = tile[63 - threadIdx.x];
}

// Each thread's recursion is its own, over barriers.
__device__ int climb(int n) {
  if (n == 0) return int(threadIdx.x);
  __syncthreads();
  return climb(n - 1) + 1;
}
__global__ void sound_kernel(int* a) { a[threadIdx.x] = climb(10); }

static const PyGPU::host::DynamicShared<float> pool;
__constant__ int factors[2] = {2, 3};
__device__ int launches = 0;
struct Node {
  int value;
  Node* next;
};
__global__ void language_kernel(int* a) {
  const int t = int(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  int* ints = (int*)pool + 64L;
  pool[t] = float(t);
  ints[t] = 2 * t;
  if (t == 0) atomicAdd(&launches, 1);
  Node second{t, nullptr}, first{factors[1], &second};
  __syncthreads();
  int* own = static_cast<int*>(malloc(2 * sizeof(int)));
  memset(own, 0, 2 * sizeof(int));
  own[1] = first.next->value * first.value;
  a[t] = int(pool[63 - t]) + ints[63 - t] + own[1];
  free(own);
  if (t == 63) printf("thread %d, launch %d\n", t, launches);
}

__global__ void spin_kernel(volatile int* a) {
  if (threadIdx.x == 0)
    while (a[0] == 0) __nanosleep(10);
  else
    a[0] = int(threadIdx.x);
}

__global__ void strict_kernel(int* a, int n) {
  __shared__ int tile[32];
  PYGPU_DYNAMIC_SHARED(int, more);
  const int t = int(threadIdx.x);
  int local[4] = {t, factors[0], launches, 0};
  tile[t] = local[t & 1];
  more[t] = t;
  __syncthreads();
  int* own = static_cast<int*>(malloc(sizeof(int)));
  *own = tile[31 - t] + more[31 - t];
  if (t < n) a[t] = *own;
  free(own);
}

__global__ void ballot_kernel(unsigned long long* out) {
  const unsigned long long all = ~0ull >> (64 - warpSize);
  out[0] = __ballot_sync(all, int(threadIdx.x) % warpSize >= warpSize / 2);
  out[1] = static_cast<unsigned long long>(__shfl_sync(all, threadIdx.x, warpSize - 1));
}

extern "C" {
#define LAUNCH(name, grid, block, shared, ...)                      \
  PYGPU_LAUNCH(name##_kernel, grid, block, shared, 0)(__VA_ARGS__); \
  return int(cudaGetLastError())
int branches() { LAUNCH(branches, 3, 64, 0); }
int scopes() { LAUNCH(scopes, 3, 64, 0); }
int not_named() { LAUNCH(not_named, 1, 32, 0); }
int address(int* a, long long offset) { LAUNCH(address, 100, 64, 0, a, offset); }
int divide(int* a) { LAUNCH(divide, 4, 64, 0, a); }
int trap() { LAUNCH(trap, 2, dim3(4, 4), 0); }
int assertion(int* a) { LAUNCH(assert, 1, 1, 0, a); }
int exception() { LAUNCH(throw, 1, 1, 0); }
int recursion(int* a) { LAUNCH(recursion, 1, 4, 0, a); }
int after_a_barrier(int* a, int* wild) { LAUNCH(after_a_barrier, 50, 64, 0, a, wild); }
int sound(int* a) { LAUNCH(sound, 20, 256, 0, a); }
int language(int* a) { LAUNCH(language, 1, dim3(4, 4, 4), 512, a); }
int spin(int* a) { LAUNCH(spin, 1, 64, 0, a); }
int strict(int* a, int n) { LAUNCH(strict, 4, 32, 128, a, n); }
int ballot(unsigned long long* out) { LAUNCH(ballot, 1, 64, 0, out); }
int shared_limit(int* a, int bytes) { LAUNCH(divide, 1, 1, bytes, a); }
const char* last_report() { return cudaHostLastReport(); }
}
