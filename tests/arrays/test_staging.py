"""staged: host copies of arrays for libraries that cannot access device memory."""

import socket

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import driver, gpuarray

X = np.arange(24.0).reshape(4, 6)
LAYOUTS = {
    "whole": lambda a: a,
    "column": lambda a: a[:, 2],
    "steps": lambda a: a[::2, ::-2],
    "turned": lambda a: a.T,
    "one element": lambda a: a[1, 1, ...],
    "nothing": lambda a: a[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("dtype", ["f8", "i2", "F", "?", [("a", "i4"), ("b", "f4")], "M8[s]"])
def test_copies_go_there_and_back(layout, dtype):
    x = (
        (X % 7).astype(np.int64).astype(dtype)
        if isinstance(dtype, str)
        else np.zeros((4, 6), dtype)
    )
    a = gpuarray.to_gpu(x)
    with PyGPU.staged(layout(a)) as (host,):
        part = layout(x)
        assert type(host) is np.ndarray and host.flags.c_contiguous
        assert host.shape == np.shape(part) and host.dtype == x.dtype
        np.testing.assert_array_equal(host, part)
        host[...] = np.ones((), x.dtype)
    expected = x.copy()
    layout(expected)[...] = np.ones((), x.dtype)
    np.testing.assert_array_equal(a.get(), expected)


def test_columns_of_one_matrix():
    """Their ranges of addresses overlap, their elements do not."""
    a = gpuarray.to_gpu(X)
    with PyGPU.staged(a[:, 0], a[:, -1], a[:, 2:4]) as (first, last, middle):
        first[:], last[:], middle[:] = -1, -2, -3
    expected = X.copy()
    expected[:, 0], expected[:, -1], expected[:, 2:4] = -1, -2, -3
    np.testing.assert_array_equal(a.get(), expected)


def test_work_of_before_is_seen_and_work_of_after_sees():
    a, stream = gpuarray.zeros(1000, np.float32), driver.Stream()
    a.fill(3, stream=stream)
    with PyGPU.staged(a) as (host,):
        assert (host == 3).all()
        host += 1
    assert (a * 2).get().tolist() == [8] * 1000


def test_an_exception_leaves_the_arrays():
    a = gpuarray.to_gpu(X)
    with pytest.raises(ZeroDivisionError), PyGPU.staged(a) as (host,):
        host[:] = 0
        host[0, 0] = 1 // 0
    np.testing.assert_array_equal(a.get(), X)


@pytest.mark.parametrize(
    "arrays, error, text",
    [
        (lambda a: (a, X), TypeError, r"arrays\[1\]: expected a GPUArray, got ndarray"),
        (lambda a: (None,), TypeError, r"arrays\[0\]: expected a GPUArray"),
        (lambda a: (a[0], a), ValueError, r"staged: arrays\[0\] and arrays\[1\] share elements"),
        (lambda a: (a[:, 0], a[1:, 3], a[2]), ValueError, r"arrays\[0\] and arrays\[2\] share"),
    ],
)
def test_bad_input(arrays, error, text):
    a = gpuarray.to_gpu(X)
    with pytest.raises(error, match=text), PyGPU.staged(*arrays(a)):
        raise AssertionError("the block was entered")


def test_sockets():
    a, b = gpuarray.to_gpu(X), gpuarray.zeros((4, 6), np.float64)
    sender, receiver = socket.socketpair()
    with sender, receiver, PyGPU.staged(a.T, b.T) as (sent, received):
        sender.sendall(sent)
        assert receiver.recv_into(received, received.nbytes, socket.MSG_WAITALL) == X.nbytes
    np.testing.assert_array_equal(b.get(), X)


def test_hdf5(tmp_path):
    h5py = needs.module("h5py")
    a, b = gpuarray.to_gpu(X), gpuarray.zeros((4, 2), np.float64)
    with h5py.File(tmp_path / "data.h5", "w") as file:
        written = file.create_dataset("x", data=a.get())
        with PyGPU.staged(b[:, 0]) as (column,):
            written.read_direct(column, np.s_[:, 3])
    np.testing.assert_array_equal(b.get()[:, 0], X[:, 3])
