"""Generators shared by threads, streams, copies and forked children."""

import copy
import functools
import operator
import os
import pickle

import numpy as np
import pytest
from threads_tools import at_once

import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray
from PyGPU import curandom

SIZE = 20_000  # a launch that releases the GIL for a while on `host`


def vectors(bits):
    """Return 64 vectors: any words serve."""
    words = np.random.default_rng(0).integers(0, 2**bits, (64, bits), f"u{bits // 8}")
    return gpuarray.to_gpu(words)


def seeds(n):
    return gpuarray.to_gpu(np.arange(n, dtype=np.int32))


MAKERS = {
    "Philox": lambda: curandom.Philox4x32RandomNumberGenerator(seed=1),
    "XORWOW": lambda: curandom.XORWOWRandomNumberGenerator(seeds),
    "MRG32k3a": lambda: curandom.MRG32k3aRandomNumberGenerator(seeds),
    "Sobol32": lambda: curandom.Sobol32RandomNumberGenerator(vectors(32)),
    "Sobol64": lambda: curandom.Sobol64RandomNumberGenerator(vectors(64)),
    "ScrambledSobol32": lambda: curandom.ScrambledSobol32RandomNumberGenerator(
        vectors(32), gpuarray.zeros(64, np.uint32)
    ),
}
EACH = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
DRAWS = {
    "uniform": lambda generator: generator.gen_uniform(SIZE, np.float64),
    "normal": lambda generator: generator.gen_normal(SIZE, np.float32),
    "poisson": lambda generator: generator.gen_poisson(SIZE, np.uint32, 1e6),
}


@EACH
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_threads_draw_the_numbers_of_one_thread(make, draw):
    shared, alone = make(), make()

    def draw_some():
        return [draw(shared).get().tobytes() for _ in range(10)]

    drawn = functools.reduce(operator.iadd, at_once([draw_some] * 4), [])
    assert sorted(drawn) == sorted(draw(alone).get().tobytes() for _ in range(40))


@EACH
def test_threads_skip_as_one_thread_does(make):
    shared, alone = make(), make()

    def skip_some():
        for _ in range(200):
            shared.call_skip_ahead(3)

    at_once([skip_some] * 4)
    alone.call_skip_ahead(4 * 200 * 3)
    assert (shared.gen_uniform(SIZE, "f4").get() == alone.gen_uniform(SIZE, "f4").get()).all()


@EACH
@pytest.mark.parametrize("flags", [0, 1])
def test_streams_draw_the_numbers_of_one_stream(make, flags):
    shared, alone = make(), make()
    streams = [drv.Stream(flags), None, drv.Stream(flags), drv.Stream(1)]
    data = [gpuarray.zeros(SIZE, np.float32) for _ in range(40)]
    drv.Context.synchronize()
    for number, each in enumerate(data):
        shared.fill_uniform(each, stream=streams[number % 4])
    drv.Context.synchronize()
    assert all((each.get() == alone.gen_uniform(SIZE, "f4").get()).all() for each in data)


@EACH
def test_a_stream_may_end_before_the_next_draw(make):
    shared, alone = make(), make()
    for _ in range(3):
        stream = drv.Stream(1)
        drawn = shared.gen_uniform(SIZE, "f4", stream=stream)
        stream.synchronize()
        del stream
        assert (drawn.get() == alone.gen_uniform(SIZE, "f4").get()).all()


@EACH
def test_a_draw_is_recorded_between_others(make):
    shared, alone = make(), make()
    data, stream = gpuarray.zeros(SIZE, np.float32), drv.Stream(1)
    drv.Context.synchronize()
    shared.fill_uniform(data, stream=stream)
    with stream.capture() as graph:
        shared.fill_uniform(data, stream=stream)
    if isinstance(shared, curandom.Philox4x32RandomNumberGenerator):
        alone.call_skip_ahead(SIZE)  # the recorded words are drawn once
    else:
        graph.launch(stream)
        stream.synchronize()
        alone.gen_uniform(SIZE, "f4")
    alone.gen_uniform(SIZE, "f4")
    assert (shared.gen_uniform(SIZE, "f4").get() == alone.gen_uniform(SIZE, "f4").get()).all()


@pytest.mark.parametrize("name", ["Philox", "Sobol32", "ScrambledSobol32"])
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda generator: pickle.loads(pickle.dumps(generator))]
)
def test_copies_continue_on_their_own(name, copied):
    generator, stream = MAKERS[name](), drv.Stream()
    generator.gen_uniform(100, "f4", stream=stream)
    stream.synchronize()
    other = copied(generator)
    expected = [generator.gen_uniform(100, "f4").get() for _ in range(2)]
    drawn = [other.gen_uniform(100, "f4").get() for _ in range(2)]
    assert np.array_equal(drawn, expected)


@pytest.mark.parametrize("name", ["XORWOW", "MRG32k3a"])
def test_states_in_device_memory_are_not_pickled(name):
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(MAKERS[name]())


def test_rand_repeats_nothing_in_threads():
    def draw_some():
        return [curandom.rand(1000).get().tobytes() for _ in range(50)]

    drawn = functools.reduce(operator.iadd, at_once([draw_some] * 4), [])
    assert len(set(drawn)) == len(drawn)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_during_a_draw_gets_an_error(python):
    """A thread of the parent holds the state, so the child must not wait for it."""
    done = python("""
import os, threading, time, warnings
import numpy as np
import PyGPU.gpuarray as gpuarray
from PyGPU import curandom
warnings.simplefilter("ignore", DeprecationWarning)  # of a fork in a process with threads

generator = curandom.XORWOWRandomNumberGenerator()
data, is_held, is_over = gpuarray.zeros(10, np.float32), threading.Event(), threading.Event()

def hold():
    with generator._order.turn():
        is_held.set()
        is_over.wait()

thread = threading.Thread(target=hold)
thread.start()
is_held.wait()
pid = os.fork()
if pid == 0:
    try:
        generator.fill_uniform(data)
    except Exception as error:
        os._exit(0 if "forked" in str(error) else 1)
    os._exit(2)
_, outcome = os.waitpid(pid, 0)
is_over.set()
thread.join()
print(os.WEXITSTATUS(outcome))
""")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_parent_that_only_skips_does_not_use_the_device(python):
    """A forked child may draw: positions of Philox are numbers of the host."""
    done = python("""
import os
from PyGPU import curandom

generator, alone = (curandom.Philox4x32RandomNumberGenerator(seed=1) for _ in range(2))
generator.call_skip_ahead(400)
generator.call_skip_ahead_sequence(1)
pid = os.fork()
if pid == 0:
    alone.call_skip_ahead_sequence(1)
    alone.gen_uniform(400, "uint32")
    drawn = generator.gen_uniform(100, "uint32").get()
    os._exit(0 if (drawn == alone.gen_uniform(100, "uint32").get()).all() else 1)
_, outcome = os.waitpid(pid, 0)
print(os.WEXITSTATUS(outcome))
""")
    assert done.stdout.split() == ["0"], done.stderr


def test_streams_of_another_device_than_the_current_one(two_devices):
    two_devices("""
import numpy as np
import PyGPU
import PyGPU.driver as drv
from PyGPU import curandom, gpuarray

PyGPU.cudaSetDevice(0)
words = np.random.default_rng(0).integers(0, 2**32, (64, 32), "u4")
seeds = lambda n: gpuarray.to_gpu(np.arange(n, dtype=np.int32))
for make in (
    lambda: curandom.XORWOWRandomNumberGenerator(seeds),
    lambda: curandom.Sobol32RandomNumberGenerator(gpuarray.to_gpu(words)),
):
    shared, alone, stream = make(), make(), drv.Stream(1)
    data = gpuarray.zeros(1000, np.float32)
    for _ in range(3):
        with PyGPU.device(1):
            shared.fill_uniform(data, stream=stream)
        stream.synchronize()
        assert (data.get() == alone.gen_uniform(1000, "f4").get()).all()
""")
