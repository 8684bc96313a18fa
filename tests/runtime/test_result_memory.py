"""Host memory of large results, which later results use: owned, bounded, given back."""

import functools
import pickle
import time

import numpy as np
import pytest
from threads_tools import at_once

from PyGPU import gpuarray
from PyGPU._runtime import core
from PyGPU.transfer import configure

N = 1 << 18  # float32: 1 MiB, of which results are kept


@pytest.fixture(autouse=True)
def nothing_kept():
    """Each test begins and ends without kept memory."""
    with configure(result_cache=0):
        configure(result_cache=1 << 28)
        yield


def memory():
    """(bytes in use, bytes kept, limit)"""
    return core._result_memory()


@pytest.fixture
def array():
    return gpuarray.to_gpu(np.arange(N, dtype=np.float32))


def test_a_result_owns_its_memory(array):
    found = array.get()
    assert found.flags.owndata and found.flags.writeable and found.base is None
    assert (found == np.arange(N)).all()


def test_the_next_result_has_the_memory_of_the_one_before(array):
    first = array.get()
    address = first.ctypes.data
    second = array.get()
    assert second.ctypes.data != address  # the first is alive
    view = first[5:]
    del first
    third = array.get()
    assert third.ctypes.data != address and (view == np.arange(5, N)).all()
    del view
    assert array.get().ctypes.data == address


def test_results_of_all_layouts():
    host = np.random.default_rng(1).random((300, 700))
    for order in "CF":
        source = gpuarray.to_gpu(np.asarray(host, order=order))
        for _ in range(3):
            found = source.get()
            assert (found == host).all() and found.flags[f"{order}_CONTIGUOUS"]
    assert (source[::2, 1::3].get() == host[::2, 1::3]).all()


def test_small_results_are_numpys(array):
    before = memory()[0]
    kept = [array[:1000].get(), array[: (1 << 16) - 1].get()]
    assert memory()[0] == before and all(one.flags.owndata for one in kept)


def test_resize_grows_and_shrinks(array):
    found = array.get()
    found.resize(3 * N)
    assert (found[:N] == np.arange(N)).all() and (found[N:] == 0).all()
    found.resize(10)
    assert found.tolist() == list(range(10))
    found.resize(N)
    assert found[:10].tolist() == list(range(10)) and (found[10:] == 0).all()


def test_pickling_and_copying(array):
    found = array.get()
    for protocol in (2, 5):
        assert (pickle.loads(pickle.dumps(found, protocol)) == found).all()
    assert (found.copy() == found).all()


def test_limits(array):
    configure(result_cache=3 * N)  # less than one result
    array.get()
    assert memory()[1:] == (0, 3 * N)
    configure(result_cache=9 * N)
    both = [array.get(), array.get(), array.get()]
    both.clear()
    assert memory()[1] == 8 * N  # two of the three
    configure(result_cache=0)
    assert memory()[1:] == (0, 0)


def test_memory_returns_to_the_system(array):
    array.get()
    assert memory()[1] == 4 * N
    end = time.monotonic() + 30
    while memory()[1] and time.monotonic() < end:
        time.sleep(0.1)
    assert memory()[1] == 0
    assert (array.get() == np.arange(N)).all()


def test_results_of_many_threads(array):
    wrong = []

    def work(number):
        source = gpuarray.to_gpu(np.full(N + 1000 * number, number, np.float32))
        results = []
        for turn in range(20):
            results.append(source.get())
            if not (results[-1] == number).all():
                wrong.append(number)
            if turn % 3 == 2:
                results.clear()

    at_once([functools.partial(work, number) for number in range(6)])
    assert not wrong


FORK = """
import os, numpy as np
from PyGPU import gpuarray
array = gpuarray.to_gpu(np.arange(1 << 18, dtype=np.float32))
kept, gone = array.get(), array.get()
del gone
child = os.fork()
if child == 0:
    ok = (kept == np.arange(1 << 18)).all()
    kept.resize(1 << 20)
    del kept
    os._exit(0 if ok else 1)
assert os.waitpid(child, 0)[1] == 0
assert (kept == np.arange(1 << 18)).all() and (array.get() == kept).all()
print("fine")
"""


def test_a_forked_child_frees_results_of_its_parent(python):
    assert python(FORK).stdout == "fine\n"


@pytest.mark.parametrize(("value", "limit"), [("0", 0), ("5M", 5 << 20), ("", None)])
def test_the_variable(python, value, limit):
    text = "from PyGPU.transfer import configure; print(configure().result_cache)"
    found = int(python(text, PYGPU_RESULT_CACHE=value).stdout)
    assert found == limit if limit is not None else 0 < found <= 1 << 30
