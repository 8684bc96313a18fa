"""PyGPU.fuse: a function of arrays as one kernel gives what the function itself gives."""

import copy
import functools
import pickle
import re
import threading

import numpy as np
import pytest
from expressions import DTYPES, operands, others_like, trees
from expressions import values as elements
from hypothesis import given
from hypothesis import strategies as st
from strategies import counted_strides, examples

import PyGPU
import PyGPU.driver as drv
from PyGPU import TraceError, cumath, errors, gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 4 - 1
Y = np.linspace(1, 2, 4, dtype=np.float32)


@pytest.fixture
def a():
    return to_gpu(X)


@pytest.fixture
def b():
    return to_gpu(Y)


def assert_same(got, expected):
    """Equal arrays to the last bit, but that any not-a-number equals any other."""
    assert type(got) is type(expected)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert counted_strides(got) == counted_strides(expected)
    x, y = got.get(), expected.get()
    np.testing.assert_array_equal(x, y)
    for one, other in ((x.real, y.real), (x.imag, y.imag)):
        known = one == one
        np.testing.assert_array_equal(np.signbit(one[known]), np.signbit(other[known]))


def counted(function):
    """The fused function, and how often the function was called."""
    calls = []

    @functools.wraps(function)
    def counting(*args, **kwargs):
        calls.append(args)
        return function(*args, **kwargs)

    return PyGPU.fuse(counting), calls


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
    from PyGPU._kernels import specializations  # C++ asks it for each kernel

    made = []
    load = specializations.load
    monkeypatch.setattr(
        specializations, "load", lambda *args: made.append(args[0]) or load(*args)
    )
    f = PyGPU.fuse(lambda a, b: np.exp(a * 0.12345) / (np.cos(b) ** 2 + 7) - a)
    f(a, b)
    f(b, a)
    f(a, b)
    assert len(made) <= 2 and all(text.count("__global__ void") == 1 for text in made)


class TestTypes:
    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_of_arithmetic(self, dtype):
        x, y = (to_gpu(elements((5, 7), dtype, seed)) for seed in (1, 2))
        s = to_gpu(elements((5, 1), "f2", 3))
        f = lambda x, y, s: (x + y * y, x * s + 1.5, x == y, np.equal(x, s))  # noqa: E731
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

    def test_products_and_sums_are_rounded_each(self):
        x, y = np.float32(1 + 2**-12), np.float32(1 + 2**-11)
        f = PyGPU.fuse(lambda a, b: a * a - b)
        got = f(to_gpu(np.full(1000, x)), to_gpu(np.full(1000, y))).get()
        assert set(got.tolist()) == {float(x * x - y)} != {float(x) * float(x) - float(y)}

    def test_comparisons_of_operators_and_of_numpy(self, a, b):
        operators, numpy = PyGPU.fuse(lambda a, b: (a > b, np.greater(a, b)))(a, b)
        assert (operators.dtype, numpy.dtype) == (np.float32, np.bool_)
        np.testing.assert_array_equal(numpy.get(), X > Y)
        for number in (np.float32(1), np.array(1.0)):
            for f in (lambda a, s: s < a, np.less):
                assert_same(PyGPU.fuse(lambda a, s, f=f: f(s, a))(a, number), f(number, a))
                assert_same(PyGPU.fuse(lambda a, f=f, s=number: f(s, a))(a), f(number, a))

    def test_comparisons_of_signs(self):
        x = to_gpu(np.array([-1, 2**63 - 1], np.int64))
        y = to_gpu(np.array([2**64 - 1, 2**63 - 1], np.uint64))
        assert PyGPU.fuse(np.equal)(x, y).tolist() == [False, True]


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
        f, calls = counted(lambda a, s, t: a * (2 * s + t / 3 - np.sqrt(t)) + max(1, 2) + divmod(t, 4)[1])
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

    @pytest.mark.parametrize("dtype", ["f4", "f2", "c8", "i4", "?"])
    def test_powers(self, dtype):
        x = to_gpu(elements(50, dtype, 4))
        f = lambda x, n: x**n  # noqa: E731
        fused = PyGPU.fuse(f)
        for n in (2, 0.5, -1.0, 3, 2, 1.7, np.float32(2), 0, 2.0):
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
            with pytest.raises(TraceError, match="functools.partial"):
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

        import weakref

        some = Settings()
        watched = weakref.ref(some)
        f = PyGPU.fuse(lambda a, settings: a + 1)
        f(a, some)
        del some
        assert watched() is None


class TestResults:
    def test_several(self, a, b):
        got = PyGPU.fuse(lambda a, b: [a + b, a - b, a * b, a / b])(a, b)
        assert type(got) is list
        for one, expected in zip(got, (X + Y, X - Y, X * Y, X / Y)):
            np.testing.assert_array_equal(one.get(), expected)
        (only,) = PyGPU.fuse(lambda a: (a + 1,))(a)
        np.testing.assert_array_equal(only.get(), X + 1)

    def test_operations_with_two(self, a, b):
        def f(a, b):
            rest, whole = np.modf(a * b)
            significand, power = np.frexp(rest)
            quotient, left = divmod(a, b)
            return rest + whole, np.ldexp(significand, power), quotient * b + left, power

        for got, expected in zip(PyGPU.fuse(f)(a, b), f(a, b)):
            assert_same(got, expected)

    def test_of_different_shapes(self, a, b):
        def f(a, b):
            return a + b, np.sqrt(b), b, a * 2

        for got, expected in zip(PyGPU.fuse(f)(a, b), (a + b, np.sqrt(b), b, a * 2)):
            assert_same(got, expected)
        for got, expected in zip(PyGPU.fuse(f)(a, a), f(a, a)):
            assert_same(got, expected)

    def test_an_argument_is_copied(self, a):
        got = PyGPU.fuse(lambda a: a)(a)
        assert got.ptr != a.ptr
        assert_same(got, a)
        same, real = PyGPU.fuse(lambda a: (a, a.real))(a)
        assert len({same.ptr, real.ptr, a.ptr}) == 3

    def test_order_of_axes(self):
        x = to_gpu(np.asfortranarray(X))
        column, row = to_gpu(X[:, :1]), to_gpu(Y)
        c = to_gpu(X)
        for f, arrays in [
            (lambda x, c: x + c * 2, (x, c)),
            (lambda x, c: c - x, (x, c)),
            (lambda column, row, x: (column + row) * x, (column, row, x)),
            (lambda column, row, x: column + (row * x), (column, row, x)),
            (lambda x: np.sin(x) + 1, (c[::-1, ::2],)),
        ]:
            assert_same(PyGPU.fuse(f)(*arrays), f(*arrays))

    def test_subclasses(self, a):
        class Mine(GPUArray):
            pass

        mine = Mine((3, 4), np.float32)
        mine.set(X)
        f = PyGPU.fuse(lambda x, y: x * 2 + y)
        assert_same(f(mine, a), mine * 2 + a)
        assert type(f(mine, a)) is Mine
        assert type(f(a, mine)) is type(a * 2 + mine)

    def test_without_elements(self):
        f = PyGPU.fuse(lambda x, y: x + 2 * y)
        x = gpuarray.empty((0, 3), np.float32)
        assert f(x, to_gpu(np.ones(3, np.float32))).shape == (0, 3)
        assert f(to_gpu(np.array(1.5)), 2).tolist() == 5.5

    def test_of_nothing(self, a):
        for function, text in [
            (lambda a: None, "expected an array.* got None"),
            (lambda a: (), "0 results: expected 1 to 4"),
            (lambda a: (a,) * 5, "5 results"),
            (lambda a: 1.0, "depends on no array"),
            (lambda a, s: s * 2, "depends on no array"),
        ]:
            with pytest.raises(TraceError, match=text):
                PyGPU.fuse(function)(*(a, 1)[: function.__code__.co_argcount])


class TestOut:
    def test_it_is_written(self, a, b):
        out = gpuarray.zeros((3, 4), np.float64)
        f = PyGPU.fuse(lambda a, b: a + b)
        assert f(a, b, out=out) is out
        np.testing.assert_array_equal(out.get(), X + Y)
        f(a, b, out=a)
        np.testing.assert_array_equal(a.get(), X + Y)

    def test_an_overlapping_one(self, a):
        flat = a.ravel()
        PyGPU.fuse(lambda x: x * 2)(flat[:-1], out=flat[1:])
        np.testing.assert_array_equal(flat.get()[1:], 2 * X.ravel()[:-1])

    def test_results_are_rounded_before(self):
        x, out = to_gpu(np.full(3, 2048, np.float16)), gpuarray.zeros(3, np.float32)
        PyGPU.fuse(lambda x: x + 1)(x, out=out)
        np.testing.assert_array_equal(out.get(), 2048)

    def test_several(self, a, b):
        out = gpuarray.zeros((3, 4), np.float32)
        made, given = PyGPU.fuse(lambda a, b: (a - b, a + b))(a, b, out=(None, out))
        assert given is out
        np.testing.assert_array_equal(made.get(), X - Y)
        np.testing.assert_array_equal(out.get(), X + Y)
        short = gpuarray.zeros(4, np.float32)
        f = PyGPU.fuse(lambda a, b: (a - b, b + 1))
        assert [one.ptr for one in f(a, b, out=(out, short))] == [out.ptr, short.ptr]
        np.testing.assert_array_equal(short.get(), Y + 1)

    def test_what_does_not_fit(self, a, b):
        f = PyGPU.fuse(lambda a, b: a + b)
        with pytest.raises(TypeError, match="do not fit into int32"):
            f(a, b, out=gpuarray.zeros((3, 4), np.int32))
        with pytest.raises(errors.ShapeError, match=r"\(3, 4\)"):
            f(a, b, out=gpuarray.zeros((3, 5), np.float32))
        with pytest.raises(TypeError, match="out: expected a GPUArray"):
            f(a, b, out=X)
        with pytest.raises(TypeError, match="out: expected 2 arrays or None"):
            PyGPU.fuse(lambda a: (a, a))(a, out=a)
        same = gpuarray.zeros((3, 4), np.float32)
        with pytest.raises(ValueError, match="overlap"):
            PyGPU.fuse(lambda a, b: (a - b, a, a + b))(a, b, out=(same, None, same))

    def test_a_stream(self, a, b):
        stream = drv.Stream()
        got = PyGPU.fuse(lambda a, b: a + b)(a, b, stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(got.get(), X + Y)


class TestWhatCannotBeTraced:
    CASES = [
        ("if a > 0: pass", "numpy.where"),
        ("while a.any(): pass", "any .* cannot be traced"),
        ("float(a)", "no element is known"),
        ("int(a)", "no element is known"),
        ("len(a)", "of any shape"),
        ("a.shape", "of any shape"),
        ("[x for x in a]", "index the arrays before"),
        ("a[0]", "index the arrays before"),
        ("a[0] = 1", "index the arrays before"),
        ("a.sum()", "sum of an array cannot be traced"),
        ("np.sum(a)", "numpy.sum is no function of single elements"),
        ("np.add.reduce(a)", "numpy.add.reduce is no function"),
        ("gpuarray.sum(a)", "runs at once"),
        ("a.get()", "get of an array"),
        ("a += 1", "write a = a [+] b"),
        ("a.reshape(12)", "reshape of an array"),
        ("a.T", "T of an array"),
        ("a.fill(1)", "fill of an array"),
        ("a @ a", "@ is no function"),
        ("a + OTHER", "is no argument"),
        ("OTHER + a", "is no argument"),
        ("np.where(OTHER, a, 1)", "is no argument"),
        ("a + X", "numpy.ndarray"),
        ("a + 'text'", "unsupported operand"),
        ("np.add(a, 1, out=a)", "out= is an argument of the fused function"),
        ("np.add(a, 1, where=False)", "where= is not implemented"),
        ("cumath.sin(a, stream=1)", "stream= is an argument of the fused function"),
        ("np.sort(a)", "numpy.sort is no function"),
        ("np.sin(a.astype('?'), dtype='i4')", "sin is not defined"),
        ("np.asarray(a)", "GPUArray|__array__"),
    ]

    @pytest.mark.parametrize(("line", "text"), CASES, ids=[line for line, _ in CASES])
    def test_the_error_names_the_line(self, a, tmp_path, line, text):
        path = tmp_path / "theirs.py"
        path.write_text(f"def f(a):\n    b = a + 1\n    {line}\n    return b\n")
        names = {"np": np, "gpuarray": gpuarray, "cumath": cumath, "OTHER": a, "X": X}
        exec(compile(path.read_text(), path, "exec"), names)
        with pytest.raises(TraceError, match=text) as caught:
            PyGPU.fuse(names["f"])(a)
        said = re.escape(f'File "{path}", line 3, in ') + r"(f|<listcomp>)\n    " + re.escape(line)
        assert re.search(said + "$", str(caught.value))

    def test_a_symbol_that_was_kept(self, a):
        kept = []
        PyGPU.fuse(lambda a: kept.append(a) or a + 1)(a)
        with pytest.raises(TraceError, match="used after the function"):
            kept[0] + 1
        with pytest.raises(TraceError, match="another function that is traced"):
            PyGPU.fuse(lambda a: a + kept[0])(a)

    def test_more_than_a_kernel_takes(self, a):
        f = PyGPU.fuse(lambda *some: sum(some))
        np.testing.assert_array_equal(f(*[a] * 8).get(), 8 * X)
        with pytest.raises(TraceError, match=r"9 arrays and numbers: a kernel takes 8(.|\n)*line"):
            f(*[a] * 9)

        def long(a):
            for _ in range(1000):
                a = a + 1
            return a

        with pytest.raises(TraceError, match=r"more than 512 operations(.|\n)*a = a \+ 1"):
            PyGPU.fuse(long)(a)

    def test_errors_of_the_function_are_its_own(self, a):
        with pytest.raises(KeyError):
            PyGPU.fuse(lambda a: {}["x"])(a)
        with pytest.raises(TypeError, match="missing 1 required positional"):
            PyGPU.fuse(lambda a, b: a + b)(a)
        with pytest.raises(errors.ShapeError):
            PyGPU.fuse(lambda a, b: a + b)(a, a[:, :3])

    def test_what_is_no_function(self):
        with pytest.raises(TypeError, match="function: expected a callable, got 3"):
            PyGPU.fuse(3)
        with pytest.raises(TypeError, match=r"has parameters \['out'\]"):
            PyGPU.fuse(lambda a, out=None: a)


class TestItself:
    def test_it_is_traced_once_for_each_kind(self, a, b):
        f, calls = counted(lambda a, b: a + b)
        for _ in range(3):
            f(a, b)
            f(a.T, b[:3])
            f(a.astype("f8"), b)
        assert len(calls) == 2

    def test_it_forgets_what_was_not_used_for_long(self, a):
        f, calls = counted(lambda a, k: a + 1)
        for k in range(1000):
            f(a, str(k))
        assert len(calls) == 1000 and len(f._programs) <= 256
        f(a, "999")
        assert len(calls) == 1000

    def test_functions_that_do_the_same_share_a_kernel(self, a):
        from PyGPU._kernels import fused

        f = [PyGPU.fuse(lambda a: np.cos(a) * 1.625 + a) for _ in range(20)]
        f[0](a)
        before = len(fused.BODIES)
        for one in f:
            one(a)
        assert len(fused.BODIES) == before

    def test_one_inside_another(self, a):
        inner = PyGPU.fuse(lambda a, s: a * s + 1)
        outer, calls = counted(lambda a, s: inner(inner(a, 2), s) - a)
        assert_same(outer(a, 3), (a * 2 + 1) * 3 + 1 - a)
        assert len(calls) == 1

    def test_pickle_and_copy(self, a):
        again = pickle.loads(pickle.dumps(doubled))
        assert again is doubled and copy.deepcopy(doubled) is doubled
        other = pickle.loads(pickle.dumps(PyGPU.fuse(np.negative)))
        np.testing.assert_array_equal(other(a).get(), -X)

    def test_threads(self, a, b):
        f = PyGPU.fuse(lambda a, b, k: (a + b, a * k))
        wrong = []

        def work(seed):
            for k in range(30):
                total, product = f(a, b, float(k))
                if not (total.get() == X + Y).all() or not (product.get() == X * k).all():
                    wrong.append((seed, k))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert not wrong

    def test_devices(self, two_devices):
        two_devices(
            "import numpy as np, PyGPU, PyGPU.gpuarray as ga\n"
            "f = PyGPU.fuse(lambda a, b: a * 2 + b)\n"
            "for device in (0, 1):\n"
            "    PyGPU.cudaSetDevice(device)\n"
            "    a = ga.to_gpu(np.ones(5)); assert f(a, a).tolist() == [3] * 5\n"
            "PyGPU.cudaSetDevice(0)\n"
            "assert f(a, a).tolist() == [3] * 5\n"
            "try: f(ga.to_gpu(np.ones(5)), a)\n"
            "except TypeError as error: assert 'devices 0 and 1' in str(error)\n"
            "else: raise SystemExit('no error')\n"
        )


@PyGPU.fuse
def doubled(a):
    return a + a


def outcome(function, arguments):
    try:
        return function(*arguments)
    except (TypeError, ValueError, OverflowError) as error:
        return error


@examples(60)
@given(data=st.data())
def test_any_function_gives_what_it_gives_unfused(data):
    """Any dtypes, layouts and shapes; again with other numbers of the same types."""
    arguments, tree = data.draw(operands()), data.draw(trees(3))
    fused = PyGPU.fuse(tree)
    for _ in range(2):
        expected, got = outcome(tree, arguments), outcome(fused, arguments)
        if isinstance(expected, Exception):
            assert isinstance(got, type(expected)), (expected, got)
        elif isinstance(got, Exception):
            raise got
        else:
            assert_same(got, expected)
        arguments = [
            one if isinstance(one, GPUArray) else data.draw(others_like(one)) for one in arguments
        ]


@examples(20)
@given(data=st.data())
def test_several_results_at_once(data):
    arguments = data.draw(operands(4))
    own = [data.draw(trees(4, depth=2)) for _ in range(data.draw(st.integers(2, 4)))]

    def several(*arguments):
        return tuple([one(*arguments) for one in own])

    expected, got = outcome(several, arguments), outcome(PyGPU.fuse(several), arguments)
    if isinstance(expected, Exception):
        assert isinstance(got, type(expected)), (expected, got)
    else:
        assert not isinstance(got, Exception), got
        for one, other in zip(got, expected):
            assert_same(one, other)
