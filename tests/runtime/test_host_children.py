"""What goes wrong in kernels that kernels of the host machine launch, and in their launches."""

import pytest

HEAD = """
import os, signal, threading, time
import numpy as np
import PyGPU
import PyGPU.autoinit
from PyGPU.compiler import DynamicSourceModule

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
out = PyGPU.zeros(8, np.int32)
CHILD = "__global__ void child(int *out, int v) { out[threadIdx.x] += v; }"

def run(text):
    DynamicSourceModule(text).get_function("parent")(out, block=(1, 1, 1))

def failure(text):
    try:
        run(text)
    except PyGPU.driver.Error as error:
        return str(error)
    raise SystemExit("it did not fail")

def check_sound():
    out.fill(0)
    run(CHILD + "__global__ void parent(int *out) { child<<<1, 8>>>(out, 5); }")
    assert (out.get() == 5).all()
"""


@pytest.fixture
def host(python):
    return lambda text, **settings: python(HEAD + text, PYGPU_TARGET="host", **settings)


def test_a_fault_tells_which_kernel_had_it_and_ends_all(host):
    host("""
told = failure(CHILD + '''
    __global__ void wild(int *out) { out[1ll << 40] = 1; }
    __global__ void parent(int *out) {
      child<<<1, 8>>>(out, 1);
      wild<<<1, 1>>>(out);
      child<<<1, 8>>>(out, 10);
      child<<<1, 8, 0, cudaStreamTailLaunch>>>(out, 100);
    }''')
assert "kernel wild, block (0, 0, 0), thread (0, 0, 0)" in told, told
assert (out.get() == 1).all(), out
check_sound()
""")


def test_threads_of_a_child_that_wait_for_ever(host):
    host("""
told = failure('''
    __global__ void child() { if (threadIdx.x) __syncthreads(); else __syncwarp(); }
    __global__ void parent(int *out) { child<<<1, 4>>>(); }''')
assert "kernel child" in told and "can never continue" in told, told
check_sound()
""")


def test_errors_of_kernels_are_their_own(host):
    host("""
run(CHILD + '''
    __global__ void parent(int *out) {
      out[7] = cudaGetLastError();
      child<<<1, 5000>>>(out, 1);
      child<<<1, 1, 1 << 30>>>(out, 1);
    }''')
assert list(out.get()) == [0] * 8
assert PyGPU.cudaGetLastError() == 0
check_sound()
told = failure('''
    __global__ void parent(int *out) {
      cudaMemcpyAsync(out, (void *)8, 4, cudaMemcpyDeviceToDevice, 0);
    }''')
assert "kernel parent: a copy or fill" in told, told
""")


def test_strict_mode_watches_children_and_their_launches(host):
    host(
        """
check_sound()
told = failure(CHILD + "__global__ void parent(int *out) { child<<<1, 5000>>>(out, 1); }")
assert "kernel parent" in told and "invalid launch of child kernel child" in told, told
told = failure(CHILD + "__global__ void parent(int *out) { child<<<1, 4>>>(out + 6, 1); }")
assert "kernel child" in told and "past the end" in told, told
""",
        PYGPU_HOST_STRICT=1,
    )


def test_launches_without_end_are_interrupted(host):
    host("""
text = "__global__ void parent(int *out) { parent<<<1, 1, 0, cudaStreamTailLaunch>>>(out); }"
DynamicSourceModule(text)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    run(text)
except KeyboardInterrupt:
    check_sound()
else:
    raise SystemExit("it was not interrupted")
""")


def test_blocks_on_many_cores_launch_at_once(host):
    host(
        """
kernel = DynamicSourceModule('''
    __global__ void child(int *out) { atomicAdd(out, 1); }
    __global__ void parent(int *out) {
      for (int i = 0; i < 4; ++i) child<<<2, 2>>>(out + i % 8);
    }''').get_function("parent")
kernel(out, block=(16, 1, 1), grid=(100, 1))
assert list(out.get()) == [16 * 100 * 4] * 4 + [0] * 4, out
""",
        PYGPU_HOST_THREADS=4,
    )


def test_warps_of_linked_texts_run_in_lockstep(host):
    host("""
from PyGPU.compiler import DynamicModule
sum_of_64 = '''
__global__ void child%d(int *out) {
  volatile __shared__ int sums[64];
  int t = threadIdx.x;
  sums[t] = t + %d;
  __syncthreads();
  if (t < 32) {
    sums[t] += sums[t + 32]; sums[t] += sums[t + 16]; sums[t] += sums[t + 8];
    sums[t] += sums[t + 4]; sums[t] += sums[t + 2]; sums[t] += sums[t + 1];
  }
  if (t == 0) out[%d] = sums[0];
}'''
parent = '''
extern __global__ void child0(int *);
extern __global__ void child1(int *);
__global__ void parent(int *out) { child0<<<1, 64>>>(out); child1<<<1, 64>>>(out); }'''
module = DynamicModule()
for number in range(2):
    module.add_source(sum_of_64 % (number, number, number))
kernel = module.add_source(parent).link().get_function("parent")
kernel(out, block=(1, 1, 1))
assert list(out.get()[:2]) == [2016, 2080], out
""")
