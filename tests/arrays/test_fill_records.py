"""fill() of arrays whose elements are no numbers: structures, vectors of CUDA's, texts, dates."""

import numpy as np
import pytest

import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.gpuarray import vec

PAIR = np.dtype([("key", "i4"), ("value", "f8")])
ODD = np.dtype([("flag", "u1"), ("code", "i2")])  # three bytes
VALUES = [
    (vec.float3, vec.make_float3(1, 2, 3)),
    (vec.double2, vec.make_double2(0.5, -1)),
    (vec.uchar4, vec.make_uchar4(1, 2, 3, 255)),
    (vec.float3, (1, 2, 3)),
    (PAIR, np.array([(7, 2.5)], PAIR)[0]),
    (PAIR, (7, 2.5)),
    (ODD, np.array((200, -3), ODD)),
    (np.dtype("S5"), b"four"),
    (np.dtype("U3"), "abc"),
    (np.dtype("M8[D]"), np.datetime64("2020-02-29")),
    (np.dtype("V7"), np.void(b"1234567")),
]


@pytest.mark.parametrize("dtype, value", VALUES, ids=lambda one: repr(one)[:24])
@pytest.mark.parametrize("shape", [(), (1,), (1000,), (3, 5, 7), (0,)])
def test_every_element_becomes_the_value(dtype, value, shape):
    array = gpuarray.empty(shape, dtype)
    expected = np.empty(shape, dtype)
    expected[...] = value
    assert array.fill(value) is array
    assert np.array_equal(array.get(), expected)


def test_strided_arrays_keep_what_lies_between():
    array = gpuarray.zeros((6, 4), PAIR)
    array[::2, 1:3].fill((3, 1.5))
    expected = np.zeros((6, 4), PAIR)
    expected[::2, 1:3] = (3, 1.5)
    assert np.array_equal(array.get(), expected)
    in_columns = gpuarray.GPUArray((5, 3), vec.float3, order="F").fill(vec.make_float3(4, 5, 6))
    assert in_columns.flags.f_contiguous
    assert (in_columns.get()["z"] == 6).all()


def test_in_the_order_of_a_stream():
    stream = drv.Stream()
    array = gpuarray.zeros(1 << 16, vec.int2)
    for k in range(5):
        array.fill(vec.make_int2(k, -k), stream)
    stream.synchronize()
    assert (array.get()["x"] == 4).all() and (array.get()["y"] == -4).all()


@pytest.mark.parametrize(
    "dtype, value", [(vec.float3, (1, 2)), (vec.float3, "abc"), (PAIR, [1, 2, 3]), ("M8[D]", "x")]
)
def test_values_that_are_no_element(dtype, value):
    array = gpuarray.zeros(4, dtype)
    before = array.get()
    with pytest.raises(TypeError, match=r"value: expected an element of dtype .*, got "):
        array.fill(value)
    assert np.array_equal(array.get(), before)
