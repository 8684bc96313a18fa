"""Prototypes in texts and headers, by which functions without PYGPU_EXPORT are called."""

import ctypes

import needs
import pytest

import PyGPU
from PyGPU._library import prototypes


def read(text):
    """Return {name: (result, {parameter: (kind, bytes)})}."""
    return {
        one.name: (one.result.kind, {name: kind[:2] for name, kind in one.parameters})
        for one in prototypes.read(text)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(float yinyang_t, uint16_t n);", {"yinyang_t": ("f", 4), "n": ("u", 2)}),
        ("void f(const uint32_t);", {"": ("u", 4)}),
        ("void f(std::size_t n, unsigned long long m);", {"n": ("u", 8), "m": ("u", 8)}),
        ("void f(const float *__restrict__ x, double y[3]);", {"x": ("P", 8), "y": ("P", 8)}),
        ("enum class E : uint8_t { A, B }; void f(E e);", {"e": ("u", 1)}),
        (
            "typedef enum { A = 1, /* { */ B } E; void f(E e, enum E2 *p);",
            {"e": ("i", 4), "p": ("P", 8)},
        ),
        ("typedef void (*Call)(int, void *); void f(Call call);", {"call": ("P", 8)}),
        ("typedef float real; using number = real; void f(number x);", {"x": ("f", 4)}),
        ("void f(int x = 3, double y = g(2));", {"x": ("i", 4), "y": ("f", 8)}),
        ('#define API __attribute__((visibility("default")))\nAPI void f(int x);', {"x": ("i", 4)}),
        ('extern "C" { extern void f(bool b); }', {"b": ("b", 1)}),
        ("typedef float real, *row; __host__ __device__ void f(row x);", {"x": ("P", 8)}),
        (
            "#define R __restrict__\nconstexpr int f(const float *R x, int) noexcept;",
            {"x": ("P", 8), "": ("i", 4)},
        ),
    ],
)
def test_types_of_parameters(text, expected):
    assert [parameters for _, parameters in read(text).values()] == [expected]


def test_what_is_no_function_is_left_out():
    text = """
    #pragma once
    namespace q {
    namespace r::s { double f(double); }
    struct S { int x; S(int); void method(int) {} };
    class A { public: A(); ~A(); friend int befriended(A); };
    A operator+(A, A);
    template <class T> T generic(T x);
    const std::map<std::string, int> names {{"a", 1}};
    static const int N = 3, M = (1 << 4) * N;
    int (*callback)(int);
    bool S::is_small(int) const { return true; }
    __device__ int on_a_gpu(int);
    inline int square(int x) { if (x) { return x * x; } return 0; }
    }
    extern "C" int g(int);
    """
    unreadable = {}
    names = [one.name for one in prototypes.read(text, unreadable)]
    assert names == ["q::r::s::f", "q::square", "g"]
    assert list(unreadable) == ["is_small", "on_a_gpu"]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("void APIENTRY f(int);", "'void APIENTRY' is unknown"),
        ("int f(float SPEC x);", "'float SPEC' is unknown"),
        ("int f(cublasHandle_t h);", "'cublasHandle_t' is unknown"),
        ("int f(int (&x)[3]);", "references and function types"),
        ("int f(const int &x);", "references and function types"),
        ("int printf(const char *format, ...);", "variable arguments"),
        ("double (*get(int))(double);", "cannot read"),
        ("struct P { int x; }; int f(P p);", "'P' is unknown"),
    ],
)
def test_a_declaration_that_cannot_be_read_is_shown(text, match):
    with pytest.raises(prototypes.DeclarationError, match=match) as caught:
        prototypes.read(text)
    assert "(" in str(caught.value)


def test_a_header_may_have_more_than_the_library(tmp_path):
    """A function that cannot be called is an error when it is used, not when the header is read."""
    needs.program("g++")
    (tmp_path / "mine.h").write_text(
        "#ifndef MINE_H\n#define MINE_H\nint half(int x);\nint absent(int x);\n"
        "struct Pair { int a, b; };\nint of_pair(Pair p);\n#endif\n"
    )
    source = tmp_path / "mine.cpp"
    source.write_text('#include "mine.h"\nint half(int x) { return x / 2; }\n')
    library = PyGPU.load(source, tmp_path / "mine.h", cache_dir=False)
    assert library.half(10) == 5
    with pytest.raises(AttributeError, match=r"no function absent\(\)"):
        _ = library.absent
    with pytest.raises(AttributeError, match=r"of_pair\(Pair p\): the type 'Pair' is unknown"):
        _ = library.of_pair
    assert not hasattr(library, "of_pair")
    with pytest.raises(ValueError, match="'Pair' is unknown"):
        PyGPU.load(source, "int of_pair(Pair p);", cache_dir=False)


def test_a_callback_is_passed_by_its_address():
    library = PyGPU.load(
        "libc.so.6",
        "typedef int (*Compare)(const void *, const void *);"
        "void qsort(void *items, size_t count, size_t size, Compare compare);",
    )
    kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.POINTER(ctypes.c_int)] * 2)
    compare = kind(lambda a, b: a[0] - b[0])
    items = (ctypes.c_int * 4)(3, 1, 4, 2)
    library.qsort(ctypes.addressof(items), 4, 4, ctypes.cast(compare, ctypes.c_void_p).value)
    assert list(items) == [1, 2, 3, 4]
