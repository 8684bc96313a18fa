"""Streams of compiled functions: order with arrays' own work, and memory that lives long enough.

The kernel takes its time on a GPU, so that what does not wait for it is seen.
"""

import needs
import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray

SOURCE = """
#include <PyGPU/export.h>
#include <PyGPU/gpu.h>

__global__ void late(int *x, const int *from, long n, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) { }
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] = from[i] + 1;
}
cudaError_t plus_one(int *x, const int *from, long n, long long cycles, cudaStream_t stream) {
  late<<<16, 256, 0, stream>>>(x, from, n, cycles);
  return cudaGetLastError();
}
PYGPU_EXPORT(plus_one);
"""
SIZE = 1 << 16
CYCLES = 0 if needs.ON_MACHINE else 100_000_000  # about 50 ms
FLAGS = {"blocking": 0, "non-blocking": 1}


@pytest.fixture(scope="module")
def plus_one(tmp_path_factory):
    needs.compiler_of_files()
    place = tmp_path_factory.mktemp("streams")
    (place / "late.cu").write_text(SOURCE)
    function = PyGPU.load(place / "late.cu", cache_dir=place).plus_one
    x = gpuarray.zeros(SIZE, "i4")
    function(x, x, SIZE, 0)  # the first call loads the kernel
    x.get()
    return function


def numbers():
    return np.arange(SIZE, dtype="i4")


@pytest.fixture(params=FLAGS)
def stream(request):
    return drv.Stream(FLAGS[request.param])


def test_it_waits_for_the_arrays_and_they_for_it(plus_one, stream):
    """Copies and operators before and behind the call, on the null stream and on its own."""
    for _ in range(3):
        source, result = gpuarray.to_gpu(numbers()), gpuarray.zeros(SIZE, "i4")
        source *= 2
        plus_one(result, source, SIZE, CYCLES, stream=stream)
        plus_one(source, result, SIZE, CYCLES, stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(result.get(), 2 * numbers() + 1)
        np.testing.assert_array_equal(source.get(), 2 * numbers() + 2)


def test_memory_that_is_dropped_is_not_given_to_others_meanwhile(plus_one, stream):
    kept = gpuarray.to_gpu(numbers())
    for _ in range(4):
        dropped = gpuarray.to_gpu(numbers())
        plus_one(dropped, dropped, SIZE, CYCLES, stream=stream)
        del dropped
        others = [gpuarray.zeros(SIZE, "i4") for _ in range(4)]
        plus_one(kept, kept, SIZE, CYCLES, stream=stream)
        stream.synchronize()
        assert not any(one.get().any() for one in others)
    np.testing.assert_array_equal(kept.get(), numbers() + 4)


def test_two_streams_by_an_event(plus_one):
    one, other = drv.Stream(1), drv.Stream(1)
    x = gpuarray.to_gpu(numbers())
    x.get()
    for _ in range(3):
        plus_one(x, x, SIZE, CYCLES, stream=one)
        done = drv.Event().record(one)
        other.wait_for_event(done)
        plus_one(x, x, SIZE, 0, stream=other)
        one.wait_for_event(drv.Event().record(other))
    one.synchronize()
    np.testing.assert_array_equal(x.get(), numbers() + 6)


def test_on_the_null_stream(plus_one):
    x = gpuarray.to_gpu(numbers())
    plus_one(x, x, SIZE, CYCLES)
    x += 1
    plus_one(x, x, SIZE, CYCLES)
    np.testing.assert_array_equal(x.get(), numbers() + 3)
