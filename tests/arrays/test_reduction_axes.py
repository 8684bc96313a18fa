"""Reductions along axes: NumPy's answers, shapes and errors, whatever the layout."""

import itertools

import numpy as np
import pytest
from campaign import each_once, rare_but
from hypothesis import given
from hypothesis import strategies as st
from reduction_tools import SMALL, assert_close, blocks, numbers  # noqa: F401  a fixture
from strategies import arrays, examples, shapes

from PyGPU._arrays import reductions as gpu
from PyGPU._runtime import core
from PyGPU.gpuarray import GPUArray, empty_like, to_gpu


@st.composite
def some_axes(draw, ndim):
    """None, an int or a tuple, of either sign."""
    either_sign = st.sampled_from([0, ndim])
    chosen = draw(st.lists(st.integers(0, max(ndim - 1, 0)), unique=True, max_size=ndim))
    chosen = [axis - draw(either_sign) for axis in chosen]
    whole = st.just(None) | st.just(tuple(chosen))
    return draw(whole | st.just(chosen[0]) if len(chosen) == 1 else whole)


@examples(60)
@given(st.data())
def test_any_layout_and_axes(data):
    x = data.draw(arrays(shape=data.draw(shapes(max_dims=3)), dtype="i4"))
    axis, keepdims = data.draw(some_axes(x.ndim)), data.draw(st.booleans())
    result = gpu.sum(to_gpu(x), axis=axis, keepdims=keepdims)
    assert type(result) is GPUArray
    assert_close(result.get(), x.sum(axis=axis, keepdims=keepdims, dtype="i4"))


@examples(40)
@given(arrays(shape=(4, 3, 5), dtype="i4"), st.data())
def test_views_that_step_and_turn(x, data):
    axis = data.draw(some_axes(3))
    a = to_gpu(x)
    for view in (
        lambda v: v[::-1, 1:],
        lambda v: v.T,
        lambda v: v[2:, :, ::-2],
        lambda v: v[..., 0:1],
    ):
        assert_close(gpu.sum(view(a), axis=axis).get(), view(x).sum(axis=axis, dtype="i4"))


BIG = {
    "rows": (7, 9001),
    "columns": (9001, 7),
    "cube": (33, 40, 65),
    "thin": (3, 20_000),
    "flat": (20_000, 3),
}


@pytest.mark.parametrize("name", BIG)
def test_large_arrays(name):
    x = numbers(BIG[name], "f4")
    a = to_gpu(x)
    for axis in range(x.ndim):
        assert_close(gpu.sum(a, axis=axis).get(), x.sum(axis=axis))
        assert_close(gpu.sum(a[1:, 1:], axis=axis).get(), x[1:, 1:].sum(axis=axis))
    if name == "cube":
        for axes in itertools.combinations(range(3), 2):
            assert_close(gpu.sum(a, axis=axes).get(), x.sum(axis=axes))
            assert_close(gpu.sum(a[:, ::-2], axis=axes).get(), x[:, ::-2].sum(axis=axes))


@pytest.mark.parametrize("code", rare_but("?e", "?eD"))
def test_other_types(code):
    x = numbers((48, 64), code)
    for axis in (0, 1):
        expected = x.astype("f4").sum(axis=axis).astype(code) if code == "e" else x.sum(axis=axis)
        assert_close(gpu.sum(to_gpu(x), axis=axis).get(), expected)


@pytest.mark.parametrize("name", rare_but(["max", "mean"], ["max", "all", "prod", "mean"]))
def test_other_operations(name):
    x = numbers((13, 40), "f4") * (1 if name != "prod" else 0.25)
    for axis, view in ((0, x), (1, x[::-1, ::2])):
        result = getattr(gpu, name)(to_gpu(view), axis=axis)
        assert_close(result.get(), getattr(view, name)(axis=axis), ulps=64)


def test_extremes_leave_out_what_is_no_number():
    x = numbers((5, 64), "f4")
    x[:, ::3] = x[2] = np.nan
    got = gpu.max(to_gpu(x), axis=1).get()
    assert np.isnan(got[2])
    np.testing.assert_array_equal(np.delete(got, 2), np.nanmax(np.delete(x, 2, 0), axis=1))


def test_results_keep_the_order_of_axes():
    x = numbers((4, 5, 6), "i4")
    for order in itertools.permutations(range(3)):
        y = np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
        for axis in range(3):
            expected = y.sum(axis=axis, dtype="i4")
            result = gpu.sum(to_gpu(y), axis=axis)
            assert result.strides == expected.strides
            assert_close(result.get(), expected)


def test_many_axes():
    x = numbers((2,) * 11, "i4")
    a = to_gpu(x).transpose([axis ^ 1 for axis in range(10)] + [10])
    y = x.transpose([axis ^ 1 for axis in range(10)] + [10])
    axes = (0, 3, 4, 7, 10)
    assert_close(gpu.sum(a, axis=axes).get(), y.sum(axis=axes, dtype="i4"))


def test_counted_in_64_bits():
    core._override_device_properties({**SMALL, "index32": 100})
    x = numbers((20, 30, 40), "i4")
    try:
        for axis in (0, 1, (0, 2)):
            view = x[:, ::2]
            assert_close(gpu.sum(to_gpu(view), axis=axis).get(), view.sum(axis=axis, dtype="i4"))
    finally:
        core._override_device_properties(None)


def test_one_element_stands_for_many():
    one = to_gpu(np.array([3], "i4"))
    rows = GPUArray((500, 3), "i4", gpudata=one.gpudata, base=one, strides=(0, 0))
    assert gpu.sum(rows).get() == 4500
    assert_close(gpu.sum(rows, axis=0).get(), np.full(3, 1500, "i4"))
    assert_close(gpu.sum(rows, axis=1).get(), np.full(500, 9, "i4"))


@pytest.mark.parametrize(
    ("name", "shape"),
    each_once(
        ["sum", "prod", "any", "all", "min", "max"],
        [((0,),), ((0, 3),), ((3, 0),), ((0, 0),), ((2, 0, 3),)],
    ),
)
def test_no_elements(name, shape):
    x, a = np.zeros(shape, "f4"), to_gpu(np.zeros(shape, "f4"))
    for axis in [None, *range(len(shape)), tuple(range(len(shape))), ()]:
        try:
            expected = getattr(x, name)(axis=axis)
        except ValueError:
            with pytest.raises(ValueError, match=f"{name}.*zero elements"):
                getattr(gpu, name)(a, axis=axis)
        else:
            assert_close(getattr(gpu, name)(a, axis=axis).get(), expected)


@pytest.mark.parametrize("axis", [None, (), 0, -1])
def test_no_axes(axis):
    x = np.array(5, "i4")
    assert_close(gpu.sum(to_gpu(x), axis=axis).get(), x.sum(axis=axis, dtype="i4"))


@pytest.mark.parametrize("axis", [3, -4, (0, 5), (1, 1), (0, -3), 2**40])
def test_axes_that_are_not_there(axis):
    x = numbers((2, 3, 4), "i4")
    with pytest.raises(ValueError) as expected:
        x.sum(axis=axis)
    with pytest.raises(type(expected.value), match="axis"):
        gpu.sum(to_gpu(x), axis=axis)
    if len(np.atleast_1d(axis)) == 1:
        with pytest.raises(IndexError):
            gpu.sum(to_gpu(x), axis=axis)


@pytest.mark.parametrize("axis", [1.0, "x", (0, None)])
def test_axes_that_are_no_numbers(axis):
    with pytest.raises(TypeError):
        gpu.sum(to_gpu(numbers((2, 3), "i4")), axis=axis)


def test_out():
    x = numbers((6, 40), "i4")
    a = to_gpu(x)
    for axis, keepdims in ((0, False), (1, False), ((0, 1), True), (None, False)):
        expected = x.sum(axis=axis, keepdims=keepdims, dtype="i4")
        out = to_gpu(np.zeros_like(expected))
        assert gpu.sum(a, axis=axis, out=out, keepdims=keepdims) is out
        assert_close(out.get(), expected)


def test_out_decides_the_dtype_and_may_step():
    x = numbers((6, 40), "i4")
    room = to_gpu(np.zeros((12, 2)))
    gpu.sum(to_gpu(x), axis=1, out=room[::-2, 1])
    assert_close(room.get()[::-2, 1], x.sum(axis=1, dtype="f8"))
    assert not room.get()[:, 0].any()
    gpu.mean(to_gpu(x), out=room[0, 0])
    assert_close(room.get()[0, 0], x.mean())


def test_out_may_be_a_part_of_the_operand():
    x = numbers((300, 200), "i4")
    for axis, part in ((0, np.s_[0]), (0, np.s_[299, ::-1]), (1, np.s_[:, 0]), (None, np.s_[3, 4])):
        a = to_gpu(x)
        part = part if isinstance(part, tuple) else (part,)
        gpu.sum(a, axis=axis, out=a[part])
        expected = x.copy()
        expected[part] = x.sum(axis=axis, dtype="i4")
        np.testing.assert_array_equal(a.get(), expected)


def test_out_that_does_not_fit():
    a = to_gpu(numbers((6, 40), "i4"))
    with pytest.raises(ValueError, match=r"out: expected shape \(40,\), got \(6,\)"):
        gpu.sum(a, axis=0, out=gpu.sum(a, axis=1))
    with pytest.raises(ValueError, match="out: expected shape"):
        gpu.sum(a, out=to_gpu(np.zeros(1, "i4")))
    with pytest.raises(TypeError, match="out: results of int32 do not fit into uint64"):
        gpu.sum(a, axis=0, out=to_gpu(np.zeros(40, "u8")))
    with pytest.raises(TypeError, match="out: results of float32 do not fit into int32"):
        gpu.sum(a, axis=0, dtype="f4", out=empty_like(gpu.sum(a, axis=0)))
    with pytest.raises(TypeError, match="out: expected a GPUArray, got ndarray"):
        gpu.sum(a, axis=0, out=np.zeros(40, "i4"))


@pytest.mark.parametrize(
    "axis", [0, -1, np.int64(0), np.array(-1), 1, -2, 1 << 80, -(1 << 80), 0.0]
)
def test_the_axis_of_an_array_without_axes(axis):
    x = np.array(3, "i4")
    try:
        expected = x.sum(axis=axis, dtype=x.dtype)
    except (TypeError, ValueError, OverflowError):  # AxisError is a ValueError
        with pytest.raises((TypeError, ValueError)):
            gpu.sum(to_gpu(x), axis=axis)
    else:
        assert_close(gpu.sum(to_gpu(x), axis=axis).get(), expected)
