"""Launches in users' files, rewritten as C++ for the host machine."""

import pytest

from PyGPU._library.host_sources import ambiguous, rewritten

pytestmark = pytest.mark.no_device

CALLS = {
    "f<<<g, b>>>(x);": 'f ->* ::PyGPU_Launch("f", g, b)(x);',
    "f << <g, b, 0, s >> >(x);": 'f ->* ::PyGPU_Launch("f", g, b, 0, s )(x);',
    "q::f<<<{32, 1}, 64>>>(x);": 'q::f ->* ::PyGPU_Launch("f", {32, 1}, 64)(x);',
    "table[i]<<<g, b>>>(x);": 'table[i] ->* ::PyGPU_Launch("", g, b)(x);',
    "f<<<g, (a >> 2)>>>(x);": 'f ->* ::PyGPU_Launch("f", g, (a >> 2))(x);',
    "out << 3 << x;": "out << 3 << x;",
    "a = 1 << b; c = d > (e);": "a = 1 << b; c = d > (e);",
    '"f<<<g, b>>>(x)";': '"f<<<g, b>>>(x)";',
    "// f<<<g, b>>>(x);": "// f<<<g, b>>>(x);",
}
TEMPLATES = {
    "t<<<g, b>>>(x);": '::PyGPU_Launch("t", g, b).of([&](auto&... PyGPU_a) { t(PyGPU_a...); })(x);',
    "if (y) q::t<float, 4><<<g, b>>>(x);": 'if (y) ::PyGPU_Launch("t", g, b).of('
    "[&](auto&... PyGPU_a) { q::t<float, 4>(PyGPU_a...); })(x);",
}


@pytest.mark.parametrize("text", [*CALLS, *TEMPLATES])
def test_launches(text):
    found = rewritten(text, {"t"}).replace("  ", " ")
    assert found == {**CALLS, **TEMPLATES}[text]


def test_lines_keep_their_numbers():
    text = "f<<<g,\n    b>>>\n  (x);\nextern __shared__ float a[];\n"
    assert rewritten(text, set()).count("\n") == text.count("\n")


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
    """
    assert ambiguous([text]) == {"one", "two", "three", "seven", "eight", "ten"}
