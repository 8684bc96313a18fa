// How long it takes from a launch until the host sees a word that the kernel writes: what a call
// that must know something of the device costs at least.
//
// Build and run: nvcc -O2 -o answer benchmarks/answer.cu && ./answer
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>

__global__ void say(volatile long long* word, long long value) {
  if (threadIdx.x == 0) *word = value;
}
__global__ void nothing() {}

template <class Work>
double microseconds(Work work) {
  constexpr int turns = 20000;
  const auto start = std::chrono::steady_clock::now();
  for (int turn = 1; turn <= turns; ++turn) work(turn);
  cudaDeviceSynchronize();
  const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - start;
  return all.count() / turns;
}

int main() {
  void* memory = nullptr;
  if (cudaHostAlloc(&memory, sizeof(long long), cudaHostAllocMapped)) return 1;
  auto* const word = static_cast<volatile long long*>(memory);
  *word = 0;
  for (int threads : {32, 1024}) {
    const double seen = microseconds([=](int turn) {
      say<<<1, threads>>>(word, turn);
      while (*word != turn) {
      }
    });
    const double waited = microseconds([=](int) {
      nothing<<<1, threads>>>();
      cudaStreamSynchronize(nullptr);
    });
    const double launched = microseconds([=](int) { nothing<<<1, threads>>>(); });
    std::printf(
        "%4d threads: seen after %.2f us, by synchronizing %.2f us, launches alone %.2f us\n",
        threads, seen, waited, launched);
  }
}
