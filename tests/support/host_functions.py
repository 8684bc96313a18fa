"""Helpers of tests of functions that streams call."""

import pytest

import PyGPU

captures = pytest.mark.skipif(
    PyGPU.use_hip and PyGPU.cudaRuntimeGetVersion()[0] < 50300000,
    reason="HIP before 5.3 cannot capture functions",
)
