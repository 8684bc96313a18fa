"""Checks of kernels from text: arguments, memories, warps, templates, textures."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import driver, gpuarray
from PyGPU._runtime import capabilities
from PyGPU._tools.checks import Skipped, expect
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel

_SOURCE = """
#include <stdint.h>
#include <math.h>
struct Pair { int a; double b; };
__constant__ float table[4];
__device__ int counter;

__global__ void arguments(double *out, const float *x, short s, unsigned long long u, double d,
                          Pair pair, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + s + (double)u + d + pair.a + pair.b;
}

__global__ void reversed(int *x) {
  __shared__ int tile[256];
  extern __shared__ int more[];
  tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  more[threadIdx.x] = 2 * tile[threadIdx.x];
  __syncthreads();
  x[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x] + more[255 - threadIdx.x];
}

__global__ void atomics(int *i, float *f, double *d, unsigned long long *u, int *most) {
  int number = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(i, 1);
  atomicAdd(f, 1.0f);
  atomicAdd(d, 0.5);
  atomicAdd(u, 1ull << 20);
  atomicMax(most, number);
  atomicAdd(&counter, 1);
  atomicCAS(i + 1, 0, number + 1);
}

__global__ void read_counter(int *out) { *out = counter; counter = 0; }

__global__ void warp(int *shuffled, unsigned long long *votes, int *sums) {
  int lane = threadIdx.x % warpSize;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  shuffled[i] = __shfl_xor_sync(__activemask(), i, 1, warpSize);
  votes[i] = __ballot_sync(__activemask(), lane % 3 == 0);
  int sum = lane;
  for (int by = warpSize / 2; by; by /= 2)
    sum += __shfl_down_sync(__activemask(), sum, by, warpSize);
  sums[i] = __shfl_sync(__activemask(), sum, 0, warpSize);
}

__global__ void by_table(float *out) { out[threadIdx.x] = 2 * table[threadIdx.x % 4]; }

__global__ void numbers(double *out, double x) {
  out[0] = fma(x, x, -1.0);
  out[1] = sqrt(x);
  out[2] = 1 / x;
  out[3] = floor(-x);
  out[4] = __popc(0xf0f0u) + __clz(1) + __ffs(8);
  out[5] = isnan(sqrt(-x));
  out[6] = (double)(float)x;
  out[7] = (double)((int64_t)1 << 40);
}
"""
_TEMPLATE = """
template <class T, int N> __global__ void powers(T *a) {
  T x = a[threadIdx.x], y = 1;
  for (int i = 0; i < N; ++i) y *= x;
  a[threadIdx.x] = y;
}
"""
# A text of its own, because AMD's compiler rejects textures for GPUs without images.
_TEXTURES = """
__global__ void fetch(cudaTextureObject_t t, float *out) {
  out[threadIdx.x] = tex2D<float>(t, threadIdx.x % 8 + 0.5f, threadIdx.x / 8 + 0.5f);
}
"""


def _kernel(name: str) -> Any:
    return SourceModule(_SOURCE).get_function(name)


def _shape(block: int, grid: int = 1, shared: int = 0) -> dict[str, object]:
    return {"block": (block, 1, 1), "grid": (grid, 1), "shared": shared}


def arguments() -> None:
    """Check pointers, numbers of several widths, a structure by value, plain Python numbers."""
    x, out = np.arange(1000, dtype="f4"), np.zeros(1000)
    pair = np.array((7, 0.25), np.dtype([("a", "i4"), ("b", "f8")], align=True))
    _kernel("arguments")(
        *(driver.Out(out), driver.In(x), -3, 1 << 40, 0.5, pair, 1000), **_shape(256, 4)
    )
    expect("out", out, x.astype("f8") + (-3 + 2.0**40 + 0.5 + 7.25))


def shared_memory() -> None:
    """Check static and dynamic shared memory, and barriers."""
    x = np.arange(256 * 50, dtype="i4")
    a = gpuarray.to_gpu(x)
    _kernel("reversed")(a, **_shape(256, 50, 1024))
    expect("reversed blocks", a.get(), 3 * x.reshape(50, 256)[:, ::-1].ravel())


def atomics() -> None:
    """Check atomic operations of many blocks on global memory."""
    module, threads = SourceModule(_SOURCE), 256 * 64
    types = ("i4", 2), ("f4", 1), ("f8", 1), ("u8", 1), ("i4", 1)
    i, f, d, u, most = (gpuarray.zeros(n, dtype) for dtype, n in types)
    module.get_function("atomics")(i, f, d, u, most, **_shape(256, 64))
    out = gpuarray.zeros(1, np.int32)
    module.get_function("read_counter")(out, **_shape(1))
    found = [i.get()[0], f.get()[0], d.get()[0], u.get()[0] >> 20, most.get()[0] + 1, out.get()[0]]
    expect("counts", found, [threads, threads, threads / 2, threads, threads, threads])
    if not 1 <= i.get()[1] <= threads:
        raise AssertionError(f"atomicCAS: {i.get()[1]}, expected one of 1 to {threads}")


def warp() -> str:
    """Check shuffles and votes over all lanes of a warp or wavefront."""
    lanes = driver.Device(0).WARP_SIZE
    n = 4 * 256
    shuffled, sums = gpuarray.zeros(n, np.int32), gpuarray.zeros(n, np.int32)
    votes = gpuarray.zeros(n, np.uint64)
    _kernel("warp")(shuffled, votes, sums, **_shape(256, 4))
    expect("__shfl_xor_sync", shuffled.get(), np.arange(n) ^ 1)
    vote = sum(1 << lane for lane in range(0, lanes, 3))
    expect("__ballot_sync", votes.get(), np.full(n, vote, "u8"))
    expect("sum by __shfl_down_sync", sums.get(), np.full(n, lanes * (lanes - 1) // 2))
    return f"{lanes} lanes"


def constant_memory() -> None:
    """Check a __constant__ variable, written from the host."""
    module, values = SourceModule(_SOURCE), np.array([1, 2, 4, 8], "f4")
    address, nbytes = module.get_global("table")
    expect("bytes", nbytes, 16)
    driver.memcpy_htod(address, values)
    out = gpuarray.zeros(64, np.float32)
    module.get_function("by_table")(out, **_shape(64))
    expect("values", out.get(), np.tile(2 * values, 16))


def numbers() -> None:
    """Check double-precision arithmetic, integer intrinsics and NaN."""
    out, x = gpuarray.zeros(8, np.float64), 1.1
    _kernel("numbers")(out, x, **_shape(1))
    exact = float.fromhex("0x1.ae147ae147ae4p-3")  # 1.1 * 1.1 - 1, rounded once
    single = float(np.float32(x))
    known = [exact, np.sqrt(x), 1 / x, -2, 8 + 31 + 4, 1, single, 2.0**40]
    expect("values", out.get(), known, 1e-15)


def templates() -> None:
    """Check instances of a template."""
    names = ["powers<int, 3>", "powers<double, 2>"]
    module = SourceModule(_TEMPLATE, no_extern_c=True, name_expressions=names)
    for name, dtype, power in zip(names, ("i4", "f8"), (3, 2)):
        x = np.arange(32, dtype=dtype)
        a = gpuarray.to_gpu(x)
        module.get_function(name)(a, **_shape(32))
        expect(name, a.get(), x**power)


def elementwise() -> None:
    """Check an ElementwiseKernel."""
    kernel = ElementwiseKernel("float s, float *x, float *y, float *z", "z[i] = s * x[i] + y[i]")
    for n in (5, 100_003):
        x = np.arange(n, dtype="f4")
        a, out = gpuarray.to_gpu(x), gpuarray.empty(n, np.float32)
        kernel(0.5, a, a, out)
        expect(f"{n} elements", out.get(), np.float32(0.5) * x + x, 1e-6)


def reduction() -> None:
    """Check a ReductionKernel."""
    kernel = ReductionKernel(
        np.float64, neutral="0", reduce_expr="a + b", map_expr="x[i] * x[i]", arguments="double *x"
    )
    for n in (5, 1_000_003):
        x = (np.arange(n) % 100).astype("f8")
        expect(f"{n} elements", kernel(gpuarray.to_gpu(x)).get(), x @ x)


def textures() -> None:
    """Check a texture object of a two-dimensional array."""
    x = np.arange(64, dtype="f4").reshape(8, 8)
    try:
        texture = driver.TextureObject(driver.matrix_to_array(x, "C"))
    except driver.Error as error:
        if not capabilities.has_textures:
            raise Skipped(f"the device has none: {error}") from None
        raise
    out = gpuarray.zeros(64, np.float32)
    SourceModule(_TEXTURES).get_function("fetch")(texture, out, **_shape(64))
    expect("values", out.get(), x.ravel())


def wrong_arguments() -> None:
    """Check that a wrong number of arguments or a wrong dtype is an error before the launch."""
    kernel, a = _kernel("reversed"), gpuarray.zeros(256, np.int32)
    for wrong in ((), (a, a), (np.float32(1),)):
        try:
            kernel(*wrong, **_shape(256))
        except driver.LogicError:
            continue
        raise AssertionError(f"{wrong!r}: no error")
