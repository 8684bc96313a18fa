"""The core's own functions refuse numbers of operations that do not exist."""

import numpy as np
import pytest

from PyGPU import gpuarray
from PyGPU._runtime import core


@pytest.mark.parametrize("number", [-1, 10**6, 2**31, 2**32, 2**63 - 1])
def test_unknown_operations(number):
    a = gpuarray.zeros(3, np.float32)
    with pytest.raises(ValueError, match=f"operation={number}"):
        core._apply(number, (a, a), None, None, None)
    with pytest.raises(ValueError, match=f"operation={number}"):
        core._run_fused(number, (a,), None, None)


@pytest.mark.parametrize("number", ["add", None, 1.5])
def test_operations_that_are_no_numbers(number):
    a = gpuarray.zeros(3, np.float32)
    with pytest.raises(TypeError):
        core._apply(number, (a, a), None, None, None)


def test_a_number_beyond_64_bits():
    with pytest.raises(OverflowError):
        core._apply(1 << 70, (gpuarray.zeros(3, np.float32),), None, None, None)
