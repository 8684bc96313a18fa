// The raw limit of elementwise work: out = a + b in the simplest kernel that reaches it, with
// 128-bit loads and stores. n is a multiple of 8192.
#include <PyGPU/gpu.h>

namespace {

struct alignas(16) Four {
  float item[4];
};

template <int vectors>
__global__ void add(Four* out, const Four* a, const Four* b) {
  const size_t first = size_t(blockIdx.x) * blockDim.x * vectors + threadIdx.x;
  Four x[vectors], y[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    x[v] = a[first + v * blockDim.x];
    y[v] = b[first + v * blockDim.x];
  }
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
#pragma unroll
    for (int k = 0; k < 4; ++k) x[v].item[k] += y[v].item[k];
    out[first + v * blockDim.x] = x[v];
  }
}

}  // namespace

// `vectors` of 1, 2 or 4 and the threads of a block are the caller's to try.
extern "C" int raw_add(float* out, const float* a, const float* b, size_t n, int threads,
                       int vectors) {
  const dim3 grid(unsigned(n / 4 / size_t(threads) / size_t(vectors))), block(threads);
  auto* to = reinterpret_cast<Four*>(out);
  const auto* x = reinterpret_cast<const Four*>(a);
  const auto* y = reinterpret_cast<const Four*>(b);
  if (vectors == 1) PYGPU_LAUNCH(add<1>, grid, block, 0, nullptr)(to, x, y);
  if (vectors == 2) PYGPU_LAUNCH(add<2>, grid, block, 0, nullptr)(to, x, y);
  if (vectors == 4) PYGPU_LAUNCH(add<4>, grid, block, 0, nullptr)(to, x, y);
  return int(cudaGetLastError());
}
