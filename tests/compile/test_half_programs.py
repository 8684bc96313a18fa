"""What programs write with __half and __nv_bfloat16, and what is rounded once."""

import functools

import kernel_sources
import numpy as np
import pytest
from everywhere import COMPILERS, build, require

import PyGPU
from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import empty

SOURCES = {
    "an enumerator": ("enum E {A = 3};", "half h = A; h = A; out[0] = h;", 3),
    "a constant": ("", "constexpr half h = __half_raw{0x4200}; out[0] = h;", 3),
    "nv_half": ("", "nv_half h = 1.0f; __nv_half2 p(h, h); out[0] = __low2float(p) + 2;", 3),
    "volatile": ("", "volatile half v; v = half(3.0f); half w(v); out[0] = w;", 3),
    "shared and volatile": (
        "",
        "__shared__ volatile half s[2]; s[0] = half(3.0f); out[0] = half(s[0]);",
        3,
    ),
    "a condition": ("", "half h = -0.0f; out[0] = h ? 1 : !h && half(2.0f) ? 3 : 2;", 3),
    "operators of its own": (
        "__device__ half operator*(const half &a, const half &b)"
        " { return __float2half(__half2float(a) - __half2float(b)); }",
        "half a = __float2half(5.0f), b = __float2half(2.0f); out[0] = __half2float(a * b);",
        3,
    ),
    "a constant of bfloat16": (
        "",
        "constexpr nv_bfloat16 h = __nv_bfloat16_raw{0x4040}; out[0] = h;",
        3,
    ),
    "nv_bfloat162": ("", "nv_bfloat162 p(1.0f, 2.0f); p += p; out[0] = __high2float(p) - 1;", 3),
    "volatile bfloat16": (
        "",
        "volatile nv_bfloat16 v; v = nv_bfloat16(3.0f); nv_bfloat16 w(v); out[0] = w;",
        3,
    ),
    "bits assigned": ("", "__half_raw r = {0x4200}; half h; h = r; out[0] = h;", 3),
    "bits of bfloat16 assigned": (
        "",
        "volatile __nv_bfloat16_raw r = {0x4040}; nv_bfloat16 h; volatile nv_bfloat16 &v = h;"
        "v = r; __nv_bfloat16_raw one = h; h = one; out[0] = h;",
        3,
    ),
    "a constant condition of bfloat16": (
        "",
        'constexpr nv_bfloat16 h(__nv_bfloat16_raw{0x3f80}); static_assert(bool(h), "");'
        "out[0] = 3 * float(h);",
        3,
    ),
    "no number, rounded down, as bfloat16": (
        "",
        "out[0] = __bfloat16_as_ushort(__float2bfloat16_rd(NAN)) == 0x7fff ? 3 : 0;",
        3,
    ),
    "half as bfloat16": ("", "half h = 3.0f; nv_bfloat16 b(h); half again(b); out[0] = again;", 3),
    "twice the same": (
        "",
        "out[0] = __low2float(__bfloat162bfloat162(__float2bfloat16(3.0f)));",
        3,
    ),
    "constants": (
        "",
        "out[0] = CUDART_INF_BF16 > CUDART_MAX_NORMAL_BF16 ? 3 : 0;",
        3,
    ),
    "shuffles and atomics of bfloat16": (
        "",
        "__shared__ nv_bfloat16 s; s = __shfl_sync(1u, nv_bfloat16(1.0f), 0);"
        "atomicAdd(&s, nv_bfloat16(2.0f)); out[0] = s;",
        3,
    ),
    "a bfloat16 beyond halves": ("", "nv_bfloat16 h = 1e30f; out[0] = h * h > h ? 3 : 0;", 3),
    "operators of its own for bfloat16": (
        "__device__ nv_bfloat16 operator*(const nv_bfloat16 &a, const nv_bfloat16 &b)"
        " { return __float2bfloat16(__bfloat162float(a) - __bfloat162float(b)); }",
        "nv_bfloat16 a = __float2bfloat16(5.0f), b = __float2bfloat16(2.0f);"
        "out[0] = __bfloat162float(a * b);",
        3,
    ),
}


def family(name):
    """Return the header, the options and the first lines of a source, and what keeps it apart."""
    before, body, _ = SOURCES[name]
    number = "BFLOAT16" if "bfloat16" in name else "HALF"
    options = [f"-D__CUDA_NO_{number}_OPERATORS__"] if "its own" in name else []
    header = "cuda_bf16.h" if "BF16" in body or "bfloat16" in body else "cuda_fp16.h"
    apart = next((word for word in ("__shared__", "CUDART") if word in body), None)
    return header, tuple(options), before, apart


def kernel_name(name):
    return "write_" + name.replace(" ", "_").replace(",", "")


@functools.cache
def module_of(header, options, before, apart):
    """Compile all sources of a family, as one compilation takes about as long as another."""
    kernels = "".join(
        f"__global__ void {kernel_name(name)}(float *out) {{ {SOURCES[name][1]} }}\n"
        for name in SOURCES
        if family(name) == (header, options, before, apart)
    )
    text = f"#include <{header}>\n{before}\n{kernels}"
    return SourceModule(text, options=[*options], no_extern_c=False)


@pytest.mark.parametrize("name", SOURCES)
def test_what_programs_write(name):
    if PyGPU.target == "hip":
        pytest.skip("which of them HIP's compiler takes is AMD's")
    _, body, expected = SOURCES[name]
    if "CUDART" in body and PyGPU.target == "cuda":
        pytest.skip("NVRTC's headers leave them out")
    out = empty(1, np.float32)
    module_of(*family(name)).get_function(kernel_name(name))(out, block=(1, 1, 1))
    assert out.get()[0] == expected


def test_bfloat16_is_rounded_once():
    """Of numbers close to the middle of two, what is far below it decides."""
    if PyGPU.target == "hip":
        pytest.skip("which of them HIP's compiler has, and how, is AMD's")
    cases = {
        "__hfma(a, a, tiny)": 1.125 + 2**-7,  # a a = 1.125 + 2**-8
        "__hfma(a, a, __hneg(tiny))": 1.125,
        "nv_bfloat16(1.0 + 1.0 / 256 + 1e-15)": 1 + 2**-7,
        "nv_bfloat16(1.0 + 1.0 / 256)": 1,
        "nv_bfloat16((1ll << 62) + (1ll << 54) + 1)": 2.0**62 + 2.0**55,
        "nv_bfloat16((1ll << 62) + (1ll << 54))": 2.0**62,
        "nv_bfloat16(-(1ll << 62) - (1ll << 54) - 1)": -(2.0**62) - 2.0**55,
        "nv_bfloat16((1ull << 63) + (1ull << 55) + 1)": 2.0**63 + 2.0**56,
        "__ll2bfloat16_rz(-(1ll << 62) - 1)": -(2.0**62),
        "__ll2bfloat16_rd(-(1ll << 62) - 1)": -(2.0**62) - 2.0**55,
        "__ull2bfloat16_ru((1ull << 63) + 1)": 2.0**63 + 2.0**56,
        "__float2bfloat16_rz(1.999f)": 2 - 2**-7,
        "__float2bfloat16_rd(-1.001f)": -1 - 2**-7,
        "__float2bfloat16_ru(3.3895313e38f)": float.fromhex("0x1.fep127"),
        "__float2bfloat16_rn(3.4e38f)": np.inf,
        "__int2bfloat16_rn(257)": 256,
        "__bfloat162int_ru(nv_bfloat16(2.5f))": 3,
    }
    rows = "".join(f"out[{row}] = float({call});\n" for row, call in enumerate(cases))
    text = f"""#include <cuda_bf16.h>
    __global__ void f(float *out) {{
      const nv_bfloat16 a = 1 + 1.0f / 16, tiny = 1e-30f;
      {rows}}}"""
    out = empty(len(cases), np.float32)
    SourceModule(text).get_function("f")(out, block=(1, 1, 1))
    assert dict(zip(cases, out.get().tolist())) == {
        call: float(np.float32(value)) for call, value in cases.items()
    }


OWN_NAMES = kernel_sources.Text("""
typedef unsigned short half;
struct half2 { float x, y; };
__global__ void f(float *out) { half h = 7; half2 p = {1.5f, 2.5f}; out[0] = h + p.x + p.y; }
""")


def test_without_the_header_its_short_names_are_free():
    if PyGPU.target == "hip":
        pytest.skip("AMD's compiler has them always")
    out = empty(1, np.float32)
    SourceModule(OWN_NAMES.source).get_function("f")(out, block=(1, 1, 1))
    assert out.get()[0] == 11


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[:2], ids=lambda value: value)
def test_free_names_compile(prefix, backend, arch):
    require(prefix)
    assert build(OWN_NAMES, backend, arch).log == ""
