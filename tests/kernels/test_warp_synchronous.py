"""Kernels from before ``__syncwarp``, whose warps exchange values through volatile shared memory.

On GPUs since Volta they are right only as long as the compiler keeps a warp together, which it does
for these; the host machine has them right always.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from campaign import rare_but

import PyGPU
from PyGPU import gpuarray
from PyGPU.compiler import DynamicModule, SourceModule

only_host = pytest.mark.skipif(
    PyGPU.target != "host", reason="a GPU's compiler and scheduler decide what these do there"
)


def kernel(text, name="f", **options):
    return SourceModule(text, **options).get_function(name)


LAST_WARP = """
__device__ void last_warp(volatile TYPE *s, int t) {
  s[t] += s[t + 32]; s[t] += s[t + 16]; s[t] += s[t + 8];
  s[t] += s[t + 4]; s[t] += s[t + 2]; s[t] += s[t + 1];
}
__global__ void f(const TYPE *a, TYPE *out) {
  __shared__ TYPE s[SIZE];
  const int t = threadIdx.x;
  s[t] = a[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 32; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t < 32) last_warp(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}
"""


@pytest.mark.parametrize("size", rare_but([64, 1024], [64, 128, 512, 1024]))
@pytest.mark.parametrize(
    ("type_name", "dtype"), [("float", "f4"), ("int", "i4"), ("double", "f8"), ("short", "i2")]
)
def test_sums_whose_last_warp_has_no_barrier(type_name, dtype, size):
    f = kernel(LAST_WARP, options=[f"-DTYPE={type_name}", f"-DSIZE={size}"])
    a = np.random.default_rng(size).integers(-9, 9, (7, size)).astype(dtype)
    out = gpuarray.zeros(7, dtype)
    f(gpuarray.to_gpu(a), out, block=(size, 1, 1), grid=(7, 1))
    np.testing.assert_array_equal(out.get(), a.sum(1).astype(dtype))


def test_sums_of_all_blocks_by_the_last_one(recwarn):
    """As in the CUDA samples' threadFenceReduction, which has a fence besides."""
    text = """
    __device__ unsigned done = 0;
    __global__ void f(const int *a, volatile int *parts, int *out) {
      __shared__ volatile int s[64];
      __shared__ bool is_last;
      const int t = threadIdx.x;
      s[t] = a[blockIdx.x * 32 + t]; s[t + 32] = 0;
      for (int half = 16; half; half /= 2) s[t] += s[t + half];
      if (t == 0) {
        parts[blockIdx.x] = s[0];
        __threadfence();
        is_last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
      }
      __syncthreads();
      if (!is_last) return;
      s[t] = t < gridDim.x ? parts[t] : 0;
      for (int half = 16; half; half /= 2) s[t] += s[t + half];
      if (t == 0) *out = s[0];
    }
    """
    f = kernel(text)
    a = np.arange(7 * 32, dtype=np.int32)
    parts, out = gpuarray.zeros(7, np.int32), gpuarray.zeros(1, np.int32)
    for _ in range(3):
        f(gpuarray.to_gpu(a), parts, out, block=(32, 1, 1), grid=(7, 1))
        assert out.get() == a.sum()
        out.fill(0)
    assert not recwarn.list


@only_host
@pytest.mark.parametrize("way", ["text", "option", "environment"])
def test_a_macro_that_says_volatile(way, monkeypatch):
    text, options = LAST_WARP.replace("volatile", "VOLATILE"), ["-DTYPE=int", "-DSIZE=64"]
    if way == "text":
        text = "#define VOLATILE volatile\n" + text
    elif way == "option":
        options += ["-DVOLATILE=volatile"]
    else:
        monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DVOLATILE=volatile")
    a, out = np.arange(64, dtype=np.int32), gpuarray.zeros(1, np.int32)
    kernel(text, options=options)(gpuarray.to_gpu(a), out, block=(64, 1, 1), grid=(1, 1))
    assert out.get()[0] == a.sum()


@only_host
def test_shared_memory_and_its_volatile_use_in_two_texts():
    module = DynamicModule()
    module.add_source("""
__device__ void last_warp(volatile int *s, int t) {
  s[t] += s[t + 32]; s[t] += s[t + 16]; s[t] += s[t + 8];
  s[t] += s[t + 4]; s[t] += s[t + 2]; s[t] += s[t + 1];
}""")
    module.add_source(
        """
extern __device__ void last_warp(VOLATILE int *s, int t);
__global__ void f(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 32) last_warp(s, threadIdx.x);
  if (threadIdx.x == 0) *out = s[0];
}""",
        nvcc_options=["-DVOLATILE=volatile"],
    )
    out = gpuarray.zeros(1, np.int32)
    module.link().get_function("f")(out, block=(64, 1, 1), grid=(1, 1))
    assert out.get()[0] == 2016


def test_dynamic_shared_memory_and_guarded_steps():
    f = kernel("""
extern volatile __shared__ int s[];
__global__ void f(const int *a, int *out) {
  const int t = threadIdx.x, lane = t % 32;
  s[t] = a[t];
  if (lane < 16) s[t] += s[t + 16];
  if (lane < 8) s[t] += s[t + 8];
  if (lane < 4) s[t] += s[t + 4];
  if (lane < 2) s[t] += s[t + 2];
  if (lane < 1) s[t] += s[t + 1];
  out[t] = s[t - lane];
}""")
    a = np.arange(256, dtype="i4") ** 2
    out = gpuarray.zeros(256, "i4")
    f(gpuarray.to_gpu(a), out, block=(256, 1, 1), shared=4 * 256)
    np.testing.assert_array_equal(out.get(), np.repeat(a.reshape(8, 32).sum(1), 32))


def test_inclusive_scan_of_a_warp():
    f = kernel("""
__global__ void f(const int *a, int *out) {
  volatile __shared__ int s[64];
  const int lane = threadIdx.x;
  s[lane] = 0;
  s[lane + 32] = a[lane];
  volatile int *mine = s + lane + 32;
  for (int step = 1; step < 32; step *= 2) *mine = *mine + mine[-step];
  out[lane] = *mine;
}""")
    a = np.arange(1, 33, dtype="i4") * 7 % 11
    out = gpuarray.zeros(32, "i4")
    f(gpuarray.to_gpu(a), out, block=(32, 1, 1))
    np.testing.assert_array_equal(out.get(), np.cumsum(a))


@only_host
def test_steps_of_a_loop_in_which_lanes_drop_out():
    f = kernel("""
__global__ void f(int *out, int n) {
  volatile __shared__ int s[32];
  const int lane = threadIdx.x;
  if (lane >= n) return;
  s[lane] = lane;
  for (int i = 0; i < lane; ++i) s[lane] += s[lane - 1];  // each lane has its own number of steps
  out[lane] = s[lane];
}""")
    out = gpuarray.zeros(32, "i4")
    f(out, np.int32(27), block=(32, 1, 1))
    s = np.arange(27)
    for i in range(27):  # all lanes read before any writes
        s = np.where(np.arange(27) > i, s + np.roll(s, 1), s)
    np.testing.assert_array_equal(out.get()[:27], s)


@only_host
@pytest.mark.parametrize("block", [33, 96, 200])
def test_warps_that_wait_for_each_other_in_shared_memory(block):
    f = kernel("""
__global__ void f(int *out) {
  __shared__ volatile int turn;
  const int warp = threadIdx.x / warpSize, warps = (blockDim.x + warpSize - 1) / warpSize;
  if (threadIdx.x == 0) turn = warps - 1;
  __syncthreads();
  if (threadIdx.x % warpSize == 0) {
    while (turn != warp) ;
    out[warp] = 10 * turn;
    turn = warp - 1;
  }
}""")
    lanes, status = PyGPU.cudaDeviceGetAttribute(PyGPU.cudaDevAttrWarpSize, 0)
    assert status == PyGPU.cudaSuccess
    warps = -(-block // lanes)
    out = gpuarray.zeros(warps, "i4")
    f(out, block=(block, 1, 1))
    np.testing.assert_array_equal(out.get(), 10 * np.arange(warps))


@only_host
def test_a_lane_that_waits_for_another_of_its_warp():
    """What hangs on GPUs before Volta and works since: each lane goes on by itself."""
    f = kernel("""
__global__ void f(int *out) {
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) { while (ready == 0) ; }
  else if (threadIdx.x == 5) ready = 7;
  out[threadIdx.x] = ready;
}""")
    out = gpuarray.zeros(8, "i4")
    f(out, block=(8, 1, 1))
    assert out.get()[0] == 7


def test_atomics_and_functions_beside_volatile_memory():
    f = kernel("""
__device__ __noinline__ int twice(volatile int *s, int t) { return 2 * s[t]; }
__global__ void f(int *out, int *count, float *total) {
  volatile __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  if (t < 32) s[t] = twice(s, t + 32 - 2 * (t % 2) + 1 - 1);
  out[t] = s[t];
  atomicAdd(count, 1);
  atomicAdd(total, .5f);
  atomicMax(count + 1, t);
  atomicCAS(count + 2, 0, 4);
}""")
    out, count = gpuarray.zeros(64, "i4"), gpuarray.zeros(3, "i4")
    total = gpuarray.zeros(1, "f4")
    f(out, count, total, block=(64, 1, 1))
    t = np.arange(64)
    np.testing.assert_array_equal(out.get(), np.where(t < 32, 2 * (t + 32 - 2 * (t % 2)), t))
    assert count.get().tolist() == [64, 63, 4]
    assert total.get()[0] == 32


@only_host
def test_local_volatile_values_are_not_exchanged():
    """Compensated sums keep the compiler from simplifying by volatile locals: no lane waits."""
    f = kernel("""
__global__ void f(const float *a, float *out, int n) {
  __shared__ float last;
  volatile float sum = 0, lost = 0;
  for (int i = 0; i < n; ++i) {
    volatile float y = a[i] - lost, t = sum + y;
    lost = (t - sum) - y;
    sum = t;
  }
  if (threadIdx.x == 0) last = sum;
  __syncthreads();
  out[threadIdx.x] = last;
}""")
    a = np.full(20000, 0.1, "f4")
    out = gpuarray.zeros(64, "f4")
    f(gpuarray.to_gpu(a), out, np.int32(a.size), block=(64, 1, 1))
    np.testing.assert_allclose(out.get(), np.float64(a).sum(), rtol=1e-7)


@only_host
def test_strict_mode_says_what_it_does_not_check():
    program = f"""
import warnings
import PyGPU.autoinit
from PyGPU.compiler import SourceModule
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    SourceModule({LAST_WARP!r}, options=["-DTYPE=float", "-DSIZE=64"])
print([str(one.message) for one in seen])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYGPU_HOST_STRICT": "1"},
        check=True,
    )
    assert "not checked" in done.stdout
    assert "lockstep" in done.stdout


class Warp:
    """A warp that makes each step with all its lanes, and a random program for it in C as well."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.lanes = np.arange(32)
        self.functions = []

    def condition(self):
        n = int(self.random.integers(1, 32))
        return [
            (f"lane < {n}", self.lanes < n),
            (f"lane % {n % 5 + 2} == 1", self.lanes % (n % 5 + 2) == 1),
            (f"lane & {n}", (self.lanes & n) != 0),
        ][self.random.integers(3)]

    def step(self):
        to, by, n = (int(k) for k in self.random.integers(1, 32, 3))
        text = f"s[lane ^ {to}] += s[(lane + {by}) % 32] + {n};"

        def run(s, active):
            a, b = self.lanes ^ to, (self.lanes + by) % 32
            right, left = s[b] + n, s[a]  # all lanes read before any writes
            s[a[active]] = (left + right)[active]

        return text, run

    def block(self, depth):
        texts, runs = zip(*(self.statement(depth) for _ in range(self.random.integers(1, 4))))

        def run(s, active):
            for one in runs:
                one(s, active)

        return " ".join(texts), run

    def statement(self, depth):
        kind = self.random.integers(5) if depth else 0
        if kind < 2:
            return self.step()
        text, run = self.block(depth - 1)
        if kind == 2:
            condition, mask = self.condition()
            other, run_other = self.block(depth - 1)

            def run_both(s, active):
                run(s, active & mask)
                run_other(s, active & ~mask)

            return f"if ({condition}) {{ {text} }} else {{ {other} }}", run_both
        if kind == 3:
            n, i = int(self.random.integers(2, 5)), f"i{depth}"

            def run_loop(s, active):
                for i in range(n):
                    run(s, active & (i < self.lanes % n))

            return f"for (int {i} = 0; {i} < lane % {n}; ++{i}) {{ {text} }}", run_loop
        name = f"p{len(self.functions)}_" + "".join(map(str, self.random.integers(0, 9, 9)))
        inline = ("", "__noinline__ ", "__forceinline__ ")[self.random.integers(3)]
        self.functions.append(
            f"__device__ {inline}void {name}(volatile unsigned *s, int lane) {{ {text} }}\n"
        )
        return f"{name}(s, lane);", run


@only_host
@pytest.mark.parametrize("seed", rare_but([0], range(3)))
def test_random_programs_of_a_warp(seed):
    programs = []
    for number in range(12):
        warp = Warp([seed, number])
        text, run = warp.block(4)
        programs.append((number, text, run, warp.functions))
    source = "".join(
        "".join(functions)
        + f"__global__ void f{number}(unsigned *out) {{ volatile __shared__ unsigned s[32];"
        f" const int lane = threadIdx.x; s[lane] = lane; {text} out[lane] = s[lane]; }}\n"
        for number, text, _, functions in programs
    )
    module = SourceModule(source)
    for number, text, run, _ in programs:
        out = gpuarray.zeros(32, "u4")
        module.get_function(f"f{number}")(out, block=(32, 1, 1))
        s = np.arange(32, dtype="u4")
        run(s, np.ones(32, bool))
        np.testing.assert_array_equal(out.get(), s, err_msg=text)
