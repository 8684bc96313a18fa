"""Philox4x32-10: its known answers, and rand() and its generator against NumPy, bit by bit."""

import hypothesis.strategies as st
import numpy as np
import philox
import pytest
from hypothesis import given
from strategies import examples

import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray
from PyGPU import curandom
from PyGPU._random import text
from PyGPU.compiler import SourceModule
from PyGPU.curandom import Philox4x32RandomNumberGenerator as Philox

UNIFORM = ["f2", "f4", "f8", "i4", "u4", "i8", "u8"]
KERNELS = (
    text.PHILOX
    + text.UNIFORM
    + """
extern "C" __global__ void philox(uint4 *out, const uint4 *counters, const uint2 *keys) {
  out[threadIdx.x] = P_philox4x32_10(counters[threadIdx.x], keys[threadIdx.x]);
}
extern "C" __global__ void floats(float *out, unsigned x) {
  out[0] = P_float11(x, 0), out[1] = P_float11(x, 1);
  out[2] = P_float(x, 0), out[3] = P_float(x, 1), out[4] = P_middle(x);
}
extern "C" __global__ void doubles(double *out, unsigned long long x) {
  out[0] = P_double(x, 0), out[1] = P_double(x, 1), out[2] = P_middle(x);
}
"""
)


@pytest.fixture(scope="module")
def kernels():
    return SourceModule(KERNELS, no_extern_c=True)


def expected_uniform(n, dtype, *place, closed=1):
    if np.dtype(dtype).kind in "iu":
        return philox.bits(n, dtype, *place)
    return philox.uniform(n, dtype, *place, closed=closed)


def test_known_answers_of_numpy():
    for counter, key, answer in philox.KNOWN_ANSWERS:
        assert philox.philox([counter], key).tolist() == [answer]


def test_known_answers_of_the_device(kernels):
    counters, keys, answers = (np.array(part, np.uint32) for part in zip(*philox.KNOWN_ANSWERS))
    out = np.zeros_like(answers)
    kernels.get_function("philox")(
        drv.Out(out), drv.In(counters), drv.In(keys), block=(len(out), 1, 1)
    )
    assert out.tolist() == answers.tolist()


def test_the_ends_of_the_intervals(kernels):
    floats, doubles = np.zeros(5, np.float32), np.zeros(3)
    kernels.get_function("floats")(drv.Out(floats), np.uint32(0), block=(1, 1, 1))
    assert floats.tolist() == [0, 2**-11, 0, 2**-24, 2**-33]
    kernels.get_function("floats")(drv.Out(floats), np.uint32(2**32 - 1), block=(1, 1, 1))
    assert floats.tolist() == [1 - 2**-11, 1, 1 - 2**-24, 1, 1]
    kernels.get_function("doubles")(drv.Out(doubles), np.uint64(0), block=(1, 1, 1))
    assert doubles.tolist() == [0, 2**-53, 2**-54]
    kernels.get_function("doubles")(drv.Out(doubles), np.uint64(2**64 - 1), block=(1, 1, 1))
    assert doubles.tolist() == [1 - 2**-53, 1, 1]


def test_the_first_words_are_the_known_answer():
    assert Philox(seed=0).gen_uniform(4, np.uint32).get().tolist() == philox.KNOWN_ANSWERS[0][2]


@pytest.mark.parametrize("dtype", UNIFORM)
@examples(25)
@given(
    n=st.integers(0, 40) | st.integers(0, 9000),
    start=st.integers(0, 9),
    seed=st.integers(0, 2**64 - 1),
    offset=st.integers(0, 9) | st.sampled_from([2**32 - 1, 2**34 - 5, 2**63, 2**64 - 1]),
)
def test_uniform_numbers_are_numpys_to_the_last_bit(dtype, n, start, seed, offset):
    whole = gpuarray.zeros(n + 19, dtype)
    Philox(seed=seed, offset=offset).fill_uniform(whole[start : start + n])
    got = whole.get()
    assert (got[:start] == 0).all() and (got[start + n :] == 0).all()
    expected = expected_uniform(n, dtype, seed, offset)
    assert got[start : start + n].tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", UNIFORM)
def test_a_fill_goes_on_where_the_one_before_ended(dtype):
    generator = Philox(seed=5)
    parts = [generator.gen_uniform(n, dtype).get() for n in (6, 0, 2, 4, 1000, 12)]
    assert np.concatenate(parts).tobytes() == expected_uniform(1024, dtype, 5).tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_an_odd_fill_of_normal_numbers_wastes_none(dtype):
    generator = Philox(seed=5)
    parts = [generator.gen_normal(n, dtype).get() for n in (1, 3, 7, 1001)]
    assert (np.concatenate(parts) == Philox(seed=5).gen_normal(1012, dtype).get()).all()


def test_skipping_is_drawing():
    drawn, skipped = Philox(seed=9), Philox(seed=9)
    drawn.gen_uniform(1003, np.float32)
    drawn.gen_uniform(5, np.float64)  # starts at the next even word
    skipped.call_skip_ahead(1003)
    skipped.call_skip_ahead_array(gpuarray.to_gpu(np.array([11], np.uint64)))
    assert (drawn.gen_uniform(7, "u4") == skipped.gen_uniform(7, "u4")).get().all()


def test_sequences():
    generator = Philox(seed=9)
    generator.call_skip_ahead_sequence(3)
    assert (generator.gen_uniform(9, "u4").get() == philox.bits(9, "u4", 9, 0, 3)).all()
    generator.call_skip_ahead_sequence_array(gpuarray.to_gpu(np.array([2**32 - 2], np.uint64)))
    assert (generator.gen_uniform(9, "u4").get() == philox.bits(9, "u4", 9, 9, 1)).all()


def test_large_fills_do_not_depend_on_their_parts():
    whole = Philox(seed=1).gen_uniform(1_000_003, np.float32).get()
    assert whole.tobytes() == philox.uniform(1_000_003, "f4", 1).tobytes()
    data = gpuarray.empty(1_000_003, np.float32)
    generator = Philox(seed=1)
    for start in range(0, 1_000_003, 250_001):
        generator.fill_uniform(data[start : start + 250_001])
    assert data.get().tobytes() == whole.tobytes()


def test_seeds():
    def getter(n):
        return gpuarray.to_gpu(np.full(n, -7, np.int32))

    assert (Philox(getter).gen_uniform(9, "u4").get() == philox.bits(9, "u4", -7)).all()
    assert (Philox(seed=-7).gen_uniform(9, "u4").get() == philox.bits(9, "u4", -7)).all()
    np.random.seed(3)
    first = Philox().gen_uniform(9, "u4").get()
    assert (first != Philox().gen_uniform(9, "u4").get()).all()
    np.random.seed(3)
    assert (first == Philox().gen_uniform(9, "u4").get()).all()


def test_bad_seeds_and_offsets():
    with pytest.raises(TypeError, match="seed: expected an integer"):
        Philox(seed=1.5)
    for number in (7, 0):
        with pytest.raises(
            TypeError, match=r"seed_getter: expected a callable .*got int; .* seed="
        ):
            Philox(number)
    with pytest.raises(TypeError, match="both"):
        Philox(curandom.seed_getter_unique, seed=1)
    with pytest.raises(TypeError, match="int32"):
        Philox(lambda n: gpuarray.zeros(n, np.float32))
    with pytest.raises(TypeError, match="int32"):
        Philox(lambda n: np.zeros(n, np.int32))
    with pytest.raises(OverflowError, match="offset"):
        Philox(offset=-1)
    with pytest.raises(OverflowError, match="i: expected"):
        Philox().call_skip_ahead(2**64)
    with pytest.raises(TypeError, match="uint64"):
        Philox().call_skip_ahead_array(gpuarray.zeros(1, np.uint32))


@pytest.mark.parametrize("dtype", UNIFORM)
@pytest.mark.parametrize("shape", [(), 5, (3, 4), (0, 2)])
def test_rand(shape, dtype):
    np.random.seed(11)
    first, second = curandom.rand(shape, dtype), curandom.rand(shape, dtype)
    assert first.dtype == dtype and first.shape == np.empty(shape).shape
    np.random.seed(11)
    low, high = np.random.randint(0, 2**32, 2, np.uint64)
    seed = int(high) << 32 | int(low)
    expected = expected_uniform(first.size, dtype, seed, closed=0).reshape(first.shape)
    assert first.get().tobytes() == expected.tobytes()
    assert first.size == 0 or (first.get() != second.get()).any()


def test_rand_is_float32_and_below_one():
    numbers = curandom.rand((1000, 100))
    assert numbers.dtype == np.float32
    assert 0 <= numbers.get().min() < 1e-3 and 0.999 < numbers.get().max() < 1


@pytest.mark.parametrize("dtype", ["i2", "u1", "?", "c8", ">f4", "S4"])
def test_dtypes_without_numbers(dtype):
    with pytest.raises(NotImplementedError, match="expected float16, float32"):
        curandom.rand(5, dtype)
    data = gpuarray.zeros(5, dtype)
    generator = Philox(seed=0)
    for fill in (generator.fill_uniform, generator.fill_normal, generator.fill_poisson):
        with pytest.raises(NotImplementedError, match=r"Philox.*no (uniform|normal|poisson) num"):
            fill(data)
    with pytest.raises(NotImplementedError):
        generator.gen_normal(0, dtype)
    with pytest.raises(TypeError, match="data: expected a GPUArray, got ndarray"):
        generator.fill_uniform(np.zeros(5, np.float32))


LAYOUTS = {
    "F": lambda a: gpuarray.empty(a.shape, a.dtype, order="F"),
    "reversed": lambda a: a[::-1, ::2],
    "transposed": lambda a: a[1:, 3:].T,
    "column": lambda a: a[:, 1],
    "empty": lambda a: a[:, 5:5],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name):
    whole = gpuarray.zeros((7, 11), np.float32)
    part, order = LAYOUTS[name](whole), "F" if name == "F" else "C"
    Philox(seed=4).fill_uniform(part)
    expected = philox.uniform(part.size, "f4", 4).reshape(part.shape, order=order)
    assert (part.get() == expected).all()
    assert name == "F" or np.count_nonzero(whole.get()) == part.size
    part.fill(20)
    Philox(seed=4).fill_poisson(part)
    means = gpuarray.zeros(part.size, np.float32).fill(20)
    Philox(seed=4).fill_poisson(means)
    assert (part.get().ravel(order) == means.get()).all()


def test_streams():
    stream = drv.Stream()
    expected = philox.uniform(100_000, "f4", 2)
    for one in (None, stream, int(stream.handle)):
        data = gpuarray.zeros((100_000, 2), np.float32)
        Philox(seed=2).fill_uniform(data[:, 1], stream=one)
        assert (data.get()[:, 1] == expected).all()
    assert curandom.rand(5, stream=stream).get().shape == (5,)


def test_the_key_is_randints():
    """np.random.seed repeats what it gave before, and what is drawn next is what it was."""
    for seed in range(5):
        np.random.seed(seed)
        low, high = map(int, np.random.randint(0, 2**32, 2, np.uint64))
        after = np.random.random()
        np.random.seed(seed)
        got = curandom.rand(100)
        assert np.random.random() == after
        np.testing.assert_array_equal(
            got.get(), philox.uniform(100, "f4", high << 32 | low, closed=0)
        )
    if not hasattr(np.random, "set_bit_generator"):
        pytest.skip("this NumPy has one bit generator, MT19937")
    before = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(7))
        one = curandom.rand(100).get()
        np.random.set_bit_generator(np.random.PCG64(7))
        low, high = map(int, np.random.randint(0, 2**32, 2, np.uint64))
    finally:
        np.random.set_bit_generator(before)
    np.testing.assert_array_equal(one, philox.uniform(100, "f4", high << 32 | low, closed=0))
