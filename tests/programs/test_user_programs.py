"""Programs as PyCUDA's users write them: matrices, histograms, sums."""

import numpy as np
import pytest
from contexts import default_context  # noqa: F401

import PyGPU.driver as cuda
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

MATMUL = """
#define TILE %(tile)d

__global__ void matmul(const float *A, const float *B, float *C, int m, int k, int n)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float acc = 0.0f;
    for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
        As[ty][tx] = row < m && t * TILE + tx < k ? A[row * k + t * TILE + tx] : 0.0f;
        Bs[ty][tx] = t * TILE + ty < k && col < n ? B[(t * TILE + ty) * n + col] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < TILE; ++i)
            acc += As[ty][i] * Bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = acc;
}
"""


@pytest.mark.parametrize("tile", [8, 16])
@pytest.mark.parametrize("m, k, n", [(32, 32, 32), (37, 50, 21)])
def test_tiled_matrix_product(tile, m, k, n):
    rng = np.random.default_rng(m)
    a = rng.random((m, k), dtype=np.float32)
    b = rng.random((k, n), dtype=np.float32)
    c_gpu = gpuarray.empty((m, n), np.float32)
    matmul = SourceModule(MATMUL % {"tile": tile}).get_function("matmul")
    grid = ((n + tile - 1) // tile, (m + tile - 1) // tile)
    sizes = np.int32([m, k, n])
    matmul(gpuarray.to_gpu(a), gpuarray.to_gpu(b), c_gpu, *sizes, block=(tile, tile, 1), grid=grid)
    np.testing.assert_allclose(c_gpu.get(), a @ b, rtol=1e-5)


HISTOGRAM = """
__global__ void histogram(const unsigned char *data, unsigned int *bins, size_t size)
{
    __shared__ unsigned int local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    size_t stride = blockDim.x * gridDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride)
        atomicAdd(&local[data[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i])
            atomicAdd(bins + i, local[i]);
}
"""


@pytest.mark.parametrize("block", [64, 256])
def test_histogram_of_bytes(block):
    data = np.random.default_rng(1).normal(128, 40, 100_001).clip(0, 255).astype(np.uint8)
    histogram = SourceModule(HISTOGRAM).get_function("histogram")
    bins_gpu = cuda.mem_alloc(256 * 4)
    cuda.memset_d32(bins_gpu, 0, 256)
    histogram(cuda.In(data), bins_gpu, np.uint64(data.size), block=(block, 1, 1), grid=(16, 1))
    bins = cuda.from_device(bins_gpu, 256, np.uint32)
    np.testing.assert_array_equal(bins, np.bincount(data, minlength=256))


SUM = """
__global__ void block_sums(const double *data, double *sums, int size)
{
    extern __shared__ double partial[];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x * 2 + tid;
    double mine = 0;
    if (i < size) mine = data[i];
    if (i + blockDim.x < size) mine += data[i + blockDim.x];
    partial[tid] = mine;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s >= 32; s >>= 1) {
        if (tid < s)
            partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        mine = partial[tid];
        for (int offset = 16; offset > 0; offset /= 2)
            mine += __shfl_down_sync(0xffffffff, mine, offset, 32);
        if (tid == 0) sums[blockIdx.x] = mine;
    }
}
"""


@pytest.mark.parametrize("size", [1, 100, 4096, 10_007])
@pytest.mark.parametrize("block", [64, 128])
def test_sum_in_dynamic_shared_memory_and_warps(size, block):
    data = np.random.default_rng(size).normal(size=size)
    block_sums = SourceModule(SUM).get_function("block_sums")
    blocks = -(-size // (2 * block))
    sums = np.empty(blocks)
    block_sums(
        *(cuda.In(data), cuda.Out(sums), np.int32(size)),
        block=(block, 1, 1),
        grid=(blocks, 1),
        shared=block * sums.itemsize,
    )
    expected = [part.sum() for part in np.split(data, range(2 * block, size, 2 * block))]
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-12)


def test_device_query():
    device = cuda.Context.get_device()
    facts = {str(attribute): value for attribute, value in device.get_attributes().items()}
    assert facts["MULTIPROCESSOR_COUNT"] >= 1
    assert facts["WARP_SIZE"] == device.get_attribute(cuda.device_attribute.WARP_SIZE)
    assert f"{cuda.device_attribute.WARP_SIZE}" == "WARP_SIZE"
