"""Forms that nvcc accepts and that run-time compilers refuse by default."""

import needs
import numpy as np
import pytest

from PyGPU import errors, gpuarray
from PyGPU._compile.compilers import build
from PyGPU._compile.source import constants
from PyGPU.compiler import SourceModule

# Declarations, an expression of them, and its value.
FORMS = {
    "const double a = 2; const double b = a * 3; const float c = 1 / (float)b;": ("b + 6 * c", 7),
    "const double a = 2.5; static const int n = int(2 * a);": ("sizeof(char[n])", 5),
    "static double const a = 1, b = a * 4; namespace k { const float c = b + 1; }": ("k::c", 5),
    "const double one = 1; __constant__ double two = one * 2;": ("two", 2),
    "const float one = 1; __device__ const float t[2] = {one, one + 1};": ("t[1]", 2),
    "typedef double real; const real a = 3; const real b = a / 2;": ("b", 1.5),
    'extern "C" { const float a = 3; const float b = a * a; }': ("b", 9),
    "const float a = 1, b = 2 * a; __device__ int g(const int n = 4) { return n; }": ("b + g()", 6),
    "typedef unsigned long long uint64_t; __device__ uint64_t g(uint64_t n) { return n << 40; }": (
        "g(3) >> 39",
        6,
    ),
    "using uintptr_t = unsigned long long; __device__ uintptr_t g(uintptr_t n) { return n; }": (
        "g(3) + int64_t(4)",
        7,
    ),
    "__device__ int g(int n) { register int m = n; return m + 1; }": ("g(2)", 3),
    "__device__ int g(__int128 n) { return (n << 100) >> 98; }": ("g(2)", 8),
    "__device__ int g(int n) { return __builtin_popcount(n) + __builtin_clz(n); }": ("g(5)", 31),
    "__device__ int g(int n) { return __builtin_ctz(n) + __builtin_popcountll(n); }": ("g(8)", 4),
}


def text(declarations):
    expression = FORMS[declarations][0]
    return f'{declarations}\nextern "C" __global__ void f(double *x) {{ x[0] = {expression}; }}'


@pytest.mark.parametrize("declarations", FORMS)
def test_values(declarations):
    x = gpuarray.zeros(1, np.float64)
    module = SourceModule(text(declarations), no_extern_c=True)
    module.get_function("f")(x, block=(1, 1, 1))
    assert x.get()[0] == FORMS[declarations][1]


@pytest.mark.no_device
@pytest.mark.parametrize("architecture", ["sm_90", "gfx90a"])
@pytest.mark.parametrize("declarations", FORMS)
def test_images(declarations, architecture):
    needs.compiler("nvrtc" if architecture == "sm_90" else "hiprtc")
    for extern_c in (True, False):
        build.build_for(build.Request(text(declarations), extern_c=extern_c), architecture)


@pytest.mark.no_device
def test_assembly_in_gccs_words():
    needs.compiler("nvrtc")
    body = '__asm__ __volatile__("mov.u32 %0, %%laneid;" : "=r"(*x));'
    build.build_for(build.Request(f"__global__ void f(int *x) {{ {body} }}"), "sm_90")


# Texts without a value of their own.
TEXTS = {
    "an explicit instance": """
        template <int n> __global__ void f(float *x) { x[0] = n; }
        template __global__ void f<3>(float *);""",
    "an explicit instance of one of two": """
        template <class T> __global__ void f(T *x) { x[0] = 1; }
        template <class T, int n> __launch_bounds__(n) __global__ void f(T *x) { x[0] = n; }
        template __global__ void f<float, 32>(float *);""",
    "a specialization": """
        template <class T> __global__ void f(T *x) { x[0] = 1; }
        template <> __global__ void f<float>(float *x) { x[0] = 2; }""",
    "functions of the host": """
        struct S { __host__ S() {} __host__ __device__ explicit S(int a) : v(a) {} int v; };
        __host__ float twice(float x) { return 2 * x; }
        __global__ void f(float *x) { x[0] = S(3).v; }""",
    "headers of host code": """
        #include <iostream>
        #include <vector>
        #include <string>
        #include <chrono>
        #include <random>
        #include <cstdio>
        #include <time.h>
        #include <sys/time.h>
        #include <new>
        __global__ void f(float *x) { new (x) float(clock()); }""",
}


def test_arguments_of_an_integer_type_that_the_program_declares():
    source = "typedef unsigned long long uint64_t;\n__global__ void f(uint64_t *x, uint64_t n)"
    x = gpuarray.zeros(1, np.uint64)
    SourceModule(f"{source} {{ x[0] = n; }}").get_function("f")(x, 2**63, block=(1, 1, 1))
    assert x.get()[0] == 2**63


@pytest.mark.no_device
@pytest.mark.parametrize("architecture", ["sm_90", "gfx90a", "host"])
@pytest.mark.parametrize("name", TEXTS)
def test_texts(name, architecture):
    if architecture != "host":
        needs.compiler("nvrtc" if architecture == "sm_90" else "hiprtc")
    build.build_for(build.Request(TEXTS[name], extern_c=False), architecture)


@pytest.mark.no_device
@pytest.mark.parametrize("architecture", ["sm_90", "gfx90a"])
@pytest.mark.parametrize("name", ["vector", "time.h"])
def test_the_programs_own_header_comes_first(name, architecture, tmp_path):
    needs.compiler("nvrtc" if architecture == "sm_90" else "hiprtc")
    (tmp_path / name).write_text("#define OWN 1\n")
    text = f'#include <{name}>\nstatic_assert(OWN, "");\n'
    build.build_for(build.Request(text, include_dirs=(str(tmp_path),)), architecture)


UNCHANGED = """
struct S { static const int n = 1; };
__device__ float f(const float x = 2, const int *p = 0) { const float y = x; return y; }
const float *pointer = 0;
extern const float elsewhere;
#define LINE const float line = 1;
"""


@pytest.mark.no_device
def test_only_constants_of_namespaces_become_constexpr():
    assert constants.as_constexpr(UNCHANGED) == UNCHANGED
    changed = constants.as_constexpr("const float a = 1;\nnamespace q { float const b[] = {a}; }")
    assert changed == "constexpr float a = 1;\nnamespace q { float constexpr b[] = {a}; }"


@pytest.mark.no_device
@pytest.mark.parametrize("architecture", ["sm_90", "gfx90a"])
def test_a_value_that_no_compiler_computes_is_reported_as_written(architecture):
    needs.compiler("nvrtc" if architecture == "sm_90" else "hiprtc")
    source = "__device__ double g();\nconst double a = 1;\n__device__ const double b = g();"
    source += "\n__global__ void f(double *x) { *x = a + b; }"
    with pytest.raises(errors.CompileError) as caught:
        build.build_for(build.Request(source), architecture)
    assert "const double b = g();" in caught.value.stderr
