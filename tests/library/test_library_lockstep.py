"""Libraries for ``host`` from code before ``__syncwarp``, whose warps run in lockstep."""

import shlex

import needs
import numpy as np
import pytest
from campaign import rare_but
from test_library_commands import command

import PyGPU
from PyGPU import gpuarray

pytestmark = pytest.mark.skipif(PyGPU.target != "host", reason="GPUs run their warps themselves")

# A sum whose last warp has no barriers.
SOURCE = """
#include <PyGPU/export.h>
#include "last_warp.h"

__global__ void NAME_kernel(const float *a, float *out) {
  extern __shared__ VOLATILE float s[];
  const int t = threadIdx.x;
  a += 2 * blockIdx.x * blockDim.x;
  s[t] = a[t] + a[t + blockDim.x];
  __syncthreads();
  if (t < 32) last_warp(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}

float NAME(int blocks) {
  float a[128 * 8], sums[8], *x, *out;
  for (int i = 0; i < 128 * blocks; ++i) a[i] = i;
  cudaMalloc(&x, sizeof(float) * 128 * blocks);
  cudaMalloc(&out, sizeof(float) * blocks);
  cudaMemcpy(x, a, sizeof(float) * 128 * blocks, cudaMemcpyHostToDevice);
  NAME_kernel<<<blocks, 64, 64 * sizeof(float)>>>(x, out);
  cudaMemcpy(sums, out, sizeof(float) * blocks, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return total_of(sums, blocks);
}
PYGPU_EXPORT(NAME);
"""
PLAIN = """
static float total_of(const float *sums, int n) {
  float total = 0;
  for (int i = 0; i < n; ++i) total += sums[i];
  return total;
}
"""
# The threads of the CPU and its atomic operations are compiled with the same flags as the kernel.
THREADS = """
#include <atomic>
#include <cstring>
#include <thread>
static float total_of(const float *sums, int n) {
  std::atomic<int> total{0};
  std::thread workers[8];
  for (volatile int i = 0; i < n; i = i + 1) {
    const float sum = sums[i];
    workers[i] = std::thread([&total, sum] { total += int(sum); });
  }
  for (int i = 0; i < n; ++i) workers[i].join();
  return total;
}
"""
HEADER = """
__device__ static void last_warp(VOLATILE float *s, int t) {
  s[t] += s[t + 32]; s[t] += s[t + 16]; s[t] += s[t + 8];
  s[t] += s[t + 4]; s[t] += s[t + 2]; s[t] += s[t + 1];
}
"""


@pytest.fixture
def sources(tmp_path):
    result = []
    for name, total_of in (("one", PLAIN), ("two", THREADS)):
        text = total_of + SOURCE.replace("NAME", name).replace("VOLATILE", "volatile")
        result.append(tmp_path / f"{name}.cu")
        result[-1].write_text(text)
    (tmp_path / "last_warp.h").write_text(HEADER.replace("VOLATILE", "volatile"))
    (tmp_path / "plain.cu").write_text('extern "C" int plain() { return 42; }\n')
    return [*result, tmp_path / "plain.cu"]


def check(library):
    assert library.one(3) == sum(range(3 * 128))
    assert library.two(5) == sum(range(5 * 128))
    assert library.plain() == 42


def test_several_sources(sources, tmp_path):
    check(PyGPU.load(sources, "int plain();", cache_dir=tmp_path))


def test_volatile_by_a_macro_of_the_options(sources, tmp_path):
    sources[0].write_text(PLAIN + SOURCE.replace("NAME", "one"))
    (tmp_path / "last_warp.h").write_text(HEADER)
    library = PyGPU.load(sources[0], options=["-DVOLATILE=volatile"], cache_dir=tmp_path)
    assert library.one(3) == sum(range(3 * 128))


def test_memory_that_another_source_declares(tmp_path):
    (tmp_path / "step.cu").write_text("""
    __device__ void step(volatile int *s, int t, int n) { s[t] += s[t + n]; }
    """)
    (tmp_path / "sum.cu").write_text("""
    #include <PyGPU/export.h>
    __device__ void step(volatile int *s, int t, int n);
    __global__ void sum_kernel(int *a) {
      __shared__ int s[64];
      s[threadIdx.x] = a[threadIdx.x];
      s[threadIdx.x + 32] = 0;
      for (int n = 16; n; n /= 2) step(s, threadIdx.x, n);
      a[threadIdx.x] = s[threadIdx.x];
    }
    void sum(int *a) { sum_kernel<<<1, 32>>>(a); }
    PYGPU_EXPORT(sum);
    """)
    sources = [tmp_path / "step.cu", tmp_path / "sum.cu"]
    library = PyGPU.load(sources, options=["-rdc=true"], cache_dir=tmp_path)
    a = gpuarray.to_gpu(np.arange(32, dtype=np.int32))
    library.sum(a)
    assert a.get()[0] == sum(range(32))


def test_strict_mode(sources, tmp_path, python):
    text = f"""
import PyGPU, PyGPU.autoinit
sources = {[str(sources[0]), str(sources[2])]}
library = PyGPU.load(sources, "int plain();", cache_dir={str(tmp_path)!r})
print(library.one(3), library.plain())
"""
    done = python(text, PYGPU_HOST_STRICT="1")
    assert done.stdout.split() == [f"{sum(range(3 * 128))}.0", "42"], done.stderr


@pytest.mark.parametrize("steps", rare_but(["two"], ["one", "two"]))
def test_cxx(steps, sources, tmp_path):
    compiler = needs.program("g++")
    cflags = shlex.split(command("--cflags", "--target", "host", folder=tmp_path).stdout)
    ldflags = shlex.split(command("--ldflags", "--target", "host", folder=tmp_path).stdout)
    names = [one.name for one in sources]
    if steps == "one":
        words = [[*cflags, *names, *ldflags, "-o", "libmine.so"]]
    else:
        words = [[*cflags, "-c", name, "-o", f"{name}.o"] for name in names]
        words.append([*(f"{name}.o" for name in names), *ldflags, "-o", "libmine.so"])
    for one in words:
        done = command("cxx", compiler, *one, folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    check(PyGPU.load(tmp_path / "libmine.so", "int plain();"))
