"""CuPy's sorting and FFT on GPUArrays, and a kernel of PyGPU on CuPy's arrays, without a copy.

    python cupy_functions.py

CuPy needs a GPU. Both libraries use the null stream by default, so that the work stays in order.
"""

import cupy
import numpy as np

import PyGPU
from PyGPU.elementwise import ElementwiseKernel

power = ElementwiseKernel(
    "const pycuda::complex<double> *z, double *p", "p[i] = norm(z[i])", "power"
)


def main():
    x = np.sin(np.arange(1024) * 0.1) + np.arange(1024) % 7
    a = PyGPU.to_gpu(x)
    shared = cupy.asarray(a)
    assert shared.data.ptr == a.ptr
    spectrum = cupy.fft.rfft(shared)
    p = PyGPU.zeros(spectrum.shape, np.float64)
    power(PyGPU.asarray(spectrum), p)
    np.testing.assert_allclose(p.get(), np.abs(np.fft.rfft(x)) ** 2, rtol=1e-9, atol=1e-9)
    shared.sort()
    np.testing.assert_array_equal(a.get(), np.sort(x))
    with cupy.cuda.Stream(non_blocking=True) as stream:  # another stream: PyGPU gets it by `stream`
        ones = cupy.ones(1000)
        doubled = PyGPU.from_dlpack(ones, stream=stream)
        ElementwiseKernel("double *a", "a[i] *= 2")(doubled, stream=stream)
        total = float(ones.sum())
    assert total == 2000
    print("FFT, sorting and a kernel agree with NumPy, in shared memory")


if __name__ == "__main__":
    main()
