"""Sobol's sequences against NumPy, with vectors of our own and with those of cuRAND."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from strategies import examples

import PyGPU
import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray
from PyGPU import curandom
from PyGPU._random import curand
from PyGPU.curandom import (
    ScrambledSobol32RandomNumberGenerator,
    ScrambledSobol64RandomNumberGenerator,
    Sobol32RandomNumberGenerator,
    Sobol64RandomNumberGenerator,
)

PLAIN = {32: Sobol32RandomNumberGenerator, 64: Sobol64RandomNumberGenerator}
SCRAMBLED = {32: ScrambledSobol32RandomNumberGenerator, 64: ScrambledSobol64RandomNumberGenerator}
BITS = pytest.mark.parametrize("bits", [32, 64])
has_tables = pytest.mark.skipif(
    curand.library("curand") is None and curand.library("rocrand") is None,
    reason="neither cuRAND nor rocRAND is installed: no tables of direction vectors",
)


def random_vectors(count, bits, seed=0):
    """Any words serve to test the arithmetic."""
    word = f"u{bits // 8}"
    return np.random.default_rng(seed).integers(0, 2**bits, (count, bits), word)


def first_two(bits):
    """The vectors of Sobol's first two sequences: powers of two, and the polynomial x + 1."""
    powers = [1 << (bits - 1 - j) for j in range(bits)]
    second = [1 << (bits - 1)]
    for _ in range(bits - 1):
        second.append(second[-1] ^ second[-1] >> 1)
    return np.array([powers, second], f"u{bits // 8}")


def sobol(n, vectors, offset=0, constants=0):
    """Elements 0 to `n` of a fill: points of all sequences in turn."""
    count, bits = vectors.shape
    word = vectors.dtype.type
    points = np.arange(-(-n // count), dtype=np.uint64) + np.uint64(offset)
    code = points.astype(word)
    code ^= code >> word(1)
    x = np.zeros((len(points), count), word)
    for j in range(bits):
        chosen = (code >> word(j) & word(1)).astype(bool)
        x[chosen] ^= vectors[:, j]
    return (x ^ np.asarray(constants, word)).ravel()[:n]


def words(generator, n):
    return generator.gen_uniform(n, f"u{generator.generator_bits // 8}").get()


@BITS
def test_the_first_points(bits):
    generator = PLAIN[bits](gpuarray.to_gpu(first_two(bits)))
    points = generator.gen_uniform((5, 2), np.float64).get()
    expected = [(0, 0), (0.5, 0.5), (0.75, 0.25), (0.25, 0.75), (0.375, 0.375)]
    assert points == pytest.approx(np.array(expected), abs=1e-9)
    assert (points > 0).all()


@BITS
@examples(40)
@given(
    n=st.integers(0, 30) | st.integers(0, 20_000),
    count=st.integers(1, 5) | st.just(700),
    offset=st.integers(0, 9) | st.integers(0, 2**64 - 1),
    near_end=st.booleans(),
)
def test_words_are_numpys(bits, n, count, offset, near_end):
    offset = 2**bits - 1 - offset % 1000 if near_end else offset % 2**bits
    vectors = random_vectors(count, bits, seed=n)
    generator = PLAIN[bits](gpuarray.to_gpu(vectors), offset)
    assert (words(generator, n) == sobol(n, vectors, offset)).all()


@BITS
def test_scrambling_is_exclusive_or(bits):
    vectors, constants = random_vectors(3, bits), random_vectors(1, bits, 1)[0, :3]
    generator = SCRAMBLED[bits](
        dir_vector=gpuarray.to_gpu(vectors), scramble_vector=gpuarray.to_gpu(constants), offset=5
    )
    assert (words(generator, 1000) == sobol(1000, vectors, 5, constants)).all()


@BITS
def test_every_thread_steps_far(bits, monkeypatch):
    monkeypatch.setattr(PLAIN[bits], "_threads", 12)
    vectors = random_vectors(3, bits)
    generator = PLAIN[bits](gpuarray.to_gpu(vectors), 2**bits - 999)
    assert (words(generator, 5000) == sobol(5000, vectors, 2**bits - 999)).all()


@BITS
def test_a_fill_goes_on_where_each_sequence_is(bits):
    vectors = random_vectors(4, bits)
    generator = PLAIN[bits](gpuarray.to_gpu(vectors))
    assert (words(generator, 6) == sobol(6, vectors)).all()
    # Two sequences are now one number behind the others.
    expected = sobol(40, vectors).reshape(-1, 4)
    got = words(generator, 12).reshape(-1, 4)
    for s, start in enumerate((2, 2, 1, 1)):
        assert (got[:, s] == expected[start : start + 3, s]).all()


@BITS
def test_skipping(bits):
    vectors = random_vectors(3, bits)
    word = f"u{bits // 8}"
    expected = sobol(3000, vectors).reshape(-1, 3)
    generator = PLAIN[bits](gpuarray.to_gpu(vectors), offset=1)
    generator.call_skip_ahead(6)
    assert (words(generator, 3) == expected[7]).all()
    each = np.array([0, 500, 2], word)
    generator.call_skip_ahead_array(gpuarray.to_gpu(each), stream=drv.Stream())
    assert (words(generator, 3) == expected[8 + each, [0, 1, 2]]).all()
    generator.call_skip_ahead_array(gpuarray.to_gpu(np.array([-508, -8, -506]).astype(word)))
    with pytest.raises(TypeError, match=f"i: expected a GPUArray of dtype uint{bits}"):
        generator.call_skip_ahead_array(gpuarray.zeros(3, np.int32))
    with pytest.raises(TypeError, match="i: expected"):
        generator.call_skip_ahead_array(gpuarray.zeros(2, word))
    with pytest.raises(OverflowError):
        generator.call_skip_ahead(-1)
    assert not hasattr(generator, "call_skip_ahead_sequence")


@BITS
def test_uniform_numbers(bits):
    vectors = random_vectors(3, bits)
    x = sobol(2001, vectors)
    high = (x >> np.array(bits - 32, x.dtype)).astype(np.uint32)
    start = gpuarray.to_gpu(vectors)
    assert (PLAIN[bits](start).gen_uniform(2001, "u4").get() == high).all()
    assert (PLAIN[bits](start).gen_uniform(2001, "i4").get() == high.view("i4")).all()
    u = PLAIN[bits](start).gen_uniform(2001, "f4").get()
    assert u == pytest.approx((high + 0.5) / 2.0**32, rel=1e-7) and (u > 0).all() and (u <= 1).all()
    u = PLAIN[bits](start).gen_uniform(2001, "f8").get()
    assert u == pytest.approx((x.astype(float) + 0.5) / 2.0**bits, rel=1e-9) and (u > 0).all()
    if bits == 64:
        assert (PLAIN[64](start).gen_uniform(9, "i8").get() == x[:9].view("i8")).all()
    else:
        with pytest.raises(NotImplementedError, match="expected float32, float64, int32, uint32"):
            PLAIN[32](start).gen_uniform(9, "i8")


def normal_cdf(x):
    return np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in x.astype(float)])


@BITS
def test_normal_numbers_are_inversions(bits):
    vectors = gpuarray.to_gpu(random_vectors(3, bits))
    u = PLAIN[bits](vectors).gen_uniform(5000, "f8").get()
    for dtype, tolerance in (("f4", 1e-6), ("f8", 1e-12)):
        z = PLAIN[bits](vectors).gen_normal(5000, dtype).get()
        assert abs(normal_cdf(z) - u).max() < tolerance
        assert np.isfinite(z).all()
        x = PLAIN[bits](vectors).gen_log_normal(5000, dtype, 0.5, 0.25).get()
        np.testing.assert_allclose(x, np.exp(0.5 + 0.25 * z.astype(float)), rtol=tolerance)
    assert PLAIN[bits].has_box_muller is False


@BITS
def test_the_ends_of_the_sequence_are_finite(bits):
    """The words 0 and 2^bits - 1 give the smallest and the largest numbers."""
    vectors = gpuarray.zeros((2, bits), f"u{bits // 8}")
    constants = gpuarray.to_gpu(np.array([0, 2**bits - 1], f"u{bits // 8}"))
    for dtype in ("f4", "f8"):
        z = SCRAMBLED[bits](vectors, constants).gen_normal(2, dtype).get()
        assert z[0] == -z[1] and 6 < z[1] < 9
        u = SCRAMBLED[bits](vectors, constants).gen_uniform(2, dtype).get()
        assert 0 < float(u[0]) < 1e-9 and 1 - 1e-9 < float(u[1]) <= 1
    assert SCRAMBLED[bits](vectors, constants).gen_poisson(2, "u4", 5.0).get()[0] == 0


@BITS
@pytest.mark.parametrize("mean", [0, 0.25, 7.5, 399, 401, 1e6])
def test_poisson_numbers_are_inversions(bits, mean):
    vectors = gpuarray.to_gpu(random_vectors(3, bits))
    u = PLAIN[bits](vectors).gen_uniform(3000, "f8").get()
    low, high = int(max(0, mean - 9 * math.sqrt(mean))), int(mean + 9 * math.sqrt(mean) + 30)
    p = [k * math.log(mean or 1) - mean - math.lgamma(k + 1) for k in range(low, high)]
    cumulative = np.cumsum(np.exp(p)) if mean else np.ones(high)
    expected = low + np.searchsorted(cumulative, u)
    got = PLAIN[bits](vectors).gen_poisson(3000, "u4", mean).get()
    assert (got != expected).mean() < 1e-3 and abs(got - expected.astype(float)).max() <= 1
    for dtype in ("f4", "f8", "u4"):
        if mean == int(mean):
            data = gpuarray.zeros(3000, dtype).fill(int(mean))
            PLAIN[bits](vectors).fill_poisson(data)
            assert (data.get() == got).all()


@BITS
def test_bad_vectors(bits):
    word, other = f"u{bits // 8}", "u8" if bits == 32 else "u4"
    good = gpuarray.zeros((3, bits), word)
    for bad in (
        gpuarray.zeros((3, bits), other),
        gpuarray.zeros((3, bits), f"i{bits // 8}"),
        gpuarray.zeros((3, bits - 1), word),
        gpuarray.zeros(bits, word),
        gpuarray.zeros((0, bits), word),
        np.zeros((3, bits), word),
        5,
    ):
        for cls in (PLAIN[bits], SCRAMBLED[bits]):
            with pytest.raises(
                TypeError, match=f"dir_vector: expected a GPUArray of dtype uint{bits}"
            ):
                cls(bad)
    for bad in (gpuarray.zeros(3, other), gpuarray.zeros(4, word), np.zeros(3, word)):
        with pytest.raises(TypeError, match="scramble_vector: expected a GPUArray"):
            SCRAMBLED[bits](good, bad)
    with pytest.raises(TypeError, match="offset"):
        PLAIN[bits](good, 1.5)


@BITS
def test_the_vectors_are_copied(bits):
    vectors = random_vectors(3, bits)
    given = gpuarray.to_gpu(vectors)
    generator = PLAIN[bits](given)
    given.set(np.zeros_like(vectors))
    assert (words(generator, 99) == sobol(99, vectors)).all()


def test_layouts():
    vectors = random_vectors(3, 32)
    strided = gpuarray.to_gpu(np.repeat(vectors, 2, axis=0))[::2]
    whole = gpuarray.zeros((4, 6), np.uint32)
    Sobol32RandomNumberGenerator(strided).fill_uniform(whole[1:, ::2])
    assert (whole.get()[1:, ::2].ravel() == sobol(9, vectors)).all()
    assert (whole.get()[0] == 0).all() and (whole.get()[:, 1::2] == 0).all()


def test_attributes():
    generator = Sobol32RandomNumberGenerator(gpuarray.to_gpu(random_vectors(7, 32)))
    assert generator.block_count * generator.generators_per_block == 7
    assert int(generator.state) and set(generator.generators) > {"uniform_f4", "normal_f8"}
    assert generator.module.get_function("uniform_f4") is not None
    assert (generator.generator_bits, Sobol64RandomNumberGenerator.generator_bits) == (32, 64)


def test_names_of_the_tables():
    names = ["VECTOR_32", "SCRAMBLED_VECTOR_32", "VECTOR_64", "SCRAMBLED_VECTOR_64"]
    assert [one.name for one in curandom.direction_vector_set] == names
    with pytest.raises(ValueError):
        curandom.generate_direction_vectors(3, 7)


def test_without_tables(monkeypatch):
    monkeypatch.setattr(curand, "library", lambda vendor: None)
    assert curandom.get_curand_version() is None
    for make in (
        *PLAIN.values(),
        *SCRAMBLED.values(),
        lambda: curandom.generate_direction_vectors(3),
        lambda: curandom.generate_scramble_constants32(3),
        lambda: curandom.generate_scramble_constants64(3),
        lambda: SCRAMBLED[32](gpuarray.zeros((3, 32), np.uint32)),
    ):
        with pytest.raises(NotImplementedError, match="pip install nvidia-curand"):
            make()


@has_tables
def test_tables():
    version = curandom.get_curand_version()
    assert version >= (2, 0, 0) if version else PyGPU.target == "hip"  # of rocRAND there
    for bits, plain, scrambled in ((32, 101, 102), (64, 103, 104)):
        vectors = curandom.generate_direction_vectors(20_002, curandom.direction_vector_set(plain))
        assert vectors.shape == (20_002, bits) and vectors.dtype == f"u{bits // 8}"
        table = vectors.get()
        assert (table[:2] == first_two(bits)).all() and (table[20_000:] == table[:2]).all()
        assert len(np.unique(table[:20_000], axis=0)) == 20_000
        other = curandom.generate_direction_vectors(5, scrambled)
        assert other.shape == (5, bits) and (other.get() != table[:5]).any()
    assert (curandom.generate_direction_vectors(2).get() == first_two(32)).all()
    assert curandom.generate_direction_vectors(0).shape == (0, 32)
    for bits in (32, 64):
        constants = getattr(curandom, f"generate_scramble_constants{bits}")(20_003)
        assert constants.shape == (20_003,) and constants.dtype == f"u{bits // 8}"
        assert (constants.get()[20_000:] == constants.get()[:3]).all()
    with pytest.raises(ValueError, match="count=-1"):
        curandom.generate_scramble_constants32(-1)


@has_tables
@BITS
@pytest.mark.parametrize("classes", [PLAIN, SCRAMBLED], ids=["plain", "scrambled"])
def test_the_usual_sequences(classes, bits):
    generator = classes[bits]()
    assert generator.block_count == drv.Device(0).multiprocessor_count
    count = generator.block_count * generator.generators_per_block
    assert 0 < count <= 20_000
    points = generator.gen_uniform((256, count), np.float64).get()
    # Of 256 points each sequence puts one into each of 256 intervals.
    sorted_points = np.sort(np.floor(points * 256), axis=0)
    assert (sorted_points == np.arange(256)[:, None]).all()
    r = np.corrcoef(points[:, :50].T) - np.eye(50)
    assert abs(r).max() < 0.5
