"""Arrays for tests of fused functions."""

import numpy as np
import pytest

from PyGPU.gpuarray import to_gpu

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 4 - 1
Y = np.linspace(1, 2, 4, dtype=np.float32)


@pytest.fixture
def a():
    return to_gpu(X)


@pytest.fixture
def b():
    return to_gpu(Y)
