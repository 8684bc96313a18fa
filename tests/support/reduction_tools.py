"""Helpers for tests of reductions: launches with several small blocks, test data, comparison."""

import numpy as np
import pytest
from campaign import rare_but

import PyGPU
from PyGPU._runtime import core

SMALL = {
    "threads": 64,
    "multiprocessors": 2,
    "resident_threads": 128,
    "registers": 65536,
    "waves": 2,
}


USUAL = ["small blocks"] if PyGPU.target == "host" else ["own blocks", "small blocks"]


@pytest.fixture(
    scope="module", params=rare_but(USUAL, ["own blocks", "small blocks"]), autouse=True
)
def blocks(request):
    """Run a module's tests with the device's own launch shapes, and with a few small blocks."""
    if request.param == "own blocks":
        yield None
        return
    core._override_device_properties(SMALL)
    yield SMALL
    core._override_device_properties(None)


def assert_close(got, expected, ulps=8):
    """Check dtype, shape and values; floating-point numbers may differ by rounding."""
    expected = np.asarray(expected)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind in "fc":
        scale = float(np.finfo(expected.dtype).eps) * ulps
        np.testing.assert_allclose(got, expected, rtol=scale, atol=scale, equal_nan=True)
    else:
        np.testing.assert_array_equal(got, expected)


def numbers(shape, dtype, seed=0):
    """Return small numbers, of both signs if the dtype has them, in steps of 0.5 for floats."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    made = random.integers(0 if dtype.kind == "u" else -9, 10, shape)
    if dtype.kind == "c":
        made = made + 1j * random.integers(-9, 10, shape)
    return (made / 2 if dtype.kind in "fc" else made).astype(dtype)
