"""NumPy's functions on GPUArray, other than ufuncs."""

from itertools import product

import numpy as np
import pytest
from campaign import each_with, rare_but
from hypothesis import given
from strategies import arrays, assert_same, assert_same_numbers, examples, shapes

import PyGPU
from PyGPU.gpuarray import GPUArray, to_gpu

X = np.arange(12, dtype="f4").reshape(3, 4) - 5


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "call",
    [
        lambda v: np.transpose(v),
        lambda v: np.transpose(v, (1, 0)),
        lambda v: np.reshape(v, (2, 6)),
        lambda v: np.reshape(v, -1),
        lambda v: np.reshape(v.T, [2, -1]),
        lambda v: np.reshape(v[::2, ::-1], 8, order="F"),
        lambda v: np.ravel(v),
        lambda v: np.ravel(v, order="F"),
        lambda v: np.squeeze(v[:, None, :1]),
        lambda v: np.squeeze(v[:, None, :1], axis=-1),
        lambda v: np.squeeze(v[:, None, :1], axis=(1, 2)),
        lambda v: np.expand_dims(v, 0),
        lambda v: np.expand_dims(v, (-1, 1)),
        lambda v: np.moveaxis(v[None], 0, -1),
        lambda v: np.moveaxis(v[None], (0, 1), (2, 0)),
        lambda v: np.swapaxes(v[None], 0, -1),
        lambda v: np.concatenate([v, v[:1]]),
        lambda v: np.concatenate([v, v], axis=1),
        lambda v: np.concatenate([v, v[0, 0, None]], axis=None),
        lambda v: np.stack([v, v], axis=-1),
        lambda v: np.copy(v[::2]),
        lambda v: np.zeros_like(v),
        lambda v: np.ones_like(v, dtype="i2"),
        lambda v: np.full_like(v, 2.5),
        lambda v: np.full_like(v, 3, dtype=np.int64, order="C"),
        lambda v: np.real(v),
    ],
)
def test_shapes_and_copies(call, order):
    x = np.array(X, order=order)
    got, expected = call(to_gpu(x)), call(x)
    assert type(got) is GPUArray
    assert_same(np.ascontiguousarray(got.get()), np.ascontiguousarray(expected))
    assert got.shape == expected.shape


def test_copies_keep_their_order():
    a = to_gpu(np.asfortranarray(X))
    assert np.copy(a).flags.f_contiguous
    assert np.copy(a, order="C").flags.c_contiguous
    assert np.empty_like(a).flags.f_contiguous
    assert np.zeros_like(a, order="C").flags.c_contiguous
    assert np.reshape(a, (3, 4), order="F").ptr == a.ptr


@examples(15)
@given(shapes(max_dims=2).flatmap(lambda shape: arrays(shape=shape, dtype="i4")))
def test_reshape_follows_numpys_order_of_elements(x):
    for order in "CF":
        assert_same(np.ravel(to_gpu(x), order=order).get(), np.ravel(x, order=order))


REDUCTIONS = [
    (lambda v: np.sum(v, axis=0), "f4"),
    (lambda v: np.sum(v), "i2"),
    (lambda v: np.prod(v, axis=1, keepdims=True), "i2"),
    (lambda v: np.mean(v), "f4"),
    (lambda v: np.max(v, axis=0), "f4"),
    (lambda v: np.dot(v[0], v[1]), "f4"),
]


@pytest.mark.parametrize(("call", "code"), REDUCTIONS)
def test_reductions(call, code):
    x = (X % 3).astype(code)
    got, expected = call(to_gpu(x)), np.asarray(call(x))
    assert type(got) is GPUArray
    assert_same(got.get(), expected)


def test_not_a_number_wins():
    x = np.array([1, np.nan, 3], "f4")
    a, out = to_gpu(x), to_gpu(np.zeros((), "f4"))
    assert np.isnan(np.max(a).get())
    assert np.isnan(np.min(a, out=out).get())
    assert np.isnan(out.get())
    assert (np.nanmax(a).get(), np.nanmin(a).get()) == (3, 1)


SHAPES = [((1,),), ((70_001,),), ((3, 50_000),), ((50_000, 3),), ((300, 40, 5),)]
EXTREMES = [(np.min, "f2"), (np.max, "f4"), (np.min, "f8")]


@pytest.mark.parametrize(
    ("shape", "function", "code"),
    each_with(SHAPES, EXTREMES, list(product([np.max, np.min], ["f2", "f4", "f8"]))),
)
def test_not_a_number_wins_wherever_it_stands(shape, function, code):
    rng = np.random.default_rng(1)
    x = rng.normal(size=shape).astype(code)
    for share in (0, 1e-4, 1):
        x[rng.uniform(size=shape) < share / 2] = np.nan
        x[rng.uniform(size=shape) < share / 2] = -np.inf if function is np.max else np.inf
        for axis in (None, *range(x.ndim)):
            got = function(to_gpu(x), axis=axis, keepdims=True).get()
            assert_same_numbers(got, function(x, axis=axis, keepdims=True))
    turned = to_gpu(np.stack([x, x], -1))[..., 1].T
    assert_same_numbers(function(turned, axis=0).get(), function(x.T, axis=0))


@pytest.mark.parametrize("axis", [None, 0])
def test_extremes_in_other_dtypes(axis):
    x = np.array([[1.5, np.nan], [0.25, 2]], "f4")
    out = np.zeros(np.max(x, axis=axis).shape, "f8")
    there = to_gpu(out)
    assert np.max(to_gpu(x), axis=axis, out=there) is there
    assert_same_numbers(there.get(), np.asarray(np.max(x, axis=axis, out=out)))
    with pytest.raises(TypeError, match="cast"):
        np.max(to_gpu(x), axis=axis, out=to_gpu(np.zeros(out.shape, "i4")))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("code", rare_but("befD", "?bBhHiIqQefdFD"))
def test_sinc(code):
    x = np.array([0, 0.25, 1, 2.5, 7, 1e-3, 1e4]).astype(code)
    if x.dtype.kind in "fc":
        x = np.append(x, np.array([-0.0, -1.5, np.nan, np.inf]).astype(code))
    # Older versions of NumPy return NaN for a half of 0.
    expected = np.sinc(x.astype("f")).astype("e") if code == "e" else np.sinc(x)
    got = np.sinc(to_gpu(x[::-1])[::-1])
    assert isinstance(got, GPUArray) and got.dtype == expected.dtype
    error = 4 * np.finfo(expected.dtype).eps
    np.testing.assert_allclose(got.get(), expected, rtol=error, atol=error)
    assert got.get()[0] == 1


def test_extremes_of_nothing():
    with pytest.raises(ValueError, match=r"^max: zero elements"):
        np.max(to_gpu(np.empty((0, 3), "f4")))
    assert np.max(to_gpu(np.empty((0, 3), "f4")), axis=1).shape == (0,)
    with pytest.raises(TypeError, match="complex"):
        np.min(to_gpu(np.ones(3, "c8")))


CALLS = [
    lambda function, v: function(v, axis=0),
    lambda function, v: function(v, axis=1, keepdims=True),
    lambda function, v: function(v, axis=(0, 1)),
    lambda function, v: function(v[::-2, 1:].T, axis=1),
    lambda function, v: function(v[:0], axis=0),
]
USUAL = [("nansum", "?"), ("nanprod", "f"), ("nansum", "D")]


@pytest.mark.parametrize(
    ("call", "name", "code"),
    each_with(CALLS, USUAL, list(product(["nansum", "nanprod"], "?bBhHiIqQefdFD"))),
)
def test_reductions_of_what_is_a_number(call, name, code):
    function = getattr(np, name)
    x = (X % 3 + 1).astype(code)
    if x.dtype.kind in "fc":
        x[0, 1:3], x[2] = np.nan, np.nan  # the last row has nothing else
    if x.dtype.kind == "c":
        x[1, 1] = complex(1, np.nan)
    assert_same(call(function, to_gpu(x)).get(), np.asarray(call(function, x)))


def test_sums_that_become_not_a_number():
    """What is not a number is left out of the elements, not of the parts of a sum."""
    x = np.ones(100_000, "f4")
    x[7], x[60_000], x[3::9] = np.inf, -np.inf, np.nan
    assert np.isnan(np.nansum(to_gpu(x)).get())
    x[7] = x[60_000] = 0
    assert np.nansum(to_gpu(x)).get() == np.nansum(x)
    z = x * np.complex64(1 + 2j)
    assert np.nansum(to_gpu(z)).get() == np.nansum(z)


def test_asked_dtypes_are_told_without_arithmetic(monkeypatch):
    """NumPy is asked for the dtype of a sum, with a number that it can convert to any other."""
    monkeypatch.setattr(np, "empty", lambda shape, dtype=float, *_: np.full(shape, np.nan, dtype))
    assert np.sum(to_gpu(np.ones(3, "e")), dtype="i8").get() == 3


def test_settings_of_sums_of_numbers():
    x = np.array([[1.5, np.nan], [2.5, 60000]], "e")
    a, out = to_gpu(x), to_gpu(np.zeros(2, "f8"))
    assert_same(np.nansum(a, dtype="i8").get(), np.asarray(np.nansum(x, dtype="i8")))
    assert_same(np.nansum(a, 0, "f4").get(), np.nansum(x, 0, "f4"))
    assert np.nansum(a, axis=0, dtype="f8", out=out) is out
    assert out.get().tolist() == [4, 60000]


def test_where_and_clip():
    a = to_gpu(X)
    assert_same(np.where(a > 0, a, 0.5).get(), np.where(X > 0, X, np.float32(0.5)))
    assert_same(np.clip(a, -1, 2).get(), np.clip(X, -1, 2))
    assert_same(np.clip(a, a_min=None, a_max=2).get(), np.clip(X, None, 2))
    out = np.empty_like(a)
    assert np.clip(a, -1, 2, out) is out
    assert_same(out.get(), np.clip(X, -1, 2))


def test_round():
    x = np.array([0.25, 1.5, -2.5, 123.456])
    for decimals in (0, 1, -1):
        np.testing.assert_array_equal(np.round(to_gpu(x), decimals).get(), np.round(x, decimals))
    assert_same(np.around(to_gpu(X.astype("i4")), 2).get(), X.astype("i4"))


ROUNDED = ["i1", "u1", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize(
    ("decimals", "code"),
    each_with([-2, -1, 0, 1, 2, np.int64(1)], ["i4", "f2", "c8", "f4", "u1"], ROUNDED),
)
def test_round_of_every_kind(decimals, code):
    """Each step is rounded as NumPy's, though all are one kernel; integers stay integers."""
    x = np.linspace(0, 120, 4001).astype(code)
    if x.dtype.kind in "fc":
        x[::2] *= -1
        x[7], x[8], x[9] = np.inf, np.nan, -0.0
    if x.dtype.kind == "c":
        x.imag = x.real[::-1] / 7
        x[10] = complex(np.inf, 1.25)
    expected = np.round(x, decimals)
    assert_same_numbers(np.round(to_gpu(x), decimals).get(), expected)
    assert_same_numbers(np.round(to_gpu(np.repeat(x, 2))[::2], decimals).get(), expected)
    fused = PyGPU.fuse(lambda a: np.round(a, decimals))
    assert_same_numbers(fused(to_gpu(x)).get(), expected)
    out = to_gpu(np.zeros_like(x))
    assert to_gpu(x).round(decimals, out=out) is out
    assert_same_numbers(out.get(), expected)


def test_round_to_what_is_not_there():
    with pytest.raises(TypeError, match="bool"):
        np.round(to_gpu(np.ones(3, bool)), -1)
    with pytest.raises(TypeError):
        np.round(to_gpu(X), 1.5)
    for decimals in (400, -400):  # as NumPy's
        assert np.isnan(np.round(to_gpu(X + 7), decimals).get()).all()


def test_answers_about_arrays():
    a, z = to_gpu(X), to_gpu(X.astype("c8"))
    assert (np.shape(a), np.ndim(a), np.size(a), np.size(a, 1)) == ((3, 4), 2, 12, 4)
    assert np.iscomplexobj(z)
    assert not np.iscomplexobj(a)
    assert np.result_type(a, np.int32) == np.float64
    assert np.result_type(z, "f8") == np.complex128
    assert np.can_cast(a, "f8")
    assert not np.can_cast(a, "i4")
    assert_same(np.imag(z).get(), np.zeros_like(X))


def test_equality():
    a = to_gpu(X)
    assert np.array_equal(a, to_gpu(X.copy())) is True
    assert np.array_equal(a, a[:, ::-1]) is False
    assert np.array_equal(a, a[:2]) is False
    assert np.array_equal(a, X) is True
    assert np.array_equal(X.tolist(), a) is True
    assert np.array_equal(a, X + 1) is False
    assert np.array_equal(to_gpu(3), 3) is True
    b = to_gpu(np.array([1, np.nan, np.inf], "f4"))
    assert np.array_equal(b, b) is False
    assert np.array_equal(b, b, equal_nan=True) is True
    assert np.isclose(b, b * np.float32(1 + 1e-6)).get().tolist() == [True, False, True]
    assert np.isclose(b, b, equal_nan=True).get().all()
    assert np.allclose(a, a) is True
    assert np.allclose(a, 0.0) is False
    assert np.allclose(0.0, a * 0, atol=1e-3) is True
    unsigned = to_gpu(np.array([1, 2], "u1"))
    assert np.isclose(unsigned, 2).get().tolist() == [False, True]


HOST = np.ones((3, 4), "f4")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: np.sort(a), TypeError, r"numpy.sort is not implemented.*\.get\(\)"),
        (
            lambda a: np.maximum.accumulate(a),
            TypeError,
            r"PyGPU\.scan\.InclusiveScanKernel, or .*\.get\(\)",
        ),
        (lambda a: np.put(a, [0], 1), TypeError, r"use PyGPU\.gpuarray\.put, or .*\.get\(\)"),
        (lambda a: np.linalg.norm(a), TypeError, "numpy.linalg.norm is not implemented"),
        (lambda a: np.asarray(a), TypeError, "get"),
        (lambda a: np.where(a), TypeError, "numpy.where without both x and y"),
        (lambda a: np.where(a, HOST, 1), TypeError, "to_gpu"),
        (lambda a: np.concatenate([a, HOST]), TypeError, r"arrays\[1\].*to_gpu.*\.get\(\)"),
        (lambda a: np.stack([HOST, a]), TypeError, "to_gpu"),
        (lambda a: np.array_equal(a, object()), TypeError, "to_gpu"),
        (lambda a: np.allclose(HOST, a), TypeError, "to_gpu"),
        (lambda a: np.dot(a[0], HOST[0]), TypeError, "to_gpu"),
        (lambda a: np.dot(a, a), TypeError, "one axis"),
        (lambda a: np.clip(HOST, 0, a), TypeError, "to_gpu"),
        pytest.param(
            lambda a: np.ptp(a, where=a),
            TypeError,
            "where",
            marks=pytest.mark.skipif(np.__version__ < "2", reason="an argument of NumPy 2"),
        ),
        (
            lambda a: np.isclose(a, a, other=1),
            TypeError,
            "other",
        ),
        (lambda a: np.sum(a, axis=2), ValueError, "2"),
        (lambda a: np.stack([a, a], out=a), ValueError, "out: expected shape"),
        (
            lambda a: np.squeeze(a, axis=0),
            ValueError,
            "axis=0: expected different axes of length 1, got shape",
        ),
        (lambda a: np.squeeze(a, axis=5), ValueError, "axis 5"),
        (lambda a: np.expand_dims(a, (0, 0)), ValueError, "expected each axis once"),
        (lambda a: np.moveaxis(a, 0, (0, 1)), ValueError, "moveaxis"),
        (lambda a: np.ravel(a, order="X"), ValueError, "order"),
        (lambda a: np.copyto(HOST, a), TypeError, "numpy.copyto is not implemented"),
    ],
)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text):
        call(to_gpu(X))


def test_other_classes_have_their_say():
    class Foreign:
        def __array_function__(self, func, types, args, kwargs):
            return func.__name__

    assert np.concatenate([to_gpu(X), Foreign()]) == "concatenate"


def test_extremes_and_rounded_bools_into_other_dtypes():
    host = np.array([True, False, True])
    array, out = to_gpu(host), PyGPU.zeros(3, np.int32)
    assert np.max(array, out=PyGPU.zeros((), np.int32)).get() == 1
    assert np.min(array, out=PyGPU.zeros((), np.float32)).get() == 0
    with pytest.raises(TypeError, match="float16"):  # as in NumPy, round gives float16
        np.round(array, out=out)
    rounded = PyGPU.zeros(3, np.float32)
    assert np.round(array, out=rounded) is rounded
    assert rounded.get().tolist() == [1, 0, 1]


def test_unsigned_numbers_of_negative_ones_do_not_depend_on_their_place():
    for real in ("f2", "f4", "f8"):
        whole = to_gpu(np.full(77, -2.0, real)).astype("u4").get()
        assert len(np.unique(whole)) == 1


@pytest.mark.parametrize(
    ("shape", "window", "axis"),
    [((10,), 3, None), ((4, 6), (2, 3), None), ((4, 6), 2, -1), ((4, 6), (2, 2), (1, 1))],
)
def test_sliding_windows_are_views(shape, window, axis):
    host = np.arange(float(np.prod(shape))).reshape(shape)
    array = to_gpu(host)
    windows = np.lib.stride_tricks.sliding_window_view
    made, expected = windows(array, window, axis=axis), windows(host, window, axis=axis)
    np.testing.assert_array_equal(made.get(), expected)
    np.testing.assert_array_equal(np.mean(made, axis=-1).get(), expected.mean(axis=-1))
    array.fill(7)
    assert (made.get() == 7).all()


@pytest.mark.parametrize("window", [0, 11, -1, (2, 2)])
def test_windows_that_do_not_fit(window):
    with pytest.raises(ValueError, match="window_shape="):
        np.lib.stride_tricks.sliding_window_view(PyGPU.zeros(10, "f4"), window)
