"""The package's results beside NumPy's, and the arguments that it refuses."""

import heat
import numpy as np
import pytest

from PyGPU import gpuarray


def expected(temperatures, steps, rate=0.2):
    t = temperatures.copy()
    for _ in range(steps):
        flow = t[1:-1, :-2] + t[1:-1, 2:] + t[:-2, 1:-1] + t[2:, 1:-1] - 4 * t[1:-1, 1:-1]
        t[1:-1, 1:-1] += rate * flow
    return t


@pytest.mark.parametrize("shape", [(3, 3), (40, 70), (1, 5), (0, 4)])
def test_diffusion(shape):
    temperatures = np.random.default_rng(1).random(shape)
    found = heat.diffused(gpuarray.to_gpu(temperatures), 10)
    np.testing.assert_allclose(found.get(), expected(temperatures, 10), rtol=1e-13)


def test_other_arrays_are_refused():
    right = gpuarray.zeros((4, 4), np.float64)
    for wrong in (
        right.astype(np.float32),
        right.ravel(),
        right[:, ::2],
        right.get(),
        16,
    ):
        with pytest.raises(TypeError, match=r"after: PyGPU\.View\[float64, ndim=2, order='C'"):
            heat.step(right, wrong, 0.2)
    with pytest.raises(ValueError, match="differ in shape"):
        heat.step(right, gpuarray.zeros((4, 5), np.float64), 0.2)
