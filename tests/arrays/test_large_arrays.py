"""Arrays of more than 2**32 elements."""

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import cumath, gpuarray
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel

SIZE = 2**32 + 11
NEEDED = 24 << 30

pytestmark = [
    pytest.mark.skipif(needs.ON_MACHINE, reason="takes minutes without a GPU"),
    pytest.mark.skipif(PyGPU.cudaMemGetInfo()[0] < NEEDED, reason="needs 24 GB of device memory"),
]


@pytest.fixture
def array():
    """Zeros, but for the last 20 elements: 1 ... 20."""
    a = gpuarray.zeros(SIZE, np.uint8)
    a[-20:] = gpuarray.to_gpu(np.arange(1, 21, dtype=np.uint8))
    return a


LAST = np.arange(1, 21, dtype=np.uint8)


def test_operators(array):
    b = array + 1
    assert b.size == SIZE
    np.testing.assert_array_equal(b[-20:].get(), LAST + 1)
    assert b[:3].get().tolist() == [1, 1, 1]
    b *= array
    np.testing.assert_array_equal(b[-20:].get(), LAST * (LAST + 1))
    np.testing.assert_array_equal(array.astype(np.int16)[-20:].get(), LAST)
    array.fill(7)
    assert array[-1:].get() == 7


def test_strided_operators(array):
    reversed_sum = array[::-1] + array
    np.testing.assert_array_equal(reversed_sum[:20].get(), LAST[::-1])
    np.testing.assert_array_equal(reversed_sum[-20:].get(), LAST)
    np.testing.assert_array_equal(array[::2].copy()[-10:].get(), LAST[1::2])
    assert array[1::3].copy().size == len(range(1, SIZE, 3))


def test_reductions(array):
    assert gpuarray.sum(array, dtype=np.int64).get() == LAST.sum()
    assert gpuarray.max(array).get() == 20
    assert gpuarray.dot(array, array, dtype=np.int64).get() == (LAST.astype(int) ** 2).sum()
    count = ReductionKernel(np.int64, "0", "a + b", "x[i] != 0", "unsigned char *x")
    assert count(array).get() == 20
    assert (array.any().get(), array.all().get()) == (True, False)


def test_scan(array):
    InclusiveScanKernel(np.uint8, "a + b")(array)
    np.testing.assert_array_equal(array[-20:].get(), LAST.cumsum(dtype=np.uint8))
    assert not array[: SIZE - 20].any().get()


def test_kernels_by_expression(array):
    ElementwiseKernel("unsigned char *x", "x[i] = i >> 31")(array)
    assert array[-1:].get() == 2
    assert array[2**31 - 1 : 2**31 + 1].get().tolist() == [0, 1]


def test_indexing(array):
    chosen = array[gpuarray.to_gpu(np.array([SIZE - 1, 0, 2**32]))]
    assert chosen.get().tolist() == [20, 0, LAST[9]]
    np.testing.assert_array_equal(array[array.astype(bool)].get(), LAST)
    assert gpuarray.take(array, gpuarray.to_gpu(np.array([SIZE - 2]))).get() == 19


def test_functions():
    halves = gpuarray.zeros(SIZE, np.float16)
    halves[-4:] = 1.0
    assert cumath.exp(halves)[-5:].get().tolist() == [1.0] + 4 * [float(np.exp(np.float16(1)))]
