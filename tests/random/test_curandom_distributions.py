"""Distributions of random numbers: moments, distances, tails, correlations, exact probabilities."""

import math

import numpy as np
import philox
import pytest

import PyGPU.gpuarray as gpuarray
from PyGPU import curandom
from PyGPU._kernels import helpers
from PyGPU._random import text
from PyGPU.compiler import SourceModule
from PyGPU.curandom import Philox4x32RandomNumberGenerator as Philox

N = 200_000
NORMAL = ["f2", "f4", "f8"]
# Every seed is fixed; the bounds are five standard deviations of what is measured.


def normal_cdf(x):
    return np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in x])


def distance(sample, cdf):
    """Kolmogorov's and Smirnov's: above 2.3 with a probability of 5e-5."""
    x = np.sort(sample)
    at = cdf(x)
    steps = np.arange(len(x) + 1) / len(x)
    return math.sqrt(len(x)) * max((at - steps[:-1]).max(), (steps[1:] - at).max())


def poisson_log(k, mean):
    return k * math.log(mean) - mean - math.lgamma(k + 1) if mean else (0 if k == 0 else -math.inf)


def assert_poisson(sample, mean):
    """Chi-square over values of which at least 20 are expected, and two tails."""
    n = len(sample)
    sigma = math.sqrt(mean)
    low, high = max(0, int(mean - 8 * sigma)), int(mean + 8 * sigma + 12)
    p = np.exp([poisson_log(k, mean) for k in range(low, high)])
    # Neighbours together until they weigh enough.
    edges, weight, expected = [low], 0.0, []
    for k, one in enumerate(p, low):
        weight += one
        if weight * n >= max(20, n / 200):
            expected.append(weight)
            edges.append(k + 1)
            weight = 0.0
    expected[-1] += 1 - sum(expected)
    edges[0], edges[-1] = 0, 2**32
    found = np.histogram(sample, edges)[0]
    chi2 = ((found - n * np.array(expected)) ** 2 / (n * np.array(expected))).sum()
    freedom = len(expected) - 1
    assert chi2 < freedom + 5 * math.sqrt(2 * freedom) + 10, (chi2, freedom)


@pytest.mark.parametrize("dtype", NORMAL)
@pytest.mark.parametrize("offset", [0, 4, 2**40])
def test_normal_numbers_are_box_and_mullers(dtype, offset):
    got = Philox(seed=3, offset=offset).gen_normal(5001, dtype).get()
    expected = philox.normal(5001, "f8" if dtype == "f8" else "f4", 3, offset)
    tolerance = {"f2": 2e-3, "f4": 2e-6, "f8": 1e-14}[dtype]
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


PAIRS = (
    text.PHILOX
    + text.UNIFORM
    + helpers((text.NORMAL,), is_complex=False)
    + text.NORMAL
    + """
extern "C" __global__ void pairs(float2 *out, const uint2 *words, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = P_normal_pair(words[i].x, words[i].y);
}
"""
)


def test_pairs_of_any_words():
    """Radii from both ends of the unit interval, angles around every eighth of a turn."""
    ends = np.r_[np.arange(2000), 2**31 - 1000 + np.arange(2000), 2**32 - 2000 + np.arange(2000)]
    eighths = (np.arange(8)[:, None] * 2**29 + np.arange(-40, 41)).ravel() % 2**32
    random = np.random.default_rng(8)
    a = np.r_[ends, random.integers(0, 2**32, 60_000), 2**32 - 2 ** random.uniform(0, 31, 30_000)]
    b = np.r_[eighths, random.integers(0, 2**32, len(a) - len(eighths))]
    a, b = a.astype(np.uint32), b.astype(np.uint32)
    out = gpuarray.zeros((len(a), 2), np.float32)
    kernel = SourceModule(PAIRS, no_extern_c=True).get_function("pairs")
    words = gpuarray.to_gpu(np.stack([a, b], 1))
    kernel(out, words, np.int32(len(a)), block=(128, 1, 1), grid=(-(-len(a) // 128), 1))
    # The nearer end of the unit interval, in the float that the device makes of it.
    is_upper = a >= 2**31
    near = ((np.where(is_upper, ~a, a).astype(np.float32) * 2.0**-32) + 2.0**-33).astype(np.float32)
    near = near.astype(np.float64)
    radius = np.sqrt(-2 * np.where(is_upper, np.log1p(-near), np.log(near)))
    angle = np.pi * (b.view(np.int32).astype(np.float64) + 0.5) * 2.0**-31
    expected = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    errors = abs(out.get() - expected) / radius[:, None]
    assert errors.max() < 2.5e-7 and errors.mean() < 4e-8


@pytest.mark.parametrize("dtype", NORMAL)
def test_normal_moments(dtype):
    z = Philox(seed=17).gen_normal(N, dtype).get().astype(np.float64)
    assert abs(z.mean()) < 5 / math.sqrt(N)
    assert abs(z.var() - 1) < 5 * math.sqrt(2 / N)
    assert abs((z**3).mean()) < 5 * math.sqrt(15 / N)
    assert abs((z**4).mean() - 3) < 5 * math.sqrt(96 / N)
    assert 4 < abs(z).max() < 7
    if dtype != "f2":
        assert distance(z[:50_000], normal_cdf) < 2.3


@pytest.mark.parametrize("dtype", NORMAL)
def test_log_normal_numbers(dtype):
    z = Philox(seed=17).gen_normal(N, dtype).get().astype(np.float64)
    x = Philox(seed=17).gen_log_normal(N, dtype, -1, 0.5).get().astype(np.float64)
    np.testing.assert_allclose(
        x, np.exp(-1 + 0.5 * z), rtol={"f2": 3e-3, "f4": 1e-6, "f8": 1e-14}[dtype]
    )
    data = gpuarray.zeros(N, dtype)
    Philox(seed=17).fill_log_normal(data, mean=-1, stddev=0.5)
    assert (data.get() == x).all()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_uniform_moments(dtype):
    u = Philox(seed=23).gen_uniform(N, dtype).get().astype(np.float64)
    assert 0 < u.min() and u.max() <= 1
    for power in (1, 2, 3, 4):
        variance = 1 / (2 * power + 1) - 1 / (power + 1) ** 2
        # float16 has steps of 2^-11, and 0 is not among them.
        slack = 2**-11 if dtype == "f2" else 0
        assert abs((u**power).mean() - 1 / (power + 1)) < 5 * math.sqrt(variance / N) + slack
    assert dtype == "f2" or distance(u, lambda x: x) < 2.3


def test_every_bit_is_fair():
    for dtype, width in (("u4", 32), ("u8", 64)):
        x = Philox(seed=5).gen_uniform(N, dtype).get()
        ones = np.unpackbits(x.view(np.uint8)).reshape(N, width).mean(axis=0)
        assert abs(ones - 0.5).max() < 5 * 0.5 / math.sqrt(N)


def test_numbers_are_not_correlated():
    samples = {
        "uniform": Philox(seed=1).gen_uniform(N, "f4").get(),
        "wide": Philox(seed=1).gen_uniform(N, "f8").get(),
        "normal": Philox(seed=1).gen_normal(N, "f4").get(),
        "poisson": Philox(seed=1).gen_poisson(N, "u4", 30).get().astype(float),
    }
    for name, x in samples.items():
        for lag in (1, 2, 3, 4, 8, 16, 1024, 2048):
            r = np.corrcoef(x[lag:], x[:-lag])[0, 1]
            assert abs(r) < 5 / math.sqrt(N), (name, lag, r)


def test_seeds_and_sequences_are_not_correlated():
    other_sequence = Philox(seed=1)
    other_sequence.call_skip_ahead_sequence(1)
    others = [Philox(seed=2), Philox(seed=1 + 2**32), Philox(seed=1, offset=4 * N), other_sequence]
    first = Philox(seed=1).gen_normal(N, "f4").get()
    for other in others:
        r = np.corrcoef(first, other.gen_normal(N, "f4").get())[0, 1]
        assert abs(r) < 5 / math.sqrt(N)


@pytest.mark.parametrize("mean", [0, 1e-9, 0.3, 4.5, 9.99, 10, 27.25, 300, 54321.5, 2e9])
def test_poisson_numbers_of_one_mean(mean):
    x = Philox(seed=29).gen_poisson(N, np.uint32, mean).get()
    assert x.dtype == np.uint32
    if mean < 1e-6:
        assert (x == 0).all()
        return
    x = x.astype(np.float64)
    assert abs(x.mean() - mean) < 5 * math.sqrt(mean / N)
    assert abs(x.var() - mean) < 5 * mean * math.sqrt((2 + 1 / mean) / N)
    if mean < 1e6:
        assert_poisson(x, mean)
    else:
        assert distance((x[:50_000] - mean) / math.sqrt(mean), normal_cdf) < 2.3


def test_small_poisson_numbers_are_inversions():
    mean = 3.75
    low = philox.philox(
        np.stack([np.arange(5000), *[np.zeros(5000, int)] * 3], axis=1), np.array([8, 0])
    )
    u = ((philox.wide(low[:, :2].ravel()) >> np.uint64(11)) + 0.5) / 2.0**53
    cumulative = np.cumsum([math.exp(poisson_log(k, mean)) for k in range(60)])
    got = Philox(seed=8).gen_poisson(5000, "u4", mean).get()
    assert (got == np.searchsorted(cumulative, u)).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "u4"])
def test_poisson_numbers_of_many_means(dtype):
    means = np.repeat([0, 2, 9, 11, 1000, 3e9], N // 6).astype(dtype)
    data = gpuarray.to_gpu(means)
    Philox(seed=31).fill_poisson(data)
    assert data.dtype == means.dtype
    for mean, x in zip(means[:: N // 6].tolist(), data.get().reshape(6, -1).astype(np.float64)):
        slack = 256 if dtype == "f4" and mean > 1e9 else 0
        assert abs(x.mean() - mean) <= 5 * math.sqrt(mean / len(x)) + slack
        if 0 < mean < 1e9:
            assert_poisson(x, mean)


def test_the_mean_decides_not_its_place():
    one = Philox(seed=31).gen_poisson(999, "u4", 12.5).get()
    many = gpuarray.to_gpu(np.full(999, 12.5))
    Philox(seed=31).fill_poisson(many)
    assert (many.get() == one).all()


def test_means_that_are_none():
    bad = np.array([-1, np.nan, np.inf, -np.inf, 0, -0.0, 1e300])
    data = gpuarray.to_gpu(bad)
    Philox(seed=1).fill_poisson(data)
    assert np.isnan(data.get()).tolist() == [True] * 4 + [False] * 2 + [True]
    generator = Philox(seed=1)
    for mean in (-1, math.nan, math.inf):
        with pytest.raises(ValueError, match="lambda_value"):
            generator.gen_poisson(3, "u4", mean)
    with pytest.raises(TypeError):
        generator.gen_poisson(3, "u4", None)
    with pytest.raises(NotImplementedError, match="expected uint32"):
        generator.gen_poisson(3, "f4", 1.0)
    with pytest.raises(NotImplementedError, match="expected float32, float64, uint32"):
        generator.fill_poisson(gpuarray.zeros(3, "i4"))


def test_huge_poisson_numbers():
    assert (Philox(seed=1).gen_poisson(99, "u4", 1e18).get() == 2**32 - 1).all()
    data = gpuarray.to_gpu(np.full(N // 4, 1e15))
    Philox(seed=1).fill_poisson(data)
    assert distance((data.get() - 1e15) / math.sqrt(1e15), normal_cdf) < 2.3


def test_seed_getters():
    np.random.seed(2)
    unique, uniform = curandom.seed_getter_unique(1000), curandom.seed_getter_uniform(1000)
    for seeds in (unique, uniform):
        assert seeds.dtype == np.int32 and seeds.shape == (1000,) and (seeds.get() >= 0).all()
    assert len(set(unique.get())) == 1000 and len(set(uniform.get())) == 1
    np.random.seed(2)
    assert (curandom.seed_getter_unique(1000).get() == unique.get()).all()
    assert curandom.seed_getter_unique(0).shape == curandom.seed_getter_uniform(0).shape == (0,)
