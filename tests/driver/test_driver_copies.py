"""driver.memcpy_htod and memcpy_dtoh, blocking and in a stream's order; what is a host buffer."""

import array
import ctypes

import numpy as np
import pytest
from campaign import each_once
from hypothesis import given
from hypothesis import strategies as st
from memory_tools import pattern
from strategies import dtypes, shapes, values

import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray

KB = 1024


@pytest.fixture
def memory():
    """64 KB on the device, filled with a pattern."""
    return drv.to_device(pattern(64 * KB))


def content(memory, nbytes):
    found = np.empty(nbytes, np.uint8)
    drv.memcpy_dtoh(found, memory)
    return found


def blocking_up(dest, src):
    drv.memcpy_htod(dest, src)


def blocking_down(dest, src):
    drv.memcpy_dtoh(dest, src)


def streamed_up(dest, src):
    stream = drv.Stream()
    drv.memcpy_htod_async(dest, src, stream)
    stream.synchronize()


def streamed_down(dest, src):
    stream = drv.Stream()
    drv.memcpy_dtoh_async(dest, src, stream)
    stream.synchronize()


def null_stream_up(dest, src):
    drv.memcpy_htod_async(dest, src)
    drv.Context.synchronize()


def null_stream_down(dest, src):
    drv.memcpy_dtoh_async(dest=dest, src=src, stream=None)
    drv.Context.synchronize()


up_and_down = pytest.mark.parametrize(
    ("up", "down"),
    [
        (blocking_up, blocking_down),
        (streamed_up, streamed_down),
        (null_stream_up, null_stream_down),
    ],
    ids=["blocking", "streamed", "null stream"],
)
UPS = [blocking_up, streamed_up, null_stream_up]
DOWNS = [blocking_down, streamed_down, null_stream_down]
ups = pytest.mark.parametrize("up", UPS)
downs = pytest.mark.parametrize("down", DOWNS)


# Host and device.


@up_and_down
@given(dtype=dtypes, shape=shapes(), order=st.sampled_from("CF"))
def test_arrays_of_every_dtype_and_order(up, down, dtype, shape, order):
    data = np.asarray(values(shape, dtype), order=order)
    memory = drv.mem_alloc(max(data.nbytes, 1))
    back = np.zeros_like(data)
    up(memory, data)
    down(back, memory)
    assert back.tobytes() == data.tobytes()


@up_and_down
@given(text=st.binary(min_size=1, max_size=5000), offset=st.integers(0, 3000))
def test_bytes_at_every_offset(up, down, text, offset):
    memory = drv.to_device(pattern(8 * KB))
    up(int(memory) + offset, text)
    back = bytearray(8 * KB)
    down(back, memory)
    expected = bytearray(pattern(8 * KB))
    expected[offset : offset + len(text)] = text
    assert back == expected


SOURCES = {
    "bytes": (b"0123456789", b"0123456789"),
    "bytearray": (bytearray(b"0123456789"), b"0123456789"),
    "memoryview": (memoryview(b"0123456789")[2:6], b"2345"),
    "array.array": (array.array("i", [1, 2, 3]), np.array([1, 2, 3], np.int32).tobytes()),
    "ctypes": ((ctypes.c_short * 3)(4, 5, 6), np.array([4, 5, 6], np.int16).tobytes()),
    "number": (np.float32(1.5), np.float32(1.5).tobytes()),
    "complex number": (np.complex128(1 + 2j), np.complex128(1 + 2j).tobytes()),
    "truth": (np.bool_(True), b"\x01"),
    "date": (np.datetime64("2026-01-02"), np.array("2026-01-02", "M8[D]").tobytes()),
    "0-d": (np.array(7, np.int16), np.int16(7).tobytes()),
    "record": (np.array([(1, 2.5)], "i4, f8")[0], np.array([(1, 2.5)], "i4, f8").tobytes()),
    "Fortran": (np.arange(6, dtype=np.int16).reshape(2, 3).T, np.arange(6, dtype="i2").tobytes()),
    "Fortran view": (
        memoryview(np.asfortranarray(np.arange(6, dtype=np.uint8).reshape(2, 3))),
        bytes([0, 3, 1, 4, 2, 5]),
    ),
    "one row": (np.arange(12, dtype=np.uint8).reshape(2, 6)[1:], bytes(range(6, 12))),
    "masked": (np.ma.masked_equal(np.arange(4, dtype=np.uint8), 2), bytes(range(4))),
    "read-only": (np.frombuffer(b"read-only", np.uint8), b"read-only"),
}


@ups
@pytest.mark.parametrize("name", SOURCES)
def test_sources(memory, up, name):
    source, expected = SOURCES[name]
    up(memory, source)
    found = content(memory, 64 * KB)
    assert found[: len(expected)].tobytes() == expected
    assert (found[len(expected) :] == pattern(64 * KB)[len(expected) :]).all()


DESTINATIONS = {
    "bytearray": lambda: bytearray(12),
    "memoryview": lambda: memoryview(bytearray(20))[4:16],
    "array.array": lambda: array.array("i", [0, 0, 0]),
    "ctypes": lambda: (ctypes.c_short * 6)(),
    "Fortran": lambda: np.zeros((3, 2), np.int16, "F"),
    "Fortran view": lambda: memoryview(np.zeros((3, 4), np.uint8, "F")),
    "records": lambda: np.zeros(1, "i4, f8"),
    "dates": lambda: np.zeros((2, 1), "M8[s]")[:1],
    "0-d": lambda: np.zeros((), np.complex64),
    "one row": lambda: np.zeros((2, 12), np.uint8)[1:],
    "odd strides of one row": lambda: np.lib.stride_tricks.as_strided(
        np.zeros(12, np.uint8), (1, 12), (5, 1)
    ),
}


@downs
@pytest.mark.parametrize("name", DESTINATIONS)
def test_destinations(memory, down, name):
    destination = DESTINATIONS[name]()
    down(destination, memory)
    found = np.asarray(destination).tobytes(order="A")
    assert found == pattern(len(found)).tobytes() and len(found) >= 8


@ups
@downs
def test_nothing_is_copied_by_empty_buffers(memory, up, down):
    for empty in (b"", np.zeros((3, 0)), array.array("d")):
        up(memory, empty)
    for empty in (bytearray(), np.zeros((0, 5), np.int32)):
        down(empty, memory)
    assert (content(memory, 64 * KB) == pattern(64 * KB)).all()


NO_BUFFERS = [[1, 2], "text", None, 5, 1.5, (1,), {}, object()]


@pytest.mark.parametrize(
    ("up", "down", "bad"), each_once(zip(UPS, DOWNS), [(bad,) for bad in NO_BUFFERS])
)
def test_what_is_no_buffer(memory, up, down, bad):
    with pytest.raises(TypeError, match="src"):
        up(memory, bad)
    with pytest.raises(TypeError, match="dest"):
        down(bad, memory)


@ups
@downs
def test_device_memory_is_no_host_buffer(memory, up, down):
    array = gpuarray.zeros(4, np.float32)
    for bad in (array, memory, array.gpudata, int(memory), array[1:]):
        with pytest.raises(TypeError, match=r"src.*memcpy_htod\(device, host\)"):
            up(memory, bad)
        with pytest.raises(TypeError, match=r"dest.*memcpy_dtoh\(host, device\)"):
            down(bad, memory)
    with pytest.raises(TypeError, match=r"memcpy_htod\(device, host\)"):
        up(np.zeros(4, np.float32), memory)  # swapped
    with pytest.raises(TypeError, match=r"memcpy_dtoh\(host, device\)"):
        down(memory, np.zeros(4, np.float32))


@ups
@downs
def test_host_memory_is_no_device_address(memory, up, down):
    for bad in (np.zeros(4, np.float32), np.zeros(1, np.int64), np.zeros((2, 2), np.int8)):
        with pytest.raises(TypeError, match=r"dest: expected an address: .*ndarray"):
            up(bad, np.zeros(4, np.float32))
        with pytest.raises(TypeError, match=r"src: expected an address: .*ndarray"):
            down(np.zeros(4, np.float32), bad)


@ups
@downs
def test_text_and_lists_have_no_bytes_of_their_own(memory, up, down):
    with pytest.raises(TypeError, match=r"src.*encode\(\)"):
        up(memory, "text")
    with pytest.raises(TypeError, match=r"src.*numpy\.array"):
        up(memory, [1, 2])
    with pytest.raises(TypeError, match=r"dest.*bytearray"):
        down("text", memory)


@ups
@downs
def test_host_buffers_must_be_contiguous(memory, up, down):
    for strided in (np.zeros(10)[::2], np.zeros((4, 4))[:, 1:3], memoryview(bytearray(10))[::2]):
        with pytest.raises(ValueError, match="contiguous"):
            up(memory, strided)
        with pytest.raises(ValueError, match="contiguous"):
            down(strided, memory)
    assert (content(memory, 64 * KB) == pattern(64 * KB)).all()


@downs
@pytest.mark.parametrize(
    "bad",
    [b"immutable", memoryview(b"immutable"), np.frombuffer(b"immutable", np.uint8), np.float64(3)],
    ids=["bytes", "memoryview", "array", "number"],
)
def test_read_only_destinations(memory, down, bad):
    before = bytes(memoryview(bad).cast("B"))
    with pytest.raises((BufferError, ValueError), match="read-only"):
        down(bad, memory)
    assert bytes(memoryview(bad).cast("B")) == before


def test_every_copy_to_the_host_reads_its_destination_alike():
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.num_channels = 8, 1
    array, memory = drv.Array(descriptor), drv.mem_alloc(8)
    copies = (
        lambda dest: drv.memcpy_dtoh(dest, memory),
        lambda dest: drv.memcpy_dtoh_async(dest, memory),
        lambda dest: drv.memcpy_atoh(dest, array, 0),
        drv.Memcpy2D().set_dst_host,
        drv.Memcpy3D().set_dst_host,
    )
    for copy in copies:
        with pytest.raises(ValueError, match="read-only"):
            copy(np.frombuffer(bytes(8), np.uint8))
        with pytest.raises(ValueError, match="read-only"):
            copy(np.float64(3))
        with pytest.raises(BufferError, match="read-only"):
            copy(bytes(8))
        with pytest.raises(TypeError, match="Python objects"):
            copy(np.array([None]))
        with pytest.raises(TypeError, match=r"numpy.array"):
            copy([1, 2])
        with pytest.raises(TypeError, match=r"host buffer, got Foreign; numpy.from_dlpack"):
            copy(Foreign())


class Foreign:
    """An array of another library in the CPU's memory, which has one element."""

    def __dlpack_device__(self):
        return 1, 0

    def __index__(self):
        raise TypeError("only integer tensors of a single element can be converted to an index")


NO_ADDRESSES = [1.5, "address", None, b"1234", [1], (1,), np.zeros(3)]


@pytest.mark.parametrize(
    ("up", "down", "bad"), each_once(zip(UPS, DOWNS), [(bad,) for bad in NO_ADDRESSES])
)
def test_what_is_no_device_address(up, down, bad):
    with pytest.raises(TypeError):
        up(bad, b"1234")
    with pytest.raises(TypeError):
        down(bytearray(4), bad)


@ups
@downs
def test_what_is_a_device_address(up, down):
    array = gpuarray.zeros(4, np.float32)
    data, back = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    numbers = (array.ptr, np.uint64(array.ptr), np.intp(array.ptr), array.gpudata, array)
    for scale, address in enumerate(numbers, 1):
        up(address, data * np.float32(scale))
        assert (array.get() == data * scale).all()
        down(back, address)
        assert (back == data * scale).all()


@ups
@downs
def test_copies_end_where_the_memory_ends(up, down):
    memory = drv.to_device(pattern(4 * KB))
    too_long = np.zeros(8 << 20, np.uint8)
    with pytest.raises(drv.LogicError):
        up(memory, too_long)
    with pytest.raises(drv.LogicError):
        down(too_long, memory)
    assert not too_long.any()
    assert (content(memory, 4 * KB) == pattern(4 * KB)).all()


@ups
@downs
def test_addresses_of_nothing(up, down):
    for address, error in ((0, drv.LogicError), (-5, ValueError), (2**70, ValueError)):
        with pytest.raises((error, OverflowError)):
            up(address, b"1234")
        with pytest.raises((error, OverflowError)):
            down(bytearray(4), address)


@ups
@downs
def test_no_python_objects_are_copied(memory, up, down):
    objects = np.array([1, "text"], object)
    with pytest.raises(TypeError):
        up(memory, objects)
    with pytest.raises(TypeError):
        down(objects, memory)
    with pytest.raises(TypeError):
        drv.from_device(memory, 2, object)
    assert objects.tolist() == [1, "text"]


@pytest.mark.parametrize("nbytes", [(16 << 20) - 1, (16 << 20) + 1, (40 << 20) + 3])
def test_large_pageable_copies(nbytes):
    data, back = pattern(nbytes), np.zeros(nbytes, np.uint8)
    memory = drv.mem_alloc(nbytes)
    drv.memcpy_htod(memory, data)
    drv.memcpy_dtoh(back, memory)
    assert (back == data).all()
    back[:] = 0
    streamed_up(memory, data[::-1].copy())
    streamed_down(memoryview(back), memory)
    assert (back == data[::-1]).all()


STAGED = """
import numpy as np
import PyGPU.driver as drv

MB = 1 << 20
first, second = drv.mem_alloc(3 * MB), drv.mem_alloc(3 * MB)
memories = first, second
for memory in memories:
    drv.memset_d8(memory, 1, 3 * MB)
host = np.full(4 * MB, 2, np.uint8)
for call, *ends in [(drv.memcpy_htod, first, host), (drv.memcpy_dtoh, host, first),
                    (drv.memcpy_htod, int(second) + 2 * MB, host[: 2 * MB])]:
    try:
        call(*ends)
    except drv.LogicError as error:
        print("the allocation ends" in str(error))
    else:
        print("not refused")
print((host == 2).all(), *((drv.from_device(m, 3 * MB, np.uint8) == 1).all() for m in memories))
drv.memcpy_htod(int(first) + MB, host[: 2 * MB])
back = drv.from_device(first, 3 * MB, np.uint8)
print((back[:MB] == 1).all(), (back[MB:] == 2).all())
"""


@pytest.mark.parametrize("threshold", [0, 1 << 16])
def test_what_reaches_too_far_copies_nothing(python, threshold):
    """In one piece, and in many."""
    assert set(python(STAGED, PYGPU_STAGING=threshold).stdout.split("\n")) - {""} == {
        "True",
        "True True",
        "True True True",
    }
