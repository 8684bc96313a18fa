// The raw graph that ours are compared with: a captured stream of launches.
#include <PyGPU/gpu.h>

#include <chrono>

__global__ void axpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

namespace {
cudaStream_t stream;
cudaGraphExec_t exec;
}  // namespace

// Capture `count` launches. 0, or the runtime's error.
extern "C" int capture(int count, float* y, const float* x, float a, int n) {
  cudaGraph_t graph{};
  if (const cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))
    return error;
  if (const cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal))
    return error;
  for (int i = 0; i < count; ++i) PYGPU_LAUNCH(axpy, 1, 32, 0, stream)(y, x, a, n);
  if (const cudaError_t error = cudaStreamEndCapture(stream, &graph)) return error;
  return PyGPU::instantiate_graph(&exec, graph);
}

// Seconds for the graph to be launched and done.
extern "C" double replay() {
  const auto start = std::chrono::steady_clock::now();
  (void)cudaGraphLaunch(exec, stream);
  (void)cudaStreamSynchronize(stream);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
