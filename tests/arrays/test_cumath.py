"""PyGPU.cumath: types, layouts, out=, stream=, errors. Numbers: test_cumath_values.py."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import arrays, assert_same, counted_strides, examples

import PyGPU.driver as drv
import PyGPU.gpuarray
from PyGPU import cumath
from PyGPU.errors import ShapeError
from PyGPU.gpuarray import GPUArray, empty, to_gpu

OF_PYCUDA = [
    *("fabs", "ceil", "floor", "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin"),
    *("acos", "atan", "sinh", "cosh", "tanh", "fmod", "frexp", "ldexp", "modf"),
]
IN_NUMPY = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
OF_TWO = ["arctan2", "copysign", "fmod", "hypot"]
OF_ONE = sorted(set(cumath.__all__) - {*OF_TWO, "frexp", "ldexp", "modf"})
CODES = list("?bBhHiIqQefdFD")


def numpys(name):
    return getattr(np, IN_NUMPY.get(name, name))


def test_every_name_of_pycudas_is_there():
    assert set(OF_PYCUDA) <= set(cumath.__all__)
    for name in cumath.__all__:
        assert getattr(cumath, name).__name__ == name
        assert getattr(cumath, name).__doc__


@pytest.mark.parametrize("name", [*OF_ONE, *OF_TWO])
def test_types_are_numpys(name):
    """Arrays without elements need no kernel."""
    count = 2 if name in OF_TWO else 1
    for code in CODES:
        try:
            expected = numpys(name)(*[np.empty(0, code)] * count).dtype
        except TypeError:
            with pytest.raises(TypeError, match="is not defined for"):
                getattr(cumath, name)(*[empty(0, np.dtype(code))] * count)
            continue
        result = getattr(cumath, name)(*[empty(0, np.dtype(code))] * count)
        assert type(result) is GPUArray
        assert (result.dtype, result.shape) == (expected, (0,)), code


@pytest.mark.parametrize(
    ("name", "code"), [("sin", "i4"), ("exp", "?"), ("sqrt", "u1"), ("floor", "i8")]
)
def test_small_types_and_integers(name, code):
    x = np.arange(19).astype(code)
    got, expected = getattr(cumath, name)(to_gpu(x)).get(), numpys(name)(x)
    assert got.dtype == expected.dtype
    eps = np.finfo(expected.dtype).eps if expected.dtype.kind == "f" else 0
    np.testing.assert_allclose(got, expected, rtol=4 * float(eps), atol=float(eps))


def test_float16_is_computed_in_float32():
    """Rounded once, from the single-precision result."""
    x = np.linspace(-3, 3, 301).astype("f2")
    expected = np.cos(x.astype("f4")).astype("f2")
    got = cumath.cos(to_gpu(x)).get()
    assert (abs(got.view("i2").astype("i4") - expected.view("i2")) <= 1).all()
    assert (got == expected).mean() > 0.98


@examples(40)
@given(arrays(dtype="f4"))
def test_every_layout(x):
    a = to_gpu(x)
    expected = a.copy()
    result = cumath.fabs(a)
    assert_same(result.get(), abs(x))
    assert counted_strides(result) == counted_strides(expected)


@examples(25)
@given(arrays(shape=(3, 4), dtype="f4"), st.sampled_from("CF"), st.booleans())
def test_out_of_every_layout(x, order, turned):
    whole = GPUArray((6, 8), np.float32, order=order)
    out = whole[::2, ::-2] if turned else whole[3:, :4]
    assert cumath.fabs(to_gpu(x), out=out) is out
    assert_same(np.ascontiguousarray(out.get()), np.ascontiguousarray(abs(x)))


def test_out():
    x = np.linspace(0, 1, 9, dtype="f4")
    a = to_gpu(x)
    assert cumath.sqrt(a, out=a) is a
    np.testing.assert_allclose(a.get(), np.sqrt(x), rtol=1e-6)
    wide = empty(9, np.float64)
    assert cumath.sqrt(to_gpu(x), out=wide) is wide
    np.testing.assert_array_equal(wide.get(), np.sqrt(x).astype("f8"))
    shifted = to_gpu(np.arange(10, dtype="f4"))
    cumath.sqrt(shifted[:9], out=shifted[1:])
    np.testing.assert_allclose(shifted.get()[1:], np.sqrt(np.arange(9)), rtol=1e-6)


def test_streams():
    x = np.linspace(-1, 1, 1000, dtype="f4")
    a, stream = to_gpu(x), drv.Stream()
    assert_same(cumath.fabs(a, stream=stream).get(), abs(x))
    assert_same(cumath.fabs(a, stream=stream.handle).get(), abs(x))
    out = empty(1000, np.float32)
    cumath.fabs(a, out=out, stream=stream)
    assert_same(out.get(), abs(x))


def test_a_second_argument_by_its_place_is_honoured():
    x = np.linspace(-1, 1, 9, dtype="f4")
    a, out, stream = to_gpu(x), empty(9, np.float32), drv.Stream()
    with pytest.warns(DeprecationWarning, match="fabs: pass out= and stream= by name"):
        assert cumath.fabs(a, out) is out
    assert_same(out.get(), abs(x))
    with pytest.warns(DeprecationWarning) as caught:
        assert_same(cumath.fabs(a, stream).get(), abs(x))
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning):
        assert cumath.fabs(a, stream, out=out) is out
    for args, named in [((out,), {"out": out}), ((stream,), {"stream": stream}), ((out, 1), {})]:
        with warnings.catch_warnings(), pytest.raises(TypeError):
            warnings.simplefilter("ignore")
            cumath.fabs(a, *args, **named)


def test_no_warning_without_cause():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cumath.log(to_gpu(np.array([-1, 0, np.nan, np.inf], "f4")), out=None, stream=None)
        cumath.fabs(empty(0, np.float32), out=empty(0, np.float32))


def test_arrays_without_axes():
    assert float(cumath.fabs(to_gpu(np.array(-2, "f4"))).get()) == 2
    assert cumath.fabs(to_gpu(np.array(-2, "f4"))).shape == ()


def test_results_have_the_class_and_allocator_of_the_operand():
    class Mine(GPUArray):
        pass

    def allocate(nbytes):
        return GPUArray(nbytes, np.uint8).gpudata

    mine = Mine(3, np.float32, allocator=allocate)
    result = cumath.sin(mine)
    assert type(result) is Mine
    assert result.allocator is allocate


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: cumath.sin(1.0), TypeError, "array: expected a GPUArray, got float"),
        (lambda a: cumath.sin(a.get()), TypeError, "to_gpu"),
        (lambda a: cumath.sin(None), TypeError, "array"),
        (lambda a: cumath.sin(), TypeError, "array"),
        (lambda a: cumath.sin(a, out=a.get()), TypeError, "out: expected a GPUArray, got ndarray"),
        (lambda a: cumath.sin(a, out=a[:2]), ShapeError, "shape"),
        (lambda a: cumath.sin(a, out=empty(3, np.int32)), TypeError, "int32"),
        (lambda a: cumath.sin(a * 1j, out=a), TypeError, "complex64 do not fit into float32"),
        (lambda a: cumath.floor(a * 1j), TypeError, "floor is not defined for complex64"),
        (lambda a: cumath.sin(a, nonsense=1), TypeError, "nonsense"),
        (lambda a: cumath.fmod(a, a.get()), TypeError, "to_gpu"),
        (lambda a: cumath.fmod(a, "2"), TypeError, "'2'"),
        (lambda a: cumath.fmod(1.0, 2.0), TypeError, "at least one GPUArray"),
        (lambda a: cumath.fmod(a, a[:2]), ShapeError, "shape"),
        (lambda a: cumath.ldexp(a * 1j, 2), TypeError, "ldexp is not defined for complex64"),
        (lambda a: cumath.modf(2.5), TypeError, "arg: expected a GPUArray"),
        (lambda a: cumath.frexp(a.view(np.dtype("V4"))), TypeError, "frexp is not defined"),
    ],
)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text):
        call(to_gpu(np.array([1, 2, 3], "f4")))


@pytest.mark.parametrize("code", ["f2", "f8"])
def test_fmod_is_exact(code):
    x = np.array([5.5, -5.5, 1e4, 0.3, np.inf, 4, 7], code)
    y = np.array([2, 2, 0.7, -0.1, 2, np.inf, 0], code)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(cumath.fmod(to_gpu(x), to_gpu(y)).get(), np.fmod(x, y))


def test_fmod_of_numbers_and_integers():
    x = np.array([5, -5, 7, -128], "i1")
    a = to_gpu(x)
    assert_same(cumath.fmod(a, 3).get(), np.fmod(x, np.int8(3)))
    with np.errstate(all="ignore"):
        assert_same(
            cumath.fmod(a, to_gpu(np.array([0, -1, 2, -1], "i1"))).get(),
            np.array([0, 0, 1, 0], "i1"),
        )
    out = empty(4, np.int32)
    assert cumath.fmod(a, 3, None, out) is out


NUMBERS = np.array([0.0, -0.0, 1.0, -1.5, 12.25, -0.375, np.inf, -np.inf, np.nan, 6e-5])


@pytest.mark.parametrize("code", ["f2", "f8"])
def test_fractions_and_exponents(code):
    x = NUMBERS.astype(code)
    a = to_gpu(x)
    fraction, whole = cumath.modf(a)
    expected = np.modf(x)
    for got, numbers in zip((fraction, whole), expected):
        assert got.dtype == code
        np.testing.assert_array_equal(got.get(), numbers)
        finite = ~np.isnan(x)
        assert (np.signbit(got.get()) == np.signbit(numbers))[finite].all()
    significand, exponent = cumath.frexp(a)
    assert significand.dtype == exponent.dtype == code
    np.testing.assert_array_equal(significand.get(), np.frexp(x)[0])
    np.testing.assert_array_equal(exponent.get(), np.frexp(x)[1])
    np.testing.assert_array_equal(cumath.ldexp(significand, exponent).get(), x)


def test_frexp_and_modf_of_integers():
    a = empty(0, np.int32)
    assert [one.dtype for one in cumath.frexp(a)] == [np.float64] * 2
    assert [one.dtype for one in cumath.modf(a)] == [np.float64] * 2


def test_exponents_of_every_kind():
    x = np.array([1.5, -3.0, 0.75, 1.0, 1.0], "f4")
    a, powers = to_gpu(x), np.array([3, -4, 0, 2000, -2000])
    expected = np.array([12, -0.1875, 0.75, np.inf, 0], "f4")
    assert_same(cumath.ldexp(a, to_gpu(powers)).get(), expected)
    assert_same(
        cumath.ldexp(a, to_gpu((powers + np.sign(powers) * 0.7).astype("f4"))).get(), expected
    )
    assert_same(cumath.ldexp(a, -2).get(), x / 4)
    assert_same(cumath.ldexp(2.0, to_gpu(np.array([3, -1], "i4"))).get(), np.array([16.0, 1.0]))
    huge = to_gpu(np.array([2**62, -(2**62)]))
    assert cumath.ldexp(1.0, huge).get().tolist() == [np.inf, 0]


@pytest.mark.parametrize("name", ["sqrt", "exp", "fmod"])
def test_names_that_are_looked_for_in_gpuarray(name):
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; see PyGPU\.cumath\.{name}"):
        getattr(PyGPU.gpuarray, name)
    with pytest.raises(AttributeError, match=rf"no attribute 'no{name}'$"):
        getattr(PyGPU.gpuarray, f"no{name}")
