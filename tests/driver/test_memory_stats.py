"""PyGPU.memory_stats: memory in use, kept for reuse, and the peaks."""

import gc

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.tools import DeviceMemoryPool

MB = 1 << 20


@pytest.fixture(autouse=True)
def quiet():
    """No garbage of other tests is freed while a test counts."""
    gc.collect()


def has_pool():
    a = gpuarray.empty(1, "u1")
    return a.gpudata is not None and PyGPU.memory_stats().pool_used > 0


def test_arrays_are_in_use_until_they_are_gone():
    before = PyGPU.memory_stats()
    a = gpuarray.empty(3 * MB, "u1")
    during = PyGPU.memory_stats()
    assert during.in_use - before.in_use == 3 * MB
    assert during.in_use <= during.reserved <= during.total
    del a
    after = PyGPU.memory_stats()
    assert after.in_use == before.in_use
    assert after.reserved >= after.in_use


def test_plain_memory_is_counted():
    before = PyGPU.memory_stats()
    memory = drv.mem_alloc(5 * MB)
    during = PyGPU.memory_stats()
    assert during.plain_used - before.plain_used == 5 * MB
    assert during.in_use - before.in_use == 5 * MB
    assert during.plain_peak >= during.plain_used
    memory.free()
    assert PyGPU.memory_stats().plain_used == before.plain_used


def test_managed_memory_is_counted():
    before = PyGPU.memory_stats().plain_used
    memory = drv.managed_empty(MB, np.uint8)
    assert PyGPU.memory_stats().plain_used - before == MB
    memory.base.free()
    assert PyGPU.memory_stats().plain_used == before


def test_free_blocks_of_pools_are_held():
    before = PyGPU.memory_stats()
    pool = DeviceMemoryPool()
    block = pool.allocate(MB)
    lent = PyGPU.memory_stats()
    assert lent.held == before.held
    assert lent.in_use - before.in_use == pool.managed_bytes
    block.free()
    kept = PyGPU.memory_stats()
    assert kept.held - before.held == kept.plain_used - before.plain_used == pool.managed_bytes
    assert kept.in_use == before.in_use
    pool.free_held()
    assert PyGPU.memory_stats()[3:5] == before[3:5]
    pool.allocate(MB).free()
    del pool
    assert PyGPU.memory_stats().held == before.held


def test_peaks_can_begin_anew():
    if not has_pool():
        pytest.skip("this device has no stream-ordered pools, so arrays use plain memory")
    PyGPU.memory_stats(reset_peaks=True)
    before = PyGPU.memory_stats()
    a, b = gpuarray.empty(2 * MB, "u1"), drv.mem_alloc(MB)
    del a
    b.free()
    after = PyGPU.memory_stats(reset_peaks=True)
    assert after.pool_peak - before.pool_used >= 2 * MB
    assert after.plain_peak - before.plain_used == MB
    anew = PyGPU.memory_stats()
    assert anew.pool_peak < after.pool_peak or anew.cached > 0
    assert anew.plain_peak == anew.plain_used


def test_a_capture_stays_valid():
    stream, a = drv.Stream(), gpuarray.zeros(4, "int32")
    with stream.capture() as graph:
        assert PyGPU.memory_stats().in_use > 0
        drv.memset_d32_async(a.ptr, 3, 4, stream)
    graph.launch()
    assert a.get().tolist() == [3] * 4


def test_the_device_may_be_named():
    assert PyGPU.memory_stats(drv.Device(0)).device == PyGPU.memory_stats(0).device == 0
    with pytest.raises(drv.LogicError, match="the number of visible devices is"):
        PyGPU.memory_stats(99)
    with pytest.raises(TypeError):
        PyGPU.memory_stats("x".join)


def test_devices_are_counted_apart(two_devices):
    done = two_devices("""
import PyGPU, PyGPU.driver as drv
context = drv.Device(1).make_context()
a, b = PyGPU.gpuarray.empty(1 << 20, "u1"), drv.mem_alloc(1 << 20)
print(PyGPU.memory_stats().device, PyGPU.memory_stats(0).in_use, PyGPU.memory_stats(1).in_use)
context.pop()
print(PyGPU.memory_stats().device)
""")
    assert done.stdout.split() == ["1", "0", str(2 * MB), "0"]


def test_a_reset_of_the_device_frees_everything(python):
    done = python("""
import PyGPU, PyGPU.driver as drv
from PyGPU.tools import DeviceMemoryPool
a, b, pool = PyGPU.gpuarray.empty(1 << 20, "u1"), drv.mem_alloc(1 << 20), DeviceMemoryPool()
pool.allocate(1 << 20).free()
PyGPU.cudaDeviceReset()
print(PyGPU.memory_stats()[3:])
""")
    assert done.stdout.strip() == str((0,) * 10)


def test_the_block_cache_is_counted_apart(python):
    done = python(
        """
import PyGPU
from PyGPU import gpuarray
a = gpuarray.empty(1 << 20, "u1")
del a
stats = PyGPU.memory_stats()
print(stats.cached, stats.in_use, stats.pool_used >= stats.cached)
""",
        PYGPU_BLOCK_CACHE=1,
        PYGPU_POOLS=1,
    )
    assert done.stdout.split() == [str(MB), "0", "True"]
