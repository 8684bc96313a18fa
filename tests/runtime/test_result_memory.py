"""Host memory of large results: reused, never while it is in use, and given back."""

import functools
import pickle
import time

import numpy as np
import pytest
from threads_tools import at_once

from PyGPU import driver, gpuarray
from PyGPU._runtime import core
from PyGPU.transfer import configure

KEPT_FROM = 256 << 10
MB = 1 << 20
SIZE = 3 * MB


def in_use():
    return core._result_memory()[0]


def kept():
    return core._result_memory()[1]


def address_of(array):
    return array.__array_interface__["data"][0]


@pytest.fixture(autouse=True)
def nothing_kept():
    """Each test begins with an empty cache of 64 MB."""
    with configure(result_cache=0):
        configure(result_cache=64 * MB)
        yield


@pytest.fixture
def array():
    return gpuarray.to_gpu(np.arange(SIZE, dtype=np.uint8))


EXPECTED = np.arange(SIZE, dtype=np.uint8)


def test_the_next_result_of_the_same_size_reuses_the_memory(array):
    before = in_use()
    first = array.get()
    assert first.flags.owndata and first.flags.writeable and first.base is None
    assert in_use() == before + SIZE and kept() == 0
    address = address_of(first)
    first[:] = 7
    del first
    assert in_use() == before and kept() == SIZE
    again = array.get()
    assert address_of(again) == address and kept() == 0
    assert (again == EXPECTED).all()


def test_results_that_live_have_memory_of_their_own(array):
    results = [array.get() for _ in range(5)]
    addresses = sorted(map(address_of, results))
    assert all(low + SIZE <= high for low, high in zip(addresses, addresses[1:]))
    results[2][:] = 0
    for number, result in enumerate(results):
        assert (result == EXPECTED).all() == (number != 2)


@pytest.mark.parametrize(
    "view_of",
    [
        lambda a: a[5:6],
        memoryview,
        lambda a: a.T.reshape(3, -1)[1],
        lambda a: np.frombuffer(a, np.uint8),
        pickle.PickleBuffer,
    ],
    ids=["slice", "memoryview", "reshape", "frombuffer", "PickleBuffer"],
)
def test_a_view_keeps_the_memory(array, view_of):
    result = array.get()
    address = address_of(result)
    view = view_of(result)
    del result
    assert kept() == 0
    other = array.get()
    assert address_of(other) != address
    other[:] = 123
    assert bytes(view) == bytes(view_of(EXPECTED))
    del view
    assert kept() == SIZE
    assert address_of(array.get()) == address


def test_sizes_that_are_about_equal_share_blocks(array):
    """A block has at most an eighth more than its result."""
    for size in (KEPT_FROM, KEPT_FROM + 1, MB - 1, MB + 1, SIZE - 4097, SIZE):
        before = in_use()
        result = array[:size].get()
        assert size <= in_use() - before <= size * 9 // 8 + 4096
        assert (result == EXPECTED[:size]).all()
        del result
    configure(result_cache=0)
    configure(result_cache=64 * MB)
    first = array[: SIZE - 1].get()
    address = address_of(first)
    del first
    assert address_of(array.get()) == address


def test_small_results_are_numpys(array):
    before = core._result_memory()
    results = [array[:size].get() for size in (0, 1, 1000, KEPT_FROM - 1)]
    assert core._result_memory() == before
    assert (results[-1] == EXPECTED[: KEPT_FROM - 1]).all()
    del results
    assert core._result_memory() == before
    result = array[:KEPT_FROM].get()
    assert in_use() == before[0] + KEPT_FROM
    del result
    assert kept() == KEPT_FROM


@pytest.mark.parametrize("size", [2 * SIZE, SIZE + 1, SIZE - 1, SIZE // 2, KEPT_FROM, 1000, 0])
def test_resize(array, size):
    """New elements are zero, also in memory that another result has left."""
    dirty = array.get()
    dirty.resize(2 * SIZE, refcheck=False)
    dirty[:] = 255
    del dirty
    before = in_use()
    result = array.get()
    result.resize(size, refcheck=False)
    common = min(size, SIZE)
    assert (result[:common] == EXPECTED[:common]).all() and not result[common:].any()
    assert (in_use() == before) == (size < KEPT_FROM)
    result[...] = 1
    result.resize(SIZE, refcheck=False)
    assert result[:common].all() and not result[common:].any()
    del result
    assert in_use() == before


def test_pickling(array):
    result = array.get()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        before = in_use()
        again = pickle.loads(pickle.dumps(result, protocol))
        assert (again == EXPECTED).all() and in_use() == before
    buffers = []
    text = pickle.dumps(result, 5, buffer_callback=buffers.append)
    address = address_of(result)
    again = pickle.loads(text, buffers=buffers)
    del result, buffers
    assert address_of(again) == address and kept() == 0
    del again
    assert kept() == SIZE


def test_results_that_are_freed_in_another_thread(array):
    before = in_use()
    results = [array.get() for _ in range(4)]
    addresses = set(map(address_of, results))
    at_once([results.clear])
    assert in_use() == before and kept() == 4 * SIZE
    results = [array.get() for _ in range(4)]
    assert set(map(address_of, results)) == addresses


def test_threads_that_make_and_free_results_at_once(array):
    before, wrong = in_use(), []

    def work(number):
        for turn in range(30):
            part = array[: SIZE - 200_000 * (turn % 3)]
            result = part.get()
            if not (result == EXPECTED[: part.size]).all():
                wrong.append((number, turn))
            result[:] = number

    at_once([functools.partial(work, number) for number in range(4)])
    assert not wrong and in_use() == before


def test_the_limit_holds(array):
    configure(result_cache=2 * SIZE + 1)
    results = [array.get() for _ in range(4)]
    addresses = list(map(address_of, results))
    while results:
        del results[0]
        assert kept() <= 2 * SIZE
    assert kept() == 2 * SIZE
    # The oldest have gone, and of the others the last one is used first.
    assert address_of(array.get()) == addresses[-1]
    configure(result_cache=SIZE)
    assert kept() == SIZE
    configure(result_cache=SIZE - 1)
    assert kept() == 0
    array.get()
    assert kept() == 0


def test_no_cache(array):
    configure(result_cache=0)
    before = in_use()
    for _ in range(3):
        result = array.get()
        assert (result == EXPECTED).all() and in_use() == before + SIZE
        del result
        assert in_use() == before and kept() == 0


def test_the_limit_of_the_environment(python):
    text = "from PyGPU._runtime import core; print(core._result_memory()[2])"
    for value, limit in (("0", 0), ("12345", 12345), ("1.5MB", 3 << 19)):
        assert int(python(text, PYGPU_RESULT_CACHE=value).stdout) == limit
    assert 0 < int(python(text, PYGPU_RESULT_CACHE="").stdout) <= 1 << 30


def wait_until_nothing_is_kept(seconds):
    end = time.monotonic() + seconds
    while kept() and time.monotonic() < end:
        time.sleep(0.05)


def test_unused_memory_returns_to_the_system(array):
    for _ in range(2):  # the thread that does so sleeps in between
        array.get()
        start = time.monotonic()
        assert kept() == SIZE
        wait_until_nothing_is_kept(30)
        assert kept() == 0 and time.monotonic() - start > 2.5


def test_memory_that_is_used_again_is_not_given_back(array):
    end = time.monotonic() + 4
    while time.monotonic() < end:
        result = array.get()
        time.sleep(0.1)
        del result
        assert kept() == SIZE


@pytest.mark.parametrize("dtype", [np.float64, ">i4", "S7", "M8[us]", [("a", "i2"), ("b", ">f8")]])
def test_layouts_and_dtypes(dtype):
    """The result has the array's order of axes, and no gaps."""
    dtype = np.dtype(dtype)
    source = np.random.default_rng(1).integers(0, 100, 300 * 800 * dtype.itemsize, np.uint8)
    x = source.view(dtype).reshape(300, 40, 20)
    array = gpuarray.to_gpu(np.asfortranarray(x))
    for part, index in ((array, ...), (array[::2], np.s_[::2]), (array[:, ::-1], np.s_[:, ::-1])):
        before = in_use()
        result = part.get()
        assert result.dtype == dtype and result.tobytes() == x[index].tobytes()
        assert result.flags.f_contiguous and result.flags.owndata
        assert in_use() >= before + result.nbytes >= before + KEPT_FROM
        del result


def test_allocations_elsewhere_are_numpys(array):
    """The allocator that get() sets for its own array does not stay set."""
    result = array.get()
    before = in_use()
    others = [np.empty(SIZE, np.uint8), result + 1, result.copy(), result[::2].copy()]
    assert in_use() == before
    del others
    with pytest.raises(TypeError):
        array.get(3)
    assert np.ones(SIZE, np.uint8).all() and in_use() == before


def test_a_get_that_fails_keeps_nothing_in_use(array):
    before = in_use()
    array.gpudata.free()
    with pytest.raises((ValueError, driver.LogicError)):
        array.get()
    assert in_use() == before


FORK = """
import os, time, warnings
import numpy as np
import PyGPU
from PyGPU._runtime import core
warnings.simplefilter("ignore")  # of a fork with threads

array = PyGPU.to_gpu(np.arange(1 << 20, dtype=np.uint8))
del_first, others = array.get(), [array.get() for _ in range(3)]
del del_first
assert core._result_memory()[1] == 1 << 20
if SWEPT:
    while core._result_memory()[1]:
        time.sleep(0.1)
    time.sleep(0.1)  # the thread waits for the next one
child = os.fork()
if not child:
    ended = 1
    try:
        assert core._result_memory()[:2] == (3 << 20, 0)  # the child keeps no pages of its parent
        for count in range(3, 0, -1):
            assert (others.pop() == np.arange(1 << 20, dtype=np.uint8)).all()
            assert core._result_memory()[:2] == ((count - 1) << 20, 0)
        ended = 0
    finally:
        os._exit(ended)
end = time.monotonic() + 60
while (found := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < end:
    time.sleep(0.1)
if found == (0, 0):
    os.kill(child, 9)
    raise SystemExit("the child hangs")
assert found[1] == 0, found
assert (array.get() == others[0]).all()  # the parent's memory is as it was
"""


@pytest.mark.parametrize("swept", [False, True])
def test_in_a_forked_child(python, swept):
    """Results of the parent are freed, and their memory is given back at once."""
    source = FORK.replace("SWEPT", str(swept))
    assert python(source).stderr == ""
