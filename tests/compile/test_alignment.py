"""Alignment and packing behind a structure's brace: sizes as nvcc and g++ have them."""

import needs
import numpy as np
import pytest
from campaign import each_once
from everywhere import by_backend

from PyGPU import gpuarray
from PyGPU._compile.compilers import build as _build
from PyGPU._compile.source import alignment
from PyGPU.compiler import SourceModule

# The declaration of A, and its size.
SIZES = [
    ("struct A { float x; };", 4),
    ("struct A { float x; } __align__(32);", 32),
    ("struct A { float x; }\n  __align__ ( sizeof(float4) );", 16),
    ("struct A { float x; } __attribute__((aligned(32)));", 32),
    ("struct A { char c; int i; } __attribute__((packed));", 5),
    ("struct A { char c; int i; } __attribute__((packed)) __attribute__((aligned(8)));", 8),
    ("typedef struct { float x; } __align__(32) A;", 32),
    ("typedef struct A_ { float x; } __align__(32) A;", 32),
    ("typedef union { float x; char c[5]; } __align__(16) A;", 16),
    ("struct B { int i; } __align__(16); struct A { B b; struct { int i; } __align__(8) d; };", 32),
    ("struct B { int x[16]; } __align__(64); struct A : B { int i; } __align__(64);", 128),
    ("template <class T, int n = 1> struct B { T x[n]; } __align__(32); typedef B<int> A;", 32),
    ("#define ALIGNED(n) __align__(n)\nstruct A { float x; } ALIGNED(32);", 32),
    ("#define PACKED __attribute__((packed))\nstruct A { char c; int i; } PACKED;", 5),
    ("struct A { float x; } /* as large as } */ __align__(32); // {", 32),
    ("#define OPEN {\nstruct A { float x; } __align__(32);", 32),
    ("struct __align__(32) A { float x; } __align__(32);", 32),
    ("struct __align__(32) A { float x; };", 32),
    ("struct A { float x; struct A *next() { return this; } } __align__(32);", 32),
]
# Braces that are no structure's.
OTHERS = [
    "struct P { int x; };\n__device__ struct P f(struct P p) { return p; }\n"
    "__attribute__((noinline)) __device__ int g() { return 1; }",
    "__device__ int f() { return 1; } __attribute__((noinline)) __device__ int g() { return 2; }",
    "enum class E : int { one } __attribute__((aligned(4)));",
    'const char *text = "struct A { } __align__(32);";',
    "// struct A { int i; } __align__(32);\nint x;",
    "} __align__(32);",
    "struct A { int i; } __align__(32",
]


def measured(declaration):
    return f"{declaration}\n__global__ void size(int *out) {{ *out = sizeof(A); }}"


def ids(case):
    return " ".join(str(case).split())[:60]


@pytest.mark.parametrize("declaration, size", SIZES, ids=ids)
def test_sizes(declaration, size):
    out = gpuarray.zeros(1, np.int32)
    module = SourceModule(measured(declaration), no_extern_c="template" in declaration)
    name = "size" if "template" not in declaration else "_Z4sizePi"
    module.get_function(name)(out, block=(1, 1, 1))
    assert out.get()[0] == size


@pytest.mark.no_device
@pytest.mark.parametrize(
    "compiler, backend, arch", [("nvrtc", "cuda", "sm_75"), ("hiprtc", "hip", "gfx908")]
)
def test_sizes_for_devices_that_are_not_here(compiler, backend, arch):
    """All at once, as compilers ask a while for each text."""
    needs.compiler(compiler)
    texts = [
        f'namespace case{k} {{\n{text}\nstatic_assert(sizeof(A) == {size}, "case {k}");\n}}\n'
        "#undef PACKED\n#undef ALIGNED\n#undef OPEN\n"
        for k, (text, size) in enumerate(SIZES)
    ]
    request = _build.Request(source="".join(texts), arch=arch, extern_c=False, cache_dir=False)
    entry = by_backend(backend, request, (), arch)
    assert entry.image and entry.log == ""


@pytest.mark.no_device
@pytest.mark.parametrize("text", OTHERS, ids=ids)
def test_what_is_left_as_it_is(text):
    assert alignment.in_front(text) == text


@pytest.mark.no_device
@pytest.mark.parametrize("declaration", [one for one, _ in SIZES], ids=ids)
def test_lines_and_words_stay(declaration):
    found = alignment.in_front(declaration)
    assert found.count("\n") == declaration.count("\n")
    assert sorted(found.replace(" ", "")) == sorted(declaration.replace(" ", ""))
    assert alignment.in_front(found) == found


@pytest.mark.no_device
def test_a_header_with_such_a_structure_is_told_of(tmp_path):
    """NVRTC reads headers itself."""
    needs.compiler("nvrtc")
    (tmp_path / "shape.h").write_text("struct A { float x; } __align__(32);\n")
    text = '#include "shape.h"\n' + measured("")
    request = _build.Request(
        source=text, arch="sm_75", cache_dir=False, include_dirs=(str(tmp_path),)
    )
    log = by_backend("cuda", request, [f"-I{tmp_path}"], "sm_75").log
    assert "shape.h" in log and "before the name" in log


DECLARATIONS = [
    "static __shared__ float s[32];",
    "__shared__ static float s[32];",
    "__shared__ alignas(16) float s[32];",
    "static __shared__ volatile float s[32];",
    "alignas(16) __shared__ float s[32];",
    "__shared__ __align__(16) float s[32];",
    "extern __shared__ __attribute__((aligned(16))) float s[];",
    "extern __shared__ float t[], s[];",
]


@pytest.mark.parametrize(
    ("declaration", "place"),
    each_once(DECLARATIONS, ["in the kernel", "of the file"]),
)
def test_shared_memory_is_declared_as_programs_do(declaration, place):
    before, inside = (declaration, "") if place == "of the file" else ("", declaration)
    source = f"""{before}
__global__ void turn(float *out) {{
  {inside}
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];
}}"""
    out = gpuarray.zeros(32, np.float32)
    SourceModule(source).get_function("turn")(out, block=(32, 1, 1), shared=128)
    assert out.get().tolist() == list(range(31, -1, -1))
