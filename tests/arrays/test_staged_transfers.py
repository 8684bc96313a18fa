"""Transfers in many small pieces: any layout on either side, all thresholds, pinned memory."""

import contextlib
import threading
import tracemalloc

import numpy as np
import pytest
from campaign import rare_but
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, arrays, assert_same, dtypes, examples, values

import PyGPU
import PyGPU.driver as drv
from PyGPU import errors, gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu
from PyGPU.transfer import configure


@pytest.fixture
def failing():
    """By which a call of the runtime is made to fail."""
    if PyGPU.target != "host":
        pytest.skip("only the host machine's calls can be made to fail")
    import failing_calls

    return failing_calls


@st.composite
def settings(draw):
    """Small pieces, staged by several threads or not, so that tiny arrays are cut."""
    return {
        "threads": draw(st.sampled_from([1, 3])),
        "chunk_bytes": draw(st.sampled_from([512, 1000, 4096])),
        "chunks": draw(st.sampled_from([1, 2, 3])),
        "threshold": draw(st.sampled_from([0, 1, 1024, 3000])),
    }


@st.composite
def large_shapes(draw):
    """Some KB, also where the pieces' ends are inside of rows, or one axis is much the longest."""
    shapes = [(1700,), (3, 700), (700, 3), (40, 41), (5, 11, 30), (2, 3, 5, 60)]
    return draw(st.permutations(draw(st.sampled_from(shapes))))


large = large_shapes().flatmap(lambda shape: arrays(shape=tuple(shape)))


@contextlib.contextmanager
def small_pieces(**changes):
    with configure(**{"threads": 3, "chunk_bytes": 4096, "chunks": 2, "threshold": 1, **changes}):
        yield


@examples(40)
@given(large, settings())
def test_there_and_back(x, given_settings):
    with configure(**given_settings):
        array = to_gpu(x)
        got = array.get()
    assert_same(got, x)
    assert got.flags.owndata
    assert_same(array.get(), x)


@examples(40)
@given(large_shapes(), dtypes, settings(), st.data())
def test_set_and_get_between_any_two_layouts(shape, dtype, given_settings, data):
    """C, Fortran and permuted order, steps and gaps, on each of both sides."""
    shape = tuple(shape)
    source = data.draw(arrays(shape=shape, dtype=dtype))
    strided = data.draw(arrays(shape=shape, dtype=dtype, writable=True))
    out = data.draw(arrays(shape=shape, dtype=dtype, writable=True))
    array = GPUArray(shape, dtype, strides=strided.strides)
    with configure(**given_settings):
        array.set(source)
        assert array.get(out) is out
    assert_same(out, source)


@examples(60)
@given(large, settings(), st.data())
def test_what_lies_between_the_elements_stays(x, given_settings, data):
    """Views on the device, and parts of host memory."""
    steps = tuple(
        data.draw(st.sampled_from([slice(None), slice(1, None, 2), slice(None, 0, -3)]))
        for _ in x.shape
    )
    whole = np.array(x)
    device = to_gpu(whole)
    new = data.draw(arrays(shape=whole[steps].shape, dtype=x.dtype))
    expected = whole.copy()
    expected[steps] = new
    with configure(**given_settings):
        device[steps].set(new)
        assert_same(device.get(), expected)
        device[steps].get(whole[steps])
    assert_same(whole, expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    """Items of all widths, also those that are wider than a chunk."""
    x = values((70, 30), dtype)
    with small_pieces(chunk_bytes=512):
        for source in (x, x.T, x[::-1, ::2], np.asfortranarray(x), np.broadcast_to(x[:1], x.shape)):
            array = to_gpu(source)
            assert_same(array.get(), source)
            assert_same(array.get(np.empty(source.shape, dtype, order="F")), source)
    wide = np.arange(9 * 1500, dtype=np.uint8).view("V1500")
    with small_pieces(chunk_bytes=512):
        assert_same(to_gpu(wide[::-2]).get(), wide[::-2])


@pytest.mark.parametrize("threshold", [1, 4095, 4096, 4097, 12288])
@pytest.mark.parametrize("size", [4095, 4096, 4097, 8192, 8193, 12287, 12288, 12289])
def test_sizes_around_chunks_and_thresholds(size, threshold):
    """Nothing behind the end is touched, contiguous or not."""
    x = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    spread = np.zeros(2 * size, np.uint8)[::2]
    spread[:] = x
    with small_pieces(threshold=threshold):
        for source in (x, spread):
            room = gpuarray.zeros(size + 2, np.uint8)
            room[1:-1].set(source)
            assert room.get().tolist() == [0, *x.tolist(), 0]
            out = np.full(2 * size + 4, 7, np.uint8)
            room[1:-1].get(out[2:-2:2])
            assert (out[2:-2:2] == x).all() and (out[1::2] == 7).all()
            assert (out[[0, 1, -2, -1]] == 7).all()
            room[1:-1].get(out[2 : size + 2])
            assert (out[2 : size + 2] == x).all() and (out[:2] == 7).all()


def test_transposed_matrices():
    x = np.arange(300 * 500, dtype=np.float32).reshape(300, 500)
    with small_pieces(chunk_bytes=1 << 16):
        array = GPUArray((300, 500), np.float32)
        array.set(np.asfortranarray(x))
        assert (array.get() == x).all()
        assert (array.get(np.empty((300, 500), np.float32, order="F")) == x).all()


def pagelocked(shape, dtype, order="C"):
    return drv.pagelocked_empty(shape, dtype, order)


def registered(shape, dtype, order="C"):
    return drv.register_host_memory(drv.aligned_empty(shape, dtype, order))


@pytest.mark.parametrize("take", [pagelocked, registered])
@pytest.mark.parametrize("order", ["C", "F"])
def test_pinned_memory_there_and_back(take, order):
    x = np.arange(200 * 3000, dtype=np.int32).reshape(200, 3000)
    source, out = take(x.shape, x.dtype, order), take(x.shape, x.dtype, order)
    with small_pieces():
        for index in (..., np.s_[::2], np.s_[:, ::-1], np.s_[50:, 3:2900], np.s_[::-1, ::3]):
            source[...], out[...] = x, -1
            array = to_gpu(source[index])
            assert (array.get() == x[index]).all()
            array.get(out[index])
            expected = np.full_like(x, -1)
            expected[index] = x[index]
            assert (out == expected).all()


@pytest.fixture
def calls(failing):
    """Does the work call this function of the runtime? Its first call is made to fail."""

    def does_call(name, work, *args):
        failing.fail_call(1, name.encode())
        with contextlib.suppress(errors.Error):
            work(*args)
        return failing.fail_call(0, None) is not None

    return does_call


def test_pageable_memory_goes_by_way_of_chunks(calls):
    x = np.zeros((100, 4096), np.int8)
    with small_pieces():
        array = to_gpu(x)
        for host in (x, np.asfortranarray(x), np.zeros((100, 8000), np.int8)[:, :4096]):
            assert calls("cudaEventRecord", array.set, host)
            assert calls("cudaEventRecord", array.get, host)


@pytest.mark.parametrize("take", [pagelocked, registered])
def test_pinned_memory_goes_directly(calls, take):
    array, host = gpuarray.zeros((100, 4096), np.int8), take((100, 8192), np.int8)
    rows, whole = host[:, 1:4097], host[:50].reshape(100, 4096)
    with small_pieces():
        for work in (array.set, array.get):
            assert not calls("cudaEventRecord", work, rows)
            assert calls("cudaMemcpy2DAsync", work, rows)
            assert not calls("cudaEventRecord", work, whole)
            assert calls("cudaMemcpyAsync", work, whole)


def test_pinned_memory_with_short_rows_is_gathered(calls):
    array, host = gpuarray.zeros((100, 100), np.int8), pagelocked((100, 200), np.int8)
    with small_pieces():
        for work in (array.set, array.get):
            assert not calls("cudaMemcpy2DAsync", work, host[:, ::2])
            assert calls("cudaEventRecord", work, host[:, ::2])


def test_short_transfers_are_one_call(calls):
    for threshold in (0, 8000):  # downloads are shared from 6000
        with small_pieces(threshold=threshold):
            long = gpuarray.zeros(20000, np.int8)
            for _ in range(3):  # then there is page-locked memory
                long.get()
            x, array = np.zeros(5000, np.int8), gpuarray.zeros(5000, np.int8)
            for work in (array.set, array.get):
                assert not calls("cudaEventRecord", work, x)
                assert calls("cudaMemcpyAsync", work, x)


def test_short_strided_transfers_are_gathered_by_one_thread(calls):
    rows = np.zeros((50, 200), np.int8)[:, ::2]
    array = gpuarray.zeros(rows.shape, np.int8)
    for threshold, is_staged in ((0, False), (5001, True)):
        with small_pieces(threshold=threshold):
            array.set(rows)  # page-locked memory is allocated when a few transfers have gone
            array.set(rows)
            for work in (array.set, array.get):
                assert calls("cudaEventRecord", work, rows) == is_staged


def test_no_whole_copy_of_strided_memory():
    """NumPy counts what it allocates; the chunk of the transfer itself is small."""
    x = np.zeros((1000, 2000), np.float64)[:, ::2]
    out = np.zeros((1000, 1000), np.float64, order="F")
    for threshold in (0, 1):
        with configure(threads=2, chunk_bytes=1 << 16, threshold=threshold):
            array = GPUArray((1000, 1000), np.float64)
            array.set(x)
            tracemalloc.start()
            try:
                array.set(x)
                array.get(out)
                peak = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
        assert peak < 1 << 20


def test_streams():
    """A gathered copy is complete when the call returns; another one is in the stream's order."""
    stream = drv.Stream()
    x = np.arange(6000.0).reshape(60, 100)
    with small_pieces():
        array = gpuarray.to_gpu_async(np.asfortranarray(x), stream=stream)
        array.set_async(x, stream)
        out = np.empty((60, 100), order="F")
        array.get_async(stream, out)
        stream.synchronize()
        assert (out == x).all()
        part = array[::-1, ::2].get_async(stream)
        stream.synchronize()
        assert (part == x[::-1, ::2]).all()


def test_threads_with_rings_of_their_own_settings():
    """Transfers go on while another thread changes how the next ones are done."""
    stop, wrong = threading.Event(), []

    def work(number):
        x = np.full((97, 101), number, np.int64)
        while not stop.is_set():
            array = to_gpu(x[:, ::-1])
            if not (array.get() == number).all() or not (array[::2].get(x[::2]) == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    with small_pieces():
        for thread in threads:
            thread.start()
        for turn in range(60):
            configure(threads=1 + turn % 4, chunk_bytes=512 << turn % 3, threshold=turn % 2)
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong


def test_transfers_that_fail_in_the_middle(failing):
    """A clear error, nothing left behind, and the next transfer works, whichever call it is."""
    x = np.arange(3000.0).reshape(30, 100)
    host = np.empty((100, 30)).T
    with small_pieces(chunk_bytes=1024):
        array = to_gpu(x)
        before, raised = failing.live(), 0
        for work, end in ((array.set, x[::-1]), (array.get, host), (array.set, x)):
            number, failed = 0, True
            while failed:
                number += 1
                failing.fail_call(number, None)
                try:
                    work(end)
                except errors.Error as error:
                    assert "cuda" in str(error)
                    raised += 1
                finally:
                    failed = failing.fail_call(0, None)
                assert not PyGPU.cudaGetLastError()
            assert failing.live() == before
            assert (array.get() == end).all()  # by the last one, in which nothing failed
    assert raised > 60


VIEWS = """
import numpy as np
import PyGPU
from PyGPU import errors, gpuarray

x = np.arange(6 << 20, dtype=np.int64).reshape(-1, 4, 8)  # 48 MB
array = gpuarray.to_gpu(x)
for index in (np.s_[:, :, 1:], np.s_[::-1, 1:, ::2], np.s_[:, 3:, 1:]):
    view = array[index]
    assert (view.get() == x[index]).all()
    out = np.empty(view.shape, np.int64, order="F")
    assert (view.get(out) == x[index]).all()
    view.set(-out)
    x[index] *= -1
    assert (array.get() == x).all()
try:
    view.get_async(PyGPU.cudaStream_t())
except errors.MemoryError:
    print("no room")
"""


@pytest.mark.parametrize("threshold", rare_but([1 << 20], [0, 1 << 20]))
def test_views_without_room_for_a_copy_on_the_device(python, threshold):
    """They go by halves, and halves of those; not in a stream's order, for that would not wait."""
    if PyGPU.target != "host":
        pytest.skip("only the host machine's memory has a size that tests choose")
    assert python(VIEWS, PYGPU_HOST_MEMORY="52M", PYGPU_STAGING=threshold).stdout == "no room\n"


FULL = """
import numpy as np
import PyGPU
from PyGPU import driver, errors, gpuarray

array = gpuarray.to_gpu(np.arange(1 << 20, dtype=np.int32))
fill = []
nbytes = 16 << 20
while nbytes >= 256:
    try:
        fill.append(driver.mem_alloc(nbytes))
    except errors.MemoryError:
        nbytes //= 2
fill.pop()  # 256 bytes would be enough for a piece of 64 elements, of which there are thousands
for transfer in (lambda: array[::2].get(), lambda: array[::2].set(np.zeros(1 << 19, np.int32))):
    try:
        transfer()
    except errors.MemoryError as error:
        print(error.args[0].split(" were")[0].split()[-2])
"""


def test_views_with_no_room_at_all(python):
    if PyGPU.target != "host":
        pytest.skip("only the host machine's memory has a size that tests choose")
    requested = python(FULL, PYGPU_HOST_MEMORY="25000000").stdout.split()
    assert [int(number) < 1 << 16 for number in requested] == [True, True]
