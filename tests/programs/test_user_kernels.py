"""A user's own kernels from one source on every target: barriers, shared memory, atomics."""

import ctypes
import os
import subprocess
import threading
import time
from pathlib import Path

import needs
import numpy as np
import pytest

import PyGPU

SOURCE = Path(__file__).with_name("kernels.cu")
COMMANDS = {
    "host": ["g++", "-O2", "-fPIC", "-x", "c++"],
    "cuda": ["nvcc", "-Xcompiler", "-fPIC"],
    "hip": ["hipcc", "-fPIC"],
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    command = COMMANDS[PyGPU.target]
    needs.program(command[0])
    built = tmp_path_factory.mktemp("kernels") / "kernels.so"
    command = [*command, "-std=c++17", "-shared", "-I", PyGPU.get_include(), str(SOURCE)]
    if PyGPU.target == "host":
        folder = PyGPU.get_library_dir()
        command += ["-L", folder, "-lPyGPU_host", f"-Wl,-rpath,{folder}"]
    environment = {**os.environ, "HIP_PLATFORM": "amd"}  # beside an nvcc hipcc would take that one
    subprocess.run([*command, "-o", str(built)], check=True, env=environment)
    return ctypes.CDLL(str(built))


def pointer(array):
    return ctypes.c_void_p(array.ptr)


@pytest.mark.parametrize("n", [1, 31, 200, 256])
def test_a_barrier_after_threads_have_returned(library, n):
    x = np.arange(50 * n, dtype=np.int32).reshape(50, n)
    a = PyGPU.to_gpu(x)
    assert library.reverse(pointer(a), n, 50) == 0
    np.testing.assert_array_equal(a.get(), x[:, ::-1])


@pytest.mark.parametrize("threads", [1, 2, 64, 1024])
def test_barriers_in_a_loop_and_dynamic_shared_memory(library, threads):
    x = np.random.default_rng(threads).integers(0, 100, (37, threads)).astype(np.float64)
    a, sums = PyGPU.to_gpu(x), PyGPU.zeros(37)
    assert library.block_sums(pointer(a), pointer(sums), 37, threads) == 0
    np.testing.assert_array_equal(sums.get(), x.sum(axis=1))


def test_atomics(library):
    values = np.random.default_rng(3).integers(0, 10, 20_000).astype(np.int32)
    bins, total = PyGPU.zeros(10, np.uint32), PyGPU.zeros(1, np.float32)
    a = PyGPU.to_gpu(values)
    assert library.histogram(pointer(a), values.size, pointer(bins), pointer(total)) == 0
    np.testing.assert_array_equal(bins.get(), np.bincount(values, minlength=10))
    assert total.get()[0] == values.size


def test_three_dimensions_of_blocks_and_threads(library):
    out = PyGPU.zeros(60 * 24, np.int32)
    assert library.indices(pointer(out)) == 0
    np.testing.assert_array_equal(out.get(), np.arange(60 * 24))


def test_a_template(library):
    a = PyGPU.to_gpu(np.arange(1000, dtype=np.float32))
    assert library.scale(pointer(a), 1000) == 0
    np.testing.assert_array_equal(a.get(), 3 * np.arange(1000))


def test_large_local_arrays_survive_a_barrier(library):
    out = PyGPU.zeros(100, np.int32)
    assert library.deep(pointer(out), 100) == 0
    np.testing.assert_array_equal(out.get(), np.full(100, 25))


@pytest.mark.parametrize(
    ("grid", "block"), [(0, 32), (1, 0), (1, 1025), (-1, 32)], ids=lambda value: str(value)
)
def test_impossible_launches_give_the_code_of_that_fact(library, grid, block):
    # CUDA 12 calls it an invalid configuration, CUDA 13 an invalid value (seen on an H200).
    codes = (PyGPU.cudaErrorInvalidConfiguration, PyGPU.cudaErrorInvalidValue)
    assert library.launch(grid, block, 0) in codes
    assert PyGPU.cudaGetLastError() == 0


def test_too_much_shared_memory(library):
    assert library.launch(1, 32, 1 << 20) == PyGPU.cudaErrorInvalidValue


def test_launches_from_many_threads_one_after_another(library):
    """Each thread that runs a barrier has stacks of its own, which must go with it."""
    x = np.arange(1024.0)
    a = PyGPU.to_gpu(x)
    found = []

    def work():
        sums = PyGPU.zeros(1)
        assert library.block_sums(pointer(a), pointer(sums), 1, 1024) == 0
        found.append(sums.get()[0])

    def mappings():
        with open("/proc/self/maps") as maps:
            return sum(1 for _ in maps)

    before = mappings()
    for _ in range(40):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == [x.sum()] * 40
    # Python's join returns a little before the thread itself has gone, and its stacks with it.
    for _ in range(200):
        if mappings() < before + 200:
            break
        time.sleep(0.05)
    assert mappings() < before + 200


def test_threads_share_a_device_array():
    """Statuses of concurrent steps: one of them, whole."""
    array = PyGPU.DeviceArray_float64((1000,))
    seen = set()

    def work():
        for _ in range(300):
            seen.add(int(array.to_host()))
            seen.add(int(array.last_status()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen <= {0, PyGPU.cudaErrorInvalidDevicePointer}


def test_a_freed_array_is_refused_at_the_low_level():
    array = PyGPU.zeros(1000)
    array.gpudata.free()
    with pytest.raises(PyGPU.errors.LogicError, match="freed"):
        PyGPU.cudaMemcpy(array, np.ones(1000), 8000)
