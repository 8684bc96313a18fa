"""Variables and references that a text declares, as its reader finds them without a compiler."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from PyGPU._compile.source import name_expressions, signature, variables

DECLARED = """
__device__ float w[4], v = 3; // __device__ int comment;
static __device__ __align__(16) float4 al[2][3] = {{1}};
__managed__ int managed{3}; __constant__ float *pointer;
extern "C" __constant__ const pycuda::complex<float> z = pycuda::complex<float>(1, 2);
__device__ int f(int x) { int local = x; return local; }
__device__ int g(int x); __device__ struct Own { int x; } own;
__device__ struct { int a; } unnamed; __device__ struct Later; __device__ enum Kind kind;
__device__ float (*call)(float) = f, *other; int __device__ odd, many[] = {1, 2}, last;
extern __device__ int elsewhere;
#define MACRO { __device__ int inside_a_macro;
texture<float, 1> image; static texture<float2, cudaTextureType2D> first, second;
surface<void, 2> plane;
__global__ void h(int *a) { __shared__ int shared; __device__ static int local; shared = a[0] < 3; }
namespace q {
__constant__ float C[4];
namespace { __device__ int hidden; texture<float> image; }
namespace r::s { struct S { static __device__ int m; __device__ S(int a) : x(a) {}
__device__ S &operator=(const S &o); __device__ operator int() const; int x; };
__device__ int S::m = 3; class P { static __device__ int p; public: static __device__ int open; }; }
}
template <class T> __device__ T instance = T(3);
template <class T> struct Z { static __device__ T z; };
typedef __device__ int alias;
struct Made { int a, b; __device__ Made(int x, int y) : a(x), b(y) {} __device__ Made() {}
__device__ Made(int x) { a = x, b = x; } };
auto lambda = [] __device__ (int x, int y) { return x; };
void takes(texture<float> given, int other);
__device__ ALIGNED(16) float aligned;
"""
PLAIN = "aligned w v managed pointer own kind call other odd many last"
OTHER = "al z unnamed q::C q::hidden q::r::s::S::m q::r::s::P::open"


def test_names():
    found = variables.variables(DECLARED)
    nameable = [one.full_name for one in found if one.is_nameable()]
    assert sorted(nameable) == sorted(f"{PLAIN} {OTHER}".split())
    others = {"local", "elsewhere", "q::r::s::P::p", "instance", "Z::z"}
    assert {one.full_name for one in found} - {*nameable} == others
    references = [one.full_name for one in variables.references(DECLARED)]
    assert references == ["image", "first", "second", "plane", "q::image"]
    assert variables.variables("") == variables.references("__global__ void f() {}") == []


def test_expressions_of_variables_that_images_call_otherwise():
    expected = [f"&{name}" for name in [*OTHER.split(), "q::image"]]
    assert sorted(variables.expressions(DECLARED)) == sorted(expected)
    assert variables.expressions("__device__ int x; __constant__ float y[2];") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__device__ int x;", True),
        ("__device__ int x{0};", True),
        ("static __managed__ float t[4] = {1};", True),
        ("static const __device__ float t[4] = {1};", False),
        ("__device__ const int x = 3;", False),
        ("extern __device__ int x;", False),
        ("__constant__ float c;", False),
        ("__device__ float f(int a) { return a; }", False),
        ("__device__ struct B { int x; };", False),
    ],
)
def test_variables_that_kernels_can_write(text, expected):
    assert variables.has_variables(f"/* {'long ' * 1000} */\n{text}\n") is expected


@given(st.text(alphabet="_ab (){}[]<>;:,=*/\"'\\#\n", max_size=60))
def test_no_text_breaks_the_reader(text):
    for source in (text, f"__device__ int x{text}", f"namespace {text} texture<float> {text}"):
        variables.expressions(source)


@pytest.mark.parametrize(
    ("expression", "bare", "short"),
    [
        ("f", "f", "f"),
        ("& ::q::f<int, a::b>", "q::f<int, a::b>", "f<int, a::b>"),
        ("(void (*)(float *))g", "g", "g"),
        ("(void(*)(A<(1)>))&q::g", "q::g", "g"),
        ("(", "(", "("),
        ("", "", ""),
    ],
)
def test_parts_of_expressions(expression, bare, short):
    assert signature.bare_name(expression) == bare
    assert name_expressions.unqualified(expression) == short


def test_equal_expressions():
    known = ["&q::f< int >", "(void(*)(float*))g", "(void(*)(int*))g"]
    assert name_expressions.equal("::q::f<int>", known) == known[0]
    assert name_expressions.equal("(void (*)(int *))&g", known) == known[2]
    assert name_expressions.equal("g", known) is name_expressions.equal("f<int>", known) is None
    assert name_expressions.only("f<int>", known) == known[0]
    assert name_expressions.only("g", known[:2]) is None  # the cast chooses one of several
