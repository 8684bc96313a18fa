"""driver.memcpy_dtod and memcpy_peer: from one device address to another, in every form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_tools import pattern

import PyGPU.driver as drv

KB = 1024


def blocking(dest, src, size):
    drv.memcpy_dtod(dest, src, size)


def null_stream(dest, src, size):
    drv.memcpy_dtod_async(dest=dest, src=src, size=size)
    drv.Context.synchronize()


def streamed(dest, src, size):
    stream = drv.Stream()
    drv.memcpy_dtod_async(dest, src, size, stream)
    stream.synchronize()


def peer(dest, src, size):
    drv.memcpy_peer(dest, src, size)
    drv.Context.synchronize()


def peer_between_contexts(dest, src, size):
    context = drv.Device(0).retain_primary_context()
    drv.memcpy_peer(dest=dest, src=src, size=size, dest_context=context, src_context=context)
    drv.Context.synchronize()


def peer_streamed(dest, src, size):
    stream = drv.Stream()
    drv.memcpy_peer_async(dest, src, size, stream=stream)
    stream.synchronize()


forms = pytest.mark.parametrize(
    "copy", [blocking, null_stream, streamed, peer, peer_between_contexts, peer_streamed]
)


@forms
@given(size=st.integers(0, 4 * KB), start=st.integers(0, 4 * KB), end=st.integers(0, 4 * KB))
def test_a_part_of_the_memory(copy, size, start, end):
    source, target = drv.to_device(pattern(8 * KB)), drv.to_device(pattern(8 * KB, 99))
    copy(int(target) + end, int(source) + start, size)
    expected = pattern(8 * KB, 99)
    expected[end : end + size] = pattern(8 * KB)[start : start + size]
    assert (drv.from_device(target, 8 * KB, np.uint8) == expected).all()
    assert (drv.from_device(source, 8 * KB, np.uint8) == pattern(8 * KB)).all()


@forms
def test_all_of_the_memory(copy):
    source, target = drv.to_device(pattern(4 * KB)), drv.mem_alloc(4 * KB)
    copy(target, source, np.int64(4 * KB))
    assert (drv.from_device(target, 4 * KB, np.uint8) == pattern(4 * KB)).all()


@forms
def test_bad_sizes(copy):
    source, target = drv.mem_alloc(KB), drv.to_device(pattern(KB))
    for size in (-1, np.int64(-5), -(2**40)):
        with pytest.raises(OverflowError, match=str(size)):
            copy(target, source, size)
    with pytest.raises(drv.LogicError):
        copy(target, source, 1 << 40)
    assert (drv.from_device(target, KB, np.uint8) == pattern(KB)).all()


@forms
def test_what_is_no_size(copy):
    source, target = drv.mem_alloc(KB), drv.mem_alloc(KB)
    for size in (1.5, None, "8", [8]):
        with pytest.raises(TypeError, match="size"):
            copy(target, source, size)


@forms
def test_sizes_beyond_64_bits(copy):
    source, target = drv.mem_alloc(KB), drv.mem_alloc(KB)
    for size in (2**63, 2**64 - 1, 2**64, 2**80):
        with pytest.raises((OverflowError, drv.LogicError)):
            copy(target, source, size)


@forms
def test_what_is_no_device_address(copy):
    memory = drv.mem_alloc(KB)
    for bad in (None, 1.5, "x", b"1234", [1]):
        with pytest.raises(TypeError, match="dest"):
            copy(bad, memory, 4)
        with pytest.raises(TypeError, match="src"):
            copy(memory, bad, 4)


@forms
def test_freed_memory(copy):
    memory, freed = drv.mem_alloc(KB), drv.mem_alloc(64 << 20)
    freed.free()
    with pytest.raises(drv.LogicError):
        copy(memory, freed, KB)
    with pytest.raises(drv.LogicError):
        copy(freed, memory, KB)


def test_what_is_no_context():
    memory = drv.mem_alloc(KB)
    for bad in (5, "x", drv.Device(0)):
        with pytest.raises(TypeError):
            drv.memcpy_peer(memory, memory, 4, dest_context=bad)
        with pytest.raises(TypeError):
            drv.memcpy_peer_async(memory, memory, 4, src_context=bad)


@pytest.mark.parametrize("stream", ["x", 1.5, [1], object()], ids=lambda bad: type(bad).__name__)
def test_what_is_no_stream(stream):
    memory = drv.mem_alloc(KB)
    for use in (
        lambda: drv.memcpy_htod_async(memory, b"1234", stream),
        lambda: drv.memcpy_dtoh_async(bytearray(4), memory, stream),
        lambda: drv.memcpy_dtod_async(memory, int(memory) + 8, 4, stream),
        lambda: drv.memcpy_peer_async(memory, int(memory) + 8, 4, stream=stream),
        lambda: drv.memset_d8_async(memory, 1, 4, stream),
    ):
        with pytest.raises(TypeError, match="stream"):
            use()


def test_copies_keep_the_order_of_their_stream():
    stream, other = drv.Stream(), drv.Stream()
    source = drv.pagelocked_empty(1 << 20, np.uint8)
    back = drv.pagelocked_zeros(1 << 20, np.uint8)
    source[:] = pattern(1 << 20)
    first, second = drv.mem_alloc(1 << 20), drv.mem_alloc(1 << 20)
    drv.memset_d8_async(first, 1, 1 << 20, stream)
    drv.memcpy_htod_async(first, source, stream)
    drv.memcpy_dtod_async(second, first, 1 << 20, stream)
    done = drv.Event().record(stream)
    other.wait_for_event(done)
    drv.memset_d8_async(first, 2, 1 << 20, stream)
    drv.memcpy_dtoh_async(back, second, other)
    other.synchronize()
    assert (back == source).all()
    stream.synchronize()
    assert (drv.from_device(first, 1 << 20, np.uint8) == 2).all()
