"""Memory pools: bins, reuse, counters; arrays of their memory; page-locked pools; the debugging
one."""

import gc
import io
import operator

import hypothesis.strategies as st
import needs
import numpy as np
import pytest
from hypothesis import example, given

import PyGPU.driver as drv
from PyGPU import errors, gpuarray, tools
from PyGPU.compiler import SourceModule

POOLS = [tools.DeviceMemoryPool, tools.PageLockedMemoryPool]


@pytest.fixture
def pool():
    return tools.DeviceMemoryPool()


@pytest.fixture
def locked():
    return tools.PageLockedMemoryPool()


def counters(pool):
    return pool.held_blocks, pool.active_blocks, pool.managed_bytes, pool.active_bytes


# Bins.


@pytest.mark.parametrize(
    ("size", "number", "nbytes"),
    [(0, 0, 1), (1, 0, 1), (2, 16, 2), (3, 24, 3), (7, 44, 7), (16, 64, 16), (17, 65, 17)]
    + [(100, 105, 103), (1000, 159, 1023), (2**20, 320, 1114111), (2**40, 640, 17 * 2**36 - 1)],
)
def test_known_bins(size, number, nbytes):
    for kind in POOLS:
        assert kind.bin_number(size) == number and kind().bin_number(np.int64(size)) == number
        assert kind.alloc_size(number) == nbytes == kind().alloc_size(number)


@given(st.integers(1, 2**50))
@example(2**32)
def test_a_bin_wastes_at_most_a_sixteenth(size):
    bin_number, alloc_size = tools.DeviceMemoryPool.bin_number, tools.DeviceMemoryPool.alloc_size
    number = bin_number(size)
    assert 0 <= alloc_size(number) - size <= size / 16
    assert bin_number(alloc_size(number)) == number
    assert bin_number(alloc_size(number) + 1) > number
    assert bin_number(size + 1) >= number


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize("name", ["bin_number", "alloc_size"])
def test_what_is_no_bin(kind, name):
    with pytest.raises(TypeError, match=r"expected an integer, got 1\.5"):
        getattr(kind, name)(1.5)
    with pytest.raises(OverflowError, match="-1"):
        getattr(kind, name)(-1)


# Blocks.


def test_a_block_is_an_address(pool):
    block = pool.allocate(100)
    assert type(block) is tools.PooledDeviceAllocation and len(block) == 100
    address = int(block)
    assert address > 0 and operator.index(block) == address and hex(block) == hex(address)
    assert np.intp(block) == np.uintp(block) == address
    assert repr(block) == f"<PooledDeviceAllocation of 100 bytes at {address:#x}>"
    data = np.arange(25, dtype=np.int32)
    drv.memcpy_htod(block, data)
    assert (drv.from_device(block, 25, np.int32) == data).all()
    drv.memcpy_dtod(other := pool.allocate(100), block, 100)
    assert (gpuarray.GPUArray(25, np.int32, gpudata=other).get() == data).all()
    module = SourceModule("__global__ void negate(int *x) { x[threadIdx.x] *= -1; }")
    function = module.get_function("negate")
    function(block, block=(25, 1, 1))
    function.prepare("P").prepared_call((1, 1), (5, 1, 1), block)
    assert drv.from_device(block, 7, np.int32).tolist() == [0, 1, 2, 3, 4, -5, -6]
    assert drv.mem_get_address_range(block)[0] == address


def test_the_life_of_a_block(pool):
    assert counters(pool) == (0, 0, 0, 0)
    first = pool.allocate(100)
    assert counters(pool) == (0, 1, 103, 100)
    address = int(first)
    del first
    assert counters(pool) == (1, 0, 103, 0)
    again = pool.allocate(103)  # of the same bin
    assert int(again) == address and counters(pool) == (0, 1, 103, 103)
    larger = pool.allocate(104)
    assert int(larger) != address and counters(pool) == (0, 2, 103 + 107, 103 + 104)
    assert again.free() is None and int(again) == address
    assert counters(pool) == (1, 1, 210, 104)
    with pytest.raises(drv.LogicError, match="freed before"):
        again.free()
    reused = pool.allocate(101)
    del again  # which has nothing to give back any more
    assert int(reused) == address and counters(pool) == (0, 2, 210, 205)


@pytest.mark.parametrize("size", [0, np.int64(0), np.uint8(200), True, 12345])
def test_sizes(pool, size):
    block = pool.allocate(size)
    assert len(block) == size and int(block) and pool.active_bytes == size
    assert pool.managed_bytes == pool.alloc_size(pool.bin_number(size))


@pytest.mark.parametrize(
    ("size", "error"),
    [(1.0, TypeError), ("8", TypeError), (None, TypeError), (np.float32(8), TypeError)]
    + [(-1, OverflowError), (2**62, MemoryError), (2**63, MemoryError)],
)
def test_what_is_no_size(pool, size, error):
    with pytest.raises(error):
        pool.allocate(size)
    assert counters(pool) == (0, 0, 0, 0)


@pytest.mark.alone
def test_memory_is_given_back(pool):
    nbytes = 1 << 24
    kept, other = pool.allocate(nbytes), pool.allocate(nbytes)
    del other
    used = drv.mem_get_info()[0]
    assert pool.free_held() is None and counters(pool)[:2] == (0, 1)
    assert drv.mem_get_info()[0] >= used + nbytes
    assert pool.stop_holding() is None
    del kept
    assert counters(pool) == (0, 0, 0, 0)
    assert drv.mem_get_info()[0] >= used + 2 * nbytes
    block = pool.allocate(10)
    block.free()
    assert counters(pool) == (0, 0, 0, 0), "never again"


def test_the_pool_lives_as_long_as_its_blocks(pool):
    block = pool.allocate(64)
    del pool
    gc.collect()
    drv.memcpy_htod(block, bytes(range(64)))
    assert drv.from_device(block, 64, np.uint8).tolist() == list(range(64))
    block.free()


# Arrays.


def test_arrays_of_a_pool(pool):
    a = gpuarray.to_gpu(np.arange(12, dtype=np.float32).reshape(3, 4), allocator=pool.allocate)
    assert type(a.gpudata) is tools.PooledDeviceAllocation and a.ptr == int(a.gpudata)
    assert pool.active_blocks == 1 and pool.active_bytes == 48
    b = a + a
    assert b.allocator == pool.allocate and pool.active_blocks == 2
    view = b[1:, ::2].T
    del b
    gc.collect()
    assert pool.active_blocks == 2 and (view.get() == [[8, 16], [12, 20]]).all()
    del view
    gc.collect()
    assert pool.active_blocks == 1 and pool.held_blocks == 1
    empty = gpuarray.empty(0, np.float32, allocator=pool.allocate)
    assert empty.gpudata is None and pool.active_blocks == 1


def test_many_small_arrays_leave_the_counters_where_they_were(pool):
    keep = gpuarray.zeros(7, np.int8, allocator=pool.allocate)
    sizes = np.random.default_rng(3).integers(1, 300, 10_000).tolist()
    arrays = []
    for size in sizes:
        arrays.append(gpuarray.empty(size, np.int32, allocator=pool.allocate))
        if len(arrays) > 50:
            del arrays[size % 50]
    assert pool.active_blocks == len(arrays) + 1
    del arrays
    assert pool.active_blocks == 1 and pool.active_bytes == keep.nbytes
    assert pool.held_blocks < 1000
    held = pool.managed_bytes
    again = [gpuarray.empty(size, np.int32, allocator=pool.allocate) for size in sizes[:20]]
    assert pool.managed_bytes == held and pool.active_blocks == len(again) + 1, "all reused"


def test_a_subclass_sees_each_allocation():
    class Counting(tools.DeviceMemoryPool):
        sizes = ()

        def allocate(self, size):
            self.sizes += (size,)
            return super().allocate(size)

    pool = Counting()
    a = gpuarray.zeros((2, 3), np.float64, allocator=pool.allocate)
    (a * 2).get()
    assert pool.sizes == (48, 48) and pool.active_blocks == 1


# Page-locked memory.


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "c16", "S5", "M8[ns]", [("a", "i1"), ("b", "f8")]])
def test_page_locked_arrays(locked, dtype, order):
    array = locked.allocate((3, 4), dtype, order=order)
    assert array.shape == (3, 4) and array.dtype == np.dtype(dtype) and array.flags.writeable
    assert array.flags["C_CONTIGUOUS" if order == "C" else "F_CONTIGUOUS"]
    assert type(array.base) is tools.PooledHostAllocation
    assert len(array.base) == array.nbytes == locked.active_bytes
    array[...] = np.zeros((), dtype)
    on_device = gpuarray.to_gpu_async(array)
    assert (on_device.get() == array).all()


def test_the_life_of_a_page_locked_block(locked):
    a = locked.allocate(25, np.float32)
    address = a.ctypes.data
    assert a.shape == (25,) and counters(locked) == (0, 1, 103, 100)
    part = a[3:]
    del a
    assert counters(locked)[:2] == (0, 1)
    del part
    assert counters(locked) == (1, 0, 103, 0)
    a = locked.allocate([5, 5], "f4")
    assert a.ctypes.data == address == int(a.base) == operator.index(a.base)
    a.base.free()
    with pytest.raises(drv.LogicError, match="freed before"):
        a.base.free()
    assert counters(locked) == (1, 0, 103, 0)
    empty = locked.allocate((0, 3), np.int32)
    assert empty.shape == (0, 3) and counters(locked)[1:] == (1, 104, 0)
    locked.stop_holding()
    del empty
    assert counters(locked) == (0, 0, 0, 0)


def test_flags_of_page_locked_memory():
    flags = drv.host_alloc_flags.DEVICEMAP
    for allocator in (tools.PageLockedAllocator(flags), tools.PageLockedAllocator(flags=flags)):
        pool = tools.PageLockedMemoryPool(allocator)
        array = pool.allocate(16, np.int32)
        assert array.base.get_device_pointer() > 0
    for bad in (5, "x", drv.mem_alloc):
        with pytest.raises(TypeError, match="allocator: expected a PageLockedAllocator"):
            tools.PageLockedMemoryPool(bad)
    with pytest.raises(TypeError, match="flags"):
        tools.PageLockedAllocator("portable")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((3, "f4", "K"), RuntimeError, "order='K'"),
        ((3.5, "f4"), TypeError, "shape"),
        (((2, -1), "f4"), OverflowError, "shape"),
        ((3, object), TypeError, "Python objects"),
        ((3, "no such type"), TypeError, "no such type"),
        ((2**59, "f8"), errors.MemoryError, needs.NO_MEMORY),
    ],
)
def test_what_is_no_page_locked_array(locked, arguments, error, text):
    with pytest.raises(error, match=text):
        locked.allocate(*arguments)
    assert counters(locked) == (0, 0, 0, 0)


# Debugging.


def test_a_pool_that_tells():
    log = io.StringIO()
    pool = tools.DebugMemoryPool(interactive=False, logfile=log)

    def first():
        return pool.allocate(100)

    blocks = [first(), first(), gpuarray.zeros(5, np.int32, allocator=pool.allocate)]
    lines = log.getvalue().splitlines()
    here = "test_a_pool_that_tells"
    assert [line.split(" in ")[0] for line in lines if line.startswith("allocated")] == [
        "allocated 100 bytes",
        "allocated 100 bytes",
        "allocated 20 bytes",
    ]
    assert lines[-2].startswith(f"  1 x 20 bytes of {here} (")
    assert lines[-1].startswith("  2 x 100 bytes of first (") and __file__ in lines[-1]
    del blocks[1]
    log.truncate(0)
    again = first()
    assert "  2 x 100 bytes of first" in log.getvalue() and len(again) == 100
    assert isinstance(pool, tools.DeviceMemoryPool) and pool.active_blocks == 3


def test_a_pool_that_tells_does_not_wait_without_a_terminal(capsys):
    tools.DebugMemoryPool().allocate(8)
    assert "allocated 8 bytes" in capsys.readouterr().out
