"""HostAllocator_, PagelockedAllocator_ and DeviceAllocator_<dtype>: owners of memory."""

import gc

import numpy as np
import pytest
from campaign import each_once
from memory_tools import kind_of

import PyGPU

DTYPES = PyGPU.SUPPORTED_DTYPES
ON_HOST = ["HostAllocator", "PagelockedAllocator"]
FAMILIES = [*ON_HOST, "DeviceAllocator"]
HUGE = [2**57, 2**60, 2**61, 2**63, 2**64 - 1]


def make(family, dtype, count=None):
    block = getattr(PyGPU, f"{family}_{dtype}")()
    if count is not None:
        assert block.allocate(count) == 0
    return block


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_memory_for_elements_of_every_dtype(family, dtype):
    block = make(family, dtype)
    assert isinstance(block, PyGPU.Allocator)
    assert (block.size(), len(block), block.nbytes(), int(block.ptr())) == (0, 0, 0, 0)
    assert block.allocate(6) == block.last_status() == 0
    itemsize = np.dtype(dtype).itemsize
    assert (block.size(), len(block), block.nbytes()) == (6, 6, 6 * itemsize)
    pointer = block.ptr()
    assert type(pointer) is getattr(PyGPU, f"pointer_wrapper_{dtype}")
    assert int(pointer) != 0 and pointer.size == 6
    assert pointer.is_safe() == (family in ON_HOST)
    data = np.arange(6 * itemsize, dtype=np.uint8) % 2
    found = np.zeros_like(data)
    assert PyGPU.cudaMemcpy(pointer, data, data.nbytes) == 0
    assert PyGPU.cudaMemcpy(found, pointer, data.nbytes) == 0
    assert (found == data).all()


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("HostAllocator", PyGPU.cudaMemoryTypeUnregistered),
        ("PagelockedAllocator", PyGPU.cudaMemoryTypeHost),
        ("DeviceAllocator", PyGPU.cudaMemoryTypeDevice),
    ],
)
def test_each_family_has_its_kind_of_memory(family, kind):
    assert kind_of(make(family, "float64", 1000).ptr()) == kind


def test_host_memory_is_zeroed():
    for count in (1, 1000, 100_000):
        assert not make("HostAllocator", "float64", count).ptr().get().any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", ON_HOST)
def test_host_memory_is_a_buffer(family, dtype):
    block = make(family, dtype, 6)
    view = np.asarray(block)
    assert view.dtype == dtype and view.shape == (6,)
    view[:] = np.arange(6).astype(dtype)
    assert (block.ptr().get() == view).all()
    assert view.ctypes.data == int(block.ptr())
    assert memoryview(block).shape == (6,) and memoryview(block).tobytes() == view.tobytes()


def test_device_memory_is_no_buffer():
    block = make("DeviceAllocator", "float64", 6)
    with pytest.raises((TypeError, BufferError)):
        memoryview(block)
    with pytest.raises(TypeError):
        PyGPU.cudaMemcpy(np.zeros(6), block, 48)


# Ownership.


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pointer_keeps_the_memory_when_the_allocator_goes(family):
    block = make(family, "uint8", 100_000)
    pointer = block.ptr()
    del block
    gc.collect()
    others = [make(family, "uint8", 100_000) for _ in range(5)]
    assert int(pointer) not in [int(other.ptr()) for other in others]
    data = np.arange(100_000).astype(np.uint8)
    assert PyGPU.cudaMemcpy(pointer, data, data.nbytes) == 0
    found = np.zeros_like(data)
    assert PyGPU.cudaMemcpy(found, pointer, data.nbytes) == 0
    assert (found == data).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("again", [False, True])
def test_a_pointer_keeps_the_memory_when_the_allocator_lets_it_go(family, again):
    block = make(family, "uint8", 100_000)
    pointer = block.ptr()
    if again:
        assert block.allocate(50_000) == 0 and block.size() == 50_000
        assert block.ptr() != pointer
    else:
        assert block.deallocate() == block.last_status() == 0
        assert block.size() == 0 and int(block.ptr()) == 0
    data, found = np.arange(100_000).astype(np.uint8), np.zeros(100_000, np.uint8)
    assert PyGPU.cudaMemcpy(pointer, data, data.nbytes) == 0
    assert PyGPU.cudaMemcpy(found, pointer, data.nbytes) == 0
    assert (found == data).all()


@pytest.mark.parametrize("again", [False, True])
def test_an_array_keeps_the_memory_when_the_allocator_lets_it_go(again):
    block = make("PagelockedAllocator", "uint8", 100_000)
    view = np.asarray(block)
    view[:] = 7
    address = view.ctypes.data
    assert (block.allocate(1000) if again else block.deallocate()) == 0
    assert kind_of(address) == PyGPU.cudaMemoryTypeHost  # asked first: to read it could crash
    assert (view == 7).all()


@pytest.mark.parametrize("family", ON_HOST)
def test_an_array_keeps_the_memory_when_the_allocator_goes(family):
    view = np.asarray(make(family, "float64", 1000))
    view[:] = 7
    gc.collect()
    others = [make(family, "float64", 1000) for _ in range(5)]
    assert view.ctypes.data not in [int(other.ptr()) for other in others]
    assert (view == 7).all()


@pytest.mark.parametrize("family", ["PagelockedAllocator", "DeviceAllocator"])
def test_memory_goes_with_its_last_user(family):
    block = make(family, "uint8", 1 << 20)
    pointer = block.ptr()
    address = int(pointer)
    del block
    assert kind_of(address) != PyGPU.cudaMemoryTypeUnregistered
    del pointer
    assert kind_of(address) == PyGPU.cudaMemoryTypeUnregistered


def test_allocate_takes_memory_in_place_of_the_old():
    block = make("DeviceAllocator", "uint8", 1 << 20)
    address = int(block.ptr())
    assert block.allocate(0) == 0 and int(block.ptr()) == 0
    assert kind_of(address) == PyGPU.cudaMemoryTypeUnregistered


# Failures.


@pytest.mark.parametrize(
    ("family", "dtype", "count"),
    each_once(
        [(family, dtype) for family in FAMILIES for dtype in ("uint8", "float64", "complex128")],
        HUGE,
    ),
)
def test_too_many_elements(family, dtype, count):
    block = make(family, dtype)
    status = block.allocate(count)
    assert status == block.last_status() == 2
    assert "were requested" in status.detail
    assert block.size() == 0 and int(block.ptr()) == 0
    assert block.allocate(6) == block.last_status() == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_no_elements_are_no_memory(family):
    block = make(family, "float64", 0)
    assert block.size() == 0 and int(block.ptr()) == 0 and not block.ptr().is_safe()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("bad", ["6", 6.0, None, -1, 2**64, [6]])
def test_a_count_is_an_int_that_is_not_negative(family, bad):
    block = make(family, "float64")
    with pytest.raises(TypeError, match="count"):
        block.allocate(bad)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_allocator_is_made_without_arguments(family):
    with pytest.raises(TypeError):
        getattr(PyGPU, f"{family}_float64")(6)
