"""get_linear_combination_kernel: factors in device memory come by texture references."""

import numpy as np
import pytest

from PyGPU import elementwise, errors, gpuarray

rng = np.random.default_rng(17)
N = 1000


def numbers(dtype):
    values = 10 * rng.standard_normal(N)
    if np.dtype(dtype).kind == "c":
        values = values + 10j * rng.standard_normal(N)
    return (abs(values) if np.dtype(dtype).kind == "u" else values).astype(dtype)


def run(kernel, texrefs, factors, *arguments):
    """As PyCUDA's programs do it."""
    for factor, texref in zip(factors, texrefs):
        factor.bind_to_texref_ext(texref, allow_double_hack=True, allow_complex_hack=True)
    z = arguments[-1]
    passed = [one.gpudata if isinstance(one, gpuarray.GPUArray) else one for one in arguments]
    kernel.prepared_call(z._grid, z._block, *passed, z.mem_size)
    return z.get()


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "u1"])
def test_two_factors_in_device_memory(dtype):
    kernel, texrefs = elementwise.get_linear_combination_kernel(
        ((True, np.dtype(dtype), np.dtype(dtype)),) * 2, np.dtype(dtype)
    )
    assert len(texrefs) == 2
    x, y = numbers(dtype), numbers(dtype)
    on_device = gpuarray.to_gpu(x), gpuarray.to_gpu(y), gpuarray.zeros(N, dtype)
    for a, b in ((5, 7), (2, 3)):  # bound anew before each launch
        factors = [gpuarray.to_gpu(np.array(value, dtype)) for value in (a, b)]
        z = run(kernel, texrefs, factors, *on_device)
        expected = np.array(a, dtype) * x + np.array(b, dtype) * y
        np.testing.assert_allclose(z, expected, rtol=2e-6, atol=2e-5)


def test_a_factor_here_and_one_there():
    kernel, texrefs = elementwise.get_linear_combination_kernel(
        ((False, np.float32, np.float32), (True, np.complex64, np.float64)), np.complex128
    )
    x, y = numbers("f4"), numbers("f8")
    factor = gpuarray.to_gpu(np.array(2 - 1j, np.complex64))
    z = gpuarray.zeros(N, np.complex128)
    found = run(kernel, texrefs, [factor], 3, gpuarray.to_gpu(x), gpuarray.to_gpu(y), z)
    np.testing.assert_allclose(found, 3 * x.astype("f8") + (2 - 1j) * y, rtol=1e-6)


def test_no_factor_in_device_memory():
    kernel, texrefs = elementwise.get_linear_combination_kernel(((False, "f8", "f8"),) * 2, "f8")
    assert texrefs == []
    x, y = numbers("f8"), numbers("f8")
    z = gpuarray.zeros(N, "f8")
    found = run(kernel, [], [], 0.5, gpuarray.to_gpu(x), -4, gpuarray.to_gpu(y), z)
    np.testing.assert_allclose(found, 0.5 * x - 4 * y, rtol=1e-14)


def test_a_factor_that_nothing_is_bound_to():
    kernel, _ = elementwise.get_linear_combination_kernel(((True, "i2", "i2"),), "i2")
    x, z = gpuarray.zeros(3, "i2"), gpuarray.zeros(3, "i2")
    with pytest.raises(errors.LogicError, match=r"P_of_a0.*is not bound"):
        run(kernel, [], [], x, z)


@pytest.mark.parametrize("dtype", ["i8", "u8", "f2", "?"])
def test_factors_that_no_texture_has(dtype):
    with pytest.raises(ValueError, match=f"factor of {np.dtype(dtype)} in device memory: textures"):
        elementwise.get_linear_combination_kernel(((True, dtype, "f4"),), "f4")
