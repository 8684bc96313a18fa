"""Files written for nvcc, compiled by hipcc without a GPU."""

import needs
import pytest

import PyGPU

SOURCE = """
#include <cuda.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <device_launch_parameters.h>
#include <driver_types.h>
#include <vector_types.h>
#include <warp.h>  // the user's; one of ours has the same name
static_assert(MINE == 42, "the user's headers precede ours");

__constant__ float factors[4];
__device__ int counter;

__global__ void __launch_bounds__(256, 2) sum(const float *a, float *out) {
  float value = __ldcg(a + threadIdx.x) * factors[threadIdx.x % 4];
  const unsigned mask = __activemask();
  for (int n = 16; n; n /= 2) value += __shfl_down_sync(0xffffffff, value, n);
  if (__ballot_sync(mask, 1)) __syncwarp();
  if (threadIdx.x == 0) atomicAdd(out, value);
}
__global__ void draw(float *a) {
  curandState state;
  curand_init(1234, threadIdx.x, 0, &state);
  a[threadIdx.x] = curand_poisson(&state, 3.0) + curand_normal(&state);
}
extern "C" cudaError_t run(float *a, float *out, cudaArray **array, cudaStream_t stream) {
  const float values[4] = {1, 2, 3, 4};
  float back[4], *mapped;
  void *address;
  size_t nbytes;
  cudaMemcpyToSymbol(factors, values, sizeof values);
  cudaMemcpyToSymbolAsync(factors, values, 8, 8, cudaMemcpyHostToDevice, stream);
  cudaMemcpyFromSymbol(back, factors, sizeof back);
  cudaMemcpyFromSymbolAsync(back, factors, 8, 8, cudaMemcpyDeviceToHost, stream);
  cudaGetSymbolAddress(&address, counter);
  cudaGetSymbolSize(&nbytes, counter);
  cudaHostGetDevicePointer(&mapped, a, 0);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMalloc3DArray(array, &format, make_cudaExtent(4, 4, 4));
  cudaMemcpy2DToArrayAsync(*array, 0, 0, a, 16, 16, 4, cudaMemcpyHostToDevice, stream);
  sum<<<1, 256, 0, stream>>>(a, out);
  draw<<<1, 256, 0, stream>>>(a);
  return cudaGetLastError();
}
"""


@pytest.mark.no_device
def test_a_file_for_nvcc(tmp_path):
    needs.program("hipcc")
    (tmp_path / "mine.cu").write_text(SOURCE)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "warp.h").write_text("#define MINE 42")
    made = PyGPU.build(
        tmp_path / "mine.cu",
        out=tmp_path / "libmine.so",
        target="hip",
        arch=["gfx90a"],
        include_dirs=[tmp_path / "include"],
        cache_dir=tmp_path / "cache",
    )
    assert b"gfx90a" in (tmp_path / "libmine.so").read_bytes(), made
