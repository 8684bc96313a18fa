"""Transfers in a stream's order, page-locked memory, and large transfers."""

import numpy as np
import pytest
from campaign import rare_but
from hypothesis import given
from hypothesis import strategies as st
from strategies import arrays, assert_same, counted_strides, indices, part

import PyGPU
from PyGPU import errors, gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu

NON_BLOCKING = 1
STREAMS = {
    "none": lambda: None,
    "blocking": PyGPU.cudaStream_t,
    "non-blocking": lambda: PyGPU.cudaStream_t(NON_BLOCKING),
}


def finish(stream):
    assert not PyGPU.cudaStreamSynchronize(stream)


def is_page_locked(array):
    attributes, status = PyGPU.cudaPointerGetAttributes(array.__array_interface__["data"][0])
    assert not status
    return attributes["type"] == 1  # cudaMemoryTypeHost


def page_locked(x):
    """A copy of `x` in page-locked memory."""
    copy = to_gpu(x).get(pagelocked=True)
    assert x.size == 0 or is_page_locked(copy)
    return copy


@given(arrays(), st.sampled_from(sorted(STREAMS)), st.booleans(), st.data())
def test_there_and_back_in_a_stream(x, kind, lock, data):
    stream = STREAMS[kind]()
    source = page_locked(x) if lock else x
    index = data.draw(indices(x.shape))
    host = part(x.copy(order="K"), index)
    array = gpuarray.to_gpu_async(source, stream=stream)
    got = array[index].get_async(stream)
    out = data.draw(arrays(shape=host.shape, dtype=x.dtype, writable=True))
    assert array[index].get_async(stream, out) is out
    finish(stream)
    assert_same(got, host)
    assert_same(out, host)


@given(arrays(), st.sampled_from(sorted(STREAMS)), st.booleans(), st.data())
def test_set_in_a_stream(x, kind, lock, data):
    stream = STREAMS[kind]()
    whole, expected = to_gpu(x), x.copy(order="K")
    index = data.draw(indices(x.shape))
    source = data.draw(arrays(shape=part(expected, index).shape, dtype=x.dtype))
    source = page_locked(source) if lock else source
    whole[index].set_async(source, stream)
    finish(stream)
    part(expected, index)[...] = source
    assert_same(whole.get(), expected)


@pytest.mark.parametrize("kind", STREAMS)
def test_the_arguments_async_and_stream(kind):
    stream = STREAMS[kind]()
    x = np.arange(12.0).reshape(3, 4)
    array = gpuarray.zeros((3, 4))
    array.set(x, async_=True, stream=stream)
    finish(stream)
    assert_same(array.get(), x)
    got = array.get(async_=True, stream=stream)
    finish(stream)
    assert_same(got, x)
    array.set(to_gpu(x + 1), async_=True, stream=stream)
    finish(stream)
    assert_same(array.get(), x + 1)
    assert_same(to_gpu(x).get(stream=stream), x)
    copied = gpuarray.to_gpu_async(x, None, stream)
    finish(stream)
    assert_same(copied.get(), x)


@pytest.mark.parametrize("form", [lambda s: s.handle, lambda s: int(s)], ids=["handle", "int"])
def test_other_forms_of_a_stream(form):
    stream = PyGPU.cudaStream_t(NON_BLOCKING)
    x = np.arange(6)
    array = gpuarray.to_gpu_async(x, stream=form(stream))
    got = array.get_async(form(stream))
    finish(stream)
    assert_same(got, x)


def test_what_is_no_stream():
    array = gpuarray.zeros(3)
    for call in (array.get_async, lambda stream: array.set_async(np.zeros(3), stream)):
        with pytest.raises(TypeError, match="stream"):
            call("0")
        with pytest.raises(TypeError):
            call(1.5)
    stream = PyGPU.cudaStream_t()
    assert not PyGPU.cudaStreamDestroy(stream)
    with pytest.raises(ValueError, match="destroyed"):
        array.get_async(stream)


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("order", "CF")
def test_get_async_comes_after_the_work_of_its_stream(kind, order):
    """Also where `ary` has another order, so that its elements pass through other memory."""
    side = 8192 if PyGPU.cuda_enabled else 64  # long enough on a GPU to notice a lack of order
    new = page_locked(np.ones((side, side), np.uint8))
    array = gpuarray.zeros((side, side), np.uint8)
    assert not PyGPU.cudaDeviceSynchronize()
    stream = STREAMS[kind]()
    out = np.zeros((side, side), np.uint8, order)
    array.set_async(new, stream)
    array.get_async(stream, out)
    finish(stream)
    assert out.all()


@pytest.mark.parametrize("kind", STREAMS)
def test_set_async_from_an_array_comes_after_the_work_of_its_stream(kind):
    """Also where the elements are scattered so widely that they pass through other memory."""
    side = 8192 if PyGPU.cuda_enabled else 512
    new = page_locked(np.ones((side, side), np.uint8))
    source, array = (gpuarray.zeros((side, side), np.uint8) for _ in range(2))
    assert not PyGPU.cudaDeviceSynchronize()
    stream = STREAMS[kind]()
    source.set_async(new, stream)
    array.set_async(source.T, stream)
    finish(stream)
    assert array.get().all()


def test_a_source_may_go_once_the_call_returns():
    """Pageable memory, and the copies made on the way, are read before the call returns."""
    stream = PyGPU.cudaStream_t(NON_BLOCKING)
    x = np.arange(300_000).reshape(1000, 300)
    made = []
    for number in range(4):
        source = (x + number)[::-1, ::2]
        made.append(gpuarray.to_gpu_async(source, stream=stream))
        source.base[...] = -1
        del source
    finish(stream)
    for number, array in enumerate(made):
        assert_same(array.get(), (x + number)[::-1, ::2])


@given(arrays(), st.data())
def test_page_locked_results(x, data):
    index = data.draw(indices(x.shape))
    view, host = to_gpu(x)[index], part(x.copy(order="K"), index)
    assert_same(view.get(pagelocked=True), host)
    later = view.get_async()
    finish(None)
    assert_same(later, host)
    assert later.flags.writeable
    if host.size:
        assert is_page_locked(later)


def test_a_page_locked_result_keeps_its_order_and_outlives_the_array():
    x = np.asfortranarray(np.arange(12).reshape(3, 4))
    got = to_gpu(x).get(pagelocked=True)
    assert counted_strides(got) == counted_strides(x)
    column = got[:, 1]
    del got
    others = [to_gpu(x).get(pagelocked=True) for _ in range(4)]
    assert len(others) == 4
    assert_same(column, x[:, 1])


def test_a_negative_stride_comes_page_locked_too():
    view = to_gpu(np.arange(6))[::-1]
    got = view.get(pagelocked=True)
    assert got.tolist() == [5, 4, 3, 2, 1, 0]
    assert is_page_locked(got)


def test_a_stream_may_be_destroyed_before_the_arrays_used_on_it():
    x = np.arange(6.0)
    stream = PyGPU.cudaStream_t(NON_BLOCKING)
    array = gpuarray.to_gpu_async(x, stream=stream)
    finish(stream)
    assert not PyGPU.cudaStreamDestroy(stream)
    assert_same(array.get(), x)
    del array, stream
    assert not PyGPU.cudaDeviceSynchronize()
    array = GPUArray(6)
    stream = PyGPU.cudaStream_t(NON_BLOCKING)
    array.set_async(x, stream)
    finish(stream)
    assert not PyGPU.cudaStreamDestroy(stream)
    array.gpudata.free()
    with pytest.raises(errors.LogicError):
        array.get()
    assert not PyGPU.cudaGetLastError()


LARGE = """
import numpy as np
from PyGPU import gpuarray

sizes = [65535, 65536, 65537, 2**22 - 1, 2**22, 2**22 + 1, 2**23 + 3, 10**7 + 7]
random = np.random.default_rng(0)
data = random.integers(0, 256, max(sizes), np.uint8)
for size in sizes:
    x = data[:size]
    array = gpuarray.to_gpu(x)
    assert (array.get() == x).all(), size
    out = np.zeros(size + 2, np.uint8)
    array.get(out[1:-1])
    assert (out[1:-1] == x).all() and out[0] == out[-1] == 0, size
    array.set(x[::-1])
    assert (array.get() == x[::-1]).all(), size
    part = array[1:-1]
    part.set(x[2:])
    assert (array.get()[1:-1] == x[2:]).all() and array.get()[0] == x[-1], size

x = data[: 6_000_000].view(np.float32).reshape(1000, 500, 3).view(np.int32)
for source in (x, x.T, x[::-1, ::2], np.asfortranarray(x)):
    array = gpuarray.to_gpu(source)
    assert (array.get() == source).all()
    assert (array[::3, 1:].get() == source[::3, 1:]).all()
    assert (gpuarray.to_gpu(source).get(np.empty(source.shape, "i4", "F")) == source).all()
print("all equal")
"""


@pytest.mark.parametrize("threshold", rare_but([65536, 0], [65536, 1, 0]))
def test_large_transfers(python, threshold):
    """PYGPU_STAGING: the bytes from which a transfer is cut into pieces; 0: never."""
    assert "all equal" in python(LARGE, PYGPU_STAGING=threshold).stdout


THREADS = """
import threading
import numpy as np
from PyGPU import gpuarray

wrong = []

def work(number):
    x = np.full(300_001 + number, number, np.int64)
    for _ in range(5):
        if not (gpuarray.to_gpu(x).get() == number).all():
            wrong.append(number)

threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong
"""


def test_large_transfers_of_several_threads(python):
    python(THREADS, PYGPU_STAGING=65536)
