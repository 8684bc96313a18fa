"""What stands for device memory: holders of pointers, buffers, other processes' memory."""

import gc

import numpy as np
import pytest
from stand_ins import Holder

import PyGPU.driver as drv


def test_holders_of_pointers():
    data = np.arange(100.0)
    holder = Holder(drv.mem_alloc(800))
    assert int(holder) == int(holder.memory) and hex(holder) == hex(holder.memory)
    drv.memcpy_htod(holder, data)
    assert (drv.from_device_like(holder, data) == data).all()
    drv.memset_d32(holder, 0, 2)
    assert (drv.from_device_like(holder, data)[:2] == [0, 1]).all()
    with pytest.raises(RuntimeError, match="get_pointer"):
        int(drv.PointerHolderBase())
    with pytest.raises(RuntimeError, match="get_pointer"):
        drv.memcpy_htod(drv.PointerHolderBase(), data)


def test_a_holder_need_not_call_the_base():
    class Silent(drv.PointerHolderBase):
        def __init__(self, memory):
            self.memory = memory

        def get_pointer(self):
            return int(self.memory)

    data = np.arange(10)
    assert (drv.from_device_like(Silent(drv.to_device(data)), data) == data).all()


def test_managed_memory_as_a_buffer():
    array = drv.managed_zeros(100, np.uint8)
    for memory in (array.base, Holder(array.base)):
        buffer = memory.as_buffer(10, offset=5)
        assert isinstance(buffer, memoryview) and buffer.nbytes == 10 and not buffer.readonly
        buffer[0] = 77
        assert array[5] == 77
        assert len(memory.as_buffer(size=100)) == 100
    with pytest.raises((OverflowError, ValueError, TypeError)):
        array.base.as_buffer(-1)


def test_a_device_address_as_a_buffer_for_others_to_read():
    for memory in (drv.mem_alloc(100), drv.mem_alloc_pitch(100, 2, 4)[0]):
        buffer = memory.as_buffer(size=50, offset=20)
        assert isinstance(buffer, memoryview) and buffer.nbytes == 50 and not buffer.readonly
        address = np.frombuffer(buffer, np.uint8).ctypes.data
        assert address == int(memory) + 20


@pytest.mark.parametrize("managed", [False, True])
@pytest.mark.parametrize("held", [False, True])
def test_a_buffer_keeps_its_memory(managed, held):
    memory = drv.managed_empty(100, np.uint8).base if managed else drv.mem_alloc(100)
    address = int(memory)
    buffer = (Holder(memory) if held else memory).as_buffer(100)
    del memory
    gc.collect()
    assert drv.mem_get_address_range(address)[0] == address
    part = buffer[10:20]
    del buffer
    assert drv.mem_get_address_range(address)[0] == address
    del part
    gc.collect()
    with pytest.raises(drv.LogicError):
        drv.mem_get_address_range(address)


def test_bad_handles():
    for size in (0, 63, 65):
        with pytest.raises(drv.LogicError, match="64"):
            drv.IPCMemoryHandle(bytearray(size))
    with pytest.raises(drv.LogicError):
        drv.IPCMemoryHandle(bytearray(64))
    for bad in (None, 5):
        with pytest.raises(TypeError):
            drv.IPCMemoryHandle(bad)
    with pytest.raises(drv.LogicError):
        drv.mem_get_ipc_handle(12345)


OTHER_PROCESS = """
import numpy as np
import PyGPU.driver as drv
drv.init()
memory = drv.IPCMemoryHandle(ipc_handle=HANDLE, flags=drv.ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS)
data = np.arange(1000)
assert int(memory) != 0 and hex(memory) == hex(int(memory))
assert (drv.from_device_like(memory, data) == data).all()
drv.memcpy_htod(memory, data[::-1].copy())
drv.Context.synchronize()
memory.close()
try:
    memory.close()
    raise SystemExit("it was closed twice")
except drv.LogicError:
    pass
"""


def test_memory_of_another_process(python):
    data = np.arange(1000)
    memory = drv.mem_alloc(2 << 20)
    handle = drv.mem_get_ipc_handle(devptr=memory)
    assert isinstance(handle, bytearray) and len(handle) == 64
    for kind in (bytes, bytearray):
        drv.memcpy_htod(memory, data)
        python(OTHER_PROCESS.replace("HANDLE", repr(kind(handle))))
        assert (drv.from_device_like(memory, data) == data[::-1]).all()
