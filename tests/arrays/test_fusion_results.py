"""PyGPU.fuse: results, where they go, and the fused function itself."""

import copy
import pickle
import threading
from itertools import product

import fusion_tools
import numpy as np
import pytest
from campaign import each_once, rare_but
from expressions import assert_same, counted
from fusion_tools import X, Y

import PyGPU
import PyGPU.driver as drv
from PyGPU import TraceError, errors, gpuarray
from PyGPU._kernels import fused
from PyGPU.gpuarray import GPUArray, to_gpu

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

a, b = fusion_tools.a, fusion_tools.b  # the fixtures


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


NUMBERS = [(-1.0, 300.0, -7e4), (3e9, -5e9, 1e20, -1e20)]


class TestConstants:
    """What compilers know of constants changes no result."""

    @pytest.mark.parametrize(
        ("whole", "code", "numbers"),
        rare_but(
            [("i1", "f2", NUMBERS[0]), ("u2", "f4", NUMBERS[1]), ("i4", "f8", NUMBERS[1])],
            product(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"], ["f2", "f4", "f8"], NUMBERS),
        ),
    )
    def test_numbers_that_integers_cannot_hold(self, whole, code, numbers):
        x = to_gpu(np.array([1, -1, 2] * 50, code))

        def f(a):
            return tuple(np.where(a < 0, number, a).astype(whole) for number in numbers)

        for got, expected in zip(PyGPU.fuse(f)(x), f(x)):
            assert_same(got, expected)

    def test_infinite_numbers_as_integers(self):
        x = to_gpu(np.array([0.1, 0.9] * 30))

        def f(a):
            is_small = np.float64(1) * (a < 0.3)
            return (is_small**-1).astype(np.int32), (0.5 / is_small).astype(np.int64)

        for got, expected in zip(PyGPU.fuse(f)(x), f(x)):
            assert_same(got, expected)

    def test_an_integer_has_no_sign_of_zero(self):
        x = to_gpu(np.array([-3, 3, 17] * 20, np.int32))
        got = PyGPU.fuse(lambda a: 1 / np.round(a, -1))(x).get()
        np.testing.assert_array_equal(got[:3], [np.inf, np.inf, 0.05])

    @pytest.mark.parametrize("code", rare_but(["f4"], ["f4", "f8"]))
    def test_functions_of_complex_numbers(self, code):
        x = to_gpu(np.random.default_rng(0).normal(size=1000).astype(code))

        def f(a):
            return np.sin(a - 2j), np.cos(a - (1 + 2j)), np.tan(a * 1j + 2), np.exp(a * 0 + 2j)

        for got, expected in zip(PyGPU.fuse(f)(x), f(x)):
            assert_same(got, expected)

    def test_more_constants_than_a_kernel_takes_numbers(self):
        x = to_gpu(np.random.default_rng(1).normal(size=(50, 2)).view("c16"))

        def f(a):
            for number in range(12):
                a = a * (1 + number / 8j) + 2j
            return np.sin(a)

        assert_same(PyGPU.fuse(f)(x), f(x))


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


@PyGPU.fuse
def doubled(a):
    return a + a


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


@pytest.mark.parametrize(
    ("whole", "real"), [*each_once("bHiL", "efd"), *rare_but([], product("BhIl", "efd"))]
)
def test_whole_numbers_are_whole_on_the_way(whole, real):
    """Their zero has no sign, and they end where their type does."""
    numbers = [-0.0, 0.5, 100.9, 3.0] + ([-0.5, -1.5] if whole.islower() else [])
    host = np.array(numbers * 40, real)

    def chain(a):
        return a.astype(whole).astype("f8")

    expected = chain(host).tobytes()
    assert chain(to_gpu(host)).get().tobytes() == expected
    assert PyGPU.fuse(chain)(to_gpu(host)).get().tobytes() == expected
