// Time of the runtime calls behind a function of small arrays: allocation from the pool, launches,
// a copy of a few bytes to the host, and release to the pool.
#include <PyGPU/gpu.h>

#include <chrono>

namespace {

constexpr int most = 4;  // blocks of memory that one call takes

__global__ void combine(float* out, const float* a, const float* b, float scale, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = scale * a[i] + b[i];
}

// One call: memory, launches, and after the first launch the reads, which wait for it.
bool call(int launches, int allocations, int reads, const float* a, const float* b) {
  void* taken[most];
  for (int i = 0; i < allocations; ++i)
    if (cudaMallocAsync(&taken[i], 4096, nullptr)) return false;
  for (int i = 0; i < launches; ++i) {
    PYGPU_LAUNCH(combine, 8, 128, 0, nullptr)(static_cast<float*>(taken[0]), a, b, 2.0f, 1024);
    for (; reads > 0; --reads) {
      long long answer;
      if (cudaMemcpy(&answer, taken[0], sizeof answer, cudaMemcpyDeviceToHost)) return false;
    }
  }
  for (int i = 0; i < allocations; ++i)
    if (cudaFreeAsync(taken[i], nullptr)) return false;
  return true;
}

}  // namespace

// Seconds for `count` calls and for the device to be done with them; negative on an error.
extern "C" double raw_calls(int count, int launches, int allocations, int reads, const float* a,
                            const float* b) {
  if (allocations < 1 || allocations > most) return -1;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i)
    if (!call(launches, allocations, reads, a, b)) return -1;
  if (cudaDeviceSynchronize() || cudaGetLastError()) return -1;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
