"""Dynamic shared memory, which C++ lacks, rewritten for the host: a pure function of text."""

import re

import pytest

from PyGPU._compile.source.dynamic_shared import in_cpp

pytestmark = pytest.mark.no_device


def test_text_without_shared_memory_is_untouched():
    source = "extern int a[]; // __shared__\n__device__ int b[3];"
    assert in_cpp(source) == source
    fixed = "__global__ void f() { __shared__ float a[32]; }"
    assert in_cpp(fixed) == fixed


DECLARATIONS = {
    "extern __shared__ float a[];": ("float", "a"),
    "extern __shared__ unsigned long long  a [ ] ;": ("unsigned long long", "a"),
    "extern volatile __shared__ int a[];": ("volatile int", "a"),
    "extern __shared__ volatile int a[];": ("volatile int", "a"),
    "extern __shared__ __align__(16) char a[];": ("char", "a"),
    "extern __shared__ alignas(8) char a[];": ("char", "a"),
    "extern __shared__ __align__(sizeof(double)) char a[];": ("char", "a"),
    "extern __shared__ float *a[];": ("float*", "a"),
    "extern __shared__ __attribute__((aligned(16))) char a[];": ("char", "a"),
    "extern __shared__ char b[], a [ ];": ("char", "a"),
    "extern\n__shared__\nfloat\na[];": ("float", "a"),
    "extern __shared__ pycuda::complex<float> a[];": ("pycuda::complex<float>", "a"),
    "__shared__ extern float a[];": ("float", "a"),
    "volatile extern __shared__ float a[];": ("volatile float", "a"),
    "extern float __shared__ a[];": ("float", "a"),
    "extern volatile float __shared__ a[];": ("volatile float", "a"),
    "#define LOCAL_MEM __shared__\nextern LOCAL_MEM float a[];": ("float", "a"),
    "#define SHARED extern volatile __shared__\nSHARED float a[];": ("volatile float", "a"),
    "#define S __shared__\n# define T extern S  // both\nT float a[];": ("float", "a"),
}


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_dynamic_shared_memory_in_a_kernel(declaration):
    source = f"__global__ void f(int n)\n{{\n  {declaration}\n  a[0] = n;\n}}\n"
    found = in_cpp(source)
    kind, name = DECLARATIONS[declaration]
    assert re.search(rf"PYGPU_DYNAMIC_SHARED\({re.escape(kind)}, {name}\);", found)
    assert "__shared__" not in re.sub(r"(?m)^ *#.*", "", found)
    assert found.count("\n") == source.count("\n"), "line numbers are the user's"


@pytest.mark.parametrize(
    "around", ["{}", "namespace a {{\n{}\n}}", 'extern "C" {{\n{}\n}}', "struct s {{}};\n{}"]
)
def test_dynamic_shared_memory_of_a_file(around):
    source = around.format("extern __shared__ float a[];") + "\n__global__ void f() { a[0] = 1; }"
    found = in_cpp(source)
    assert "DynamicShared<float> a;" in found and "PYGPU_DYNAMIC_SHARED" not in found


def test_comments_and_texts_are_not_declarations():
    source = (
        "// extern __shared__ float a[];\n"
        'const char *t = "extern __shared__ float a[];";\n'
        "__global__ void f() { extern __shared__ float b[]; /* } */ }"
    )
    found = in_cpp(source)
    assert found.splitlines()[:2] == source.splitlines()[:2]
    assert "PYGPU_DYNAMIC_SHARED(float, b);" in found


@pytest.mark.parametrize(
    "before",
    [
        "if (n) { n = 10'000; } n = 20'000;",
        "if (n) { n = 0xab'cd; } n = 0b1'0;",
        """char c = '"'; if (n == '{') { c = u8'"'; }""",
        "switch (n) { case'{': break; }",
        'auto t = R"(")"; if (n) { t = LR"x({")x"; }',
        "// as in \\\n {",
    ],
)
def test_where_a_function_ends(before):
    source = f"__global__ void g(int n) {{ {before}\n}}\nextern __shared__ float a[];\n"
    source += "__global__ void f() { a[0] = 1; }"
    assert "DynamicShared<float> a;" in in_cpp(source)


@pytest.mark.parametrize(
    ("definitions", "line", "expected"),
    [
        ("#define DECL(T, n) extern __shared__ T n[];", "DECL(float, a)", "DynamicShared<T> n;"),
        ("#define DECL extern __shared__ float a[];", "DECL", "DynamicShared<float> a;"),
        ("#define S extern __shared__ __align__(16)", "S float a[];", None),
        ("#define M __shared__\r", "extern M float a[];", "DYNAMIC_SHARED(float, a);"),
        ("#define M\n#undef M\n#define M __shared__", "extern M float a[];", None),
        (
            "#ifdef NO\n#define M __shared__\n#else\n#define M __device__\n#endif",
            "extern M int a[];",
            None,
        ),
        ("#define M __shared__\n#undef M\n#define M __device__", "extern M int a[];", None),
        ("#define M(x) __shared__", "extern M(1) int a[];", None),
    ],
)
def test_macros(definitions, line, expected):
    source = f"{definitions}\n__global__ void f() {{ {line} __shared__ int b[3]; }}\n"
    found = in_cpp(source)
    assert expected in found if expected else found == source


def test_alignment_in_any_place():
    source = "__global__ void f() { extern __align__(16) __shared__ float a[]; a[0] = 1; }"
    assert "PYGPU_DYNAMIC_SHARED(float, a);" in in_cpp(source)


def test_time_is_linear():
    """Each of these took minutes at this length, where blanks were tried in all ways."""
    blanks = " " * 100_000
    for text in (
        f"volatile{blanks}int w = 0;",
        f"extern{blanks}__shared__{blanks}x y(",
        "extern " * 30_000,
    ):
        source = f"// __shared__\n{text}\n"
        assert in_cpp(source) == source
