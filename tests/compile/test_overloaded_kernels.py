"""Kernels that are not the only functions of their names."""

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

by_name = pytest.mark.skipif(
    needs.ON_MACHINE and PyGPU.target != "host",
    reason="the stand-in for AMD's compiler finds kernels by their names alone",
)

TEXTS = {
    "a function of the standard library": (
        "max",
        "__global__ void max(int *a, const int n = 5) { a[threadIdx.x] = n; }",
    ),
    "another function": (
        "f",
        "__device__ int f(int x) { return x + 1; }\n"
        "__global__ void f(int *a, int n) { a[threadIdx.x] = f(n - 1); }",
    ),
    "a template": (
        "g",
        "template <class T> __device__ T g(T x, T y) { return x * y; }\n"
        "__global__ void g(int *__restrict__ a, int n) { a[threadIdx.x] = g(n, 1); }",
    ),
    "a class's function": (
        "run",
        "struct Step { __device__ int run(int n) const { return n; } };\n"
        "__global__ void run(int *a, int n) { a[threadIdx.x] = Step().run(n); }",
    ),
    "in a namespace": (
        "own::swap",
        "namespace own { __device__ void swap(int &a, int &b) { int c = a; a = b; b = c; }\n"
        "__global__ void swap(int *a, int n) { int m = 0; swap(m, n); a[threadIdx.x] = m; } }",
    ),
}


@by_name
@pytest.mark.parametrize("case", TEXTS)
def test_a_kernel_beside(case):
    name, text = TEXTS[case]
    a = gpuarray.zeros(4, np.int32)
    SourceModule(text, no_extern_c=True).get_function(name)(a, np.int32(5), block=(4, 1, 1))
    assert a.get().tolist() == [5] * 4


@pytest.mark.skipif(
    PyGPU.target != "host", reason="the vendors' images have several kernels of a name by others"
)
def test_kernels_of_one_name():
    text = """
template <class T> __global__ void f(T *a) { a[0] = 7; }
extern "C" __global__ void f(int *a, int n) { a[0] = n; }
__global__ void g(int *a) { a[0] = 1; }
__global__ void g(int *a, int n) { a[0] = 2; }
__global__ void h(int *a) { a[0] = 3; }"""
    module = SourceModule(text, no_extern_c=True, name_expressions=["f<int>"])
    a = gpuarray.zeros(1, np.int32)
    for name, arguments, expected in (("f", (5,), 5), ("f<int>", (), 7), ("h", (), 3)):
        module.get_function(name)(a, *map(np.int32, arguments), block=(1, 1, 1))
        assert a.get()[0] == expected
    with pytest.raises(PyGPU.errors.LogicError, match="g"):
        module.get_function("g")


@by_name
@pytest.mark.parametrize("scope", ["", "own"])
def test_overloads(scope):
    text = "__global__ void g(int *a) { a[0] = 1; } __global__ void g(float *a) { a[0] = 2; }"
    module = SourceModule(f"namespace {scope} {{ {text} }}" if scope else text, no_extern_c=True)
    advice = "several kernels {}: .*give each a name of its own"
    full = f"{scope}::g" if scope else "g"
    for name in {"g", full}:
        with pytest.raises(PyGPU.errors.LogicError, match=advice.format(name)):
            module.get_function(name)
    with pytest.raises(PyGPU.errors.LogicError, match=f"the source has {full}$"):
        module.get_function("other")
    if PyGPU.target == "host":
        return
    for kind, dtype, expected in (("i", np.int32, 1), ("f", np.float32, 2)):
        a = gpuarray.zeros(1, dtype)
        name = f"_ZN3own1gEP{kind}" if scope else f"_Z1gP{kind}"
        module.get_function(name)(a, block=(1, 1, 1))
        assert a.get()[0] == expected


@by_name
@pytest.mark.parametrize("is_c", [True, False])
def test_several_in_one_text(is_c):
    # NVIDIA's compiler has functions min and max with C's linkage.
    names = [name for name in STD if not is_c or name not in ("min", "max")]
    module = SourceModule(
        "".join(
            f"__global__ void {name}(int *a) {{ a[0] += {n}; }}" for n, name in enumerate(names)
        ),
        no_extern_c=not is_c,
    )
    a = gpuarray.zeros(1, np.int32)
    for name in names:
        module.get_function(name)(a, block=(1, 1, 1))
    assert a.get()[0] == sum(range(len(names)))


STD = [
    "copy",
    "fill",
    "swap",
    "min",
    "max",
    "sort",
    "count",
    "find",
    "merge",
    "reverse",
    "distance",
]


def test_a_mask_that_leaves_a_lane_out():
    """What such a lane gets is nobody's affair; the others get what they asked for."""
    f = SourceModule(
        "__global__ void f(int *a) { a[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x + 7, 3); }"
    ).get_function("f")
    a = gpuarray.zeros(32, np.int32)
    f(a, block=(32, 1, 1))
    assert a.get()[:16].tolist() == [10] * 16
