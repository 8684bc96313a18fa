"""The two sides of a DeviceArray: their statuses, how they are shared, who keeps them alive."""

import ctypes
import gc
import weakref

import numpy as np
import pytest
from memory_tools import device_side

import PyGPU
from PyGPU import DeviceArray_float64, DeviceArray_uint8


def test_allocate_twice_is_allocate_once():
    array = DeviceArray_uint8(1000)
    assert not array.allocated() and int(array.device_data()) == 0
    assert array.allocate() == 0 and array.allocated()
    address = int(array.device_data())
    assert array.allocate() == 0 and int(array.device_data()) == address != 0


@pytest.mark.parametrize("step", ["to_device", "to_host"])
def test_copies_before_allocate_are_refused(step):
    data = np.arange(6.0)
    array = DeviceArray_float64(data)
    status = getattr(array, step)()
    assert status != 0 and array.last_status() == status
    assert step in status.detail and "allocate()" in status.detail
    assert (data == np.arange(6.0)).all()
    assert array.allocate() == array.last_status() == 0


def test_a_read_only_buffer_can_be_sent_but_not_overwritten():
    locked = np.arange(6.0)
    locked.flags.writeable = False
    for buffer in (locked, memoryview(locked), memoryview(locked.tobytes()).cast("d")):
        array = DeviceArray_float64(buffer)
        assert array.allocate() == array.to_device() == 0
        assert device_side(array) == locked.tobytes()
        assert PyGPU.cudaMemset(array.device_data(), 0, array.nbytes()) == 0
        status = array.to_host()
        assert status != 0 and array.last_status() == status and "read-only" in status.detail
        assert bytes(buffer) == np.arange(6.0).tobytes()


def test_a_read_only_buffer_stays_read_only_on_every_way_to_it():
    locked = np.arange(6.0)
    locked.flags.writeable = False
    array = DeviceArray_float64(locked)
    assert memoryview(array).readonly
    assert not np.asarray(array).flags.writeable
    assert not array.host_data().get().flags.writeable
    borrowed = DeviceArray_float64(array.host_data(), 6)
    assert borrowed.allocate() == 0
    assert borrowed.to_host() != 0
    assert (locked == np.arange(6.0)).all()


def test_an_array_of_a_device_pointer_has_no_host_side():
    owner = DeviceArray_float64(6)
    assert owner.allocate() == 0
    array = DeviceArray_float64(owner.device_data(), 6)
    for step in (array.to_device, array.to_host):
        status = step()
        assert status != 0 and "no host buffer" in status.detail
    with pytest.raises((BufferError, TypeError)):
        memoryview(array)
    assert int(array.host_data()) == 0 and not array.host_data().is_safe()


def test_the_host_memory_is_shared_not_copied():
    data = np.arange(6.0)
    array = DeviceArray_float64(data)
    assert int(array.host_data()) == data.ctypes.data
    assert np.shares_memory(np.asarray(array), data)
    assert np.shares_memory(array.host_data().get(), data)
    view = memoryview(array)
    assert (view.format, view.shape, view.readonly) == ("d", (6,), False)
    view[2] = -1.0
    assert data[2] == -1.0


def test_ctypes_takes_the_host_side():
    data = np.zeros(6)
    array = DeviceArray_float64(data)
    source = np.arange(6.0)
    ctypes.memmove(array.host_data(), source.ctypes.data, source.nbytes)
    assert (data == source).all()
    assert ctypes.string_at(array.host_data(), array.nbytes()) == source.tobytes()


# Ownership.


def test_a_buffer_is_kept_alive_and_let_go():
    data = np.arange(1000.0)
    watch = weakref.ref(data)
    array = DeviceArray_float64(data)
    del data
    gc.collect()
    assert watch() is not None
    assert array.allocate() == array.to_device() == 0
    assert device_side(array) == np.arange(1000.0).tobytes()
    pointer = array.host_data()
    del array
    assert (pointer.get() == np.arange(1000.0)).all()
    del pointer
    gc.collect()
    assert watch() is None


def test_a_buffer_is_exported_as_long_as_the_array_lives():
    data = bytearray(8)
    array = DeviceArray_uint8(data)
    with pytest.raises(BufferError):
        data.append(0)
    del array
    data.append(0)
    assert len(data) == 9


def test_views_keep_the_host_memory():
    array = DeviceArray_float64((100,))
    view, shared = np.asarray(array), memoryview(array)
    view[:] = 7
    del array
    gc.collect()
    other = [np.ones(100) for _ in range(10)]
    assert (view == 7).all() and list(shared) == [7.0] * 100 and len(other) == 10


def test_device_memory_lives_as_long_as_something_points_to_it():
    array = DeviceArray_uint8(1 << 20)
    assert array.allocate() == 0
    pointer = array.device_data()
    del array
    address = int(pointer)
    assert PyGPU.cudaMemset(pointer, 1, 1 << 20) == 0
    borrowed = DeviceArray_uint8(pointer, 1 << 20)
    del pointer
    assert PyGPU.cudaMemset(address, 2, 1 << 20) == 0
    del borrowed
    assert PyGPU.cudaPointerGetAttributes(address)[0]["type"] == PyGPU.cudaMemoryTypeUnregistered
