"""Sizes of arrays in dask, which finds ``pygpu_dask`` by an entry point and by its name alone."""

import subprocess
import sys
from importlib import metadata

import needs
import numpy as np
import pytest

import PyGPU
import pygpu_dask
from PyGPU import gpuarray


class Mine(gpuarray.GPUArray):
    """A program's class."""


@pytest.fixture(scope="module")
def sizeof():
    needs.module("dask")
    utils = needs.importlib.import_module("dask.utils")
    function = utils.Dispatch("sizeof")
    function.register(object, lambda any: -1)
    pygpu_dask.register(function)
    return function


@pytest.mark.parametrize(
    "make, nbytes",
    [
        (lambda: gpuarray.zeros(1000, np.float32), 4000),
        (lambda: gpuarray.zeros((0, 3), np.float32), 0),
        (lambda: gpuarray.zeros((), np.int16), 2),
        (lambda: gpuarray.zeros((4, 6), np.float64)[::2, 1:], 80),
        (lambda: Mine((2, 3), np.int8), 6),
        (lambda: PyGPU.DeviceArray_float64((2, 3)), 48),
    ],
)
def test_sizes(sizeof, make, nbytes):
    assert sizeof(make()) == nbytes


def test_a_broadcast_element_counts_once(sizeof):
    one = gpuarray.zeros(3, np.float32)
    repeated = gpuarray.GPUArray((1000, 3), np.float32, gpudata=one.gpudata, strides=(0, 4))
    assert sizeof(repeated) == 12


def test_other_objects_keep_their_sizes(sizeof):
    assert sizeof("text") == -1


def test_the_entry_point():
    points = metadata.distribution("PyGPU").entry_points
    (found,) = [point for point in points if point.group == "dask.sizeof"]
    assert found.load() is pygpu_dask.register


@pytest.mark.parametrize("order", ["PyGPU, dask.sizeof", "dask.sizeof, PyGPU"])
def test_dask_itself(python, order):
    needs.module("dask")
    python(f"""
import {order}
assert dask.sizeof.sizeof(PyGPU.zeros(1000, "f4")) == 4000
""")


def test_neither_imports_the_other():
    """PyGPU's import costs nothing in dask, and dask's nothing in PyGPU."""
    for module, other in (("pygpu_dask", "PyGPU"), ("PyGPU", "dask"), ("PyGPU", "pygpu_dask")):
        source = f"import sys, {module}; assert {other!r} not in sys.modules"
        subprocess.run([sys.executable, "-W", "ignore", "-c", source], check=True)
