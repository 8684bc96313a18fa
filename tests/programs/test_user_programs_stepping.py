"""Programs as PyCUDA's users write them: steps in time, streams, constant memory."""

import numpy as np
import pytest
from contexts import default_context  # noqa: F401

import PyGPU.driver as cuda
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

LIFE = """
__device__ int cell(const unsigned char *board, int r, int c, int n)
{
    return board[((r + n) % n) * n + (c + n) % n];
}

__global__ void step(const unsigned char *now, unsigned char *then, int n)
{
    int c = threadIdx.x + blockIdx.x * blockDim.x;
    int r = threadIdx.y + blockIdx.y * blockDim.y;
    if (r >= n || c >= n)
        return;
    int around = -cell(now, r, c, n);
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            around += cell(now, r + i, c + j, n);
    then[r * n + c] = around == 3 || (around == 2 && now[r * n + c]);
}
"""


def test_two_games_of_life_on_two_streams():
    step = SourceModule(LIFE).get_function("step")
    n, generations = 40, 25
    games = []
    for seed in range(2):
        stream = cuda.Stream()
        board = cuda.pagelocked_empty((n, n), np.uint8)
        board[:] = np.random.default_rng(seed).integers(0, 2, (n, n))
        now, then = cuda.mem_alloc(board.nbytes), cuda.mem_alloc(board.nbytes)
        start, end = cuda.Event(), cuda.Event()
        games.append((stream, board, board.copy(), now, then, start, end))
        start.record(stream)
        cuda.memcpy_htod_async(now, board, stream)
        for _ in range(generations):
            step(now, then, np.int32(n), block=(16, 16, 1), grid=(3, 3), stream=stream)
            now, then = then, now
        cuda.memcpy_dtoh_async(board, now, stream)
        end.record(stream)
    for stream, board, expected, _, _, start, end in games:
        end.synchronize()
        assert end.query() and stream.is_done()
        assert start.time_till(end) >= 0 and end.time_since(start) >= 0
        for _ in range(generations):
            shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
            around = sum(np.roll(expected, shift, (0, 1)) for shift in shifts)
            expected = ((around == 3) | ((around == 2) & (expected == 1))).astype(np.uint8)
        np.testing.assert_array_equal(board, expected)


CONVOLUTION = """
#define RADIUS 3
__constant__ float weights[2 * RADIUS + 1];
__device__ int calls;

__global__ void convolve(const float *in, float *out, int size)
{
    __shared__ float tile[128 + 2 * RADIUS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = threadIdx.x; j < blockDim.x + 2 * RADIUS; j += blockDim.x) {
        int source = blockIdx.x * blockDim.x + j - RADIUS;
        tile[j] = source >= 0 && source < size ? in[source] : 0;
    }
    __syncthreads();
    if (i >= size) return;
    float sum = 0;
    for (int j = 0; j <= 2 * RADIUS; ++j)
        sum += weights[2 * RADIUS - j] * tile[threadIdx.x + j];
    out[i] = sum;
    if (i == 0) atomicAdd(&calls, 1);
}
"""


def test_convolution_with_weights_in_constant_memory():
    module = SourceModule(CONVOLUTION)
    convolve = module.get_function("convolve")
    address, size = module.get_global("weights")
    assert size == 7 * 4
    signal = np.random.default_rng(5).normal(size=500).astype(np.float32)
    signal_gpu = gpuarray.to_gpu(signal)
    result_gpu = gpuarray.empty_like(signal_gpu)
    for weights in (np.float32([0, 0, 0, 1, 0, 0, 0]), np.hanning(9)[1:-1].astype(np.float32)):
        cuda.memcpy_htod(address, weights)
        convolve(signal_gpu, result_gpu, np.int32(signal.size), block=(128, 1, 1), grid=(4, 1))
        expected = np.convolve(signal, weights, mode="same")
        np.testing.assert_allclose(result_gpu.get(), expected, rtol=1e-4, atol=1e-5)
    assert cuda.from_device(module.get_global("calls")[0], 1, np.int32)[0] == 2


HEAT = """
__global__ void heat(const double *u, double *next, int n, double alpha)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0 || i == n - 1)
        next[i] = u[i];
    else if (i < n)
        next[i] = u[i] + alpha * (u[i - 1] - 2 * u[i] + u[i + 1]);
}
"""


@pytest.mark.parametrize("types", ["PPid", [np.intp, np.intp, np.int32, np.float64]])
def test_heat_equation_by_prepared_calls(types):
    heat = SourceModule(HEAT).get_function("heat").prepare(types)
    n, steps, alpha = 200, 100, 0.25
    u = np.sin(np.pi * np.arange(n) / (n - 1)) + (np.arange(n) > n // 2)
    now, then = cuda.to_device(u), cuda.mem_alloc_like(u)
    stream = cuda.Stream()
    for step in range(steps):
        if step % 2:
            heat.prepared_async_call((2, 1), (128, 1, 1), stream, now, then, n, alpha)
        else:
            heat.prepared_call((2, 1), (128, 1, 1), now, then, np.int32(n), np.float64(alpha))
        now, then = then, now
    stream.synchronize()
    expected = u.copy()
    for _ in range(steps):
        expected[1:-1] += alpha * (expected[:-2] - 2 * expected[1:-1] + expected[2:])
    np.testing.assert_allclose(cuda.from_device_like(now, u), expected, rtol=1e-12, atol=1e-13)
    assert heat.prepared_timed_call((2, 1), (128, 1, 1), now, then, n, alpha)() >= 0
