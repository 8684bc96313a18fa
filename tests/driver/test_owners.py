"""Owners of memory in cycles, brought back, copied, or never made."""

import copy
import gc
import pickle

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray


def of_device(pool):
    return gpuarray.zeros(1000, np.float32, allocator=pool.allocate)


def test_what_is_brought_back_keeps_its_block():
    """The garbage collector calls every __del__ of a cycle before it sees what comes back."""
    pool, kept = drv.DeviceMemoryPool(), []

    class Buffer:
        def __init__(self):
            self.array, self.me = of_device(pool), self

        def __del__(self):
            kept.append(self)

    Buffer()
    gc.collect()
    other = of_device(pool)
    other.fill(9)
    assert pool.active_blocks == 2
    assert (kept[0].array.get() == 0).all()


@pytest.mark.parametrize("free", [True, False])
def test_blocks_in_cycles_go_back_once(free):
    pool, seen = drv.DeviceMemoryPool(), []

    class Thing:
        def __init__(self):
            self.block, self.me = pool.allocate(1000), self

        def __del__(self):
            seen.append(pool.active_blocks)
            if free:
                self.block.free()

    Thing()
    gc.collect()
    assert seen == [1]
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)


OWNERS = {
    "page-locked memory": lambda: drv.pagelocked_empty(1000, np.float32).base,
    "registered memory": lambda: drv.register_host_memory(np.zeros(1 << 16, np.uint8)).base,
    "a pool": drv.DeviceMemoryPool,
    "a pool of page-locked memory": drv.PageLockedMemoryPool,
    "a block": lambda: drv.DeviceMemoryPool().allocate(1000),
    "a block of page-locked memory": lambda: drv.PageLockedMemoryPool().allocate(9, "f4").base,
}


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("what", OWNERS)
def test_owners_are_not_copied(what, how):
    with pytest.raises(TypeError, match="cannot copy or pickle '"):
        how(OWNERS[what]())


@pytest.mark.parametrize("made", [PyGPU.cudaMalloc, gpuarray.GPUArray.get])
def test_functions_are_not_made_by_programs(made):
    kind = type(made)
    with pytest.raises(TypeError, match=f"cannot create 'PyGPU.{kind.__name__}' instances"):
        kind.__new__(kind)
    with pytest.raises(TypeError, match="cannot create"):
        type("Derived", (kind,), {})()


@pytest.mark.parametrize("kind", [drv.PooledDeviceAllocation, drv.PagelockedHostAllocation])
def test_owners_of_nothing_are_not_freed(kind):
    with pytest.raises(drv.LogicError, match="before"):
        kind.__new__(kind).free()
