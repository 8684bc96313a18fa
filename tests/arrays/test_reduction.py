"""Reductions of whole arrays: NumPy's values; the array's own type from 32 bits on."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from campaign import rare_but
from hypothesis import given
from hypothesis import strategies as st
from reduction_tools import assert_close, blocks, numbers  # noqa: F401  a fixture
from strategies import arrays, examples

import PyGPU
from PyGPU import gpuarray
from PyGPU._arrays import reductions as gpu
from PyGPU.gpuarray import GPUArray, to_gpu

CODES = list("?bHiQefdF")
LENGTHS = [0, 1, 2, 31, 1000, 70_001]


def total_dtype(code):
    """Return the dtype of sums and products."""
    return np.zeros(0, code).sum().dtype if np.dtype(code).itemsize < 4 else np.dtype(code)


@pytest.mark.parametrize("code", rare_but("?eF", CODES))
def test_dtypes_and_values_of_sums(code):
    for length in LENGTHS:
        x = numbers(length, code)
        total = gpu.sum(to_gpu(x))
        assert type(total) is GPUArray
        assert total.shape == ()
        expected = x.sum(dtype="f4").astype(code) if code == "e" else x.sum(dtype=total_dtype(code))
        assert_close(total.get(), expected)


@pytest.mark.parametrize("code", "?bBhH")
def test_totals_of_small_integers_are_numpys(code):
    x = np.full(1000, 1 if code == "?" else 100, code)
    a = to_gpu(x)
    assert_close(gpu.sum(a).get(), x.sum())
    assert_close(a.sum(axis=0, keepdims=True).get(), x.sum(axis=0, keepdims=True))
    assert_close(a[:7].prod().get(), x[:7].prod())
    assert_close(gpu.prod(a[:0]).get(), x[:0].prod())
    assert_close(gpuarray.subset_sum(to_gpu(np.arange(900, dtype="i4")), a).get(), x[:900].sum())
    for dtype in (code, "i4", "f8"):
        out = gpuarray.empty((), dtype)
        assert gpu.sum(a, out=out) is out
        assert_close(out.get(), np.sum(x, out=np.empty((), dtype)))
        assert_close(gpu.sum(a, dtype=dtype).get(), x.sum(dtype=dtype))


def test_integers_of_32_bits_wrap():
    assert gpu.prod(to_gpu(np.full(9, 16, "i4"))).get() == 0


@given(st.integers(0, 3000), st.integers(0, 20), st.sampled_from(["i4", "u1"]))
def test_any_length_from_any_address(length, start, dtype):
    x = (np.arange(start + length) % 251).astype(dtype)
    assert_close(gpu.sum(to_gpu(x)[start:]).get(), x[start:].sum(dtype=total_dtype(dtype)))


ASKED = [("i4", "f8"), ("u1", "i4"), ("f4", "i4"), ("?", "i4")]


@pytest.mark.parametrize(("dtype", "asked"), rare_but(ASKED[1:3], ASKED))
def test_dtype_of_the_sum(dtype, asked):
    x = numbers(5000, dtype)
    expected = x.astype(asked).sum(dtype=asked)
    assert_close(gpu.sum(to_gpu(x), dtype=asked).get(), expected)


def test_real_part_and_complex_sum():
    x = numbers(100, "F")
    assert_close(gpu.sum(to_gpu(x), dtype="f4").get(), x.real.sum())
    assert_close(gpu.sum(to_gpu(x.real.copy()), dtype="F").get(), x.real.sum() + np.complex64(0))


def test_float32_is_added_accurately():
    x = np.random.default_rng(3).random(2**24, dtype="f4")
    exact = x.sum(dtype="f8")
    assert abs(float(gpu.sum(to_gpu(x)).get()) - exact) <= 1e-6 * exact


def test_float16_is_added_in_float32():
    x = np.full(40_000, 1, "e")  # beyond 2048 a half does not count ones
    assert gpu.sum(to_gpu(x)).get() == np.float16(40_000)


@pytest.mark.parametrize("code", rare_but("d", "fdi"))
def test_elements_are_rounded_to_the_float16_asked_for(code):
    x = np.array([2049, 2049, -4096], code)
    assert gpu.sum(to_gpu(x), dtype="e").get() == x.sum(dtype="e") == 0
    assert gpu.sum(to_gpu(np.stack([x, x])), axis=1, dtype="e").get().tolist() == [0, 0]
    assert gpu.prod(to_gpu(x[:1]), dtype="e").get() == 2048


@pytest.mark.parametrize("code", rare_but("be", "?bef"))
def test_extremes(code):
    for length in LENGTHS[1:]:
        x = numbers(length, code)
        for name in ("max", "min"):
            assert_close(getattr(gpu, name)(to_gpu(x)).get(), getattr(x, name)())


@pytest.mark.parametrize("code", rare_but("bQ", "bHQq"))
def test_extremes_of_integers_at_their_limits(code):
    info = np.iinfo(code)
    for number in (info.min, info.max):
        a = to_gpu(np.full(100, number, code))
        assert gpu.max(a).get() == gpu.min(a).get() == number


def test_extremes_leave_out_what_is_no_number():
    x = numbers(3000, "f4")
    x[::3] = np.nan
    assert gpu.max(to_gpu(x)).get() == np.nanmax(x)
    assert gpu.min(to_gpu(x)).get() == np.nanmin(x)
    assert np.isnan(gpu.max(to_gpu(x[::3])).get())
    assert np.isnan(gpu.min(to_gpu(x[::3])).get())
    assert gpu.max(to_gpu(np.array([np.nan, -np.inf], "f4"))).get() == -np.inf


@pytest.mark.parametrize("code", rare_but("?D", "?eD"))
def test_any_and_all(code):
    for length in LENGTHS:
        x = np.zeros(length, code)
        for answer in (gpu.any(to_gpu(x)), gpu.all(to_gpu(x + x.dtype.type(1)))):
            assert answer.dtype == bool
            assert answer.shape == ()
        assert not gpu.any(to_gpu(x)).get()
        assert gpu.all(to_gpu(x)).get() == (length == 0)
        if length:
            x[-1] = 1
            assert gpu.any(to_gpu(x)).get()
            assert not gpu.all(to_gpu(1 - x if code != "?" else ~x)).get()


def test_what_is_true():
    assert gpu.all(to_gpu(np.array([np.nan, np.inf, -1, 6e-8], "e"))).get()
    assert gpu.any(to_gpu(np.array([0, 1j], "D"))).get()
    odd = to_gpu(np.array([2, 128, 255], "u1")).view("?")
    assert gpu.all(odd).get() == gpu.max(odd).get() == True  # noqa: E712
    assert gpu.sum(odd).get() == 3
    assert not gpu.any(to_gpu(np.array([0.0, -0.0], "e"))).get()


@pytest.mark.parametrize("code", rare_but("hD", "?hD"))
def test_product(code):
    x = np.array([1, 2, 3, 1, 1, 5, 1, 1, 1] * 3, code)
    if code == "D":
        x *= 1j
    assert_close(gpu.prod(to_gpu(x)).get(), x.prod(dtype=total_dtype(code)))
    assert gpu.prod(to_gpu(x[:0])).get() == 1


@pytest.mark.parametrize("code", rare_but("ie", "?ieF"))
def test_mean(code):
    x = numbers(5001, code)
    assert_close(gpu.mean(to_gpu(x)).get(), x.mean(), ulps=16)


def test_mean_in_another_type():
    x = numbers(5001, "i4")
    assert_close(gpu.mean(to_gpu(x), dtype="f4").get(), x.mean(dtype="f4"), ulps=16)
    assert_close(gpu.mean(to_gpu(-abs(x)), dtype="i4").get(), (-abs(x)).mean(dtype="i4"))
    assert np.isnan(gpu.mean(to_gpu(np.zeros(0))).get())


@pytest.mark.parametrize(
    ("code", "dtype"), rare_but([("b", "i8")], list(product("bH?", ["f8", "i8"])))
)
def test_long_sums_of_short_integers_are_exact(code, dtype):
    x = (np.arange(100_003) % 256 - 128).astype(code)
    a = to_gpu(x)
    for part in (slice(None), slice(1, None), slice(3, -5), slice(None, None, 2)):
        total = gpu.sum(a[part], dtype=dtype).get()
        assert (total.dtype, total) == (dtype, x[part].sum(dtype=dtype))
        assert a[part].mean().get() == x[part].mean()
    square = x[: 312 * 320].reshape(312, 320)
    for axis in (0, 1):
        found = gpu.mean(to_gpu(square), axis=axis).get()
        np.testing.assert_array_equal(found, square.mean(axis=axis))


@pytest.mark.parametrize(
    "pair", rare_but(["f f", "u1 u1", "F f"], ["f f", "u1 u1", "? ?", "e e", "f d", "F f"])
)
def test_dot(pair):
    first, second = (np.dtype(code) for code in pair.split())
    common = np.promote_types(first, second)
    for length in LENGTHS[:-1]:
        x, y = numbers(length, first, 1), numbers(length, second, 2)
        wide = np.promote_types(common, "f4") if common.kind == "f" else common
        expected = (x.astype(wide) * y.astype(wide)).sum(dtype=wide).astype(common)
        result = gpu.dot(to_gpu(x), to_gpu(y))
        assert result.shape == ()
        assert_close(result.get(), expected, ulps=64)


@given(st.integers(0, 40), st.integers(0, 9), st.integers(0, 9))
def test_dot_from_any_addresses(length, first, second):
    x = np.arange(60.0, dtype="f4")
    a = to_gpu(x)
    expected = (x[first : first + length] * x[second : second + length]).sum(dtype="f8")
    assert gpu.dot(a[first : first + length], a[second : second + length]).get() == expected


@examples(30)
@given(arrays(shape=(3, 4, 5), dtype="f4"), arrays(shape=(3, 4, 5), dtype="f4"))
def test_dot_of_any_layouts(x, y):
    assert gpu.dot(to_gpu(x), to_gpu(y)).get() == (x.astype("f8") * y).sum()
    assert (
        gpu.dot(to_gpu(x).T, to_gpu(y.ravel())).get()
        == (x.T.ravel().astype("f8") * y.ravel()).sum()
    )


def test_large_dot():
    x, y = numbers(300_000, "f4", 1), numbers(300_000, "f4", 2)
    expected = (x.astype("f8") * y).sum().astype("f4")
    assert_close(gpu.dot(to_gpu(x), to_gpu(y)).get(), expected, ulps=1000)


def test_subsets():
    x, y = numbers((40, 50), "f4", 1), numbers((40, 50), "f4", 2)
    chosen = np.random.default_rng(0).integers(0, 2000, 300).astype("u4")
    a, b, c = to_gpu(x), to_gpu(y), to_gpu(chosen)
    picked, others = x.ravel()[chosen], y.ravel()[chosen]
    assert_close(gpuarray.subset_sum(c, a).get(), picked.sum())
    assert_close(gpuarray.subset_dot(c, a, b).get(), (picked * others).sum())
    assert_close(gpuarray.subset_max(c, a).get(), picked.max())
    assert_close(gpuarray.subset_min(c, a).get(), picked.min())
    assert_close(
        gpuarray.subset_sum(c[::-2], to_gpu(np.asfortranarray(x))).get(), picked[::-2].sum()
    )
    assert gpuarray.subset_sum(c[:0], a).get() == 0


def test_subset_of_integers_in_another_type():
    x = np.arange(200, dtype="u1")
    chosen = to_gpu(np.arange(0, 200, 3))
    assert_close(gpuarray.subset_sum(chosen, to_gpu(x), dtype="i4").get(), x[::3].sum(dtype="i4"))


def test_methods_take_numpys_arguments():
    x = numbers((6, 7), "f4")
    a = to_gpu(x)
    for name in ("sum", "prod", "mean", "max", "min"):
        assert gpu.METHODS[name].__name__ == name
    out = to_gpu(np.zeros(7))
    gpu.METHODS["sum"](a, 0, "f8", out)
    assert_close(out.get(), x.sum(0, "f8"))
    assert_close(gpu.METHODS["max"](a, 0, None, True).get(), x.max(0, None, True))
    assert_close(gpu.METHODS["dot"](a, a).get(), (x * x).sum(), 64)


def test_the_result_is_an_array_to_go_on_with():
    a = to_gpu(numbers(1000, "f4"))
    assert_close((gpu.sum(a) * 2 + gpu.max(a)).get(), (a.get().sum() * 2 + a.get().max()))
    assert PyGPU.cudaDeviceSynchronize() == 0


def test_sums_at_once():
    """Threads share the kernels and what these keep between launches."""
    arrays = [to_gpu(np.full(200_000, value, np.float32)) for value in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(10):
            sums = list(pool.map(lambda array: float(gpuarray.sum(array).get()), arrays))
            assert sums == [200_000.0 * value for value in range(8)]
