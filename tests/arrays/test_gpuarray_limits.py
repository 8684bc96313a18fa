"""Shapes and strides that no memory can hold, and memory that is short."""

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import errors, gpuarray
from PyGPU.gpuarray import GPUArray


@pytest.mark.parametrize("shape", [-1, (2, -3), np.int64(-1), [-(2**63)], (0, -1), -(2**70)])
def test_negative_lengths(shape):
    for make in (GPUArray, gpuarray.zeros):
        with pytest.raises((ValueError, OverflowError)):
            make(shape, np.float32)


@pytest.mark.parametrize(
    "shape",
    [
        2**50,
        2**60,
        2**62,
        2**63 - 1,
        (2**31, 2**31),
        (2**32, 2**32),
        (2**21,) * 3,
        (2**40, 2**40),
        (2**62, 4, 0),
    ],
)
@pytest.mark.parametrize("dtype", [np.int8, "S1000"])
def test_lengths_beyond_any_memory(shape, dtype):
    for make in (GPUArray, gpuarray.zeros):
        with pytest.raises((ValueError, MemoryError)):
            make(shape, dtype)


def test_lengths_beyond_64_bits():
    with pytest.raises((ValueError, OverflowError)):
        GPUArray(2**70, np.int8)


@pytest.mark.parametrize(
    "shape", [1.5, (2.0, 3), np.float64(2), [2, None], None, "3", b"3", {"a": 1}, 2j, object()]
)
def test_what_is_no_shape(shape):
    for make in (GPUArray, gpuarray.zeros):
        with pytest.raises(TypeError):
            make(shape, np.float32)


def test_too_many_axes():
    with pytest.raises(ValueError, match="axes"):
        GPUArray((1,) * 33)
    with pytest.raises(ValueError, match="axes"):
        GPUArray((1,) * 10_000)


@pytest.mark.parametrize(
    "strides",
    [
        (2**63 - 1, 1),
        (1, 2**63 - 8),
        (2**62, 2**62),
        (2**62, -(2**62)),
        (-(2**63), 1),
        (2**63 - 1, -(2**63 - 1)),
    ],
)
@pytest.mark.parametrize("gpudata", [None, 4096])
def test_strides_that_reach_beyond_any_memory(strides, gpudata):
    with pytest.raises((ValueError, MemoryError)):
        GPUArray((2, 2), np.float64, gpudata=gpudata, strides=strides)


@pytest.mark.alone
def test_out_of_memory_says_how_much_was_asked_for():
    nbytes = PyGPU.cudaMemGetInfo()[1] + 2**20
    for make in (GPUArray, gpuarray.zeros):
        with pytest.raises(errors.MemoryError, match=f"(?:{needs.NO_MEMORY}).*{nbytes}"):
            make(nbytes, np.uint8)
        with pytest.raises(MemoryError):
            make(nbytes, np.uint8)
    assert not PyGPU.cudaGetLastError()
    assert gpuarray.zeros(3).get().tolist() == [0, 0, 0]
