"""arange, ones and full, against NumPy."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import RECORD, assert_same, values

from PyGPU import driver
from PyGPU.gpuarray import (
    arange,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    to_gpu,
    vec,
    zeros,
)

INTEGERS = [np.dtype(code) for code in "bBhHiIqQ"]
REALS = [np.dtype(code) for code in "efd"]


@given(st.sampled_from(INTEGERS), st.data())
def test_integers_are_exact(dtype, data):
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    start = data.draw(st.sampled_from([low, 0, high]) | st.integers(low, high))
    step = data.draw(st.integers(-5, 5).filter(bool))
    count = min(
        data.draw(st.integers(0, 40)), (high - start if step > 0 else start - low) // abs(step)
    )
    got = arange(start, start + count * step, step, dtype)
    assert_same(got.get(), np.array([start + i * step for i in range(count)], dtype))


@given(st.sampled_from(REALS), st.data())
def test_floating_point_numbers(dtype, data):
    number = st.integers(-64, 64).map(lambda n: n / 8)
    start, stop, step = data.draw(number), data.draw(number), data.draw(number.filter(bool))
    assert_same(arange(start, stop, step, dtype=dtype).get(), np.arange(start, stop, step, dtype))


def test_numbers_are_rounded_once():
    got = arange(0, 1e5, 0.1, dtype=np.float32).get()
    assert_same(got, (np.arange(10**6) * 0.1).astype(np.float32))
    assert arange(0.0, 1.0, 0.1, dtype=np.float64).size == 10


# Around vectors, blocks, and the runs of the host machine.
SIZES = [1, 2, 3, 7, 8, 9, 127, 1023, 1024, 1025, 2047, 2049, 4097, 8193, 16383, 16385, 100_003]


class NextToAligned:
    """Memory at an address that no vector of several elements is aligned to."""

    def __init__(self, nbytes):
        self._memory = driver.mem_alloc(nbytes + 8)

    def __int__(self):
        return int(self._memory) + 8

    __index__ = __int__


@pytest.mark.parametrize("allocator", [None, NextToAligned], ids=["aligned", "not aligned"])
@pytest.mark.parametrize("dtype", [*INTEGERS, *REALS], ids=str)
def test_sizes(dtype, allocator):
    for size in SIZES:
        if dtype.itemsize == 1:
            size %= 128
        elif dtype.itemsize == 2:
            size %= 2000
        got = arange(size, dtype=dtype, allocator=allocator)
        assert_same(got.get(), np.arange(size, dtype=dtype))
        got = linspace(-1, 2, size, dtype=dtype, allocator=allocator)
        if dtype.kind != "u":
            assert_same(got.get(), np.linspace(-1, 2, size, dtype=dtype))


def test_halves_are_rounded_once():
    """These numbers lie next to the middle between two halves, which is a float."""
    step = 1 + 2.0**-11 + 2.0**-40
    expected = (np.arange(1000) * step).astype(np.float16)
    assert_same(arange(0, 1000 * step, step, dtype=np.float16).get(), expected)
    assert expected[1] > 1


def test_streams():
    """What comes next on the stream finds the numbers."""
    x = np.arange(100_000, dtype=np.int32)
    stream, got = driver.Stream(), zeros(100_000, np.int32)
    for _ in range(10):
        got.fill(0, stream=stream)
        got.set_async(arange(100_000, dtype=np.int32, stream=stream), stream)
        stream.synchronize()
        assert_same(got.get(), x)


@pytest.mark.parametrize("dtype", [None, "F", "D"])
def test_complex_numbers(dtype):
    """A range ends where its real or its imaginary part does, as in NumPy."""
    for args in [(0, 5 + 5j, 1 + 1j), (1, 4 + 9j, 0.5 + 1j), (3 + 9j,), (0, -2 - 1j, -0.5 - 0.5j)]:
        expected = np.arange(*args, dtype=dtype)
        if dtype is None:
            with pytest.warns(UserWarning, match="guessed to be complex128"):
                assert_same(arange(*args).get(), expected)
        else:
            assert_same(arange(*args, dtype=dtype).get(), expected)
    assert_same(arange(5, dtype="F").get(), np.arange(5, dtype="F"))
    for args in [(0, complex(np.inf, 1)), (0, 1 + 1j, complex(np.nan, 1))]:
        with pytest.raises(ValueError, match="finite"):
            arange(*args, dtype="D")


def test_beyond_53_bits():
    start = 2**53 + 1
    assert arange(start, start + 3, dtype=np.int64).get().tolist() == [start, start + 1, start + 2]
    assert arange(2**64 - 2, 2**64, dtype="u8").get().tolist() == [2**64 - 2, 2**64 - 1]
    assert arange(2**70, 2**70 + 2**20, 2**19, dtype="f4").get().tolist() == [2.0**70] * 2


def test_forms_of_a_call():
    f4 = np.dtype("f4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for got in (
            arange(0, 5, 1, f4),
            arange(0, 5, f4),
            arange(5, f4),
            arange(5, dtype=np.float32),
            arange(0, 5, 1, np.float32),
            arange(stop=5, dtype="f4"),
            arange(5, start=0, step=1, dtype="f4"),
            arange(5, dtype="f4", stream=driver.Stream(), allocator=driver.mem_alloc),
        ):
            assert_same(got.get(), np.arange(5, dtype=f4))
    for args in [(5,), (1.0, 5), (0, 5.0, 2), (np.int16(3),), (np.float32(5),)]:
        with pytest.warns(UserWarning, match="guessed"):
            got = arange(*args)
        assert_same(got.get(), np.arange(*args))


def test_float_steps_of_integers():
    for args in [(-2.5, 3, 1.5), (0, 5, 0.5), (0.5, 5.5)]:
        assert_same(arange(*args, dtype=np.int32).get(), np.arange(*args, dtype=np.int32))


def test_nothing_between():
    for args in [(0,), (5, 5), (5, 3), (3, 5, -1), (1.0, 0.0)]:
        got = arange(*args, dtype=np.float32)
        assert got.shape == (0,) and got.dtype == np.float32


def test_arguments_of_arange():
    for dtype in (np.bool_, "S3"):
        with pytest.raises(TypeError, match="dtype"):
            arange(5, dtype=dtype)
    for args in [(), (1, 2, 3, np.dtype("f4"), 5), (None,)]:
        with pytest.raises(TypeError, match="arange"):
            arange(*args, dtype=None)
    for args in [("5",), ([5],)]:
        with pytest.raises(TypeError, match="arange: expected numbers"):
            arange(*args, dtype=np.float32)
    with pytest.raises(TypeError, match="dtype=float32: expected a dtype of complex numbers"):
        arange(1j, dtype=np.float32)
    for keywords in ({"stop": 5}, {"dtype": np.float32}):
        with pytest.raises(TypeError, match="twice"):
            arange(5, np.dtype("f4"), **keywords)
    with pytest.raises(ValueError, match="step"):
        arange(0, 5, 0, dtype=np.int32)
    for args in [(0, np.inf), (np.nan, 5.0), (0, 5, np.nan)]:
        with pytest.raises(ValueError, match="finite"):
            arange(*args, dtype=np.float64)
    for args in [(0, 257), (-1, 3), (5, -5, -1)]:
        with pytest.raises(OverflowError, match="uint8"):
            arange(*args, dtype=np.uint8)
    with pytest.raises(OverflowError):
        arange(2**70, dtype=np.int64)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u8", "c8", "?", "f2"])
def test_ones(dtype):
    for shape in ((), 3, (2, 3), (0, 2)):
        for order in "CF":
            got = ones(shape, dtype, order=order)
            assert_same(got.get(), np.ones(shape, dtype))
            assert got.flags.f_contiguous if order == "F" else got.flags.c_contiguous
    assert ones(3).dtype == np.float64
    assert ones(3, allocator=driver.mem_alloc).allocator is driver.mem_alloc


def test_like():
    fortran = to_gpu(np.asfortranarray(values((2, 3), np.int16)))
    assert_same(ones_like(fortran).get(), np.ones((2, 3), np.int16))
    assert ones_like(fortran).flags.f_contiguous
    assert ones_like(fortran, np.float64, "C").flags.c_contiguous
    assert_same(full_like(fortran, 7).get(), np.full((2, 3), 7, np.int16))
    assert_same(full_like(fortran, 2.5, np.float32).get(), np.full((2, 3), 2.5, np.float32))
    with pytest.raises(TypeError):
        ones_like(object())
    assert_same(ones_like([[1, 2]]).get(), np.ones((1, 2), int))
    assert_same(full_like(fortran, 7, shape=4).get(), np.full(4, 7, np.int16))


def test_full():
    assert_same(full((2, 2), 3).get(), np.full((2, 2), 3))
    assert_same(full(3, 2.5, np.float32, order="F").get(), np.full(3, 2.5, np.float32))
    assert_same(full(3, 1 + 2j).get(), np.full(3, 1 + 2j))
    assert_same(ones(3, np.longdouble).get(), np.ones(3, np.longdouble))
    assert_same(full(2, b"ab", "S4").get(), np.full(2, b"ab", "S4"))
    record = np.array((1, b"a", (2.0, 3.0)), RECORD)
    assert_same(full(2, record).get(), np.array([record, record]))
    assert_same(full(2, vec.make_float3(1, 2, 3)).get()["y"], np.full(2, 2, np.float32))


def test_what_cannot_fill():
    assert (full(3, 2.5, np.int32).get() == 2).all()  # as NumPy's
    with pytest.raises((TypeError, ValueError)):
        full(zeros(2), 1)
