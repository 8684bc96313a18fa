"""NumPy's functions with like=, and those that choose elements, beside NumPy's own results."""

import numpy as np
import pytest

from PyGPU import gpuarray

A = np.arange(12.0).reshape(3, 4) - 5
I = np.array([[2, 0], [1, -1]])  # noqa: E741
LIKE = {
    "empty": lambda **k: np.empty((2, 3), "i2", **k) * 0,
    "zeros": lambda **k: np.zeros((2, 3), **k),
    "zeros of one length": lambda **k: np.zeros(4, "c8", order="F", **k),
    "ones": lambda **k: np.ones((2, 3), **k),
    "ones of ints": lambda **k: np.ones(3, np.uint8, **k),
    "full": lambda **k: np.full((2, 2), 7, **k),
    "full of floats": lambda **k: np.full(2, 7, dtype="f4", **k),
    "array": lambda **k: np.array([[1, 2], [3, 4]], ndmin=3, **k),
    "asarray": lambda **k: np.asarray([1, 2], "f4", **k),
    "asanyarray": lambda **k: np.asanyarray(A.T, order="C", **k),
    "ascontiguousarray": lambda **k: np.ascontiguousarray(3.0, **k),
    "asfortranarray": lambda **k: np.asfortranarray(A, **k),
    "arange": lambda **k: np.arange(2, 11, 3, **k),
    "eye": lambda **k: np.eye(3, 4, 1, **k),
    "identity": lambda **k: np.identity(3, "i4", **k),
    "tri": lambda **k: np.tri(3, **k),
}


@pytest.mark.parametrize("name", LIKE)
def test_like(name):
    expected, made = LIKE[name](), LIKE[name](like=gpuarray.empty(0, "f4"))
    assert type(made) is gpuarray.GPUArray and made.dtype == expected.dtype
    assert made.strides == expected.strides
    np.testing.assert_array_equal(made.get(), expected)


@pytest.mark.parametrize("function", [np.asarray, np.asanyarray, np.ascontiguousarray])
def test_arrays_of_the_device_are_themselves(function):
    a = gpuarray.to_gpu(A)
    assert function(a, like=a) is a
    assert np.array(a, like=a) is not a
    turned, expected = np.asarray(a.T, "f4", "C", like=a), np.asarray(A.T, "f4", "C")
    assert turned.strides == expected.strides
    np.testing.assert_array_equal(turned.get(), expected)
    assert np.array(a, ndmin=4, like=a).shape == (1, 1, 3, 4)


def test_the_device_is_that_of_the_other_array(two_devices):
    two_devices("""
import numpy as np
from PyGPU import gpuarray
there = gpuarray.zeros(3, np.float32, device=1)
assert np.asarray([1.0], like=there).device == np.zeros(2, like=there).device == 1
assert np.arange(3, like=gpuarray.zeros(3, np.float32)).device == 0
""")


CHOICES = {
    "take": lambda a: np.take(a, I),
    "take along an axis": lambda a: np.take(a, I, axis=1),
    "take, clipped": lambda a: np.take(a, [5, -3], 0, mode="clip"),
    "broadcast_to": lambda a: np.broadcast_to(a, (2, 3, 4)),
    "broadcast_to of one": lambda a: np.broadcast_to(a[:1, :1], (2, 3)),
    "outer": lambda a: np.outer(a, a[1]),
    "diagonal": lambda a: np.diagonal(a),
    "diagonal below": lambda a: np.diagonal(a, -1),
    "diagonal of other axes": lambda a: np.diagonal(a.reshape(2, 2, 3), 1, axis1=2, axis2=0),
    "trace": lambda a: np.trace(a, 1),
    "select": lambda a: np.select([np.greater(a, 3), np.less(a, -2)], [a * 2, a - 1], 7),
    "select, True": lambda a: np.select([np.greater(a, 3), True], [a, -1.5]),
    "select, np.True_": lambda a: np.select([np.less(a, 0), np.True_], [1.0, 2.0], np.nan),
    "select, False": lambda a: np.select([False, np.less(a, 0)], [a, a], a[0]),
    "angle": lambda a: np.angle(a + 1j * a * a),
    "angle of reals": lambda a: np.angle(a, deg=True),
}


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8"])
def test_indices_are_computed_in_64_bits(dtype):
    rows, columns = np.array([[100, 120], [7, 9]], dtype)
    flat = np.ravel_multi_index((gpuarray.to_gpu(rows), gpuarray.to_gpu(columns)), (60000, 60000))
    assert flat.dtype == np.int64
    np.testing.assert_array_equal(flat.get(), [6000007, 7200009])
    for mode in ("wrap", "clip"):
        made = np.ravel_multi_index(
            (gpuarray.to_gpu(rows), gpuarray.to_gpu(columns)), (200, 200), mode, "F"
        )
        expected = np.ravel_multi_index((rows, columns), (200, 200), mode, "F")
        np.testing.assert_array_equal(made.get(), expected)
    for made, expected in zip(
        np.unravel_index(gpuarray.to_gpu(rows), (10, 200)), np.unravel_index(rows, (10, 200))
    ):
        assert made.dtype == np.int64
        np.testing.assert_array_equal(made.get(), expected)


@pytest.mark.parametrize("name", CHOICES)
def test_choices(name):
    expected, made = CHOICES[name](A), CHOICES[name](gpuarray.to_gpu(A))
    assert type(made) is gpuarray.GPUArray
    assert made.dtype == expected.dtype and made.shape == np.shape(expected)
    np.testing.assert_allclose(made.get(), expected, rtol=1e-14)


def test_positions():
    flat, shape = np.array([[0, 59], [7, 31]]), (3, 4, 5)
    indices = np.unravel_index(gpuarray.to_gpu(flat), shape)
    for made, expected in zip(indices, np.unravel_index(flat, shape)):
        np.testing.assert_array_equal(made.get(), expected)
    np.testing.assert_array_equal(np.ravel_multi_index(indices, shape).get(), flat)
    in_order = np.unravel_index(gpuarray.to_gpu(flat), shape, order="F")
    for made, expected in zip(in_order, np.unravel_index(flat, shape, order="F")):
        np.testing.assert_array_equal(made.get(), expected)
    back = np.ravel_multi_index(in_order, shape, order="F")
    np.testing.assert_array_equal(back.get(), flat)


@pytest.mark.parametrize("mode", ["wrap", "clip", ("wrap", "clip")])
def test_positions_out_of_range(mode):
    rows, columns = np.array([-1, 5, 2]), np.array([7, -2, 3])
    expected = np.ravel_multi_index((rows, columns), (3, 4), mode=mode)
    made = tuple(map(gpuarray.to_gpu, (rows, columns)))
    np.testing.assert_array_equal(np.ravel_multi_index(made, (3, 4), mode).get(), expected)


@pytest.mark.parametrize("dtype", ["i2", "?", "f4"])
def test_a_trace_has_the_dtype_of_numpys_sum(dtype):
    x = (np.arange(9).reshape(3, 3) * 8000 % 30011).astype(dtype)
    made, out = np.trace(gpuarray.to_gpu(x)), gpuarray.zeros((), np.float64)
    assert made.dtype == np.trace(x).dtype and made.get() == np.trace(x)
    np.trace(gpuarray.to_gpu(x), out=out)
    assert out.get() == np.trace(x)


def test_a_broadcast_copy_is_written_alone():
    a = gpuarray.to_gpu(A)
    copied = np.broadcast_to(a, A.shape)
    copied.fill(1)
    np.testing.assert_array_equal(a.get(), A)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda a: np.full(3, [1, 2, 3], like=a), TypeError, "fill_value: expected a number"),
        (lambda a: np.fromiter([1], int, like=a), TypeError, "numpy.fromiter is not implemented"),
        (lambda a: np.asarray([a], like=a), TypeError, "get"),
        (lambda a: np.broadcast_to(a, (4, 3)), ValueError, "broadcast"),
        (lambda a: np.broadcast_to(a, 4), ValueError, "shape=4: shape .* does not broadcast"),
        (lambda a: np.take(a, 99), IndexError, "99"),
        (lambda a: np.diagonal(a[0]), ValueError, "two axes"),
        (lambda a: np.diagonal(a, 0, 1, -1), ValueError, "same axis"),
        (lambda a: np.select([a], [a]), TypeError, r"condlist\[0\]: expected dtype bool"),
        (lambda a: np.select([np.less(a, 1)], []), ValueError, "one choice for each condition"),
        (lambda a: np.ravel_multi_index((a,), (3, 4)), ValueError, "got 1 index arrays"),
        (lambda a: np.unravel_index(a, (3, 4)), TypeError, "integers"),
        (lambda a: np.unravel_index(a.astype(int), (3, 4)), ValueError, "from 0 to 11"),
        (lambda a: np.unravel_index(abs(a.astype(int)), (9,), "K"), ValueError, "order='K'"),
        (lambda a: np.ravel_multi_index((a.astype(int),), (9,)), ValueError, "from 0 to 8"),
        (lambda a: np.ravel_multi_index((a,), (9,)), TypeError, "integers"),
        (lambda a: np.ravel_multi_index((a.astype(int),), (9,), "near"), ValueError, "mode='near'"),
    ],
)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text):
        call(gpuarray.to_gpu(A))
