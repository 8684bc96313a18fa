"""Device memory in the driver's names: allocations, pitched rows, address ranges, arrays there and
back."""

import gc
import weakref

import needs
import numpy as np
import pytest
from hypothesis import given
from memory_tools import kind_of
from strategies import dtypes, shapes, values

import PyGPU
import PyGPU.driver as drv
from PyGPU import errors, gpuarray

# mem_alloc.


@pytest.mark.parametrize("size", [1, 1000, 1 << 20, np.int64(77), np.uint8(3), np.array(5)])
def test_memory_of_any_size(size):
    memory = drv.mem_alloc(size)
    assert isinstance(memory, drv.DeviceAllocation)
    assert kind_of(memory) == PyGPU.cudaMemoryTypeDevice
    data = np.arange(int(size)).astype(np.uint8)
    drv.memcpy_htod(memory, data)
    assert (drv.from_device_like(memory, data) == data).all()


def test_no_bytes_are_no_memory():
    for empty in (0, np.int64(0)):
        with pytest.raises(drv.LogicError):
            drv.mem_alloc(empty)
    with pytest.raises(drv.LogicError):
        drv.mem_alloc_like(np.zeros((3, 0)))


@pytest.mark.parametrize("size", [-1, -(2**40), np.int64(-5)])
def test_negative_sizes(size):
    with pytest.raises(OverflowError, match=str(size)):
        drv.mem_alloc(size)


@pytest.mark.parametrize("size", [1.5, np.float64(8), None, "8", [8], 2 + 0j])
def test_what_is_no_size(size):
    with pytest.raises(TypeError, match="bytes"):
        drv.mem_alloc(size)


@pytest.mark.parametrize("size", [2**50, 2**62, 2**63, 2**64 - 1, 2**64, 2**80])
def test_too_much_memory(size):
    with pytest.raises(drv.MemoryError, match=needs.NO_MEMORY):
        drv.mem_alloc(size)
    with pytest.raises(MemoryError, match=needs.NO_MEMORY):
        drv.mem_alloc(size)
    drv.mem_alloc(1000).free()


def test_garbage_is_collected_before_memory_runs_out():
    class Cycle:
        pass

    gc.collect()
    cycle = Cycle()
    cycle.self, cycle.memory = cycle, drv.mem_alloc(1000)
    gone = weakref.ref(cycle)
    gc.disable()
    try:
        del cycle
        assert gone() is not None
        with pytest.raises(drv.MemoryError):
            drv.mem_alloc(2**50)
        assert gone() is None
    finally:
        gc.enable()


def test_memory_is_freed_once():
    memory = drv.mem_alloc(1000)
    address = int(memory)
    assert memory.free() is None
    for _ in range(2):
        with pytest.raises(drv.LogicError, match="free"):
            memory.free()
    assert int(memory) == address
    assert kind_of(address) == PyGPU.cudaMemoryTypeUnregistered


def test_memory_goes_with_its_object():
    memory = drv.mem_alloc(1 << 20)
    address = int(memory)
    assert kind_of(address) == PyGPU.cudaMemoryTypeDevice
    del memory
    gc.collect()
    assert kind_of(address) == PyGPU.cudaMemoryTypeUnregistered


def test_an_allocation_is_an_address():
    memory, other = drv.mem_alloc(100), drv.mem_alloc(100)
    address = int(memory)
    assert address > 0 and memory.__index__() == address and hex(memory) == hex(address)
    assert np.intp(memory) == np.uintp(memory) == address
    assert memory == memory and memory != other and memory != address
    assert len({memory, other, memory}) == 2
    assert hex(address) in repr(memory)
    for use in (lambda: memory + 1, lambda: len(memory), drv.DeviceAllocation):
        with pytest.raises(TypeError):
            use()


@pytest.mark.alone
def test_free_memory_is_counted():
    gc.collect()
    free, total = drv.mem_get_info()
    assert type(free) is int and type(total) is int and 0 < free <= total
    if PyGPU.target == "host":  # elsewhere others may allocate meanwhile
        memory = drv.mem_alloc(64 << 20)
        assert drv.mem_get_info() == (free - (64 << 20), total)
        memory.free()
        assert drv.mem_get_info() == (free, total)


def test_memory_like_an_array():
    data = np.arange(24, dtype=np.complex64).reshape(2, 3, 4)
    memory = drv.mem_alloc_like(data)
    drv.memcpy_htod(memory, data)
    assert (drv.from_device_like(memory, data) == data).all()
    with pytest.raises(AttributeError, match="nbytes"):
        drv.mem_alloc_like([1, 2])


# Pitched memory and address ranges.


@pytest.mark.parametrize("access_size", [4, 8, 16])
def test_pitched_memory(access_size):
    rows, pitch = drv.mem_alloc_pitch(100, 7, access_size)
    assert isinstance(rows, drv.DeviceAllocation)
    assert type(pitch) is int and pitch >= 100 and pitch % access_size == 0
    data = np.arange(7 * pitch).astype(np.uint8)
    drv.memcpy_htod(rows, data)
    assert (drv.from_device_like(rows, data) == data).all()
    assert int(rows) == rows.__index__() == np.uintp(rows)
    rows.free()
    with pytest.raises(drv.LogicError):
        rows.free()


def test_bad_pitched_memory():
    drv.mem_alloc_pitch(width=100, height=np.int64(2), access_size=4)
    for bad in (3, 0, -4, 32):
        with pytest.raises(drv.LogicError, match=f"access_size={bad}"):
            drv.mem_alloc_pitch(100, 7, bad)
    for width, height in ((0, 7), (100, 0)):
        with pytest.raises(drv.LogicError):
            drv.mem_alloc_pitch(width, height, 4)
    for width, height in ((-1, 7), (100, -7)):
        with pytest.raises(OverflowError):
            drv.mem_alloc_pitch(width, height, 4)
    for width, height in ((1.5, 7), (100, "7"), (None, 7)):
        with pytest.raises(TypeError):
            drv.mem_alloc_pitch(width, height, 4)


@pytest.mark.parametrize(("width", "height"), [(2**30, 2**30), (2**40, 2**40), (2**70, 2)])
def test_too_many_rows(width, height):
    with pytest.raises((drv.MemoryError, drv.LogicError)):
        drv.mem_alloc_pitch(width, height, 4)


def test_the_range_that_an_address_is_in():
    memory = drv.mem_alloc(4096)
    start = int(memory)
    for inside in (memory, start, np.uint64(start), start + 1, start + 4095):
        assert drv.mem_get_address_range(inside) == (start, 4096)
    memory.free()
    for outside in (memory, start, 0, 12345):
        with pytest.raises(drv.LogicError):
            drv.mem_get_address_range(outside)
    for bad in ("x", 1.5, None):
        with pytest.raises(TypeError):
            drv.mem_get_address_range(bad)


# Whole arrays, there and back.


@given(dtypes, shapes())
def test_arrays_there_and_back(dtype, shape):
    data = values(shape, dtype)
    if data.size == 0:
        with pytest.raises(drv.LogicError):
            drv.to_device(data)
        return
    memory = drv.to_device(data)
    found = drv.from_device(memory, shape, dtype)
    assert found.dtype == data.dtype and found.flags.c_contiguous and found.flags.owndata
    assert found.shape == data.shape and found.tobytes() == data.tobytes()
    fortran = drv.from_device(drv.to_device(data.T), shape, dtype, order="F")
    assert fortran.flags.f_contiguous and fortran.tobytes() == data.tobytes()


@pytest.mark.parametrize(
    "view", [np.s_[::2], np.s_[::-1], np.s_[:, 1::2], np.s_[..., 2], np.s_[1:, ::-1, ::3]]
)
def test_views_go_there_in_c_order(view):
    data = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6)
    for source in (data[view], np.asfortranarray(data)[view], memoryview(data[view])):
        found = drv.from_device(drv.to_device(source), data[view].shape, np.int16)
        assert (found == data[view]).all()


@pytest.mark.parametrize(
    "buffer", [b"some bytes", bytearray(b"more"), memoryview(b"view")[::2], np.float64(1.5)]
)
def test_buffers_go_there(buffer):
    expected = bytes(buffer) if not isinstance(buffer, np.generic) else buffer.tobytes()
    found = drv.from_device(drv.to_device(buffer), len(expected), np.uint8)
    assert found.tobytes() == expected


@pytest.mark.parametrize("bad", [[1, 2], "text", None, 5, 1.5, (1.0,), object()])
def test_what_does_not_go_there(bad):
    with pytest.raises(TypeError):
        drv.to_device(bad)
    with pytest.raises(drv.LogicError):
        drv.to_device(b"")


def test_arrays_like_others():
    data = np.arange(24.0).reshape(4, 6)
    memory = drv.to_device(data)
    found = drv.from_device_like(memory, np.zeros((4, 6)))
    assert (found == data).all() and found.flags.c_contiguous
    fortran = drv.from_device_like(memory, np.zeros((6, 4)).T)
    assert fortran.flags.f_contiguous and (fortran.ravel("K") == data.ravel()).all()
    every_other = drv.from_device_like(memory, np.zeros((8, 6))[::2])
    assert (every_other == data).all()
    assert drv.from_device(memory, 24, np.float64).shape == (24,)
    assert drv.from_device(devptr=int(memory), shape=np.int64(6), dtype="<f8")[5] == 5


def test_reading_past_the_end():
    memory = drv.mem_alloc(4096)
    with pytest.raises(drv.LogicError):
        drv.from_device(memory, 1 << 20, np.float64)
    memory.free()
    with pytest.raises(drv.LogicError):
        drv.from_device(memory, 4, np.float64)


def test_memory_that_was_freed_is_no_address():
    gone = drv.mem_alloc(1024)
    gone.free()
    kept, host = drv.mem_alloc(1024), np.zeros(8, np.uint8)  # perhaps at the same address
    for use in (
        lambda: drv.memcpy_htod(gone, host),
        lambda: drv.memcpy_htod_async(gone, host),
        lambda: drv.memcpy_dtoh(host, gone),
        lambda: drv.memcpy_dtod(kept, gone, 8),
        lambda: drv.memset_d8(gone, 1, 8),
        lambda: drv.Memcpy2D().set_dst_device(gone),
        lambda: gpuarray.GPUArray(8, np.uint8, gpudata=gone),
    ):
        with pytest.raises(errors.LogicError, match="freed"):
            use()
