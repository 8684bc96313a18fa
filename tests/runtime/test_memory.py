"""Memory at the low level: device, pooled, managed, page-locked, registered; what addresses are."""

import ctypes

import numpy as np
import pytest
from memory_tools import kind_of

import PyGPU
from PyGPU.errors import check

MB = 1 << 20
TOO_MUCH = 2**60


def host_bytes(address, nbytes):
    """Memory that the host reaches, as a NumPy array."""
    return np.frombuffer((ctypes.c_ubyte * nbytes).from_address(address), np.uint8)


def assert_works_on_the_device(address, nbytes):
    """Fill it on the device and look at it from the host."""
    found = np.zeros(nbytes, np.uint8)
    assert PyGPU.cudaMemset(address, 0xA5, nbytes) == 0
    assert PyGPU.cudaMemcpy(found, address, nbytes) == 0
    assert (found == 0xA5).all()


# Device memory.


@pytest.mark.parametrize("nbytes", [1, 100, MB, 16 * MB + 3])
def test_device_memory(nbytes):
    address, status = PyGPU.cudaMalloc(nbytes)
    assert status == 0 and address != 0 and address % 256 == 0
    assert kind_of(address) == PyGPU.cudaMemoryTypeDevice
    assert_works_on_the_device(address, nbytes)
    assert PyGPU.cudaFree(address) == 0


def test_no_bytes_are_no_memory():
    for take in (PyGPU.cudaMalloc, PyGPU.cudaMallocHost, PyGPU.cudaHostAlloc):
        assert take(0) == (0, 0)
    for free in (PyGPU.cudaFree, PyGPU.cudaFreeHost):
        assert free(0) == 0


def test_memory_is_freed_once():
    address = check(PyGPU.cudaMalloc(MB))
    assert PyGPU.cudaFree(address) == 0
    assert PyGPU.cudaFree(address) == 1


def test_memory_is_freed_by_its_first_address():
    address = check(PyGPU.cudaMalloc(MB))
    assert PyGPU.cudaFree(address + 4096) == 1
    assert PyGPU.cudaFree(address) == 0


def test_foreign_memory_cannot_be_freed():
    mine = np.zeros(1000)
    assert PyGPU.cudaFree(mine.ctypes.data) == 1
    assert PyGPU.cudaFreeHost(mine.ctypes.data) == 1
    assert not mine.any()


def test_each_kind_of_memory_is_freed_its_own_way():
    device, pinned = check(PyGPU.cudaMalloc(MB)), check(PyGPU.cudaMallocHost(MB))
    assert PyGPU.cudaFreeHost(device) == 1
    assert PyGPU.cudaFree(pinned) == 1
    assert PyGPU.cudaFree(device) == PyGPU.cudaFreeHost(pinned) == 0


def test_too_much_memory():
    assert PyGPU.cudaMalloc(TOO_MUCH) == (0, 2)
    assert PyGPU.cudaMallocAsync(TOO_MUCH) == (0, 2)
    assert PyGPU.cudaMallocHost(TOO_MUCH) == (0, 2)
    assert PyGPU.cudaMallocPitch(2**40, 2**20)[::2] == (0, 2)


@pytest.mark.parametrize(("width", "height"), [(1, 1), (100, 7), (4096, 3), (5000, 11)])
def test_pitched_memory(width, height):
    address, pitch, status = PyGPU.cudaMallocPitch(width, height)
    assert status == 0 and pitch >= width and pitch % 32 == 0
    rows = np.arange(width * height).astype(np.uint8).reshape(height, width)
    found = np.zeros_like(rows)
    assert PyGPU.cudaMemcpy2D(address, pitch, rows, width, width, height) == 0
    assert PyGPU.cudaMemcpy2D(found, width, address, pitch, width, height) == 0
    assert (found == rows).all()
    assert PyGPU.cudaFree(address) == 0


def test_pooled_memory_in_the_order_of_a_stream():
    stream = PyGPU.cudaStream_t()
    for nbytes in (100, MB):
        address, status = PyGPU.cudaMallocAsync(nbytes, stream)
        assert status == 0 and kind_of(address) == PyGPU.cudaMemoryTypeDevice
        found = np.zeros(nbytes, np.uint8)
        assert PyGPU.cudaMemsetAsync(address, 9, nbytes, stream) == 0
        assert PyGPU.cudaStreamSynchronize(stream) == 0
        assert PyGPU.cudaMemcpy(found, address, nbytes) == 0
        assert PyGPU.cudaFreeAsync(address, stream) == 0
        assert (found == 9).all()
    assert PyGPU.cudaStreamSynchronize(stream) == 0


# Managed memory.


@pytest.mark.parametrize("flags", [PyGPU.cudaMemAttachGlobal, PyGPU.cudaMemAttachHost])
def test_managed_memory_is_one_for_host_and_device(flags):
    address, status = PyGPU.cudaMallocManaged(MB, flags)
    assert status == 0 and kind_of(address) == PyGPU.cudaMemoryTypeManaged
    host_bytes(address, MB)[:] = np.arange(MB).astype(np.uint8)
    found = np.zeros(MB, np.uint8)
    assert PyGPU.cudaMemcpy(found, address, MB) == 0
    assert (found == np.arange(MB).astype(np.uint8)).all()
    assert PyGPU.cudaMemset(address, 5, MB) == PyGPU.cudaDeviceSynchronize() == 0
    assert (host_bytes(address, MB) == 5).all()
    assert PyGPU.cudaFree(address) == 0


def test_managed_memory_can_be_attached_to_a_stream():
    stream, address = PyGPU.cudaStream_t(), check(PyGPU.cudaMallocManaged(MB))
    assert PyGPU.cudaStreamAttachMemAsync(stream, address) == 0
    assert PyGPU.cudaStreamAttachMemAsync(stream, address, 0, PyGPU.cudaMemAttachGlobal) == 0
    assert PyGPU.cudaStreamAttachMemAsync(stream, address, 0, 99) == 1
    assert PyGPU.cudaStreamSynchronize(stream) == PyGPU.cudaFree(address) == 0


def test_managed_memory_is_moved_before_it_is_used():
    """Where the device cannot move it on demand, that is what the call reports."""
    stream, address = PyGPU.cudaStream_t(), check(PyGPU.cudaMallocManaged(MB))
    device = check(PyGPU.cudaGetDevice())
    able = check(PyGPU.cudaDeviceGetAttribute(PyGPU.cudaDevAttrConcurrentManagedAccess, device))
    host_bytes(address, MB)[:] = 5
    for place, where in [(device, stream), (PyGPU.cudaCpuDeviceId, None), (device, 0)]:
        status = PyGPU.cudaMemPrefetchAsync(address, MB, place, where)
        assert (status == 0) == bool(able)
    assert PyGPU.cudaMemPrefetchAsync(address=address + MB // 2, nbytes=8, device=place) == status
    assert PyGPU.cudaDeviceSynchronize() == 0
    assert (host_bytes(address, MB) == 5).all()
    assert PyGPU.cudaMemPrefetchAsync(address, MB, 99) == 101
    assert PyGPU.cudaMemPrefetchAsync(address, MB, -2) == 101
    assert PyGPU.cudaFree(address) == 0


def test_only_managed_memory_is_moved():
    device = check(PyGPU.cudaGetDevice())
    address = check(PyGPU.cudaMalloc(MB))
    assert PyGPU.cudaMemPrefetchAsync(address, MB, device) != 0
    assert PyGPU.cudaFree(address) == 0


def test_unknown_flags_make_no_managed_memory():
    assert PyGPU.cudaMallocManaged(MB, 99) == (0, 1)


# Page-locked memory.


@pytest.mark.parametrize(
    "flags",
    [
        PyGPU.cudaHostAllocDefault,
        PyGPU.cudaHostAllocPortable,
        PyGPU.cudaHostAllocMapped,
        PyGPU.cudaHostAllocWriteCombined,
        PyGPU.cudaHostAllocPortable | PyGPU.cudaHostAllocMapped,
    ],
)
def test_page_locked_memory(flags):
    address, status = PyGPU.cudaHostAlloc(MB, flags)
    assert status == 0 and kind_of(address) == PyGPU.cudaMemoryTypeHost
    host_bytes(address, MB)[:] = 17
    found, status = PyGPU.cudaHostGetFlags(address)
    # CUDA may give memory that was freed as another kind. All of it is portable, whatever it says.
    asked = flags & ~PyGPU.cudaHostAllocPortable
    assert status == 0 and found & asked == asked
    mapped, status = PyGPU.cudaHostGetDevicePointer(address)
    assert status == 0 and mapped != 0
    assert (host_bytes(address, MB) == 17).all()
    assert_works_on_the_device(mapped, MB)
    assert (host_bytes(address, MB) == 0xA5).all()
    assert PyGPU.cudaFreeHost(address) == 0
    assert PyGPU.cudaFreeHost(address) == 1


def test_malloc_host_is_host_alloc_by_default():
    address, status = PyGPU.cudaMallocHost(MB)
    assert status == 0 and kind_of(address) == PyGPU.cudaMemoryTypeHost
    assert PyGPU.cudaFreeHost(address) == 0


def test_unknown_flags_make_no_page_locked_memory():
    assert PyGPU.cudaHostAlloc(MB, 1 << 20) == (0, 1)


def test_pageable_memory_has_no_flags_and_no_device_pointer():
    mine = np.zeros(1000)
    assert PyGPU.cudaHostGetFlags(mine.ctypes.data)[1] == 1
    device = check(PyGPU.cudaMalloc(MB))
    assert PyGPU.cudaHostGetFlags(device)[1] == 1
    assert PyGPU.cudaFree(device) == 0


def test_a_buffer_can_be_registered():
    mine = np.arange(100_000.0)
    assert PyGPU.cudaHostRegister(mine) == 0
    assert kind_of(mine.ctypes.data) == PyGPU.cudaMemoryTypeHost
    assert kind_of(mine.ctypes.data + mine.nbytes - 1) == PyGPU.cudaMemoryTypeHost
    assert PyGPU.cudaHostRegister(mine) == 712
    assert PyGPU.cudaHostUnregister(mine) == 0
    assert kind_of(mine.ctypes.data) == PyGPU.cudaMemoryTypeUnregistered
    assert PyGPU.cudaHostUnregister(mine) == 713
    assert (mine == np.arange(100_000.0)).all()


def test_an_address_can_be_registered_with_its_size():
    mine = np.zeros(MB, np.uint8)
    address = mine.ctypes.data
    flags = PyGPU.cudaHostRegisterPortable | PyGPU.cudaHostRegisterMapped
    assert PyGPU.cudaHostRegister(address, mine.nbytes, flags) == 0
    assert PyGPU.cudaHostGetFlags(address)[0] & flags == flags
    assert PyGPU.cudaHostUnregister(address) == 0
    with pytest.raises(ValueError, match="nbytes"):
        PyGPU.cudaHostRegister(address)
    assert PyGPU.cudaHostUnregister(address) == 713


def test_a_part_of_a_buffer_can_be_registered_but_no_more_than_all():
    mine = np.zeros(MB, np.uint8)
    assert PyGPU.cudaHostRegister(mine, nbytes=4096) == 0
    assert PyGPU.cudaHostUnregister(mine) == 0
    status = PyGPU.cudaHostRegister(mine, nbytes=MB + 1)
    assert status == 1 and str(MB) in status.detail and str(MB + 1) in status.detail
    assert PyGPU.cudaHostUnregister(mine) == 713


def test_what_cannot_be_registered():
    with pytest.raises(ValueError, match="memory"):
        PyGPU.cudaHostRegister(np.zeros(1000)[::2])
    for bad in (1.5, "text", None, [1, 2]):
        with pytest.raises(TypeError, match="memory"):
            PyGPU.cudaHostRegister(bad, 100)
        with pytest.raises(TypeError, match="memory"):
            PyGPU.cudaHostUnregister(bad)
    assert PyGPU.cudaHostRegister(np.zeros(MB), flags=1 << 20) == 1


# What addresses are.


def test_attributes_of_device_memory():
    address = check(PyGPU.cudaMalloc(MB))
    for inside in (address, address + 1, address + MB - 1):
        attributes, status = PyGPU.cudaPointerGetAttributes(inside)
        assert status == 0
        assert attributes == {
            "type": PyGPU.cudaMemoryTypeDevice,
            "device": PyGPU.cudaGetDevice()[0],
            "devicePointer": inside,
            "hostPointer": 0,
        }
    assert PyGPU.cudaFree(address) == 0
    assert kind_of(address) == PyGPU.cudaMemoryTypeUnregistered


def test_attributes_of_page_locked_memory():
    address = check(PyGPU.cudaMallocHost(MB))
    attributes, status = PyGPU.cudaPointerGetAttributes(address + 100)
    assert status == 0 and attributes["type"] == PyGPU.cudaMemoryTypeHost
    assert attributes["hostPointer"] == address + 100
    assert PyGPU.cudaFreeHost(address) == 0


def test_attributes_of_pageable_memory():
    mine = np.zeros(1000)
    attributes, status = PyGPU.cudaPointerGetAttributes(mine.ctypes.data)
    assert status == 0 and attributes["type"] == PyGPU.cudaMemoryTypeUnregistered
    assert attributes["device"] < 0
