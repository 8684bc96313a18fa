"""Blocks of the pool that stay for the next array (PYGPU_BLOCK_CACHE)."""

import numpy as np
import pytest

from PyGPU import gpuarray

HOST = {"PYGPU_TARGET": "host", "PYGPU_BLOCK_CACHE": 1, "PYGPU_HOST_MEMORY": "16M"}
HEAD = """
import threading
import numpy as np
import PyGPU, PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray

def free():
    return PyGPU.cudaMemGetInfo()[0]

def array(nbytes=65536):
    return GPUArray(nbytes, np.uint8)

all_of_it = free()
array().get()
"""


@pytest.fixture
def program(python):
    def run(source, **environment):
        return python(HEAD + source, **{**HOST, **environment})

    return run


def test_a_block_stays_and_is_taken_again(program):
    program("""
before = free()
for _ in range(100):
    array()
    assert free() == before, "kept, and taken by the next"
both = array(), array()
assert free() == before - 65536
del both
assert free() == before - 65536
array(4096)
assert free() == before - 65536 - 4096, "of another size"
""")


def test_large_blocks_go_back(program):
    program(
        """
before = free()
array((64 << 20) + 1)
assert free() == before
array(64 << 20)
assert free() == before - (64 << 20)
""",
        PYGPU_HOST_MEMORY="1G",
    )


def test_no_more_stay_than_256_mb(program):
    program(
        """
before = free()
for megabytes in [*range(10, 60)] * 2:
    x = array(megabytes << 20)
    x[::1 << 20].fill(megabytes)
    assert (x[::1 << 20].get() == megabytes).all()
    del x
    assert before - free() <= 256 << 20
assert before - free() > 192 << 20
""",
        PYGPU_HOST_MEMORY="1G",
    )


def test_nothing_stays_by_default_on_the_host_machine(program):
    program("assert free() == all_of_it\n", PYGPU_BLOCK_CACHE="")
    program("assert free() == all_of_it\n", PYGPU_BLOCK_CACHE="0")
    program("assert free() == all_of_it - 65536\n", PYGPU_BLOCK_CACHE="1")


def test_what_others_may_use_on_their_streams_goes_back(program):
    program("""
for use in (
    "x.ptr",
    "x.gpudata",
    "x[5:].ptr",
    "x._array_interface",
    "x.__dlpack__()",
    "x.T.gpudata",
    "x[5:].T.T.ptr",
    "x.fill(1, drv.Stream())",
    "PyGPU.cudaMemset(x, 0, 5)",
    "np.from_dlpack(x)",
):
    x = array(50000)
    before = free()
    result = eval(use)
    del x, result
    drv.Context.synchronize()
    assert free() > before, use
""")


@pytest.mark.parametrize("devices", [1, 2])
def test_what_the_null_stream_orders_stays(devices, program):
    program(
        """
rows = "x.reshape(50, 1000)"
for use in (
    *("x.get()", "x.fill(1)", "x[::2] += 1", "x.fill(1, drv.Stream(1))", "x.set(x.get())"),
    *("x.T", f"{rows}.transpose().copy()", f"{rows}.T.T + 1", "x[[1, 2]]", "x[::2][[1, 2]]"),
    *(f"{rows}[:, [[1], [2]]]", "x[[1, 2]] = 3", "x.take([1, 2])", "x.put([1, 2], [3, 4])"),
    f"{rows}[[1, 2], ::-1] = x[:2000].reshape(2, 1000)",
    f"{rows}[np.arange(50) > 3] = 2",
    "gpuarray.multi_take([x], gpuarray.to_gpu(np.array([1, 2])))",
):
    x = array(50000)
    exec(use)
    drv.Context.synchronize()
    before = free()
    del x
    drv.Context.synchronize()
    assert free() == before, use
""",
        PYGPU_HOST_DEVICES=devices,
    )


def test_they_come_back_when_memory_is_short(program):
    program("""
many = [array(256 << 10) for _ in range(40)]
del many
assert free() < 7 << 20
large = array(15 << 20)
large.fill(3)
assert (large.get() == 3).all()
""")


def test_want_of_memory_tells_arrays_from_other_memory(program):
    program("""
other = drv.mem_alloc(12 << 20)
a = array(1 << 20)
try:
    array(8 << 20)
except PyGPU.driver.MemoryError as error:
    assert f"live arrays of this process hold {1 << 20}" in str(error), error
else:
    raise AssertionError("there was room")
""")


def test_there_is_room_for_few(program):
    program("""
many = [array(1000 + number) for number in range(500)]
del many
assert 32 * 1024 <= all_of_it - free() <= 64 * 1536
for number in range(500):
    x = array(1000 + number)
    x.fill(number % 256)
    assert (x.get() == number % 256).all()
""")


def test_a_reset_takes_them(program):
    program("""
PyGPU.cudaDeviceReset()
assert free() == all_of_it
x = array()
x.fill(7)
assert (x.get() == 7).all()
del x
assert free() == all_of_it - 65536
""")


def test_threads_share_them(program):
    program("""
def work(value):
    for _ in range(300):
        x = array()
        x.fill(value)
        y = x + 1
        assert (y.get() == value + 1).all()
    done.append(value)

done = []
threads = [threading.Thread(target=work, args=[value]) for value in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sorted(done) == [0, 1, 2, 3]
""")


def test_arrays_that_take_each_others_memory():
    """On a device, as ever: what is queued with the old array comes before the new one's work."""
    x = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
    results = [((x + number) * 2 - x) for number in range(300)]
    for number, result in enumerate(results):
        np.testing.assert_array_equal(result.get(), np.arange(1000) + 2 * number)


DEFAULT_POOL = """
import ctypes
import numpy as np
import PyGPU
from PyGPU._runtime.targets import runtime_library

NAMES = {
    "cuda": ("libcuda.so.1", "cuDeviceGetDefaultMemPool", "cuMemPoolGetAttribute"),
    "hip": (runtime_library("hip"), "hipDeviceGetDefaultMemPool", "hipMemPoolGetAttribute"),
    "host": (
        f"{PyGPU.get_library_dir()}/libPyGPU_host.so",
        "PyGPU_host_cudaDeviceGetDefaultMemPool",
        "PyGPU_host_cudaMemPoolGetAttribute",
    ),
}
path, get, attribute = NAMES[PyGPU.target]
library = ctypes.CDLL(path)
PyGPU.zeros(1 << 20, np.uint8).get()
pool, threshold = ctypes.c_void_p(), ctypes.c_uint64(7)
assert library[get](ctypes.byref(pool), 0) == 0
assert library[attribute](pool, 4, ctypes.byref(threshold)) == 0
assert threshold.value == 0, threshold
"""


def test_the_pool_of_the_process_is_left_as_it_is(python):
    """Other libraries use it; arrays have a pool of their own."""
    python(DEFAULT_POOL)
