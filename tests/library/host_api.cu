// Runtime calls of users' sources, for test_host_sources.py: each function returns 0 if all is
// well.
#include <PyGPU/export.h>
#include <cuda_runtime.h>

#include <cstring>
__constant__ float factors[4];
__device__ int counter;
static __device__ double table[2][3];
__managed__ int managed_value = 5;

__global__ void scale(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= factors[i % 4];
  if (i == 0) counter += 1;
}
template <class T>
__global__ void fill(T* a, T value) {
  a[threadIdx.x] = value;
}
#if __CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10 != CUDART_VERSION
#error "nvcc and the runtime have different versions"
#endif
static void add_one(void* data) { ++*static_cast<int*>(data); }
static void callback(cudaStream_t, cudaError_t status, void* data) {
  *static_cast<int*>(data) += status == cudaSuccess ? 10 : 100;
}
#define CHECK(...)                                        \
  do {                                                    \
    cudaError err = (__VA_ARGS__);                        \
    if (err != cudaSuccess) return __LINE__ * 1000 + err; \
  } while (0)
#define REFUSED(code, ...)                      \
  do {                                          \
    if ((__VA_ARGS__) != code) return __LINE__; \
  } while (0)

int symbols() {
  float values[4] = {1, 2, 3, 4}, back[4], *a;
  CHECK(cudaMemcpyToSymbol(factors, values, sizeof values));
  CHECK(cudaMemcpyToSymbolAsync(factors, values, sizeof(float), 3 * sizeof(float),
                                cudaMemcpyHostToDevice, 0));
  CHECK(cudaMemcpyFromSymbol(back, factors, sizeof back));
  if (back[3] != 1 || back[2] != 3) return 1;
  REFUSED(cudaErrorInvalidValue, cudaMemcpyToSymbol(factors, values, sizeof values, 4));
  REFUSED(cudaErrorInvalidMemcpyDirection,
          cudaMemcpyToSymbol(factors, values, 4, 0, cudaMemcpyDeviceToHost));
  REFUSED(cudaErrorInvalidMemcpyDirection,
          cudaMemcpyFromSymbol(values, factors, 4, 0, cudaMemcpyHostToDevice));
  cudaGetLastError();
  int zero = 0, *address = nullptr;
  std::size_t nbytes = 0;
  CHECK(cudaGetSymbolSize(&nbytes, table));
  if (nbytes != 48) return 2;
  CHECK(cudaGetSymbolAddress((void**)&address, counter));
  CHECK(cudaMemcpy(address, &zero, sizeof zero, cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&a, 16));
  CHECK(cudaMemset(a, 0, 16));
  scale<<<1, 4>>>(a, 4);
  CHECK(cudaMemcpyFromSymbolAsync(&zero, counter, sizeof zero, 0, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a));
  return zero == 1 && managed_value == 5 ? 0 : 3;
}
PYGPU_EXPORT(symbols);

int kernels() {
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, scale));
  CHECK(cudaFuncGetAttributes(&attributes, (const void*)scale));
  CHECK(cudaFuncSetAttribute(fill<int>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  REFUSED(cudaErrorInvalidValue,
          cudaFuncSetAttribute(fill<int>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30));
  CHECK(cudaFuncSetCacheConfig(scale, cudaFuncCachePreferL1));
  CHECK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
  int blocks, grid, block;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill<float>, 0, 0));
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale));
  if (blocks != 1 || grid < 1 || block != 1024 || attributes.maxThreadsPerBlock != 1024) return 1;
  int *a, value = 7, back[4];
  CHECK(cudaMallocAsync(&a, 16, 0));
  void* arguments[] = {&a, &value};
  CHECK(cudaLaunchKernel(fill<int>, dim3(1), dim3(4), arguments));
  CHECK(cudaMemcpyAsync(back, a, 16, cudaMemcpyDeviceToHost));
  CHECK(cudaFreeAsync(a, 0));
  return back[3] == 7 ? 0 : 2;
}
PYGPU_EXPORT(kernels);

int streams() {
  int calls = 0;
  cudaStream_t stream;
  cudaEvent_t event;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&event, cudaEventDisableTiming));
  CHECK(cudaEventRecord(event));
  CHECK(cudaStreamWaitEvent(stream, event));
  CHECK(cudaLaunchHostFunc(stream, add_one, &calls));
  CHECK(cudaStreamAddCallback(stream, callback, &calls, 0));
  CHECK(cudaStreamSynchronize(stream));
  if (calls != 11) return 1;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaLaunchHostFunc(stream, add_one, &calls));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0));
  if (calls != 11) return 2;
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphInstantiate(&exec, graph));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaThreadSynchronize());
  CHECK(cudaEventDestroy(event));
  CHECK(cudaStreamDestroy(stream));
  return calls == 13 ? 0 : 3;
}
PYGPU_EXPORT(streams);

int memory() {
  float *pitched, *pinned, *mapped;
  std::size_t pitch;
  CHECK(cudaMallocPitch(&pitched, &pitch, 100, 3));
  CHECK(cudaMemset2DAsync(pitched, pitch, 1, 100, 3));
  CHECK(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaMallocHost(&pinned, 64));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(pitched));
  cudaPitchedPtr box;
  cudaExtent extent = make_cudaExtent(5 * sizeof(float), 3, 2);
  CHECK(cudaMalloc3D(&box, extent));
  CHECK(cudaMemset3D(box, 1, extent));
  unsigned host[2][3][5];
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = box;
  copy.dstPtr = make_cudaPitchedPtr(host, 5 * sizeof(float), 5, 3);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  CHECK(cudaFree(box.ptr));
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &format, 5, 4));
  float rows[20], back[13] = {};
  for (int i = 0; i < 20; ++i) rows[i] = float(i);
  CHECK(cudaMemcpyToArray(array, 0, 0, rows, sizeof rows, cudaMemcpyHostToDevice));
  CHECK(
      cudaMemcpyToArray(array, 8, 1, rows, 16, cudaMemcpyHostToDevice));  // 3 in row 1, 1 in row 2
  CHECK(cudaMemcpyFromArray(back, array, 12, 0, sizeof back, cudaMemcpyDeviceToHost));
  const float expected[13] = {3, 4, 5, 6, 0, 1, 2, 3, 11, 12, 13, 14, 15};
  for (int i = 0; i < 13; ++i)
    if (back[i] != expected[i]) return 10 + i;
  if (cudaMemcpyToArray(array, 0, 3, rows, 24, cudaMemcpyHostToDevice) != cudaErrorInvalidValue)
    return 2;
  (void)cudaGetLastError();
  CHECK(cudaFreeArray(array));
  return host[1][2][4] == 0x01010101u ? 0 : 1;
}
PYGPU_EXPORT(memory);

int properties() {
  struct cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  const bool good = p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 48 << 10 &&
                    p.maxGridSize[0] == 0x7fffffff && p.maxGridSize[2] == 65535 &&
                    p.maxThreadsDim[2] == 64 && p.regsPerBlock == 65536 && p.major == 9 &&
                    p.concurrentKernels && p.unifiedAddressing && p.managedMemory &&
                    p.clockRate > 0 && p.totalConstMem == 65536 && p.textureAlignment > 0 &&
                    p.maxTexture2D[1] > 0;
  return good ? 0 : 1;
}
PYGPU_EXPORT(properties);
