"""XORWOW and MRG32k3a: states side by side, skipping, distributions, bad arguments."""

import math

import numpy as np
import pytest
from curand_model import XORWOW as XORWOWModel
from curand_model import MRG32k3a as MRG32k3aModel

import PyGPU
import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray
from PyGPU import errors
from PyGPU._random import curand, pseudo
from PyGPU.curandom import MRG32k3aRandomNumberGenerator as MRG32k3a
from PyGPU.curandom import XORWOWRandomNumberGenerator as XORWOW

BOTH = pytest.mark.parametrize("cls", [XORWOW, MRG32k3a])


def ones(n):
    return gpuarray.zeros(n, np.int32).fill(1)


def states_of(generator):
    return generator.block_count * generator.generators_per_block


def assert_equal_draws(first, second):
    n = states_of(first)
    assert (first.gen_uniform(n, "u4").get() == second.gen_uniform(n, "u4").get()).all()


@BOTH
def test_attributes(cls):
    generator = cls()
    assert generator.block_count == drv.Device(0).multiprocessor_count
    limits = [function.max_threads_per_block for function in generator.generators.values()]
    assert generator.generators_per_block == min(limits)
    assert generator.generator_bits == 32 and generator.has_box_muller is True
    assert int(generator.state) and generator.state is generator.state
    assert generator.module.get_function("uniform_f4") is not None
    assert generator.backend in ("curand", "pygpu")
    assert generator.backend == "pygpu" or PyGPU.target == "cuda"


@BOTH
@pytest.mark.parametrize("is_ours", [False, True])
def test_numbers_are_those_of_curand(cls, is_ours, monkeypatch):
    """State i has seed i and sequence i, whoever's header it is."""
    if is_ours:
        monkeypatch.setattr(curand, "include_dirs", lambda: None)
        monkeypatch.setattr(pseudo, "_compiled", pseudo._compiled.__wrapped__)
    seeds = []

    def getter(n):
        seeds.append(np.arange(n, dtype=np.int32)[::-1] - 3)
        return gpuarray.to_gpu(seeds[0])

    generator = cls(getter, offset=6)
    assert generator.backend == "pygpu" or not is_ours
    n = states_of(generator)
    numbers = generator.gen_uniform(2 * n + 5, "u4").get()
    model_of = {XORWOW: XORWOWModel, MRG32k3a: MRG32k3aModel}[cls]
    for i in {0, 1, 2, n // 2, n - 4, n - 3, n - 1}:
        model = model_of(int(seeds[0][i]) % 2**64, i, 6)
        assert numbers[i::n].tolist() == [model.next() for _ in numbers[i::n]], i


@BOTH
def test_skipping_is_drawing_in_every_state(cls):
    drawn, skipped, by_array = cls(ones), cls(ones), cls(ones)
    n = states_of(drawn)
    drawn.gen_uniform(7 * n, "u4")
    skipped.call_skip_ahead(7)
    by_array.call_skip_ahead_array(gpuarray.zeros(n, np.uint64).fill(7))
    draws = drawn.gen_uniform(n, "u4").get()
    assert len(set(draws)) > 0.99 * n
    assert (skipped.gen_uniform(n, "u4").get() == draws).all()
    assert (by_array.gen_uniform(n, "u4").get() == draws).all()
    assert_equal_draws(cls(ones, offset=8), drawn)


@BOTH
def test_each_state_is_skipped_by_its_own_number(cls):
    drawn, skipped = cls(ones), cls(ones)
    n = states_of(drawn)
    draws = drawn.gen_uniform(5 * n, "u4").get().reshape(5, n)
    each = np.arange(n) % 5
    skipped.call_skip_ahead_array(gpuarray.to_gpu(each.astype(np.uint64)))
    assert (skipped.gen_uniform(n, "u4").get() == draws[each, np.arange(n)]).all()


@BOTH
def test_states_are_numbered_by_sequences(cls):
    """With one seed for all, state s after a skip of one is where state s + 1 was."""
    is_mrg = cls is MRG32k3a
    start = cls(ones)
    n = states_of(start)
    before = start.gen_uniform(n, "u4").get()
    generator = cls(ones)
    each = gpuarray.zeros(n, np.uint64).fill(1)
    if is_mrg:
        generator.call_skip_ahead_subsequence(1)
    else:
        generator.call_skip_ahead_sequence(1)
    assert (generator.gen_uniform(n, "u4").get()[:-1] == before[1:]).all()
    generator = cls(ones)
    if is_mrg:
        generator.call_skip_ahead_subsequence_array(each)
    else:
        generator.call_skip_ahead_sequence_array(each)
    assert (generator.gen_uniform(n, "u4").get()[:-1] == before[1:]).all()


def test_sequences_of_mrg32k3a():
    one, by_array, start = MRG32k3a(ones), MRG32k3a(ones), MRG32k3a(ones)
    n = states_of(one)
    one.call_skip_ahead_sequence(2)
    by_array.call_skip_ahead_sequence_array(gpuarray.zeros(n, np.uint64).fill(2))
    numbers = one.gen_uniform(n, "u4").get()
    assert (numbers == by_array.gen_uniform(n, "u4").get()).all()
    assert np.intersect1d(numbers, start.gen_uniform(n, "u4").get()).size < n / 100
    assert not hasattr(XORWOW, "call_skip_ahead_subsequence")


@BOTH
@pytest.mark.parametrize("size", [0, 1, 2, 3, 1001, 300_001])
def test_sizes_and_moments(cls, size):
    generator = cls(lambda n: gpuarray.to_gpu(np.arange(n, dtype=np.int32)))
    bound = 5 / math.sqrt(max(size, 1))
    for dtype in (np.float32, np.float64):
        u = generator.gen_uniform(size, dtype)
        z = generator.gen_normal(size, dtype)
        x = generator.gen_log_normal(size, dtype, 0.5, 0.25)
        assert u.dtype == z.dtype == x.dtype == dtype
        u, z, x = u.get(), z.get(), x.get()
        if not size:
            continue
        assert (u > 0).all() and (u <= 1).all() and abs(u.mean() - 0.5) < bound * 0.29
        assert abs(z.mean()) < bound and abs(np.log(x).mean() - 0.5) < 0.25 * bound
        if size > 1000:
            assert abs(z.var() - 1) < 1.5 * bound
            assert abs(np.log(x).var() - 0.0625) < 0.1 * bound
            assert abs(np.corrcoef(z[::2][: size // 2], z[1::2])[0, 1]) < 1.5 * bound
    for dtype in (np.int32, np.uint32):
        bits = generator.gen_uniform(size, dtype)
        assert bits.dtype == dtype
        if size > 1000:
            ones_of = np.unpackbits(bits.get().view(np.uint8)).reshape(size, 32).mean(axis=0)
            assert abs(ones_of - 0.5).max() < bound


@BOTH
def test_poisson_numbers(cls):
    generator = cls(ones)
    size = 60_000
    for mean in (0, 0.75, 8, 40, 12345.5):
        x = generator.gen_poisson(size, np.uint32, mean).get().astype(float)
        assert abs(x.mean() - mean) <= 5 * math.sqrt(mean / size)
        assert abs(x.var() - mean) <= 5 * math.sqrt((2 * mean**2 + mean) / size)
    for dtype in (np.float32, np.float64, np.uint32):
        data = gpuarray.to_gpu(np.array([2, 5000] * (size // 2), dtype))
        generator.fill_poisson(data)
        for x, mean in zip(data.get().reshape(-1, 2).T.astype(float), (2, 5000)):
            assert abs(x.mean() - mean) <= 5 * math.sqrt(mean / (size / 2))
    with pytest.raises(ValueError, match="lambda_value=-1"):
        generator.gen_poisson(3, np.uint32, -1)
    with pytest.raises(NotImplementedError):
        generator.gen_poisson(3, np.int32, 1)


@BOTH
def test_layouts_and_streams(cls):
    expected = cls(ones).gen_uniform(1000, np.float32).get()
    whole = gpuarray.zeros((40, 50), np.float32)
    stream = drv.Stream()
    cls(ones).fill_uniform(whole[::2, ::-1], stream=stream)
    assert (whole.get()[::2, ::-1].ravel() == expected).all()
    assert (whole.get()[1::2] == 0).all()
    assert (cls(ones).gen_uniform(1000, "f4", stream).get() == expected).all()


@BOTH
def test_fills_are_what_is_generated(cls):
    part = gpuarray.zeros((40, 50), np.float64)[::2, ::-1]
    for name, dtype, arguments in [("normal", "f8", ()), ("log_normal", "f8", (0.5, 2))]:
        getattr(cls(ones), f"fill_{name}")(part, *arguments)
        expected = getattr(cls(ones), f"gen_{name}")(1000, dtype, *arguments).get()
        assert (part.get().ravel() == expected).all()
    part = gpuarray.zeros((40, 50), np.uint32)[::2, ::-1]
    cls(ones).fill_poisson(part, 3.0)
    assert (part.get().ravel() == cls(ones).gen_poisson(1000, "u4", 3.0).get()).all()


@BOTH
def test_one_draw_after_another(cls):
    generator, other = cls(ones), cls(ones)
    n = states_of(generator)
    both = generator.gen_uniform(2 * n, np.float32).get()
    parts = [other.gen_uniform(n, np.float32).get() for _ in range(2)]
    assert (both == np.concatenate(parts)).all()


@BOTH
@pytest.mark.parametrize("dtype", ["f2", "i8", "u8", "i2", "c8", "?", ">f4"])
def test_dtypes_without_numbers(cls, dtype):
    generator = cls(ones)
    with pytest.raises(NotImplementedError, match="expected float32, float64, int32, uint32"):
        generator.gen_uniform(3, dtype)
    with pytest.raises(NotImplementedError, match="expected float32, float64"):
        generator.fill_normal(gpuarray.zeros(3, dtype))
    with pytest.raises(NotImplementedError):
        generator.gen_log_normal(3, dtype, 0, 1)


@BOTH
def test_bad_seeds(cls):
    for getter in (
        lambda n: np.zeros(n, np.int32),
        lambda n: gpuarray.zeros(n, np.uint32),
        lambda n: gpuarray.zeros(n + 1, np.int32),
        lambda n: gpuarray.zeros((n, 1), np.int32),
        lambda n: None,
    ):
        with pytest.raises(TypeError, match=r"seed_getter\(n\): expected a GPUArray of dtype int3"):
            cls(getter)
    for number in (42, 0):
        with pytest.raises(TypeError, match=r"seed_getter: expected a callable .*got int; .*full"):
            cls(number)
    with pytest.raises(OverflowError, match="offset"):
        cls(ones, -1)
    generator = cls(lambda n: gpuarray.zeros(2 * n, np.int32).fill(1)[::2])
    assert_equal_draws(generator, cls(ones))


@BOTH
def test_bad_skips(cls):
    generator = cls(ones)
    n = states_of(generator)
    for bad in (gpuarray.zeros(n, np.uint32), gpuarray.zeros(n - 1, np.uint64), np.zeros(n), 5):
        with pytest.raises(TypeError, match="i: expected a GPUArray of dtype uint64"):
            generator.call_skip_ahead_array(bad)
    for bad, error in ((-1, OverflowError), (2**64, OverflowError), (1.5, TypeError)):
        with pytest.raises(error):
            generator.call_skip_ahead(bad)
    assert_equal_draws(generator, cls(ones))


def test_default_seeds_follow_numpy():
    np.random.seed(4)
    first, second = XORWOW(), XORWOW()
    np.random.seed(4)
    again = XORWOW()
    numbers = first.gen_uniform(100, "u4").get()
    assert (numbers == again.gen_uniform(100, "u4").get()).all()
    assert (numbers != second.gen_uniform(100, "u4").get()).any()


def test_headers_that_do_not_compile(monkeypatch):
    """A broken toolkit is told of, and our header takes its header's place."""
    real = pseudo._compile

    def broken(backend, *arguments):
        if backend == "curand":
            raise errors.CompileError("compilation failed", [], stderr="curand_kernel.h: no")
        return real(backend, *arguments)

    monkeypatch.setattr(curand, "include_dirs", lambda: ())
    monkeypatch.setattr(pseudo, "_compile", broken)
    with pytest.warns(RuntimeWarning, match=r"curand_kernel.h: no.*falling back to PyGPU's"):
        backend, _, functions = pseudo._compiled.__wrapped__("MRG32k3a", pseudo.SKIPS)
    assert backend == "pygpu" and set(pseudo.SKIPS) < set(functions)
