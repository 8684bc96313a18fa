// A HIP source for test_host_sources.py: launches in both spellings, a symbol, properties.
#include <PyGPU/export.h>
#include <hip/hip_runtime.h>
__constant__ int add;
__global__ void twice(int* a, int n) {
  int i = hipBlockIdx_x * blockDim.x + hipThreadIdx_x;
  if (i < n) a[i] = 2 * a[i] + add;
}
template <class T>
__global__ void fill(T* a, T v) {
  a[threadIdx.x] = v;
}
#define CHECK(...)                 \
  do {                             \
    hipError_t e = (__VA_ARGS__);  \
    if (e != hipSuccess) return e; \
  } while (0)
int run(int* device, int n, hipStream_t stream) {
  int one = 1;
  hipDeviceProp_t p;
  void* host;
  CHECK(hipGetDeviceProperties(&p, 0));
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(add), &one, sizeof one));
  CHECK(hipHostMalloc(&host, 64, hipHostMallocDefault));
  CHECK(hipHostFree(host));
  hipLaunchKernelGGL(HIP_KERNEL_NAME(fill<int>), dim3(1), dim3(n), 0, stream, device, 5);
  hipLaunchKernelGGL(twice, 1, n, 0, stream, device, n);
  twice<<<1, n, 0, stream>>>(device, n);
  CHECK(hipGetLastError());
  return hipStreamSynchronize(stream);
}
PYGPU_EXPORT(run);
