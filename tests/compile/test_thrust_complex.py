"""thrust::complex and cuda::std::complex in kernels: values beside NumPy's, types, layout."""

import re

import everywhere
import kernel_sources
import needs
import numpy as np
import pytest

import PyGPU.gpuarray as gpuarray
from PyGPU._compile.compilers import rtc
from PyGPU.compiler import SourceModule

FUNCTIONS = {
    **{name: getattr(np, name) for name in ("exp", "log", "log10", "sqrt", "conj")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(np, "arc" + name[1:]) for name in ("asin", "acos", "atan")},
    **{name: getattr(np, "arc" + name[1:]) for name in ("asinh", "acosh", "atanh")},
    "proj": lambda z: z,  # of finite numbers
}
PARTS = {
    "real": np.real,
    "imag": np.imag,
    "abs": np.abs,
    "arg": np.angle,
    "norm": lambda z: np.abs(z) ** 2,
}


def module(body, header="thrust/complex.h"):
    return SourceModule(f"""
#include <{header}>
typedef thrust::complex<float> C;
typedef thrust::complex<double> Z;
{body}
""")


def numbers(n, dtype, seed=5):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_functions(dtype):
    n = 64
    part = "float" if dtype == np.complex64 else "double"
    calls = [f"thrust::{name}(z)" for name in (*FUNCTIONS, *PARTS)]
    stores = "\n".join(f"out[{row} * {n} + i] = {call};" for row, call in enumerate(calls))
    f = module(f"""
__global__ void all_functions(thrust::complex<{part}> *out, const thrust::complex<{part}> *in)
{{
  int i = threadIdx.x;
  thrust::complex<{part}> z = in[i];
  {stores}
}}""").get_function("all_functions")
    z = numbers(n, dtype)
    out = gpuarray.zeros((len(calls), n), dtype)
    f(out, gpuarray.to_gpu(z), block=(n, 1, 1))
    rtol = 3e-5 if dtype == np.complex64 else 1e-13
    wide = z.astype(np.complex128)
    for row, (name, function) in enumerate([*FUNCTIONS.items(), *PARTS.items()]):
        np.testing.assert_allclose(out.get()[row], function(wide), rtol, rtol / 30, err_msg=name)


ARITHMETIC = {
    "a + b": lambda a, b, s: a + b,
    "a - b": lambda a, b, s: a - b,
    "a * b": lambda a, b, s: a * b,
    "a / b": lambda a, b, s: a / b,
    "a + s": lambda a, b, s: a + s,
    "s - a": lambda a, b, s: s - a,
    "a * s": lambda a, b, s: a * s,
    "s / a": lambda a, b, s: s / a,
    "a / 4": lambda a, b, s: a / 4,
    "-a + +b": lambda a, b, s: -a + b,
    "thrust::pow(a, b)": lambda a, b, s: a**b,
    "thrust::pow(a, 3.0)": lambda a, b, s: a**3,
    "pow(s, a)": lambda a, b, s: s**a,
    "thrust::polar(s, 2.0)": lambda a, b, s: s * np.exp(2j),
    "thrust::polar(s) * C(0, 1)": lambda a, b, s: s * 1j,
    "(b += a, b *= s, b -= 2, b /= a, b)": lambda a, b, s: ((b + a) * s - 2) / a,
}


BOTH = r"\bb\b"


def test_arithmetic_of_both_precisions():
    """Of a complex<float> and a complex<double> or a double the result is a complex<double>."""
    stores = "\n".join(
        f"{{ {'Z b = p[1];' if re.search(BOTH, call) else ''} out[{k}] = {call}; }}"
        for k, call in enumerate(ARITHMETIC)
    )
    f = module(f"""
__global__ void arithmetic(Z *out, const C *in, const Z *p, double s)
{{
  C a = *in;
  {stores}
}}""").get_function("arithmetic")
    a, b, s = np.complex64(0.7 - 0.4j), 1.25 + 0.5j, 1.1
    out = gpuarray.zeros(len(ARITHMETIC), np.complex128)
    f(out, gpuarray.to_gpu(np.array([a])), gpuarray.to_gpu(np.array([0, b])), s, block=(1, 1, 1))
    expected = [function(complex(a), b, s) for function in ARITHMETIC.values()]
    np.testing.assert_allclose(out.get(), expected, 1e-13)


TYPES = kernel_sources.Text("""
#include <thrust/complex.h>
#include <pycuda-complex.hpp>
typedef thrust::complex<float> C;
typedef thrust::complex<double> Z;
extern "C++" {
template <class A, class B> struct same { static const bool value = false; };
template <class A> struct same<A, A> { static const bool value = true; };
template <class T> __device__ thrust::complex<T> squared(thrust::complex<T> z) { return z * z; }
}
static_assert(same<decltype(C() * 2.0), Z>::value && same<decltype(C() * 2), C>::value, "");
static_assert(same<decltype(1.0 / C()), Z>::value && same<decltype(C() - Z()), Z>::value, "");
static_assert(same<decltype(thrust::pow(C(), 2)), C>::value, "");
static_assert(same<decltype(abs(Z())), double>::value && same<C::value_type, float>::value, "");
static_assert(sizeof(C) == 8 && alignof(C) == 8 && sizeof(Z) == 16 && alignof(Z) == 16, "");
struct Mixed { float before; C z; };
static_assert(sizeof(Mixed) == 16, "as float2 stands in a struct");
__constant__ C constant = C(1, 2);

__global__ void conversions(C *out, int *truths, Mixed m, C v, Z w)
{
  __shared__ C s[2];
  __shared__ volatile C t[2];
  s[0] = v;
  t[0].real(3.f);
  t[0].imag(v.imag());
  C narrow = w, number = 7, zero = C();
  pycuda::complex<float> ours = v;
  out[0] = m.z;
  out[1] = squared(s[0] + constant);
  out[2] = C(t[0].real(), t[0].imag());
  out[3] = narrow;
  out[4] = number;
  out[5] = zero;
  out[6] = ours * ours;
  out[7] = ours;
  out[7].real(-1);
  out[7].imag(-2);
  truths[0] = v == C(1, 2);
  truths[1] = v == w;
  truths[2] = v != Z(v);
  truths[3] = C(3) == 3.0;
  truths[4] = 2 != C(2, 1);
  truths[5] = 0 == C(0, 1);
}
""")


def test_conversions_and_layout():
    f = SourceModule(TYPES.source).get_function("conversions")
    mixed = np.zeros(
        (), np.dtype({"names": ["x", "z"], "formats": ["f4", "c8"], "offsets": [0, 8]})
    )
    mixed["z"] = 5 - 6j
    out, truths = gpuarray.zeros(8, np.complex64), gpuarray.zeros(6, np.int32)
    f(out, truths, mixed, np.complex64(1 + 2j), np.complex128(3 - 4j), block=(1, 1, 1))
    assert out.get().tolist() == [
        *(5 - 6j, (2 + 4j) ** 2, 3 + 2j, 3 - 4j, 7, 0),
        *((1 + 2j) ** 2, -1 - 2j),
    ]
    assert truths.get().tolist() == [1, 0, 0, 1, 1, 0]


def test_numbers_of_python_as_arguments():
    f = module("__global__ void store(C *out, int n, C v, Z w) { out[0] = v * n; out[1] = w; }")
    out = gpuarray.zeros(2, np.complex64)
    f.get_function("store")(out, 2, 1 + 2j, 3.0, block=(1, 1, 1))
    assert out.get().tolist() == [2 + 4j, 3]


STD = kernel_sources.Text("""
#include <cuda/std/complex>
__global__ void standard(cuda::std::complex<float> *z, float *x)
{
  *x = cuda::std::abs(*z) + z->real();
  *z = cuda::std::exp(*z) * 2.f + cuda::std::conj(*z);
}
""")


def test_cuda_std_complex():
    z, x = np.array([0.3 - 0.4j], np.complex64), gpuarray.zeros(1, np.float32)
    a = gpuarray.to_gpu(z)
    SourceModule(STD.source).get_function("standard")(a, x, block=(1, 1, 1))
    np.testing.assert_allclose(a.get(), np.exp(z) * 2 + z.conj(), 1e-6)
    np.testing.assert_allclose(x.get(), [0.8], 1e-6)


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), everywhere.COMPILERS)
@pytest.mark.parametrize("standard", ["", "c++11", "c++20"])
def test_compiles_everywhere(prefix, backend, arch, standard):
    everywhere.require(prefix)
    needs.standard(prefix, standard)
    options = [f"-std={standard}"] if standard else []
    entry = everywhere.build(TYPES, backend, arch, options=options)
    assert entry.image and entry.log == ""


@pytest.mark.no_device
def test_cuda_std_complex_without_a_toolkit(monkeypatch):
    everywhere.require("nvrtc")
    monkeypatch.setattr(rtc, "toolkit_include_options", lambda prefix: [])
    assert everywhere.build(STD, "cuda", "sm_90").image.startswith(b"\x7fELF")
