"""Kernels of PyGPU inside functions that JAX compiles, maps and differentiates.

    python jax_callbacks.py

`pure_callback` gives the kernel host arrays, wherever JAX computes. `buffer_callback` gives it the
buffers of JAX themselves: the output is filled in its own memory, without a copy.
"""

import jax
import jax.numpy as jnp
import numpy as np

import PyGPU
import PyGPU.driver as drv
from PyGPU.elementwise import ElementwiseKernel

ARGUMENTS = "const float *x, float *y"
bump = ElementwiseKernel(ARGUMENTS, "y[i] = x[i] * exp(-x[i] * x[i])", "bump")
slope = ElementwiseKernel(ARGUMENTS, "y[i] = (1 - 2 * x[i] * x[i]) * exp(-x[i] * x[i])", "slope")


def on_host(kernel):
    """Return a function of JAX's arrays that calls the kernel; vmap calls it once for all."""

    def compute(x):
        on_device = PyGPU.to_gpu(np.asarray(x))
        y = PyGPU.gpuarray.empty_like(on_device)
        kernel(on_device, y)
        return y.get()

    def function(x):
        result = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(compute, result, x, vmap_method="broadcast_all")

    return function


f = jax.custom_jvp(on_host(bump))
f.defjvp(lambda primals, tangents: (f(*primals), on_host(slope)(*primals) * tangents[0]))


def in_place(x):
    """Compute the same in JAX's own buffers."""
    from jax.experimental.buffer_callback import buffer_callback

    def compute(context, out, x):
        drv.Context.synchronize()  # the streams of JAX and of PyGPU have no common order
        source = PyGPU.from_dlpack(x, copy=True)  # the inputs of JAX are read-only
        bump(source, PyGPU.from_dlpack(out))
        drv.Context.synchronize()

    return buffer_callback(compute, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    x = jnp.linspace(-2, 2, 12, dtype=jnp.float32)
    values = np.asarray(x)
    expected, steep = values * np.exp(-(values**2)), (1 - 2 * values**2) * np.exp(-(values**2))
    close = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(jax.jit(f)(x), expected, **close)
    np.testing.assert_allclose(jax.vmap(f)(x.reshape(3, 4)).ravel(), expected, **close)
    np.testing.assert_allclose(jax.grad(lambda x: f(x).sum())(x), steep, **close)
    np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(f)))(x), steep, **close)
    print("pure_callback agrees with NumPy under jit, vmap and grad")
    np.testing.assert_allclose(jax.jit(in_place)(x), expected, **close)
    print("buffer_callback agrees with NumPy under jit")


if __name__ == "__main__":
    main()
