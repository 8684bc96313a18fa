"""driver.register_host_memory: arrays that are page-locked where they lie."""

import gc

import numpy as np
import pytest
from memory_tools import kind_of

import PyGPU
import PyGPU.driver as drv


@pytest.mark.parametrize("order", "CF")
def test_memory_is_registered_in_place(order):
    mine = drv.aligned_zeros((64, 64), np.float64, order)
    pinned = drv.register_host_memory(mine, flags=drv.mem_host_register_flags.DEVICEMAP)
    assert pinned.ctypes.data == mine.ctypes.data and pinned.strides == mine.strides
    assert pinned.dtype == mine.dtype and pinned.shape == mine.shape
    owner = pinned.base
    assert isinstance(owner, drv.RegisteredHostMemory) and owner.base is mine
    assert isinstance(owner, drv.HostPointer)
    assert kind_of(mine.ctypes.data) == PyGPU.cudaMemoryTypeHost
    drv.memset_d8(owner.get_device_pointer(), 0x3F, mine.nbytes)
    assert (mine == pinned).all() and (mine != 0).all()
    with pytest.raises(drv.LogicError):
        drv.register_host_memory(mine)
    assert owner.unregister() is None
    assert kind_of(mine.ctypes.data) == PyGPU.cudaMemoryTypeUnregistered
    with pytest.raises(drv.LogicError, match="unregister"):
        owner.unregister()


def test_registered_memory_keeps_its_array_and_is_unpinned_with_the_last_view():
    mine = drv.aligned_zeros(10_000, np.int32)
    address = mine.ctypes.data
    pinned = drv.register_host_memory(ary=mine)
    del mine
    gc.collect()
    pinned += 5
    view = pinned[100:]
    del pinned
    gc.collect()
    assert (view == 5).all() and kind_of(address) == PyGPU.cudaMemoryTypeHost
    del view
    gc.collect()
    assert kind_of(address) == PyGPU.cudaMemoryTypeUnregistered


def test_what_cannot_be_registered():
    for bad in (b"bytes", [1, 2], None, 5, memoryview(np.zeros(4))):
        with pytest.raises(drv.LogicError, match="ndarray"):
            drv.register_host_memory(bad)
    with pytest.raises(drv.LogicError, match="contiguous"):
        drv.register_host_memory(np.zeros(10)[::2])
    with pytest.raises(drv.LogicError):
        drv.register_host_memory(drv.aligned_zeros(4096, np.uint8), 1 << 20)


def test_a_read_only_array_stays_read_only_when_registered():
    mine = drv.aligned_zeros(4096, np.uint8)
    mine.flags.writeable = False
    assert not drv.register_host_memory(mine).flags.writeable
