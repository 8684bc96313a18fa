"""driver.memset_d8, d16, d32, flat and in rows, blocking and in a stream's order."""

import numpy as np
import pytest
from campaign import each_once
from hypothesis import given
from hypothesis import strategies as st

import PyGPU.driver as drv

BITS = (8, 16, 32)
UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32}
FORMS = ("blocking", "null stream", "streamed")


def flat(form, bits, dest, data, size):
    if form == "blocking":
        getattr(drv, f"memset_d{bits}")(dest, data, size)
    elif form == "null stream":
        getattr(drv, f"memset_d{bits}_async")(dest, data, size)
        drv.Context.synchronize()
    else:
        stream = drv.Stream()
        getattr(drv, f"memset_d{bits}_async")(dest, data, size, stream=stream)
        stream.synchronize()


def rows(form, bits, dest, pitch, data, width, height):
    if form == "blocking":
        getattr(drv, f"memset_d2d{bits}")(dest, pitch, data, width, height)
    elif form == "null stream":
        getattr(drv, f"memset_d2d{bits}_async")(dest, pitch, data, width, height)
        drv.Context.synchronize()
    else:
        stream = drv.Stream()
        getattr(drv, f"memset_d2d{bits}_async")(dest, pitch, data, width, height, stream)
        stream.synchronize()


every_form = pytest.mark.parametrize("form", FORMS)
every_width = pytest.mark.parametrize("bits", BITS)


@every_form
@every_width
@given(numbers=st.data())
def test_a_part_is_filled(form, bits, numbers):
    dtype = UNSIGNED[bits]
    before = np.arange(2000).astype(dtype)
    start = numbers.draw(st.integers(0, 1000))
    size = numbers.draw(st.integers(0, 1000))
    value = numbers.draw(st.integers(0, 2**bits - 1))
    memory = drv.to_device(before)
    flat(form, bits, int(memory) + start * dtype().itemsize, value, size)
    expected = before.copy()
    expected[start : start + size] = value
    assert (drv.from_device_like(memory, before) == expected).all()


@every_form
@every_width
@given(numbers=st.data())
def test_rows_are_filled(form, bits, numbers):
    dtype = UNSIGNED[bits]
    before = np.arange(12 * 40).astype(dtype).reshape(12, 40)
    top, left = numbers.draw(st.integers(0, 6)), numbers.draw(st.integers(0, 20))
    height, width = numbers.draw(st.integers(0, 6)), numbers.draw(st.integers(0, 20))
    value = numbers.draw(st.integers(0, 2**bits - 1))
    memory = drv.to_device(before)
    first = int(memory) + before.strides[0] * top + before.strides[1] * left
    rows(form, bits, first, before.strides[0], value, width, height)
    expected = before.copy()
    expected[top : top + height, left : left + width] = value
    assert (drv.from_device_like(memory, before) == expected).all()


@pytest.mark.parametrize(
    ("bits", "value", "expected"),
    [
        (8, 0x7F, np.array([0x7F7F7F7F], np.uint32)),
        (16, 0x1234, np.array([0x12341234], np.uint32)),
        (32, 0x12345678, np.array([0x12345678], np.uint32)),
        (32, 0x3FC00000, np.array([1.5], np.float32)),
        (16, 0x3C00, np.array([1, 1], np.float16)),
        (32, 0xFFFFFFFF, np.array([-1], np.int32)),
    ],
)
def test_known_answers(bits, value, expected):
    memory = drv.mem_alloc(4)
    getattr(drv, f"memset_d{bits}")(dest=memory, data=value, size=32 // bits)
    assert (drv.from_device_like(memory, expected) == expected).all()


@every_width
def test_large_fills(bits):
    size = (20 << 20) // (bits // 8) + 1
    memory = drv.mem_alloc(size * bits // 8)
    flat("blocking", bits, memory, 2**bits - 2, size)
    found = drv.from_device(memory, size, UNSIGNED[bits])
    assert (found == 2**bits - 2).all()


@every_width
def test_pitched_rows(bits):
    itemsize = bits // 8
    memory, pitch = drv.mem_alloc_pitch(100 * itemsize, 9, 4)
    drv.memset_d8(memory, 0, pitch * 9)
    fill = getattr(drv, f"memset_d2d{bits}")
    fill(dest=memory, pitch=pitch, data=5, width=100, height=9)
    found = drv.from_device(memory, (9, pitch // itemsize), UNSIGNED[bits])
    assert (found[:, :100] == 5).all() and not found[:, 100:].any()


@every_form
@every_width
def test_data_out_of_range(form, bits):
    memory = drv.to_device(np.arange(64, dtype=np.uint8))
    for data in (-1, 2**bits, 2**80, np.int64(-7)):
        with pytest.raises(OverflowError, match="data"):
            flat(form, bits, memory, data, 2)
        with pytest.raises(OverflowError, match="data"):
            rows(form, bits, memory, 16, data, 2, 2)
    assert (drv.from_device(memory, 64, np.uint8) == np.arange(64)).all()


NO_DATA = [1.0, np.float32(1), "1", None, b"1", 1j, [1]]


@pytest.mark.parametrize(
    ("form", "bits", "data"), each_once([(form, bits) for form in FORMS for bits in BITS], NO_DATA)
)
def test_what_is_no_data(form, bits, data):
    memory = drv.mem_alloc(64)
    with pytest.raises(TypeError, match="data"):
        flat(form, bits, memory, data, 2)
    with pytest.raises(TypeError, match="data"):
        rows(form, bits, memory, 16, data, 2, 2)


@every_form
@every_width
@pytest.mark.parametrize("data", [1, np.uint8(1), np.int64(1), True], ids=repr)
def test_what_is_data(form, bits, data):
    memory = drv.mem_alloc(64)
    flat(form, bits, memory, data, 16)
    assert (drv.from_device(memory, 16, UNSIGNED[bits]) == 1).all()


@every_form
@every_width
def test_negative_sizes(form, bits):
    memory = drv.mem_alloc(64)
    with pytest.raises(OverflowError):
        flat(form, bits, memory, 1, -1)
    for pitch, width, height in ((16, -1, 2), (16, 2, -1), (-16, 2, 2)):
        with pytest.raises(OverflowError):
            rows(form, bits, memory, pitch, 1, width, height)


@every_form
@every_width
def test_what_is_no_size(form, bits):
    memory = drv.mem_alloc(64)
    for size in (1.5, None, "2"):
        with pytest.raises(TypeError):
            flat(form, bits, memory, 1, size)
        for pitch, width, height in ((size, 2, 2), (16, size, 2), (16, 2, size)):
            with pytest.raises(TypeError):
                rows(form, bits, memory, pitch, 1, width, height)


@every_form
@every_width
def test_what_is_no_device_address(form, bits):
    for bad in (None, 1.5, "x", b"1234", np.zeros(4)):
        with pytest.raises(TypeError):
            flat(form, bits, bad, 1, 2)
        with pytest.raises(TypeError):
            rows(form, bits, bad, 16, 1, 2, 2)


@every_form
@every_width
def test_fills_end_where_the_memory_ends(form, bits):
    memory = drv.to_device(np.arange(64, dtype=np.uint8))
    for size in (64 << 20, 2**40, 2**62, 2**63, 2**64 - 1):
        with pytest.raises((drv.LogicError, OverflowError)):
            flat(form, bits, memory, 1, size)
    for pitch, width, height in ((1 << 20, 4, 100), (16, 4, 1 << 24), (2**62, 4, 8)):
        with pytest.raises((drv.LogicError, OverflowError)):
            rows(form, bits, memory, pitch, 1, width, height)
    assert (drv.from_device(memory, 64, np.uint8) == np.arange(64)).all()


@every_width
def test_sizes_beyond_64_bits(bits):
    memory = drv.mem_alloc(64)
    for size in (2**64, 2**70):
        with pytest.raises((drv.LogicError, OverflowError)):
            flat("blocking", bits, memory, 1, size)
        for pitch, width, height in ((size, 4, 2), (16, size, 2), (16, 4, size)):
            with pytest.raises((drv.LogicError, OverflowError)):
                rows("blocking", bits, memory, pitch, 1, width, height)


@every_width
def test_rows_are_as_long_as_the_pitch_at_most(bits):
    memory = drv.to_device(np.arange(64, dtype=np.uint8))
    with pytest.raises(drv.LogicError):
        rows("blocking", bits, memory, 4, 1, 8, 2)
    assert (drv.from_device(memory, 64, np.uint8) == np.arange(64)).all()


@pytest.mark.parametrize("bits", [16, 32])
def test_fills_are_aligned(bits):
    memory = drv.to_device(np.arange(64, dtype=np.uint8))
    with pytest.raises(drv.LogicError):
        flat("blocking", bits, int(memory) + 1, 1, 2)
    assert (drv.from_device(memory, 64, np.uint8) == np.arange(64)).all()


@every_form
@every_width
def test_nothing_is_filled_by_no_elements(form, bits):
    memory = drv.to_device(np.arange(64, dtype=np.uint8))
    flat(form, bits, memory, 1, 0)
    rows(form, bits, memory, 16, 1, 0, 2)
    rows(form, bits, memory, 16, 1, 2, 0)
    assert (drv.from_device(memory, 64, np.uint8) == np.arange(64)).all()
