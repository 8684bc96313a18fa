"""What is read off kernel text without a compiler: kernels and their parameters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from PyGPU._compile.source import c_names, kernel_types, signature

pytestmark = pytest.mark.no_device


def kinds(source, number=0):
    """ "P8 i4" of the parameters of a kernel of the text."""
    kernel = signature.kernels(source)[number]
    return " ".join(f"{p.kind[0]}{p.nbytes}" for p in kernel.parameters)


def names(source):
    return [
        f"{kernel.scope}::{kernel.name}" if kernel.scope else kernel.name
        for kernel in signature.kernels(source)
    ]


PARAMETERS = {
    # scalars
    "bool b": "b1",
    "char c": "i1",
    "signed char c": "i1",
    "unsigned char c": "u1",
    "uchar c": "u1",
    "short s": "i2",
    "short int s": "i2",
    "unsigned short int s": "u2",
    "ushort s": "u2",
    "int i": "i4",
    "signed i": "i4",
    "unsigned u": "u4",
    "unsigned int u": "u4",
    "int unsigned u": "u4",
    "uint u": "u4",
    "long l": "i8",
    "long int l": "i8",
    "long long l": "i8",
    "long long int l": "i8",
    "unsigned long u": "u8",
    "long unsigned int u": "u8",
    "unsigned long long u": "u8",
    "ulong u": "u8",
    "size_t n": "u8",
    "std::size_t n": "u8",
    "ptrdiff_t n": "i8",
    "ssize_t n": "i8",
    "int8_t a, uint8_t b": "i1 u1",
    "int16_t a, uint16_t b": "i2 u2",
    "int32_t a, std::uint32_t b": "i4 u4",
    "std::int64_t a, uint64_t b": "i8 u8",
    "uintptr_t p": "u8",
    "float f": "f4",
    "double d": "f8",
    "half h, __half g": "f2 f2",
    "pycuda::complex<float> z": "c8",
    "pycuda::complex< double > z": "c16",
    "cuFloatComplex z, cuDoubleComplex w": "c8 c16",
    "cudaTextureObject_t t": "u8",
    # qualifiers
    "const int i": "i4",
    "int const i": "i4",
    "volatile const float f": "f4",
    "register int i": "i4",
    "const __grid_constant__ int i": "i4",
    # pointers
    "float *p": "P8",
    "float* p": "P8",
    "const float * __restrict__ p": "P8",
    "float const *const p": "P8",
    "float **p": "P8",
    "void *p": "P8",
    "struct node *p": "P8",
    "unsigned long long *p": "P8",
    "float p[]": "P8",
    "float p[3]": "P8",
    "float p[N][M]": "P8",
    "float (*p)[4]": "P8",
    # what only the compiler knows
    "Vec v": "?0",
    "float4 v": "?0",
    "struct point p": "?0",
    "std::pair<int, float> p": "?0",
    "std::array<float, 3> a, int n": "?0 i4",
    "Array<float *, 3> a, int n": "?0 i4",
    "T t": "?0",
    "const T &t": "P8",
    # without names, without parameters, with defaults
    "int, float *, double": "i4 P8 f8",
    "unsigned int, const float": "u4 f4",
    "": "",
    "void": "",
    " void ": "",
    "int n = 3": "i4",
    "float x = f(1, 2), int n = (1 + 2)": "f4 i4",
    "bool b = a == c": "b1",
    # form
    "\n  float *a, // the input\n  int n /* its length, in elements */\n": "P8 i4",
    "float *a , int n": "P8 i4",
    "float*a,int n": "P8 i4",
}


@pytest.mark.parametrize("declaration", PARAMETERS)
def test_parameters(declaration):
    assert kinds(f"__global__ void f({declaration}) {{ }}") == PARAMETERS[declaration]


def test_names_of_parameters():
    source = "__global__ void f(float *restrict_me, int n, const double x[3], int, T t = 5, "
    source += "unsigned int, const float *__restrict__, float (*row)[4], void (*call)(int)) {}"
    found = [parameter.name for parameter in signature.kernels(source)[0].parameters]
    assert found == ["restrict_me", "n", "x", "", "t", "", "", "row", "call"]


ALIASES = {
    "typedef float real;": "f4",
    "typedef unsigned long long real;": "u8",
    "typedef float base; typedef base real;": "f4",
    "typedef float base; using real = base;": "f4",
    "using real = double;": "f8",
    "using real = std::int64_t;": "i8",
    "#define real float\n": "f4",
    "  #  define real double\n": "f8",
    "#define real unsigned int // short\n": "u4",
    "typedef float *real;": "P8",
    "typedef float base, *real;": "P8",
    "typedef void (*real)(int);": "P8",
    "typedef float real[4];": "?0",
    "typedef struct { float x, y; } real;": "?0",
    "struct real { int i; };": "?0",
    "typedef real real;": "?0",
    "typedef other real; typedef real other;": "?0",
}


@pytest.mark.parametrize("text", ALIASES)
def test_other_names_for_types(text):
    source = f"{text}\n__global__ void f(real x) {{ }}"
    assert kinds(source) == ALIASES[text]


FOUND = {
    # where a kernel is
    "__global__ void f(int n) {}": ["f"],
    "void __global__ f(int n) {}": ["f"],
    "static __global__ void f() {}": ["f"],
    'extern "C" __global__ void f() {}': ["f"],
    'extern "C" { __global__ void f() {} __global__ void g() {} }': ["f", "g"],
    "__global__\nvoid\nf\n(\n)\n{\n}": ["f"],
    "__global__ void __launch_bounds__(256) f() {}": ["f"],
    "__global__ void __launch_bounds__(256, 2) f() {}": ["f"],
    "__launch_bounds__(256) __global__ void f() {}": ["f"],
    "__global__ __launch_bounds__(N * (2 + 1)) void f() {}": ["f"],
    "__attribute__((used)) __global__ void f() {}": ["f"],
    "__global__ void __attribute__((aligned(8))) f() {}": ["f"],
    "#define BOUNDS(n) __launch_bounds__(n)\n__global__ void BOUNDS(8) f() {}": ["f"],
    "MACRO(1) __global__ void f() {}": ["f"],
    "TEST((__global__ void f() {}))": ["f"],
    "auto g() -> int; template <int n = (3 > 2)> __global__ auto f() -> void {}": ["f"],
    "namespace a { __global__ void f() {} }": ["a::f"],
    "inline namespace v1 { struct alignas(8) S final : B<int> { __global__ void f() {} }; }": [
        "v1::S::f"
    ],
    "namespace a { namespace b { __global__ void f() {} } __global__ void g() {} }": [
        "a::b::f",
        "a::g",
    ],
    "namespace a::b { __global__ void f() {} }\n__global__ void g() {}": ["a::b::f", "g"],
    "namespace { __global__ void f() {} }": ["f"],
    "template <class T> __global__ void f(T t) {}": ["f"],
    # where none is
    "": [],
    "int x;": [],
    "__device__ void f() {}": [],
    "__global__ void f(int n);": [],
    "template __global__ void f<int>(int *); template <> __global__ void f<char>(char *) {}": [],
    "#define K(n) \\\n  __global__ void k##n(int *a) \\\n  { }": [],
    "auto f = [=] __device__ (int n) { __global__ };": [],
    "__global__ void f(int n); __global__ void f(int n) {}": ["f"],
    "// __global__ void f() {}\n__global__ void g() {}": ["g"],
    "/* __global__ void f() {} */ __global__ void g() {}": ["g"],
    'const char *text = "__global__ void f() {}"; __global__ void g() {}': ["g"],
    "#define KERNEL __global__ void f() {}\n__global__ void g() {}": ["g"],
    "__global__ void f(": [],
    "__global__": [],
    "my__global__ void f() {}": [],
    # what a comment or a literal may hold
    "__global__ void f(int n /* ) { */, int m) { char c = '}'; } __global__ void g() {}": [
        "f",
        "g",
    ],
    '__global__ void f() { const char *s = "\\"}{"; } __global__ void g() {}': ["f", "g"],
    "__global__ void f() { int a = 1; // it's\n} __global__ void g() { char c = '\\''; }": [
        "f",
        "g",
    ],
}


@pytest.mark.parametrize("source", FOUND)
def test_kernels_are_found(source):
    assert names(source) == FOUND[source]


def test_what_is_no_text_of_kernels_costs_nothing():
    for source in ("((((", "}}}}", "__global__ ) void f(", '"', "'", "/*", "template <", "\0"):
        assert signature.kernels(f"{source} __global__ {source}") == []


def test_templates_are_told_apart():
    source = """
    template <class T> struct box { T value; };
    __global__ void plain(int n) {}
    template <typename T, int n> __global__ void general(T *a, T x) {}
    __global__ void after(int n) {}
    """
    found = {kernel.name: kernel.is_template for kernel in signature.kernels(source)}
    assert found == {"plain": False, "general": True, "after": False}


DOUBTS = {
    "": "",
    "typedef float own;": "",
    "typedef float real;": "f",
    "#define real float": "f",
    "#define f g": "f",
    "__global__ void f(double x) {}": "f",
    "namespace n { __global__ void f(int x) {} }": "",
}


@pytest.mark.parametrize("before", DOUBTS)
def test_what_a_preprocessor_may_change_is_not_sure(before):
    text = "__global__ void f(%s *p, %s x) {} __global__ void sure(float4 *p, int n) {}"
    kind = "real" if "real" in before else "float"
    found = signature.kernels(before + "\n" + text % (kind, kind))
    expected = {"g" if "#define f" in before else "f"} if DOUBTS[before] else set()
    assert {one.name for one in found if not one.is_sure} == expected


def test_options_are_macros_too():
    text = "KERNEL void f(real x, float y) {}"
    (found,) = signature.kernels(text, ["-DKERNEL=__global__", "-Dreal=double", "-Dfloat"])
    assert [one.kind for one in found.parameters] == ["f", "?"] and not found.is_sure


def test_definitions_that_disagree_are_unknown():
    both = "typedef float real;\ntypedef int real;\n__global__ void f(real x, real *p, int n) {}"
    assert kinds(both) == "?0 P8 i4"
    same = "typedef int real;\ntypedef signed real;\n__global__ void f(real x) {}"
    assert kinds(same) == "i4"
    twice = "__global__ void f(float x, int n) {}\n__global__ void f(int x, int n) {}"
    table = kernel_types.stated(signature.kernels(twice))
    assert [one.kind for one in table["f"]] == ["?", "i"]
    other = twice + "__global__ void f(int x) {}"
    assert kernel_types.stated(signature.kernels(other))["f"] == ()


# Declarations made at random, against what they were made of.

TYPES = sorted((name, kind) for name, kind in c_names.TYPES.items())


@st.composite
def declarations(draw):
    """(text, kind, bytes, name) of one parameter."""
    type_name, (kind, nbytes) = draw(st.sampled_from(TYPES))
    name = draw(st.sampled_from(["a_", "const_x", "n1", "restricted", "unsigned_", "x__"]))
    space = draw(st.sampled_from([" ", "  ", "\n", " /* , ( */ ", " // )\n"]))
    before = draw(st.sampled_from(["", "const ", "volatile "]))
    after = draw(st.sampled_from(["", " const"]))
    form = draw(st.sampled_from(["value", "pointer", "restrict", "array"]))
    if form == "value":
        return f"{before}{type_name}{after}{space}{name}", kind, nbytes, name
    if form == "array":
        return f"{before}{type_name}{after}{space}{name}[4]", "P", 8, name
    star = "*" if form == "pointer" else "* __restrict__ "
    return f"{before}{type_name}{after}{space}{star}{name}", "P", 8, name


@given(st.lists(declarations(), max_size=8), st.sampled_from(["", "__launch_bounds__(128, (2)) "]))
def test_generated_declarations(rows, bounds):
    inside = ", ".join(row[0] + ("\n" if "//" in row[0] else "") for row in rows)
    found = signature.kernels(f"int x;\n__global__ void {bounds}kernel({inside})\n{{ x(); }}\n")
    assert [kernel.name for kernel in found] == ["kernel"]
    assert [(p.kind[0], p.nbytes, p.name) for p in found[0].parameters] == [row[1:] for row in rows]


@given(st.text(alphabet="_ab (){}[]<>;,*/\"'\\#\n=&:", max_size=60))
def test_no_text_breaks_the_reader(text):
    for source in (text, f"__global__ void f({text}", f"template <{text}> __global__ void f("):
        signature.kernels(source)


STRUCTURES = """
typedef struct { double d; char c; } Point;
struct __align__(16) Inner { float3 f; float *next, *prev; };
namespace q { struct Pair { int n[2][4]; Point *p; }; }
struct Unsure { float x[N]; };
struct Fixed { char *const p; const int n; Array<char *> *q; };
typedef float3 vector;
struct Vectors { char c; vector v[2]; };
struct Packed { double d; char c; } __attribute__((packed));
struct Odd {
#if A
    float x;
#endif
    float y;
};
"""
POINTEES = {
    "float *x": "f4w",
    "float *const x": "f4w",
    "float const *x": "f4",
    "const double *__restrict__ x": "f8",
    "float *RESTRICT x": "f4w",
    "unsigned long long x[4]": "u8w",
    "const int x[4]": "i4",
    "real *x": "f4w",
    "fixed *x": "f4",
    "fixed_too *x": "f4",
    "pycuda::complex<float> *x": "c8w",
    "char *x": "i1w",
    "float **x": "P8",
    "row *x": "P8w",
    "void *x": "",
    "float4 *x": "f4x4w",
    "const half2 *x": "f2x2",
    "uchar4 x[5]": "u1x4w",
    "dim3 *x": "u4x3w",
    "Point *x": "s16w",
    "const struct Inner *x": "s32",
    "q::Pair *x": "s40w",
    "Unsure *x": "",
    "Fixed *x": "s24w",
    "Vectors *x": "s28w",
    "Packed *x": "",
    "Odd *x": "",
    "float x[2][4]": "",
    "row x": "",
}


@pytest.mark.parametrize("declared", POINTEES)
def test_what_pointers_point_to(declared):
    text = "typedef float real;\ntypedef const float fixed;\nusing fixed_too = fixed;\n"
    text += f"{STRUCTURES}typedef int *row;\n__global__ void f({declared}) {{}}"
    (found,) = signature.kernels(text)
    assert found.parameters[0] == ("x", "P" + POINTEES[declared], 8)


def test_two_definitions_agree_on_what_is_the_same():
    text = "#if A\n__global__ void f(float *x) {}\n#else\n__global__ void f(int *x) {}\n#endif"
    assert kernel_types.stated(signature.kernels(text)) == {"f": (("x", "P", 8),)}
    text = text.replace("int *x", "const float *x")
    assert kernel_types.stated(signature.kernels(text)) == {"f": (("x", "Pf4", 8),)}
