"""Kernels of the host machine that would run on, or for which there is no memory, are ended."""

import pytest
from campaign import each_once

HEAD = """
import ctypes, os, signal, threading
import numpy as np
import PyGPU
import PyGPU.autoinit
from PyGPU.compiler import SourceModule

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it

def kernel(text):
    return SourceModule(text).get_function("f")

def word(array, index):
    return ctypes.c_int.from_address(array.ptr + 4 * index)

def failure(function, *arguments, **shape):
    try:
        function(*arguments, **shape)
    except PyGPU.driver.Error as error:
        return type(error).__name__, str(error)
    raise SystemExit("it did not fail")

def check_sound():
    f = kernel('''__global__ void f(int *a) {
        __shared__ int tile[64]; tile[threadIdx.x] = threadIdx.x; __syncthreads();
        a[64 * blockIdx.x + threadIdx.x] = tile[63 - threadIdx.x]; }''')
    a = PyGPU.zeros(64 * 40, np.int32)
    f(a, block=(64, 1, 1), grid=(40, 1))
    assert (a.get().reshape(40, 64) == np.arange(63, -1, -1)).all()
"""


@pytest.fixture
def host(python):
    return lambda text, **settings: python(HEAD + text, PYGPU_TARGET="host", **settings)


@pytest.mark.parametrize(("threads", "pause"), each_once([2, 4], ["", "__nanosleep(100);"]))
def test_a_fault_ends_blocks_that_wait_for_the_one_that_failed(host, threads, pause):
    """Each core has one block: whichever the launching thread has, all are ended."""
    host(
        f"""
f = kernel('''__global__ void f(volatile int *a, int bad) {{
    if (blockIdx.x == bad) {{ while (a[1] < {threads - 1}) ; *(volatile int *)8 = 1; }}
    atomicAdd(&a[1], 1);
    while (a[0] == 0) {{ {pause} }} }}''')
for bad in range({threads}):
    a = PyGPU.zeros(2, np.int32)
    name, text = failure(f, a, np.int32(bad), block=(1, 1, 1), grid=({threads}, 1))
    assert f"block ({{bad}}, 0, 0), thread (0, 0, 0): access to the illegal address 0x8" in text
    check_sound()
""",
        PYGPU_HOST_THREADS=threads,
    )


SPIN = """
f = kernel('''__global__ void f(volatile int *a) {
    if (blockIdx.x + 1 == gridDim.x) a[1] = 1;
    while (a[0] == 0) { %s } }''')
a = PyGPU.zeros(2, np.int32)

def press():
    while not word(a, 1).value:
        pass
    os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("pause", ["", "__nanosleep(100);"])
def test_ctrl_c_ends_a_kernel_that_runs_on(host, threads, pause):
    host(
        SPIN % pause
        + f"""
presser = threading.Thread(target=press)
presser.start()
try:
    f(a, block=(1, 1, 1), grid=({threads}, 1))
except KeyboardInterrupt:
    pass
else:
    raise SystemExit("not interrupted")
presser.join()
assert word(a, 1).value
check_sound()
""",
        PYGPU_HOST_THREADS=threads,
    )


def test_ctrl_c_ends_a_launch_of_short_blocks(host):
    host("""
f = kernel('''__global__ void f(int *a) { a[1] = 1; }''')
a = PyGPU.zeros(2, np.int32)
def press():
    while not word(a, 1).value:
        pass
    os.kill(os.getpid(), signal.SIGINT)
presser = threading.Thread(target=press)
presser.start()
try:
    f(a, block=(1024, 1, 1), grid=(2**31 - 1, 60000))
except KeyboardInterrupt:
    pass
presser.join()
check_sound()
""")


def test_a_handler_that_does_not_raise_lets_the_kernel_run_on(host):
    """It is called while the kernel is held up; a launch inside it is refused."""
    host(
        SPIN % ""
        + """
refused = []
def handle(number, frame):
    refused.append(failure(f, a, block=(1, 1, 1))[0])
    word(a, 0).value = 1

signal.signal(signal.SIGINT, handle)
presser = threading.Thread(target=press)
presser.start()
f(a, block=(1, 1, 1))
presser.join()
assert refused == ["LogicError"], refused
check_sound()
"""
    )


DEEP = """
f = kernel('''
__device__ int deep(volatile int *a, int n) {
    volatile int local[64];
    local[n % 64] = n;
    return n >= a[0] ? 0 : deep(a, n + 1) + local[n % 64];
}
__global__ void f(int *a) {
    __shared__ int number;
    if (threadIdx.x == 0) number = atomicAdd(&a[1], 1);
    __syncthreads();
    while (((volatile int *)a)[1] < gridDim.x) __nanosleep(100);
    if (number + 1 == gridDim.x && threadIdx.x == 40) a[2] = deep(a, 0);
    __syncthreads();
    a[3 + threadIdx.x] = threadIdx.x;
}''')
"""


@pytest.mark.parametrize(("blocks", "threads"), [(16, 64), (20, 1024)])
def test_a_stack_that_overflows_into_others_is_reported_as_its_own(host, blocks, threads):
    """The last block that begins does it; 20 x 1024 stacks are more than have guard pages."""
    host(
        DEEP
        + f"""
for depth in (100, 4500, 100, 40000, 100):
    a = PyGPU.to_gpu(np.array([depth] + [0] * (2 + {threads}), np.int32))
    launch = dict(block=({threads}, 1, 1), grid=({blocks}, 1))
    if depth == 100:
        f(a, **launch)
        assert (a.get()[3:] == np.arange({threads})).all()
        continue
    name, text = failure(f, a, **launch)
    assert "thread (40, 0, 0): stack overflow" in text, text
""",
        PYGPU_HOST_THREADS=blocks,
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_no_memory_for_stacks_is_an_error(host, threads):
    host(
        """
import resource
f = kernel('__global__ void f(int *a) { __syncthreads(); a[threadIdx.x] = threadIdx.x; }')
a = PyGPU.zeros(1024, np.int32)
f(a, block=(4, 1, 1), grid=(2, 1))
pages = int(open("/proc/self/statm").read().split()[0])
limits = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (200 << 20), limits[1]))
for _ in range(3):
    name, text = failure(f, a, block=(1024, 1, 1), grid=(2, 1))
    assert name == "MemoryError" and "1 MB of address space each" in text, text
    f(a, block=(64, 1, 1), grid=(2, 1))
    assert (a.get()[:64] == np.arange(64)).all()
resource.setrlimit(resource.RLIMIT_AS, limits)
f(a, block=(1024, 1, 1), grid=(2, 1))
assert (a.get() == np.arange(1024)).all()
""",
        PYGPU_HOST_THREADS=threads,
    )
