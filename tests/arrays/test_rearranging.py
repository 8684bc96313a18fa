"""NumPy's functions that put elements in other places, on any layout."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from strategies import NUMBERS, arrays, assert_same, examples

from PyGPU.gpuarray import GPUArray, to_gpu

X = np.arange(24, dtype="i4").reshape(2, 3, 4)


def same(call, *given):
    """Compare a call for arrays on the device with the same call for ndarrays."""
    expected = call(*given)
    got = call(*map(to_gpu, given))
    assert type(got) is GPUArray and got.shape == expected.shape
    assert_same(np.ascontiguousarray(got.get()), np.ascontiguousarray(expected))
    return got


@examples(60)
@given(st.data())
def test_any_array(data):
    x = data.draw(arrays(dtype=np.dtype("i4")))
    axis = st.integers(-x.ndim, x.ndim - 1)
    axes = st.none() | st.lists(axis, max_size=3).map(tuple)
    if x.ndim:
        one, several = data.draw(axis), data.draw(axes)
        if several is not None and len({a % x.ndim for a in several}) == len(several):
            same(lambda v: np.flip(v, several), x)
        shift = data.draw(st.integers(-9, 9))
        same(lambda v: np.roll(v, shift, one), x)
        if several is not None:
            same(lambda v: np.roll(v, shift, several), x)
            same(lambda v: np.roll(v, tuple(range(len(several))), several), x)
        counts = data.draw(
            st.lists(st.integers(0, 3), min_size=x.shape[one], max_size=x.shape[one])
        )
        if len(counts) != 1:
            same(lambda v: np.repeat(v, counts, one), x)
        n = data.draw(st.integers(0, 3))
        same(lambda v: np.repeat(v, n, one), x)
        if x.shape[one]:
            same(lambda v: np.diff(v, n, one), x)
    same(lambda v: np.roll(v, 5), x)
    same(lambda v, n: np.roll(v, n), x, np.array(5))
    same(lambda v: np.repeat(v, 2), x)
    reps = data.draw(st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=4).map(tuple))
    same(lambda v: np.tile(v, reps), x)
    if x.ndim > 1:
        k, plane = data.draw(st.integers(-5, 5)), data.draw(st.permutations(range(x.ndim)))[:2]
        same(lambda v: np.rot90(v, k, plane), x)


@pytest.mark.parametrize(
    "call",
    [
        lambda v: np.flipud(v),
        lambda v: np.fliplr(v),
        lambda v: np.rot90(v),
        lambda v: np.roll(v, (1, 2), (0, 0)),
        lambda v: np.roll(v, (1, 2)),
        lambda v: np.diff(v, axis=0, prepend=7),
        lambda v: np.diff(v, append=v[..., :2]),
        lambda v: np.diff(v, 2, 1, v[:, :1], v[:, :1]),
        lambda v: np.vstack([v[0, 0], v[0]]),
        lambda v: np.vstack([v[0, 0, 0], v[0, 0, 1]]),
        lambda v: np.hstack([v[0, 0], v[1, 0]]),
        lambda v: np.hstack([v, v]),
        lambda v: np.stack([v, v], -1, dtype="f4", casting="unsafe"),
        lambda v: np.vstack([v, v], dtype="D"),
        lambda v: np.hstack([v, v], dtype="f4", casting="unsafe"),
        lambda v: np.hstack([v[0, 0, 0], v[0, 0]]),
        lambda v: np.concatenate([v, v[:1]], dtype="f8"),
        lambda v: np.concatenate([v, v], axis=None, dtype="i1", casting="unsafe"),
        lambda v: np.zeros_like(v, shape=(3, 2)),
        lambda v: np.zeros_like(v, "f4", shape=5),
        lambda v: np.ones_like(v.T, shape=(4, 3, 2)),
        lambda v: np.full_like(v.T, 9, shape=(2, 2), order="A"),
        lambda v: np.repeat(v[0, 0, 0], 3, axis=0),
        lambda v: np.squeeze(v[0, 0, 0], axis=-1),
    ],
)
def test_calls(call):
    same(call, X)


def test_differences_of_bools():
    same(lambda v: np.diff(v), np.array([True, False, False, True]))


@pytest.mark.parametrize("function", [np.flip, np.flipud, np.fliplr, np.rot90])
def test_views(function):
    a = to_gpu(X)
    function(a).fill(-1)
    assert (a.get() == -1).all()


@pytest.mark.parametrize("order", ["C", "F", "K", "A"])
@pytest.mark.parametrize("turn", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_order_of_arrays_that_are_like_others(order, turn):
    x = X.transpose(turn)
    a = to_gpu(X).transpose(turn)
    for shape in ((5, 6, 7), (5, 6), ()):
        expected = np.empty_like(x, order=order, shape=shape)
        got = np.empty_like(a, order=order, shape=shape)
        assert got.shape == expected.shape and got.strides == expected.strides


def test_concatenation_into_an_array():
    a, out = to_gpu(X), to_gpu(np.zeros((4, 4, 3))).transpose((0, 2, 1))
    assert np.concatenate([a, a], out=out) is out
    np.testing.assert_array_equal(out.get(), np.concatenate([X, X]))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: np.flip(a, 3), ValueError, "axis 3 is out of bounds"),
        (lambda a: np.flip(a, (1, 1)), ValueError, "each axis once"),
        (lambda a: np.fliplr(a[0, 0]), ValueError, "fliplr: m: expected at least 2 axes"),
        (lambda a: np.rot90(a, 1, (0, 1, 2)), ValueError, "expected two axes"),
        (lambda a: np.rot90(a, 1.5), TypeError, "float"),
        (lambda a: np.roll(a, 1.5), TypeError, "float"),
        (lambda a: np.tile(a, -1), ValueError, "expected nonnegative integers"),
        (lambda a: np.repeat(a, -1), ValueError, "expected nonnegative integers"),
        (
            lambda a: np.repeat(a, [1, 2], 1),
            ValueError,
            "expected 3 integers, the length of axis 1",
        ),
        (lambda a: np.repeat(a, 1.5), TypeError, "expected integers"),
        (lambda a: np.repeat(a, a[0, 0]), TypeError, r"repeats: .*; pass repeats.get\(\)"),
        (lambda a: np.diff(a, -1), ValueError, "n=-1"),
        (lambda a: np.diff(a, prepend=X), TypeError, "prepend: expected a GPUArray or a number"),
        (
            lambda a: np.concatenate([a], dtype="u1"),
            TypeError,
            r"arrays\[0\] of int32 cannot be cast",
        ),
        (lambda a: np.concatenate([a], out=a, dtype="i4"), TypeError, "not both"),
        (lambda a: np.concatenate([a], out=a[:1]), ValueError, "out: expected shape"),
        (lambda a: np.zeros_like(a, shape=(-1,)), (ValueError, OverflowError), "-1"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(to_gpu(X))


def test_other_dtypes():
    for dtype in (*NUMBERS, np.dtype("M8[s]"), np.dtype("S5"), np.dtype("?")):
        x = np.arange(6).astype("i8").astype(dtype).reshape(2, 3)
        for call in (
            lambda v: np.roll(v, 1),
            lambda v: np.tile(v, 2),
            lambda v: np.repeat(v, 2, 0),
        ):
            same(call, x)


TWO_DEVICES = """
import numpy as np
import PyGPU
from PyGPU.gpuarray import to_gpu
with PyGPU.device(1):
    a = to_gpu(np.arange(6).reshape(2, 3))
for call in (
    lambda: np.roll(a, 1), lambda: np.tile(a, 2), lambda: np.repeat(a, 2), lambda: np.diff(a),
    lambda: np.repeat(a, [1, 2], 0), lambda: np.zeros_like(a, shape=4), lambda: np.var(a),
    lambda: np.std(a, 0), lambda: np.argmax(a), lambda: np.argmin(a, 1), lambda: np.ptp(a),
    lambda: np.count_nonzero(a), lambda: np.nan_to_num(a / 0), lambda: np.diff(a, prepend=1),
):
    assert call().device == 1
assert PyGPU.cudaGetDevice()[0] == 0
"""


def test_results_are_where_the_array_is(two_devices):
    two_devices(TWO_DEVICES)


def test_what_is_not_there():
    a = to_gpu(X)
    with pytest.raises(TypeError, match=r"numpy.kron is not implemented"):
        np.kron(a, a)
    with pytest.raises(TypeError, match="subok"):
        np.rot90(a, subok=True)
