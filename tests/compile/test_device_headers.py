"""The headers for device code: each is compiled by the vendors' run-time compilers, without a GPU.

The values of pycuda::complex are tests of their own (test_device_complex.py).
"""

import re
from pathlib import Path

import needs
import pytest

from PyGPU import errors
from PyGPU._compile.compilers import build as _build
from PyGPU._compile.compilers import rtc
from PyGPU._compile.source import headers, includes

pytestmark = pytest.mark.no_device


COMPILERS = {
    "cuda": (
        "nvrtc",
        ["--device-as-default-execution-space", "--pre-include=prelude.h"],
        ["rtc", "device"],
    ),
    "hip": ("hiprtc", ["-include", "prelude_hip.h"], ["rtc_hip", "rtc", "device"]),
}
STD = ["-DPYGPU_USES_STD", "-DPYGPU_USES_LIMITS", "-DPYGPU_USES_TRAITS"]
ARCHITECTURES = [("cuda", "sm_75"), ("cuda", "sm_90"), ("hip", "gfx908"), ("hip", "gfx90a")]


def build(target, architecture, source, *extra):
    """(whether it compiled, the log)"""
    prefix, options, folders = COMPILERS[target]
    library = needs.compiler(prefix)
    arch = "--gpu-architecture" if target == "cuda" else "--offload-arch"
    standard = [] if any("-std" in word for word in extra) else ["-std=c++17"]  # NVRTC 11 takes one
    words = [f"{arch}={architecture}", *standard, *options]
    words += [f"-I{headers.folder(folder)}" for folder in folders]
    words += rtc.toolkit_include_options(prefix) if target == "cuda" else []
    for header in headers.on_demand([source.encode()], True, folders[0]):
        words += pre_include(target, header)
    try:
        return True, library.compile(source, "kernel.cu", [*words, *extra], (), library.binary)[1]
    except errors.CompileError as error:
        return False, error.stderr


def pre_include(target, name):
    return [f"--pre-include={name}"] if target == "cuda" else ["-include", name]


def kernel(body, includes=()):
    lines = [f"#include <{name}>" for name in includes]
    parameters = "float *a, double *d, int n, int64_t *l"
    return "\n".join([*lines, f'extern "C" __global__ void kernel({parameters}) {{ {body} }}'])


# What a program may use after the include; under nvcc each of these compiles.
USES = {
    "stdint.h": "uint8_t x = n; int_fast16_t y = x; l[0] = INT64_MAX - UINT32_MAX + y;",
    "cstdint": "std::uint64_t x = n; std::intptr_t y = (std::intptr_t)a; l[0] = x + y;",
    "stddef.h": "size_t s = offsetof(float2, y); ptrdiff_t p = a - (float *)d; l[0] = s + p;",
    "cstddef": "std::size_t s = sizeof(std::max_align_t); l[0] = s + std::ptrdiff_t(n);",
    "stdlib.h": "void *p = malloc(8); free(p); l[0] = RAND_MAX + abs(n);",
    "cstdlib": "l[0] = std::abs(n) + EXIT_FAILURE;",
    "string.h": 'memcpy(a, d, 8); memset(a, 0, 4); l[0] = strlen("abc") + strcmp("a", "b");',
    "cstring": "std::memcpy(a, d, 8); std::memmove(a, a + 1, 8); l[0] = std::memcmp(a, d, 4);",
    "stdio.h": 'printf("%d\\n", n); l[0] = EOF;',
    "cstdio": 'std::printf("%g %s\\n", d[0], "x");',
    "math.h": (
        "a[0] = M_PI * sinf(a[1]) + INFINITY + NAN + pow(2, n) + pow(a[1], d[1]);"
        "a[1] = pow(a[0], n) + pow(d[0], 2) + pow(a[0], 2.f);"
    ),
    "cmath": "a[0] = std::sqrt(a[1]) + std::pow(a[1], 2) + std::abs(a[2]) + std::isnan(d[0]);",
    "float.h": "a[0] = FLT_MAX * FLT_EPSILON; d[0] = DBL_MIN + DBL_DIG;",
    "cfloat": "d[0] = DBL_EPSILON;",
    "limits.h": "l[0] = INT_MAX - SHRT_MIN + UCHAR_MAX + (n < LONG_MAX) + CHAR_BIT;",
    "climits": "l[0] = LLONG_MAX - n;",
    "assert.h": "assert(n > 0);",
    "cassert": "assert(n > 0);",
    "stdbool.h": "bool b = true; l[0] = b;",
    "inttypes.h": 'printf("%" PRId32, n);',
    "type_traits": (
        'static_assert(std::is_same<std::decay<const int(&)[3]>::type, const int *>::value, "");'
        "static_assert(std::is_floating_point_v<double> && !std::is_integral_v<float>);"
        "static_assert(std::is_same_v<std::make_unsigned_t<int>, unsigned>);"
        "static_assert(std::is_signed<int>::value && std::is_unsigned<unsigned>::value);"
        "std::conditional_t<(sizeof(int) > 2), float, double> x = 1; a[0] = x;"
        "struct Own { int n; __device__ Own() {} __device__ ~Own() {} private: Own(const Own &); };"
        "struct Plain { int n; };"
        "static_assert(std::is_trivially_default_constructible_v<Plain>);"
        "static_assert(!std::is_trivially_default_constructible_v<Own>);"
        "static_assert(std::is_default_constructible_v<Own> && !std::is_copy_constructible_v<Own>);"
        "static_assert(std::is_copy_constructible_v<Plain> && std::is_trivial_v<int>);"
        "static_assert(std::is_trivially_copy_assignable_v<Plain> && !std::is_trivial_v<Own>);"
        "static_assert(!std::is_trivially_copy_assignable_v<const int>);"
        "static_assert(std::is_trivially_copy_constructible_v<int> && !std::is_empty_v<Own>);"
        "static_assert(std::is_trivially_destructible_v<int>);"
        "static_assert(!std::is_trivially_destructible_v<Own>);"
        "static_assert(std::is_standard_layout_v<Plain> && !std::is_union_v<Plain>);"
    ),
    "functional": (
        "a[0] = std::plus<float>()(a[1], 2) - std::modulus<int>()(n, 7);"
        "static_assert(std::multiplies<int>()(3, 4) == 12 && std::less<int>()(1, 2));"
        "static_assert(std::minus<int>()(3, 4) == -1 && !std::greater<int>()(2, 2));"
    ),
    "limits": (
        "static_assert(std::numeric_limits<float>::infinity() > std::numeric_limits<float>::max());"
        "l[0] = std::numeric_limits<int>::max(); d[0] = std::numeric_limits<double>::epsilon();"
    ),
    "utility": "std::swap(a[0], a[1]); auto p = std::make_pair(n, a[1]); a[2] = p.second;",
    "algorithm": "a[0] = std::min(a[1], 2.f) + std::max(n, 3) + std::clamp(n, 0, 9);",
    "array": "std::array<float, 3> x = {1, 2, 3}; for (float y : x) a[0] += y; a[1] = x.size();",
    "complex": "std::complex<float> z(1, 2); z = std::exp(z) * 2.f; a[0] = std::abs(z) + z.real();",
    "cuda_runtime.h": "a[threadIdx.x] = make_float4(1, 2, 3, 4).w;",
    "device_launch_parameters.h": "a[blockIdx.x] = gridDim.x;",
    "cuda_fp16.h": "half h = __float2half(a[1]); a[0] = __half2float(__hadd(h, h));",
    "cuComplex.h": "cuFloatComplex z = make_cuFloatComplex(1, n); a[0] = cuCabsf(cuCdivf(z, z));",
    "math_constants.h": (
        "a[0] = CUDART_PI_F + CUDART_INF_F + CUDART_TWO_TO_23_F;d[0] = CUDART_PI + CUDART_TWOTHIRD;"
    ),
    "cooperative_groups.h": (
        "auto block = cooperative_groups::this_thread_block(); block.sync();"
        "auto tile = cooperative_groups::tiled_partition<32>(block);"
        "a[block.thread_rank()] = tile.shfl_down(a[0], 4) + tile.any(n);"
    ),
    "pycuda-complex.hpp": "pycuda::complex<float> z(a[0], a[1]); a[2] = abs(sqrt(z / (z * 2.0)));",
    "pycuda-helpers.hpp": "a[0] = 1;",
    "thrust/complex.h": "thrust::complex<float> z(a[0], 1); a[1] = thrust::abs(exp(z) * 2.0);",
    "curand.h": "curandDirectionVectors32_t *vectors = 0; l[0] = sizeof(*vectors) + CURAND_M2;",
    "curand_kernel.h": "curandState s; curand_init(n, 0, 0, &s); a[0] = curand_uniform(&s);",
}


@pytest.mark.parametrize("target, architecture", [("cuda", "sm_75"), ("hip", "gfx908")])
@pytest.mark.parametrize("header", USES)
def test_header_and_its_use(target, architecture, header):
    """Each on its own; all together they come to newer architectures below."""
    compiled, log = build(target, architecture, kernel(USES[header], [header]))
    assert compiled, log
    assert "redefin" not in log


@pytest.mark.parametrize("target, architecture", [("cuda", "sm_90"), ("hip", "gfx90a")])
@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17", "c++20"])
def test_all_standard_headers_together(target, architecture, standard):
    needs.standard(COMPILERS[target][0], standard)
    includes = [name for name in USES if not name.startswith(("cu", "coop"))]
    source = kernel("a[0] = std::sqrt(a[1]);", includes)
    compiled, log = build(target, architecture, source, f"-std={standard}", *STD)
    assert compiled, log


@pytest.mark.parametrize("target, architecture", ARCHITECTURES)
def test_what_nvcc_gives_without_an_include(target, architecture):
    body = (
        "uint u = UINT_MAX; ushort s = u; ulong w = s; ssize_t z = -1; time_t t = 0; off_t o = t;"
        "uintptr_t p = (uintptr_t)a; uint64_t q = p; int8_t c = EOF; assert(n >= 0);"
        "constexpr float inf = INFINITY; constexpr double huge = HUGE_VAL;"
        'constexpr float nan = NAN; static_assert(inf > FLT_MAX && huge == inf, "");'
        'static_assert(nan != nan, "");'
        "l[0] = w + z + o + q + c + RAND_MAX + INT_MAX + (a == NULL) + (inf < huge) + FLT_DIG;"
    )
    compiled, log = build(target, architecture, kernel(body))
    assert compiled, log


@pytest.mark.parametrize("target, architecture", ARCHITECTURES)
def test_namespace_std_on_request(target, architecture):
    body = (
        "using namespace std; a[0] = std::sqrt(a[1]) + min(n, 2) + max(a[0], a[1]) + pow(2, n);"
        "a[1] = std::isnan(a[0]) + std::isinf(d[0]) + abs(n) + numeric_limits<int>::max();"
        "swap(a[0], a[1]); a[2] = std::max((short)1, (short)2) + std::min<float>(n, a[0]);"
    )
    compiled, log = build(target, architecture, kernel(body), *STD)
    assert compiled, log


# Declarations of integer types in a program, and the type that the name then has.
OWN_INTEGERS = {
    "typedef unsigned long long uint64_t;": ("uint64_t", "unsigned long long"),
    "using uint64_t = unsigned long long;": ("uint64_t", "unsigned long long"),
    "typedef long long int int64_t;": ("int64_t", "long long"),
    "#if 1\ntypedef long long int64_t;\n#endif": ("int64_t", "long long"),
    "typedef signed char int8_t; typedef unsigned char uint8_t;": ("int8_t", "signed char"),
    "typedef char int8_t;": ("int8_t", "char"),
    "typedef unsigned long long uintptr_t;": ("uintptr_t", "unsigned long long"),
    "typedef unsigned long long ulong;": ("ulong", "unsigned long long"),
    'extern "C" { typedef unsigned long long uint64_t; }': ("uint64_t", "unsigned long long"),
    "// typedef int int8_t;": ("int8_t", "signed char"),
    "/* typedef char int8_t; */": ("int8_t", "signed char"),
    "#define LINES typedef char int8_t;": ("int8_t", "signed char"),
    "namespace own { typedef char int8_t; }": ("int8_t", "signed char"),
    "struct own { typedef char int8_t; };": ("int8_t", "signed char"),
    "typedef int int32_t; typedef short int16_t;": ("int32_t", "int"),
}


@pytest.mark.parametrize("architecture", ["sm_90", "gfx90a"])
@pytest.mark.parametrize("declaration", OWN_INTEGERS)
def test_integer_types_that_a_program_declares(architecture, declaration, monkeypatch):
    needs.compiler("nvrtc" if architecture == "sm_90" else "hiprtc")
    monkeypatch.setenv("PYGPU_DISABLE_CACHE", "1")
    name, expected = OWN_INTEGERS[declaration]
    if architecture == "gfx90a" and name == "ulong":
        pytest.skip("HIPRTC has an ulong of its own")
    text = f"""
    {declaration}
    template <class A, class B> struct same {{ enum {{ value = 0 }}; }};
    template <class A> struct same<A, A> {{ enum {{ value = 1 }}; }};
    static_assert(same<{name}, {expected}>::value, "");
    static_assert(same<std::{name}, {expected}>::value || {int(name == "ulong")}, "");
    #include <cstdint>
    __device__ std::int16_t rest(int32_t a, uint_fast8_t b, intmax_t c) {{ return INT16_MAX; }}
    """.replace("std::ulong", "ulong")
    _build.build_for(_build.Request(text, extern_c=False), architecture)


@pytest.mark.parametrize("target, architecture", ARCHITECTURES)
def test_textures_and_surfaces(target, architecture):
    body = (
        "cudaTextureObject_t t = (cudaTextureObject_t)l[0]; float x = a[0];"
        "cudaSurfaceObject_t s = (cudaSurfaceObject_t)l[1];"
        "x += tex1Dfetch<float>(t, n) + tex1D<float>(t, x) + tex2D<float>(t, x, x);"
        "x += tex3D<float>(t, x, x, x) + tex2DLayered<float>(t, x, x, n);"
        "float4 v = surf2Dread<float4>(s, 16 * n, n), w = surf1DLayeredread<float4>(s, n, 1);"
        "v.x += w.x + surf3Dread<float4>(s, n, n, n).x; surf2Dread(&w, s, n, n);"
        "surf1Dwrite(v, s, n); surf2DLayeredwrite(w, s, n, n, 1); a[0] = x + cudaBoundaryModeZero;"
    )
    compiled, log = build(target, architecture, kernel(body))
    assert compiled, log


@pytest.mark.parametrize("target, architecture", ARCHITECTURES)
def test_warp_functions_with_masks(target, architecture):
    body = (
        "float v = a[0]; for (int o = 16; o; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);"
        "v += __shfl_sync(~0u, v, 0) + __shfl_up_sync(~0u, v, 1) + __shfl_xor_sync(~0u, v, 2, 16);"
        "l[0] = __ballot_sync(~0u, n) + __any_sync(~0u, n) + __all_sync(~0u, n) + __activemask();"
        "__syncwarp(); a[0] = v + __ldg(a + 1) + __dp4a(n, n, n) + __match_any_sync(~0u, n);"
    )
    compiled, log = build(target, architecture, kernel(body))
    assert compiled, log


@pytest.mark.parametrize(
    "header",
    [
        "cuda/std/cstdint",
        "cuda/std/climits",
        "cuda/std/limits",
        "cuda/std/complex",
        "cuda/atomic",
        "curand_kernel.h",
        "cuda_bf16.h",
        "cuda_pipeline.h",
        "cuda_awbarrier.h",
        "cooperative_groups/memcpy_async.h",
    ],
)
def test_beside_the_cuda_toolkit(header):
    needs.compiler("nvrtc")
    folders = [option[2:] for option in rtc.toolkit_include_options("nvrtc")]
    if not any(Path(folder, header).exists() for folder in folders):
        package = "cccl" if "/" in header else "curand" if "curand" in header else "cuda"
        needs.missing(package, f"there is no {header} in {folders}")
    body = "l[0] = INT64_MAX; a[0] = INFINITY + std::abs(n) + CHAR_BIT;"
    source = kernel(body, [header, "cmath", "limits"])
    switches = headers.prelude_switches([source.encode()], True)
    compiled, log = build("cuda", "sm_90", source, *switches)
    assert compiled, log
    assert "redefinition" not in log


COMPLEX = """
extern "C" {
#include <pycuda-complex.hpp>
typedef pycuda::complex<double> Z;
typedef pycuda::complex<float> C;
static_assert(sizeof(C) == 8 && alignof(C) == 4 && sizeof(Z) == 16 && alignof(Z) == 8, "");
__constant__ C constant = C(1, 2);
__global__ void kernel(C *a, Z *b, C v, volatile C *q, float2 *pairs, int n) {
  __shared__ C s[64];
  __shared__ volatile Z t[64];
  int i = threadIdx.x;
  s[i] = a[i]; t[i] = b[i]; __syncthreads();
  t[i] = t[i] + t[i + 32]; t[i] += t[i + 1]; q[i] = q[i] * q[i + 1]; t[i] = 0; q[i] = v;
  C z = a[i] * 2.0 + 1 - 3.f / a[i] + v * constant + constant * n;
  z *= 2.0; z /= 3; z += v; z -= 1.0; z = 1.0; z = C(b[i]);
  Z w = z; w = w / z + z * b[i]; w += pow(z, 2) + pow(z, 2.5) + pow(2.f, z) + pow(z, w);
  if (z == 1.0 || z != w || 0 == z) z = -z + C(pairs[i]) + pycuda::polar(1.f, 2.f);
  z = i ? z : 0; z = sin(z) + cos(z) + tan(z) + sinh(z) + cosh(z) + tanh(z) + log(z) + log10(z);
  w = asin(w) + acos(w) + atan(w) + asinh(w) + acosh(w) + atanh(w) + exp(w) + sqrt(w) + proj(w);
  a[i] = conj(z) * real(z) + imag(z) + arg(z) + norm(z) + isnan(z) + isinf(z) + isfinite(z);
  b[i] = w + t[i] + t[i].real() * s[i].imag();
}
}
"""


@pytest.mark.parametrize("target, architecture", ARCHITECTURES)
def test_complex_in_kernels_and_extern_c(target, architecture):
    compiled, log = build(target, architecture, COMPLEX)
    assert compiled, log


REFERENCES = """
texture<float> line;
texture<uchar4, 2, cudaReadModeNormalizedFloat> image;
typedef texture<short2, 3> Volume;
Volume volume;
texture<char, cudaTextureType1DLayered> rows;
texture<unsigned short, cudaTextureType2DLayered, cudaReadModeNormalizedFloat> sheets;
texture<int4, cudaTextureTypeCubemap> cube;
texture<float2, cudaTextureTypeCubemapLayered> cubes;
surface<void> s1; surface<void, 2> s2; surface<void, cudaSurfaceType3D> s3;
surface<void, cudaSurfaceType1DLayered> s1l;
extern "C" {
surface<void, cudaSurfaceType2DLayered> s2l;
extern "C++" { template <class T> __device__ float first(T t) { return tex2D(t, 0, 0).x; } }
__global__ void kernel(float *a, int n)
{
  float x = a[0], y = a[1], z = a[2];
  float2 d = make_float2(1, 1); float4 e = make_float4(1, 1, 1, 1);
  x += tex1Dfetch(line, n) + tex1D(line, x) + first(image) + tex3D(volume, x, y, z).y;
  x += tex1DLayered(rows, x, n) + tex2DLayered(sheets, x, y, n) + texCubemap(cube, x, y, z).w;
  x += texCubemapLayered(cubes, x, y, z, n).y;
#ifndef WITHOUT_LEVELS
  x += tex2Dgather(image, x, y, 1).w;
  x += tex1DLod(line, x, y) + tex2DLod(image, x, y, z).x + tex3DLod(volume, x, y, z, x).x;
  x += tex1DLayeredLod(rows, x, n, y) + tex2DLayeredLod(sheets, x, y, n, z);
  x += texCubemapLod(cube, x, y, z, x).x + texCubemapLayeredLod(cubes, x, y, z, n, x).x;
  x += tex1DGrad(line, x, y, z) + tex2DGrad(image, x, y, d, d).x;
  x += tex3DGrad(volume, x, y, z, e, e).x;
  x += tex1DLayeredGrad(rows, x, n, y, z) + tex2DLayeredGrad(sheets, x, y, n, d, d);
#endif
  int4 v = surf1Dread<int4>(s1, 16); surf2Dread(&v, s2, 0, n); surf3Dwrite(v, s3, 0, n, n);
  surf1DLayeredwrite(v, s1l, 0, n, cudaBoundaryModeClamp);
  surf2DLayeredwrite<float>(x, s2l, 4 * n, n, n, cudaBoundaryModeZero);
  a[3] = x + v.x + surf3Dread<float>(s3, 0, n, n, cudaBoundaryModeTrap);
}
}
"""


@pytest.mark.parametrize("target, architecture", ARCHITECTURES)
@pytest.mark.parametrize("standard", ["c++11", "c++17", "c++20"])
def test_references(target, architecture, standard):
    needs.standard(COMPILERS[target][0], standard)
    header = pre_include(target, "texture_references.h")
    lacking = ["-DWITHOUT_LEVELS"] if architecture == "gfx90a" else []
    options = [*header, *lacking, f"-std={standard}"]
    compiled, log = build(target, architecture, REFERENCES, *options)
    assert compiled, log
    assert "texture_references" not in log


LEVELS = """
__global__ void kernel(cudaTextureObject_t t, float x, float *a)
{
  a[0] = tex2DLod<float>(t, x, x, 1) + tex2D<float>(t, x, x);
  a[1] = tex2Dgather<float4>(t, x, x, 0).y;
  a[2] = tex2DGrad<float>(t, x, x, make_float2(1, 0), make_float2(0, 1));
}
"""


@pytest.mark.parametrize("target, architecture", ARCHITECTURES)
def test_what_a_gpu_has_no_instructions_for(target, architecture):
    """AMD's own compiler ends the process there."""
    compiled, log = build(target, architecture, LEVELS)
    lacking = {f"gfx90a_has_no_{name}" for name in ("tex2DLod", "tex2Dgather", "tex2DGrad")}
    assert set(re.findall(r"gfx90a_has_no_\w+", log)) == (
        lacking if architecture == "gfx90a" else set()
    )
    assert bool(compiled) == (architecture != "gfx90a"), log


HELPERS = """
#include <pycuda-helpers.hpp>
texture<fp_tex_double> line; texture<fp_tex_cfloat, 2> image; texture<fp_tex_cdouble, 3> volume;
texture<fp_tex_float, cudaTextureType2DLayered> sheets; texture<short, 2> plain;
surface<void, cudaSurfaceType2DLayered> s2l; surface<void, 3> s3;
extern "C" __global__ void kernel(float *a, int n)
{
  double d = fp_tex1Dfetch(line, n);
  pycuda::complex<float> c = fp_tex2D(image, n, n);
  pycuda::complex<double> z = fp_tex3D(volume, n, n, n);
  a[0] = d + real(c) + imag(z) + fp_tex2DLayered(sheets, n, n, 1) + fp_tex2D(plain, n, n);
  fp_surf2DLayeredwrite(c, s2l, n, n, n, cudaBoundaryModeClamp);
  fp_surf2DLayeredread(&d, s2l, n, n, n, cudaBoundaryModeClamp);
  fp_surf3Dwrite(d, s3, n, n, n, cudaBoundaryModeZero);
  fp_surf3Dread(&z, s3, n, n, n, cudaBoundaryModeZero);
  fp_surf3Dread(a, s3, n, n, n);
  a[1] = real(z) + d;
}
"""


@pytest.mark.parametrize("target, architecture", ARCHITECTURES)
def test_texture_helpers(target, architecture):
    compiled, log = build(target, architecture, HELPERS)
    assert compiled, log


def test_other_texts_do_not_have_the_header_of_references():
    texts = {
        "__global__ void f(cudaTextureObject_t texture, float *surface) {}": 0,
        "__device__ int surface; __device__ bool f(int n) { return surface < n && n > 0; }": 0,
        "texture<float> t;": 1,
        "static surface < void,\n cudaSurfaceType2D > s;": 1,
    }
    for text, count in texts.items():
        found = headers.on_demand(includes.scan(text, []).texts(text), True, "rtc")
        assert len(found) == count
