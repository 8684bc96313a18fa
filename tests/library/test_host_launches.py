"""Launches in users' files, rewritten as C++ for the host machine."""

import pytest

from PyGPU._library.host_launches import ambiguous, rewritten

pytestmark = pytest.mark.no_device

CALLS = {
    "f<<<g, b>>>(x);": ' ::PyGPU_Launch("f", g, b).of(f)(x);',
    "f << <g, b, 0, s >> >(x);": ' ::PyGPU_Launch("f", g, b, 0, s ).of(f )(x);',
    "q::f<<<{32, 1}, 64>>>(x);": ' ::PyGPU_Launch("f", {32, 1}, 64).of(q::f)(x);',
    "f<<<g, (a >> 2)>>>(x);": ' ::PyGPU_Launch("f", g, (a >> 2)).of(f)(x);',
    "case 1:f<<<g, b>>>(x);": 'case 1: ::PyGPU_Launch("f", g, b).of(f)(x);',
    "table[i]<<<g, b>>>(x);": 'table[i] ->* ::PyGPU_Launch("", g, b)(x);',
    "a.f<<<g, b>>>(x);": 'a.f ->* ::PyGPU_Launch("f", g, b)(x);',
    "a->f<<<g, b>>>(x);": 'a->f ->* ::PyGPU_Launch("f", g, b)(x);',
    "#define F(n) f##n<<<g, b>>>(x)": '#define F(n) f##n ->* ::PyGPU_Launch("n", g, b)(x)',
    "out << 3 << x;": "out << 3 << x;",
    "a = 1 << b; c = d > (e);": "a = 1 << b; c = d > (e);",
    '"f<<<g, b>>>(x)";': '"f<<<g, b>>>(x)";',
    "// f<<<g, b>>>(x);": "// f<<<g, b>>>(x);",
}
TEMPLATES = {
    "t<<<g, b>>>(x);": ' ::PyGPU_Launch("t", g, b).of('
    "[&](auto&... PyGPU_a) { t(PyGPU_a...); })(x);",
    "if (y) q::t<float, 4><<<g, b>>>(x);": 'if (y) ::PyGPU_Launch("t", g, b).of('
    "[&](auto&... PyGPU_a) { q::t<float, 4>(PyGPU_a...); })(x);",
    "T::template t<4><<<g, b>>>(x);": ' ::PyGPU_Launch("t", g, b).of('
    "[&](auto&... PyGPU_a) { T::template t<4>(PyGPU_a...); })(x);",
    "t<float, A<4>, 4><<<g, b>>>(x);": ' ::PyGPU_Launch("t", g, b).of(t<float, A<4>, 4>)(x);',
}


@pytest.mark.parametrize("text", [*CALLS, *TEMPLATES])
def test_launches(text):
    found = rewritten(text, {"t": 3}).replace("  ", " ")
    assert found == {**CALLS, **TEMPLATES}[text]


def test_lines_keep_their_numbers():
    text = "f\n  <<<g,\n    b>>>\n  (x);\nextern __shared__ float a[];\n"
    for ambiguous_kernels in ({}, {"f": 0}):
        assert rewritten(text, ambiguous_kernels).count("\n") == text.count("\n")


def test_kernels_that_the_arguments_choose():
    text = """
    template <class T> __global__ void one(T *x);
    template <typename T, int N = 4>
    __global__ void __launch_bounds__(256, 2) two(T x) {}
    template <int n> static __global__ void three() {}
    template <class T> __device__ T four(T x) { return x; }
    __global__ void five() {}
    template <class T> void six(T x) { five<<<1, 1>>>(); }
    #define BOUNDS(threads) __launch_bounds__(threads)
    template <class T>
    __global__ void BOUNDS(256) seven(T x) {}
    __global__ void eight(int x) {}
    __global__ void eight(float x) {}
    __global__ void nine(int x);
    __global__ void nine(int x) {}
    __global__ void ten(int x, float *y = nullptr) {}
    __global__ void eleven(float const *a, int, const S *__restrict__ s, const int n[], T<2> t);
    __global__ void eleven(const float *b, const int m, S const *r, int const *const n, T<2>) {}
    __global__ void twelve(const int *a);
    __global__ void twelve(int *a) {}
    template <class T, class... U> __global__ void thirteen(T x, U... y) {}
    template __global__ void one<int>(int *x);
    template <template <class> class F, class T> __global__ void fifteen(T x) {}
    template <class T> __global__ void fourteen(T x) {}
    template <int n> __global__ void fourteen(int x) {}
    """
    one_by_one = {"one": 1, "two": 2, "three": 1, "seven": 1, "fifteen": 2}
    by_calls = dict.fromkeys(("eight", "ten", "twelve", "thirteen", "fourteen"), 0)
    assert ambiguous([text]) == {**one_by_one, **by_calls}
