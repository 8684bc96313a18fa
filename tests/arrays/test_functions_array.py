"""where, maximum, logical_and and their like, and GPUArray's elementwise methods."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import arrays, assert_same, counted_strides, examples, shapes

import PyGPU.driver as drv
from PyGPU._arrays import functions as ga
from PyGPU._arrays import methods
from PyGPU.errors import ArgumentError, ShapeError
from PyGPU.gpuarray import GPUArray, empty, to_gpu, zeros

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

CODES = list("?bBhHiIqQefdFD")
X = np.array([0, -2, 3, 0.5, -0.0], "f4")


def gpu(*numbers, code="f4"):
    return to_gpu(np.array(numbers, code))


@pytest.mark.parametrize("name", ["where", "if_positive"])
def test_choice(name):
    x, y, z = X, np.arange(5, dtype="f4"), -np.arange(5, dtype="f4")
    condition = x != 0 if name == "where" else x > 0
    choose, out = getattr(ga, name), empty(5, np.float32)
    expected = np.where(condition, y, z)
    assert_same(choose(to_gpu(x), to_gpu(y), to_gpu(z)).get(), expected)
    assert choose(to_gpu(x), to_gpu(y), to_gpu(z), out=out) is out
    assert_same(out.get(), expected)
    stream = drv.Stream()
    assert_same(choose(to_gpu(x), to_gpu(y), to_gpu(z), out, stream).get(), expected)


def test_choice_by_every_kind_of_criterion():
    for criterion in (X.astype("?"), X.astype("f2"), np.array([0, 1j, 2, 0, np.nan], "c8")):
        got = ga.where(to_gpu(criterion), 1.0, to_gpu(X)).get()
        assert_same(got, np.where(criterion, np.float32(1), X))
    assert ga.if_positive(gpu(-1, 0, 1, code="i1"), 2, 3).get().tolist() == [3, 3, 2]
    assert np.isnan(ga.if_positive(gpu(np.nan), 1.0, np.float64("nan")).get()).all()


@examples(30)
@given(data=st.data())
def test_choices_of_any_layouts_that_fit_together(data):
    shape = data.draw(shapes(max_dims=2))
    fitting = [shape, shape[1:], tuple(1 for _ in shape)]
    x, y, z = (
        data.draw(arrays(shape=data.draw(st.sampled_from(fitting)), dtype="i4")) for _ in range(3)
    )
    got = ga.where(to_gpu(np.asarray(x % 2)), to_gpu(y), to_gpu(z)).get()
    np.testing.assert_array_equal(got, np.where(x % 2, y, z))
    assert got.dtype == np.int32


def test_types_of_choices_are_numpys():
    condition = empty(0, np.bool_)
    for first in CODES:
        for second in CODES:
            got = ga.where(condition, empty(0, np.dtype(first)), empty(0, np.dtype(second)))
            assert got.dtype == np.promote_types(first, second)
        x = np.empty(0, first)
        for number in (True, 1, 2.5, 2j, np.float64(2.5)):
            other = np.empty(0, "f8") if isinstance(number, np.float64) else number
            expected = np.where(np.empty(0, "?"), x, other).dtype
            assert ga.where(condition, to_gpu(x), number).dtype == expected
            assert ga.if_positive(empty(0, np.int32), number, to_gpu(x)).dtype == expected


@pytest.mark.parametrize(("name", "numpys"), [("maximum", np.fmax), ("minimum", np.fmin)])
def test_extremes(name, numpys):
    """Not-a-number gives way, as in C's fmax and fmin."""
    extreme = getattr(ga, name)
    x, y = np.array([1, np.nan, np.nan, -2, 5], "f4"), np.array([2, 3, np.nan, -3, np.nan], "f4")
    out = empty(5, np.float32)
    assert_same(extreme(to_gpu(x), to_gpu(y)).get(), numpys(x, y))
    assert extreme(to_gpu(x), to_gpu(y), out) is out
    assert_same(out.get(), numpys(x, y))
    assert_same(extreme(to_gpu(x), 1.5).get(), numpys(x, np.float32(1.5)))
    assert_same(extreme(1.5, to_gpu(x), stream=drv.Stream()).get(), numpys(x, np.float32(1.5)))
    i, j = np.array([[1, -2], [3, 4]], "i4"), np.array([2, -3], "i2")
    assert_same(extreme(to_gpu(i), to_gpu(j)).get(), numpys(i, j))


def test_types_of_extremes():
    """Arrays promote; numbers, NumPy's too, leave an array's dtype alone within their kind."""
    for code in "iefd":
        for number in (2, np.int64(2), *([2.5, np.float64(2.5)] if code != "i" else [])):
            assert ga.maximum(empty(0, np.dtype(code)), number).dtype == code
            assert ga.minimum(number, empty(0, np.dtype(code))).dtype == code
    assert ga.maximum(empty(0, np.int32), 2.5).dtype == np.float64
    assert ga.maximum(empty(0, np.int32), empty(0, np.float32)).dtype == np.float64


LOGICAL = np.array([0, 1, -2, np.nan, -0.0], "f4")


def test_logic():
    a, flags = to_gpu(LOGICAL), np.array([1, 0, 1, 0, 1], "i8")
    out = empty(5, np.bool_)
    for name in ("logical_and", "logical_or"):
        function, numpys = getattr(ga, name), getattr(np, name)
        assert_same(function(a, to_gpu(flags)).get(), numpys(LOGICAL, flags))
        assert function(a, to_gpu(flags), out) is out
        assert_same(out.get(), numpys(LOGICAL, flags))
    for number in (0, 2.5, False, np.float32(3), 1j, 10**30):
        assert_same(ga.logical_and(a, number).get(), np.logical_and(LOGICAL, bool(number)))
        assert_same(ga.logical_and(number, a, out=out).get(), out.get())
    assert ga.logical_not(a, out=out) is out
    assert_same(out.get(), np.logical_not(LOGICAL))
    assert_same(ga.logical_not(gpu(0, 1j, 2, code="c8")).get(), np.array([True, False, False]))


def test_logic_of_numbers_alone():
    for result, expected in [
        (ga.logical_and(1, 0), False),
        (ga.logical_or(0, 2.5), True),
        (ga.logical_not(0), True),
    ]:
        assert (result.dtype, result.shape) == (np.bool_, ())
        assert bool(result.get()) is expected


def test_logic_takes_an_allocator():
    taken = []

    def allocate(nbytes):
        taken.append(nbytes)
        return GPUArray(nbytes, np.uint8).gpudata

    assert ga.logical_not(zeros(7, np.bool_), allocator=allocate).allocator is allocate
    assert taken == [7]


@examples(25)
@given(shapes(max_dims=2).flatmap(lambda shape: arrays(shape=shape, dtype="c8")))
def test_parts_of_complex_numbers(z):
    a = to_gpu(z)
    for got, expected in [
        (methods.real(a), z.real),
        (methods.imag(a), z.imag),
        (methods.conj(a), z.conj()),
    ]:
        np.testing.assert_array_equal(got.get(), expected)
        assert got.dtype == expected.dtype
        steps = [step // a.itemsize for step in counted_strides(a.copy())]
        assert [step // got.itemsize for step in counted_strides(got)] == steps


def test_parts_of_real_numbers():
    for code in "?Bief":
        a = zeros((2, 3), np.dtype(code), order="F")
        assert methods.real(a) is a
        assert methods.conj(a) is a
        assert methods.imag(a).dtype == code
        assert methods.imag(a) is not a
        assert not methods.imag(a).get().any()
        assert methods.imag(a).flags.f_contiguous


def test_conj_into_an_array():
    z = np.array([1 + 2j, -3j], "c8")
    a, wide = to_gpu(z), empty(2, np.complex128)
    assert methods.conj(a, out=wide) is wide
    assert_same(wide.get(), z.conj().astype("c16"))
    assert methods.conj(a, a) is a
    assert_same(a.get(), z.conj())
    for method in (a.conj, a.conjugate):
        assert_same(method().get(), z)
        assert method(out=wide) is wide
    with pytest.raises(TypeError, match="float32"):
        methods.conj(a, out=empty(2, np.float32))


def test_mul_add():
    x, y = np.arange(6, dtype="f4").reshape(2, 3), np.ones((2, 3), "f4", "F")
    a, b, out = to_gpu(x), to_gpu(y), empty((2, 3), np.float32)
    assert_same(methods.mul_add(a, 2, b, -3.5).get(), 2 * x - np.float32(3.5) * y)
    assert methods.mul_add(a, 2, b, 3, out=out, stream=drv.Stream()) is out
    assert_same(out.get(), 2 * x + 3 * y)
    assert methods._axpbyz(a, 1, b, 1, a) is a
    assert_same(a.get(), x + y)
    assert_same(methods.mul_add(b, 2, gpu(4, 5, 6), 3).get(), 2 * y + np.array([12, 15, 18], "f4"))
    times = []
    methods.mul_add(
        b, 1, b, 1, add_timer=lambda elements, seconds: times.append((elements, seconds()))
    )
    assert times[0][0] == 18
    assert times[0][1] >= 0


def test_types_of_mul_add():
    """The arrays decide; factors must fit."""
    f4, i4, c8 = empty(0, np.float32), empty(0, np.int32), empty(0, np.complex64)
    assert methods.mul_add(f4, np.float64(2), f4, 3).dtype == np.float32
    assert methods.mul_add(f4, 2, i4, 3).dtype == np.float64
    assert methods.mul_add(i4, 2, c8, 2j).dtype == np.complex128
    for array, factor in [(gpu(1), 2j), (gpu(1, code="i4"), 2.5)]:
        with pytest.raises(ArgumentError):
            methods.mul_add(array, factor, array, 1)


def test_clip():
    x = np.array([-5, 0, 3, 9, np.nan], "f4")
    a = to_gpu(x)
    for bounds in [(0, 4), (None, 4), (-1.0, None), (gpu(1, 2, 3, 4, 5), 4)]:
        on_host = [bound.get() if isinstance(bound, GPUArray) else bound for bound in bounds]
        assert_same(methods.clip(a, *bounds).get(), np.clip(x, *on_host))
    copied = np.clip(a, None, None)
    assert copied is not a
    assert_same(copied.get(), x)
    assert methods.clip(a, 0, 1, out=a) is a
    assert_same(a.get(), np.clip(x, 0, 1))
    assert methods.clip(empty(0, np.int32), 0, 2.5).dtype == np.float64


numpy_2 = pytest.mark.skipif(np.__version__ < "2", reason="NumPy 1 takes types from values")


@numpy_2
@pytest.mark.parametrize("bounds", [(-5, 300), (3, 300), (-5, 7), (0, 255), (None, 2**70)])
def test_clip_by_numbers_beyond_the_arrays_type(bounds):
    x = np.array([0, 5, 200, 255], np.uint8)
    assert_same(to_gpu(x).clip(*bounds).get(), np.clip(x, *bounds))
    assert_same(np.clip(to_gpu(x), *bounds).get(), np.clip(x, *bounds))


@numpy_2
@pytest.mark.parametrize("bounds", [(300, 400), (-9, -8), (None, -1)])
def test_clip_to_where_no_element_of_the_type_is(bounds):
    with pytest.raises((OverflowError, TypeError)):
        to_gpu(np.zeros(3, np.uint8)).clip(*bounds)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: ga.where(a, a.get(), a), TypeError, "to_gpu"),
        (lambda a: ga.where(a, None, a), TypeError, "None"),
        (lambda a: ga.where(1, 2, 3), TypeError, "at least one GPUArray"),
        (lambda a: ga.where(a, a, a[:2]), ShapeError, "shape"),
        (lambda a: ga.where(a, a, a, out=a[:2]), ShapeError, "shape"),
        (lambda a: ga.where(a, a, a, out=empty(3, np.int32)), TypeError, "int32"),
        (lambda a: ga.where(a, a, a, out=a.get()), TypeError, "out"),
        (lambda a: ga.if_positive(a * 1j, a, a), TypeError, "order"),
        (lambda a: ga.maximum(a, a * 1j), TypeError, "complex"),
        (lambda a: ga.maximum(a, 1j), TypeError, "complex"),
        (lambda a: ga.maximum(1, 2), TypeError, "at least one GPUArray"),
        (lambda a: ga.maximum(a, [1, 2, 3]), TypeError, "expected arrays and numbers"),
        (lambda a: ga.maximum(a, a.get()), TypeError, "to_gpu"),
        (lambda a: ga.logical_and(a, a.get()), TypeError, "to_gpu"),
        (lambda a: ga.logical_and(a, a[:2]), ShapeError, "shape"),
        (lambda a: ga.logical_and(a, a, out=a), TypeError, "expected bool, got float32"),
        (lambda a: ga.logical_and(a, a, out=empty(2, np.bool_)), ShapeError, "shape"),
        (lambda a: ga.logical_not("x"), TypeError, "'x'"),
        (lambda a: methods.mul_add(a, 1, 2, 3), TypeError, "other: expected a GPUArray, got int"),
        (lambda a: methods.mul_add(a, 1, a[:2], 3), ShapeError, "shape"),
        (lambda a: methods.mul_add(a, a, a, "x"), TypeError, "'x'"),
    ],
)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text):
        call(gpu(1, 2, 3))


def test_a_number_whose_truth_raises():
    class Number(complex):
        def __bool__(self):
            raise KeyError("no truth")

    with pytest.raises(KeyError):
        ga.where(Number(1), zeros(3), 0)


BOUNDS = [
    ((1, None), {"min": 2}),
    ((1, 2), {"max": 2}),
    ((None, None), {"min": None}),
    ((1,), {}),
    ((), {"a_max": 1}),
    ((1,), {"max": 2}),
    ((), {}),
    ((), {"min": 1}),
    ((), {"min": 1, "max": 2}),
]


@pytest.mark.parametrize("args, kwargs", BOUNDS)
def test_bounds_of_clip_under_both_names(args, kwargs):
    if not {"min", "max"} & set(inspect.signature(np.clip).parameters):
        pytest.skip("this NumPy's clip has no min and max")
    x = np.arange(4)
    try:
        expected = np.clip(x, *args, **kwargs)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error), match="clip"):
            np.clip(to_gpu(x), *args, **kwargs)
    else:
        assert_same(np.clip(to_gpu(x), *args, **kwargs).get(), expected)


def test_round_of_integers_is_exact():
    numbers = [2**63 + 5, 2**64 - 106, 25, 35, 15, 14, 16, 0, 2**53 + 15]
    for dtype, signs in (("u8", (1,)), ("i8", (1, -1)), ("i2", (1, -1)), ("u1", (1,))):
        info = np.iinfo(dtype)
        inside = [n * sign for n in numbers for sign in signs if info.min <= n * sign <= info.max]
        for decimals in (-1, -2, -19, -20, -400):
            exact = [round(n, decimals) for n in inside]
            pairs = [(n, to) for n, to in zip(inside, exact) if info.min <= to <= info.max]
            x, expected = (np.array(column, dtype) for column in zip(*pairs))
            assert_same(np.round(to_gpu(x), decimals).get(), expected)


def test_round_of_bools():
    x = np.array([True, False])
    assert_same(np.round(to_gpu(x)).get(), np.round(x))
    for decimals in (1, -1):
        with pytest.raises(TypeError, match="decimals"):
            np.round(to_gpu(x), decimals)
