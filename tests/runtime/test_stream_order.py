"""Work that several threads put on one stream runs one after the other."""

import time
from functools import cache

import numpy as np
import pytest
from threads_tools import Call, at_once

import PyGPU
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.errors import check

# The pause between reading and writing loses increments of launches that run at the same time.
TEXT = """
__global__ void add_slowly(volatile int *count, int pause)
{
  int value = *count;
  for (volatile int i = 0; i < pause; ++i) { }
  *count = value + 1;
}
"""
PAUSE = np.int32(1_000_000 if PyGPU.target == "host" else 2_000)


@cache
def add_slowly():
    return SourceModule(TEXT).get_function("add_slowly")


def add(count, stream, launches=10, pause=PAUSE):
    kernel = add_slowly()
    for _ in range(launches):
        kernel(count, pause, block=(1, 1, 1), stream=stream)


STREAMS = {
    "null": lambda: (None, None),
    "legacy": lambda: (None, PyGPU.cudaStreamLegacy),
    "blocking": lambda: (PyGPU.cudaStream_t(),) * 2,
    "non-blocking": lambda: (PyGPU.cudaStream_t(PyGPU.cudaStreamNonBlocking),) * 2,
    "blocking and null": lambda: (PyGPU.cudaStream_t(), None),
    "per thread and null": lambda: (PyGPU.cudaStreamPerThread, None),
}


@pytest.mark.parametrize("name", STREAMS)
def test_no_increment_of_two_threads_is_lost(name):
    count = gpuarray.zeros(1, np.int32)
    check(PyGPU.cudaDeviceSynchronize())
    add_slowly()
    at_once([lambda stream=stream: add(count, stream) for stream in STREAMS[name]()])
    check(PyGPU.cudaDeviceSynchronize())
    assert count.get() == 20


def test_sixteen_threads_on_one_stream_for_a_second():
    count, stream = gpuarray.zeros(1, np.int32), PyGPU.cudaStream_t()
    check(PyGPU.cudaDeviceSynchronize())
    add_slowly()
    end = time.monotonic() + 1

    def work():
        launches = 0
        while time.monotonic() < end:
            add(count, stream, 1, np.int32(50))
            launches += 1
        return launches

    launches = sum(at_once([work] * 16))
    check(PyGPU.cudaStreamSynchronize(stream))
    assert launches >= 16
    assert count.get() == launches


def test_a_result_is_no_mixture():
    """One copy to the host, beside an operation, has the elements of before or of after it."""
    array = gpuarray.zeros(1 << 20 if PyGPU.target == "host" else 1 << 14, np.int32)

    def operate():
        nonlocal array
        for _ in range(50):
            array += 1

    thread = Call(operate)
    seen = [0]
    while not thread.is_over():
        found = array.get()
        assert found[0] == found[-1] == found.min() == found.max()
        assert found[0] >= seen[-1]
        seen.append(found[0])
    thread.result()
    assert (array.get() == 50).all()


def test_a_copy_in_and_a_fill_are_ordered_too():
    """Each result is one of the values that were written, in all elements."""
    array, stream = gpuarray.zeros(1 << 18, np.int32), PyGPU.cudaStream_t()
    host = np.full(array.shape, 7, np.int32)

    def copy():
        for _ in range(30):
            check(PyGPU.cudaMemcpyAsync(array.ptr, host, host.nbytes, 1, stream))

    def fill():
        for _ in range(30):
            array.fill(9, stream)

    def read():
        found = np.empty_like(host)
        for _ in range(30):
            check(PyGPU.cudaMemcpyAsync(found, array.ptr, found.nbytes, 2, stream))
            check(PyGPU.cudaStreamSynchronize(stream))
            assert found.min() == found.max()

    check(PyGPU.cudaDeviceSynchronize())
    at_once([copy, fill, read])
