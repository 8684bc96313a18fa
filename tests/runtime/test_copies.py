"""Copies and fills at the low level: every kind, blocking and in a stream's order, pitched."""

import array
import ctypes

import numpy as np
import pytest
from memory_tools import pattern

import PyGPU
from PyGPU.errors import check

MB = 1 << 20
HOST_TO_HOST, UP, DOWN, ON_DEVICE, DEFAULT = range(5)


@pytest.fixture
def memory():
    """The address of 1 MB of zeros on the device, there for every stream."""
    address = check(PyGPU.cudaMalloc(MB))
    check(PyGPU.cudaMemset(address, 0, MB))
    check(PyGPU.cudaDeviceSynchronize())  # a fill of a GPU's memory may return before it is done
    yield address
    check(PyGPU.cudaFree(address))


def content(address, nbytes):
    found = np.zeros(nbytes, np.uint8)
    check(PyGPU.cudaMemcpy(found, address, nbytes, DOWN))
    return found


def test_kinds_have_cudas_numbers():
    names = ["HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice", "Default"]
    assert [getattr(PyGPU, f"cudaMemcpy{name}") for name in names] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("kinds", [(UP, ON_DEVICE, DOWN, HOST_TO_HOST), (DEFAULT,) * 4])
@pytest.mark.parametrize("nbytes", [1, 1000, MB // 2])
def test_a_copy_of_every_kind(memory, kinds, nbytes):
    data, found, again = pattern(nbytes), np.zeros(nbytes, np.uint8), np.zeros(nbytes, np.uint8)
    up, across, down, between = kinds
    assert PyGPU.cudaMemcpy(memory, data, nbytes, up) == 0
    assert PyGPU.cudaMemcpy(memory + MB // 2, memory, nbytes, across) == 0
    assert PyGPU.cudaMemcpy(found, memory + MB // 2, nbytes, down) == 0
    assert PyGPU.cudaMemcpy(again, found, nbytes, between) == 0
    assert (found == data).all() and (again == data).all()


@pytest.mark.parametrize("kinds", [(UP, ON_DEVICE, DOWN), (DEFAULT,) * 3])
@pytest.mark.parametrize("flags", [PyGPU.cudaStreamDefault, PyGPU.cudaStreamNonBlocking])
def test_copies_in_the_order_of_a_stream(memory, kinds, flags):
    stream = PyGPU.cudaStream_t(flags)
    nbytes = MB // 2
    data, found = PyGPU.PagelockedAllocator_uint8(), PyGPU.PagelockedAllocator_uint8()
    for block in (data, found):
        check(block.allocate(nbytes))
    data.ptr().get()[:] = pattern(nbytes)
    found.ptr().get()[:] = 0
    up, across, down = kinds
    assert PyGPU.cudaMemcpyAsync(memory, data.ptr(), nbytes, up, stream) == 0
    assert PyGPU.cudaMemcpyAsync(memory + nbytes, memory, nbytes, across, stream) == 0
    assert PyGPU.cudaMemcpyAsync(found.ptr(), memory + nbytes, nbytes, down, stream) == 0
    assert PyGPU.cudaStreamSynchronize(stream) == 0
    assert (found.ptr().get() == pattern(nbytes)).all()


def test_the_kind_is_deduced_unless_given(memory):
    data, found = pattern(100), np.zeros(100, np.uint8)
    assert PyGPU.cudaMemcpy(memory, data, 100) == 0
    assert PyGPU.cudaMemcpyAsync(found, memory, 100) == PyGPU.cudaStreamSynchronize() == 0
    assert (found == data).all()


@pytest.mark.parametrize("kind", [5, 99, -1])
def test_an_unknown_kind(memory, kind):
    found = np.zeros(100, np.uint8)
    assert PyGPU.cudaMemcpy(found, memory, 100, kind) == 21
    assert PyGPU.cudaMemcpyAsync(found, memory, 100, kind) == 21
    assert PyGPU.cudaMemcpy2D(found, 10, memory, 10, 10, 10, kind) == 21
    assert not found.any()


def test_a_copy_of_nothing(memory):
    found = np.ones(10, np.uint8)
    assert PyGPU.cudaMemcpy(found, memory, 0) == 0
    assert PyGPU.cudaMemcpy2D(found, 10, memory, 10, 0, 10) == 0
    assert PyGPU.cudaMemcpy2D(found, 10, memory, 10, 10, 0) == 0
    assert found.all()
    assert PyGPU.cudaMemset(memory, 1, 0) == 0
    assert not content(memory, 10).any()


def test_a_null_address_is_no_memory():
    found = np.zeros(10, np.uint8)
    assert PyGPU.cudaMemcpy(0, found, 10, UP) == 1
    assert PyGPU.cudaMemcpy(found, 0, 10, DOWN) == 1
    assert PyGPU.cudaMemset(0, 0, 10) == 1


# Pitched.


@pytest.mark.parametrize("use_stream", [False, True])
def test_a_pitched_copy_leaves_the_gaps_alone(memory, use_stream):
    height, width, dpitch, spitch = 7, 10, 16, 13
    rows = pattern(height * spitch).reshape(height, spitch)
    if use_stream:
        stream = PyGPU.cudaStream_t()
        arguments = (memory, dpitch, rows, spitch, width, height, UP, stream)
        assert PyGPU.cudaMemcpy2DAsync(*arguments) == PyGPU.cudaStreamSynchronize(stream) == 0
    else:
        assert PyGPU.cudaMemcpy2D(memory, dpitch, rows, spitch, width, height, UP) == 0
    found = content(memory, height * dpitch).reshape(height, dpitch)
    assert (found[:, :width] == rows[:, :width]).all()
    assert not found[:, width:].any()


def test_a_pitch_below_the_width(memory):
    rows = np.zeros(100, np.uint8)
    assert PyGPU.cudaMemcpy2D(memory, 9, rows, 10, 10, 5) == 12
    assert PyGPU.cudaMemcpy2D(memory, 10, rows, 9, 10, 5) == 12


def test_the_last_row_needs_no_gap_after_it(memory):
    rows = pattern(2 * 16 + 10)
    assert PyGPU.cudaMemcpy2D(memory, 32, rows, 16, 10, 3) == 0
    assert (content(memory + 64, 10) == rows[32:]).all()


# Fills.


@pytest.mark.parametrize("value", [0, 1, 255, 0x1FF, -1])
def test_a_fill_sets_each_byte(memory, value):
    stream = PyGPU.cudaStream_t()
    assert PyGPU.cudaMemset(memory, value, 1000) == 0
    assert PyGPU.cudaMemsetAsync(memory + 1000, value, 1000, stream) == 0
    assert PyGPU.cudaStreamSynchronize(stream) == 0
    assert (content(memory, 2000) == value % 256).all()
    assert not content(memory + 2000, 1000).any()


def test_a_pitched_fill_leaves_the_gaps_alone(memory):
    stream = PyGPU.cudaStream_t()
    assert PyGPU.cudaMemset2D(memory, 16, 1, 10, 4) == 0
    assert PyGPU.cudaMemset2DAsync(memory + 64, 16, 2, 10, 4, stream) == 0
    assert PyGPU.cudaStreamSynchronize(stream) == 0
    found = content(memory, 8 * 16).reshape(8, 16)
    assert (found[:4, :10] == 1).all() and (found[4:, :10] == 2).all()
    assert not found[:, 10:].any()


def test_a_fill_with_a_pitch_below_the_width(memory):
    assert PyGPU.cudaMemset2D(memory, 9, 1, 10, 4) == 1


# Peers.


def test_a_copy_to_the_same_device(memory):
    device, _ = PyGPU.cudaGetDevice()
    data, stream = pattern(1000), PyGPU.cudaStream_t()
    assert PyGPU.cudaMemcpy(memory, data, 1000) == 0
    assert PyGPU.cudaMemcpyPeer(memory + 1000, device, memory, device, 1000) == 0
    assert PyGPU.cudaMemcpyPeerAsync(memory + 2000, device, memory, device, 1000, stream) == 0
    assert PyGPU.cudaStreamSynchronize(stream) == PyGPU.cudaDeviceSynchronize() == 0
    assert (content(memory + 1000, 2000).reshape(2, 1000) == data).all()


@pytest.mark.parametrize("bad", [-1, 10**6])
def test_a_copy_to_a_device_that_is_not_there(memory, bad):
    assert PyGPU.cudaMemcpyPeer(memory, bad, memory + 1000, 0, 8) == 101
    assert PyGPU.cudaMemcpyPeer(memory, 0, memory + 1000, bad, 8) == 101
    assert PyGPU.cudaMemcpyPeerAsync(memory, bad, memory + 1000, 0, 8) == 101


# Buffers as ends.


@pytest.mark.parametrize(
    "make",
    [
        bytearray,
        lambda data: array.array("B", data),
        lambda data: (ctypes.c_ubyte * len(data))(*data),
        lambda data: np.frombuffer(data, np.uint8).copy(),
        lambda data: np.frombuffer(data, np.float64).copy(),
        lambda data: np.frombuffer(data, np.int16).reshape(-1, 4).copy(),
        lambda data: np.frombuffer(data, np.int16).reshape(-1, 4).copy(order="F"),
        lambda data: memoryview(bytearray(data)),
    ],
)
def test_every_contiguous_buffer_can_be_an_end(memory, make):
    data = bytes(pattern(160))
    source, found = make(data), make(bytes(160))
    assert PyGPU.cudaMemcpy(memory, source, 160) == 0
    assert PyGPU.cudaMemcpy(found, memory, 160) == 0
    assert memoryview(found).tobytes("A") == memoryview(source).tobytes("A")


def test_a_read_only_buffer_can_only_be_the_source(memory):
    data = bytes(pattern(100))
    locked = np.zeros(100, np.uint8)
    locked.flags.writeable = False
    assert PyGPU.cudaMemcpy(memory, data, 100) == 0
    for target in (bytes(100), memoryview(bytes(100)), locked):
        before = bytes(target)
        for call in (PyGPU.cudaMemcpy, PyGPU.cudaMemcpyAsync):
            with pytest.raises(ValueError, match=r"dst.*read-only"):
                call(target, memory, 100)
        with pytest.raises(ValueError, match=r"dst.*read-only"):
            PyGPU.cudaMemcpy2D(target, 10, memory, 10, 10, 10)
        assert bytes(target) == before


def test_a_buffer_with_gaps_is_no_end(memory):
    gappy = np.zeros(200, np.uint8)[::2]
    for arguments, name in (((memory, gappy), "src"), ((gappy, memory), "dst")):
        for call in (PyGPU.cudaMemcpy, PyGPU.cudaMemcpyAsync):
            with pytest.raises(ValueError, match=f"{name}.*contiguous"):
                call(*arguments, 100)
    assert not gappy.any()


def test_a_buffer_that_is_too_short(memory):
    short, long = np.zeros(99, np.uint8), np.zeros(100, np.uint8)
    for dst, src, name in ((short, memory, "dst"), (memory, short, "src"), (long, short, "src")):
        for call in (PyGPU.cudaMemcpy, PyGPU.cudaMemcpyAsync):
            status = call(dst, src, 100)
            assert status == 1
            assert all(word in status.detail for word in (name, "99", "100"))
    assert PyGPU.cudaMemcpy(long, memory, 100) == 0


def test_a_buffer_that_is_too_short_for_its_pitch(memory):
    short = np.zeros(5 * 16 + 9, np.uint8)  # one byte is missing from the last row
    for status, name in (
        (PyGPU.cudaMemcpy2D(short, 16, memory, 10, 10, 6), "dst"),
        (PyGPU.cudaMemcpy2D(memory, 10, short, 16, 10, 6), "src"),
        (PyGPU.cudaMemcpy2DAsync(memory, 10, short, 16, 10, 6), "src"),
    ):
        assert status == 1
        assert all(word in status.detail for word in (name, "89", "90"))
    status = PyGPU.cudaMemcpy2D(short, 2**63, memory, 2**63, 1, 2**63)  # no wrap-around
    assert status == 1 and "dst" in status.detail


@pytest.mark.parametrize("bad", ["text", 1.5, None, [1, 2], {}, object()])
def test_what_can_be_no_end(memory, bad):
    for call in (PyGPU.cudaMemcpy, PyGPU.cudaMemcpyAsync):
        with pytest.raises(TypeError, match="dst"):
            call(bad, memory, 1)
        with pytest.raises(TypeError, match="src"):
            call(memory, bad, 1)
    with pytest.raises(TypeError, match="dst"):
        PyGPU.cudaMemcpy2D(bad, 1, memory, 1, 1, 1)
    with pytest.raises(TypeError, match="src"):
        PyGPU.cudaMemcpy2DAsync(memory, 1, bad, 1, 1, 1)
