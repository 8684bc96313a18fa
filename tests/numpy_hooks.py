"""The fixture that gives GPUArray NumPy's dispatch, where PyGPU.gpuarray does not do it already."""

import pytest

from PyGPU import _numpy_dispatch
from PyGPU.gpuarray import GPUArray


@pytest.fixture(scope="module")
def hooks():
    with pytest.MonkeyPatch.context() as patch:
        if GPUArray.__array_ufunc__ is None:
            patch.setattr(GPUArray, "__array_ufunc__", _numpy_dispatch.array_ufunc)
        if not hasattr(GPUArray, "__array_function__"):
            function = _numpy_dispatch.array_function
            patch.setattr(GPUArray, "__array_function__", function, raising=False)
        yield
