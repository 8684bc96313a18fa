"""What the tests of reductions share: launches of several small blocks, and how to compare."""

import numpy as np
import pytest

from PyGPU._runtime import core

SMALL = {
    "threads": 64,
    "multiprocessors": 2,
    "resident_threads": 128,
    "registers": 65536,
    "waves": 2,
}


@pytest.fixture(scope="module", params=["own blocks", "small blocks"], autouse=True)
def blocks(request):
    """Run a module's tests as the device likes it, and with few blocks of two small warps."""
    if request.param == "own blocks":
        yield
        return
    core._pretend_figures(SMALL)
    yield
    core._pretend_figures(None)


def assert_close(got, expected, ulps=8):
    """Equal dtype and shape; floating-point numbers equal up to rounding."""
    expected = np.asarray(expected)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind in "fc":
        scale = float(np.finfo(expected.dtype).eps) * ulps
        np.testing.assert_allclose(got, expected, rtol=scale, atol=scale, equal_nan=True)
    else:
        np.testing.assert_array_equal(got, expected)


def numbers(shape, dtype, seed=0):
    """Small numbers of both signs, where the dtype has them; halves for floating-point ones."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    made = random.integers(0 if dtype.kind == "u" else -9, 10, shape)
    if dtype.kind == "c":
        made = made + 1j * random.integers(-9, 10, shape)
    return (made / 2 if dtype.kind in "fc" else made).astype(dtype)
