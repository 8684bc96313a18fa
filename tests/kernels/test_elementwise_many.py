"""ElementwiseKernel on so many indices that a thread takes several of them at once."""

import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from PyGPU import gpuarray
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.gpuarray import to_gpu

COUNTS = [1, 127, 511, 512, 513, 5000, 300_001]


def batched(*texts, **settings):
    """A kernel that takes even a few indices as it would take many."""
    kernel = ElementwiseKernel(*texts, **settings)
    kernel._many = 0
    return kernel


def forms(kernel):
    return {form for _, form in kernel._variants}


@pytest.mark.parametrize("n", COUNTS)
def test_all_indices_are_done_once(n):
    kernel = batched("int *x, float s, short *y, double *z", "x[i] += 1; z[i] = s * y[i] + i")
    x = np.arange(n, dtype=np.int32)
    y = (x % 100).astype(np.int16)
    x_gpu, z_gpu = to_gpu(np.append(x, 7).astype(np.int32)), gpuarray.zeros(n + 1, np.float64)
    kernel(x_gpu[:n], 0.5, to_gpu(y), z_gpu[:n])
    assert forms(kernel) == {"plain", "batched"}
    np.testing.assert_array_equal(x_gpu.get(), np.append(x + 1, 7))
    np.testing.assert_array_equal(z_gpu.get(), np.append(0.5 * y + x, 0))


def test_arrays_that_overlap_are_done_one_by_one():
    kernel = batched("float *z, float *x", "z[i] = 1; x[i] += z[i]")
    x = gpuarray.zeros(3000, np.float32)
    kernel(x, x)
    assert forms(kernel) == {"plain"}
    assert (x.get() == 2).all()
    kernel(x[10:20], x[15:25])
    assert forms(kernel) == {"plain"}
    kernel(x[:20], x[20:40])
    assert forms(kernel) == {"plain", "batched"}


@pytest.mark.parametrize(
    "texts",
    [
        ("if (i == 2) continue; x[i] = 1",),
        ("if (x[i]) return; x[i] = total_threads / total_threads",),
        ("x[i] = threadIdx.x / blockDim.x + 1",),
        ("x[i] = x[0] < 0 ? 0 : 1",),
        ("*(x + i) = 1",),
        ("x[i] = *(long long *)&n > 0",),
        ("x[i] = one", "kernel", False, None, "#define one 1"),
        ("x[i] = one", "kernel", False, None, "", "int one = 1"),
        ("x[i] += 1", "kernel", False, None, "", "", "x[0] = 1"),
    ],
)
def test_texts_that_depend_on_the_loop_are_done_one_by_one(texts):
    kernel = batched("int *x", *texts)
    x = gpuarray.zeros(2, np.int32)
    kernel(x)
    assert forms(kernel) == {"plain"}
    assert x.get().tolist() == [1, 1]


def test_ranges_are_done_one_by_one():
    kernel = batched("int *x", "x[i] = 1")
    x = gpuarray.zeros(3000, np.int32)
    kernel(x, slice=slice(None, None, 2))
    assert forms(kernel) == {"ranged"}
    assert x.get().tolist() == [1, 0] * 1500


def test_many_on_their_own():
    """Without a word about it, on a device."""
    kernel = ElementwiseKernel("float *z, float *x, float *y", "z[i] = x[i] + 2 * y[i]")
    x, y = np.random.default_rng(2).random((2, (1 << 20) + 77), np.float32)
    z = gpuarray.empty(x.shape, np.float32)
    kernel(z, to_gpu(x), to_gpu(y))
    np.testing.assert_allclose(z.get(), x + 2 * y, rtol=1e-6)


def test_another_size_of_elements_is_done_one_by_one():
    kernel = batched("short *x", "x[i] = 1")
    x = gpuarray.zeros(4, np.int32)
    with pytest.warns(UserWarning, match="2 bytes"):
        kernel(x)
    assert forms(kernel) == {"plain"}
    assert x.get().tolist() == [0x10001, 0x10001, 0, 0]


def test_first_calls_of_many_threads_at_once():
    """All compile, and each launches while others are done compiling."""
    kernel = batched("float a, float *x, float *z", "z[i] = a * x[i]")
    x = to_gpu(np.ones(3000, np.float32))
    barrier, wrong = threading.Barrier(6), []

    class Slow:
        """A number that lets other threads run while a launch reads it."""

        def __init__(self, value):
            self.value = value

        def __float__(self):
            time.sleep(0.01)
            gc.collect()
            return self.value

    def work(number):
        barrier.wait()
        for k in range(5):
            z = gpuarray.empty_like(x)
            kernel(Slow(float(number + k)), x, z)
            if (z.get() != number + k).any():
                wrong.append(number)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert not wrong
