"""PyGPU.fuse: arguments and types; the kernel gives what the function itself gives."""

import functools
import operator
import weakref

import fusion_tools
import numpy as np
import pytest
from campaign import each_once, each_with, rare_but
from expressions import DTYPES, assert_same, counted
from expressions import values as elements
from fusion_tools import X, Y

import PyGPU
from PyGPU import TraceError
from PyGPU._kernels import specializations
from PyGPU.gpuarray import to_gpu, zeros

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

a, b = fusion_tools.a, fusion_tools.b  # the fixtures


def test_the_readme_s_function(a, b):
    f = PyGPU.fuse(lambda a, b: 2 * a + np.sin(b))
    np.testing.assert_allclose(f(a, b).get(), 2 * X + np.sin(Y), rtol=1e-6)
    assert_same(f(a, b), 2 * a + np.sin(b))


def test_as_a_decorator(a):
    @PyGPU.fuse
    def scaled(a, factor=2, *, shift=0.5):
        """Of a."""
        return factor * a + shift

    assert (scaled.__name__, scaled.__doc__) == ("scaled", "Of a.")
    assert "scaled" in repr(scaled)
    np.testing.assert_array_equal(scaled(a).get(), 2 * X + np.float32(0.5))
    np.testing.assert_array_equal(scaled(a, 3, shift=1).get(), 3 * X + 1)
    np.testing.assert_array_equal(scaled(shift=1, a=a).get(), 2 * X + 1)


def test_it_is_one_kernel(a, b, monkeypatch):
    made = []
    load = specializations.load
    monkeypatch.setattr(specializations, "load", lambda *args: made.append(args[0]) or load(*args))
    f = PyGPU.fuse(lambda a, b: np.exp(a * 0.12345) / (np.cos(b) ** 2 + 7) - a)
    f(a, b)
    f(b, a)
    f(a, b)
    assert len(made) <= 2 and all(text.count("__global__ void") == 1 for text in made)


class TestTypes:
    @pytest.mark.parametrize(
        ("f", "dtype"),
        each_with(
            [
                lambda x, y, s: (x + y * y, np.equal(x, s)),
                lambda x, y, s: (x * s + 1.5, x == y),
            ],
            [np.dtype(code) for code in ("u1", "f2", "c16")],
            DTYPES,
        ),
        ids=lambda value: getattr(value, "name", None),
    )
    def test_of_arithmetic(self, f, dtype):
        x, y = (to_gpu(elements((5, 7), dtype, seed)) for seed in (1, 2))
        s = to_gpu(elements((5, 1), "f2", 3))
        for got, expected in zip(PyGPU.fuse(f)(x, y, s), f(x, y, s)):
            assert_same(got, expected)

    def test_float16_is_rounded_after_each_operation(self):
        x = to_gpu(np.full(4, 2048, np.float16))
        got = PyGPU.fuse(lambda x: (x + 1) + 1)(x)
        assert got.dtype == np.float16
        np.testing.assert_array_equal(got.get(), 2048)  # 2050, were it rounded once

    def test_integers_wrap_after_each_operation(self):
        x = to_gpu(np.array([200, 100], np.uint8))
        got = PyGPU.fuse(lambda x: ((x + x).astype("u2"), x.astype("u2") + x, x * x // 2))(x)
        expected = [[144, 200], [400, 200], [32, 8]]
        assert [one.tolist() for one in got] == expected

    @pytest.mark.parametrize("dtype", rare_but(["i4"], ["i1", "i2", "i4", "i8", "u2", "u4"]))
    def test_compilers_know_that_they_do(self, dtype):
        info = np.iinfo(dtype)
        x = to_gpu(np.array([info.max, info.min, 5], dtype))

        comparisons = lambda x: (x + 1 > x, x - 1 < x, x.mul_add(2, x, 3) > x)  # noqa: E731
        others = lambda x: (x * 2 // 2, abs(-x) >= 0, x * x < 0)  # noqa: E731
        for f in (comparisons, others):
            for got, expected in zip(PyGPU.fuse(f)(x), f(x)):
                assert_same(got, expected)

    def test_products_and_sums_are_rounded_each(self):
        x, y = np.float32(1 + 2**-12), np.float32(1 + 2**-11)
        f = PyGPU.fuse(lambda a, b: a * a - b)
        got = f(to_gpu(np.full(1000, x)), to_gpu(np.full(1000, y))).get()
        assert set(got.tolist()) == {float(x * x - y)} != {float(x) * float(x) - float(y)}

    def test_comparisons_of_operators_and_of_numpy(self, a, b):
        operators, numpy = PyGPU.fuse(lambda a, b: (a > b, np.greater(a, b)))(a, b)
        for result in (operators.get(), numpy.get()):
            assert result.dtype == bool
            np.testing.assert_array_equal(result, X > Y)

    @pytest.mark.parametrize(
        ("number", "f"), each_once([np.float32(1), np.array(1.0)], [operator.lt, np.less])
    )
    def test_comparisons_with_a_number_on_the_left(self, number, f, a):
        assert_same(PyGPU.fuse(lambda a, s: f(s, a))(a, number), f(number, a))
        assert_same(PyGPU.fuse(lambda a: f(number, a))(a), f(number, a))

    def test_comparisons_of_signs(self):
        x = to_gpu(np.array([-1, 2**63 - 1], np.int64))
        y = to_gpu(np.array([2**64 - 1, 2**63 - 1], np.uint64))
        assert PyGPU.fuse(np.equal)(x, y).tolist() == [False, True]


WHOLE, FRACTIONS = (2, 3, 2, 0), (0.5, -1.0, 1.7, np.float32(2), 2.0)


class TestNumbers:
    def test_weak_ones_keep_the_dtype(self, a):
        f = PyGPU.fuse(lambda a, s: a * s + 1)
        assert f(a, 2).dtype == f(a, 2.5).dtype == np.float32
        assert f(a, 2j).dtype == np.complex64
        assert f(a, np.float64(2)).dtype == f(a, np.array(2.0)).dtype == np.float64
        np.testing.assert_array_equal(f(a, 2.5).get(), X * np.float32(2.5) + 1)

    def test_they_may_change_without_another_trace(self, a):
        f, calls = counted(lambda a, s, t: a * s + t)
        for s in (1.5, 2.5, -0.0):
            np.testing.assert_array_equal(f(a, s, 3).get(), X * np.float32(s) + 3)
        assert len(calls) == 1

    def test_they_are_computed_on_the_host_among_themselves(self, a):
        f, calls = counted(
            lambda a, s, t: a * (2 * s + t / 3 - np.sqrt(t)) + max(1, 2) + divmod(t, 4)[1]
        )
        g = f.__wrapped__.__wrapped__
        for s, t in ((1.5, 3), (2.5, 16), (0.1, 7)):
            assert_same(f(a, s, t), g(a, s, t))
        assert len(calls) == 1
        with pytest.raises(ZeroDivisionError):
            PyGPU.fuse(lambda a, s: a + 1 / s)(a, 0)

    def test_integers_that_do_not_fit(self):
        x = to_gpu(np.array([1, 2, 3], np.uint8))
        f = PyGPU.fuse(lambda x, s: x + s)
        assert f(x, 200).tolist() == [201, 202, 203]
        for number in (300, -1):
            if np.__version__ < "2":
                assert_same(f(x, number), x + number)
            else:
                with pytest.raises(OverflowError):
                    f(x, number)
        assert f(x, 255).tolist() == [0, 1, 2]
        compared = PyGPU.fuse(lambda x, s: np.less(x, s))
        assert [compared(x, s).tolist()[1] for s in (300, 2, -5, 10**30)] == [1, 0, 0, 1]
        bounded = PyGPU.fuse(lambda x, s: np.clip(x, s, 1000))
        assert [bounded(x, s).tolist()[0] for s in (-5, 2, 3)] == [1, 2, 3]

    @pytest.mark.parametrize(
        ("exponents", "dtype"),
        each_with([(WHOLE,), (FRACTIONS,)], ["i4", "f4"], ["f4", "f2", "c8", "i4", "?"]),
    )
    def test_powers(self, exponents, dtype):
        x = to_gpu(elements(50, dtype, 4))
        f = lambda x, n: x**n  # noqa: E731
        fused = PyGPU.fuse(f)
        for n in exponents:
            assert_same(fused(x, n), f(x, n))
            assert_same(PyGPU.fuse(lambda x, n=n: x**n)(x), f(x, n))
        if dtype == "i4":
            for one in (fused, f):
                with pytest.raises(ValueError, match="negative integer powers are not allowed"):
                    one(x, -2)

    def test_their_value_is_not_known(self, a):
        for function in (
            lambda a, n: [a for _ in range(n)],
            lambda a, n: a + 1 if n > 2 else a,
            lambda a, n: a * float(n),
        ):
            with pytest.raises(TraceError, match=r"functools\.partial"):
                PyGPU.fuse(function)(a, 3)
        f = PyGPU.fuse(functools.partial(lambda a, n: sum([a] * n), n=3))
        np.testing.assert_allclose(f(a).get(), 3 * X)


class TestOtherArguments:
    def test_they_are_part_of_the_key(self, a):
        f, calls = counted(lambda a, how, twice=False: getattr(np, how)(a) * (2 if twice else 1))
        np.testing.assert_allclose(f(a, "cos").get(), np.cos(X), rtol=1e-5)
        np.testing.assert_allclose(f(a, "cos", True).get(), 2 * np.cos(X), rtol=1e-5)
        np.testing.assert_allclose(f(a, "cos", twice=True).get(), 2 * np.cos(X), rtol=1e-5)
        f(a, "cos")
        assert len(calls) == 3

    def test_equal_values_of_different_types(self, a):
        f = PyGPU.fuse(lambda a, some: a.astype("i4") * some[0])
        assert f(a, (2,)).dtype == np.int32
        assert f(a, (2.0,)).dtype == np.float64
        assert f(a, (True,)).dtype == np.int32

    def test_dtypes_and_none(self, a):
        f = PyGPU.fuse(lambda a, dtype, other=None: a.astype(dtype) if other is None else other)
        assert f(a, np.int16).dtype == np.int16
        assert f(a, np.dtype("f8")).dtype == np.float64

    def test_any_number_of_them(self, a):
        f = PyGPU.fuse(lambda *arrays, **named: sum(arrays) + named["last"])
        np.testing.assert_array_equal(f(a, a, a, last=a).get(), 4 * X)
        np.testing.assert_array_equal(f(a, last=1).get(), X + 1)

    def test_what_cannot_be_hashed(self, a):
        with pytest.raises(TypeError, match=r"can be hashed, got \[1\]"):
            PyGPU.fuse(lambda a, b: a)(a, [1])
        with pytest.raises(TypeError, match="to_gpu"):
            PyGPU.fuse(lambda a, b: a + b)(a, X)

    def test_methods(self, a):
        class Model:
            def __init__(self, factor):
                self.factor = factor

            @PyGPU.fuse
            def scaled(self, a):
                return self.factor * a

        one, other = Model(2), Model(3)
        np.testing.assert_array_equal(one.scaled(a).get(), 2 * X)
        np.testing.assert_array_equal(other.scaled(a).get(), 3 * X)
        np.testing.assert_array_equal(Model.scaled(one, a).get(), 2 * X)

    def test_it_keeps_no_object(self, a):
        class Settings:
            pass

        some = Settings()
        watched = weakref.ref(some)
        f = PyGPU.fuse(lambda a, settings: a + 1)
        f(a, some)
        del some
        assert watched() is None


def test_results_of_several_shapes_into_what_is_read():
    """No kernel writes what the next one reads."""
    a, b = to_gpu(np.arange(4.0)), to_gpu(np.ones((3, 4)))
    results = PyGPU.fuse(lambda a, b: (a + 1, a + b))(a, b, out=(a, None))
    np.testing.assert_array_equal(results[1].get(), np.arange(4.0) + np.ones((3, 4)))
    np.testing.assert_array_equal(a.get(), np.arange(4.0) + 1)
    assert results[0] is a


def test_results_of_several_shapes_that_overlap_or_do_not_fit():
    a, b = to_gpu(np.arange(4.0)), to_gpu(np.ones((3, 4)))
    out = zeros((3, 4), np.float64)
    fused = PyGPU.fuse(lambda a, b: (a * 2, a + b))
    with pytest.raises(ValueError, match="out: the results overlap"):
        fused(a, b, out=(out[1], out))
    first = zeros(4, np.float64)
    with pytest.raises(ValueError, match=r"out: expected shape \(3, 4\), got \(2, 4\)"):
        fused(a, b, out=(first, zeros((2, 4), np.float64)))
    np.testing.assert_array_equal(first.get(), np.zeros(4))


def test_numbers_among_the_arguments_have_no_methods():
    a = to_gpu(np.arange(4.0))
    with pytest.raises(PyGPU.TraceError, match="astype of a number"):
        PyGPU.fuse(lambda a, s: a + s.astype("f4"))(a, np.float64(2))


@pytest.mark.parametrize("exponent", [2, 3, 0.5])
@pytest.mark.parametrize("dtype", ["i4", "f4"])
def test_powers_whose_exponent_is_an_array_without_axes(exponent, dtype):
    x = np.arange(1, 9).astype(dtype)
    power = PyGPU.fuse(lambda v, e: v**e)
    for _ in range(2):
        got, expected = power(to_gpu(x), np.array(exponent)).get(), x ** np.array(exponent)
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_parameters_with_names_of_the_kernel_s_variables(a, b):
    f = PyGPU.fuse(lambda i, n, T, A, out_type, P_number: i * n + T - A * out_type + P_number)
    assert_same(f(a, b, b, a, b, a), a * b + b - a * b + a)
