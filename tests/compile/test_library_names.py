"""Kernels, functions, variables and types may have names of the C library that CUDA leaves free."""

import numpy as np
import pytest

import PyGPU
from PyGPU import gpuarray
from PyGPU._compile.source import library_names
from PyGPU.compiler import SourceModule, compile

# NVRTC declares none of these names, or as an overload in C++.
KERNELS = "fmul daddl htobe16 fmaximum totalorder nextup stdin mulhi "
KERNELS += "div select remove rename random rand gamma time clock exit abort index unix linux key_t"
# NVRTC's own functions, which C names cannot overload.
OVERLOADS = "exp log sin abs round printf erf y0 j0 free pow max"
if PyGPU.target == "hip":  # HIPRTC of ROCm 7 declares abort itself, and has no kernels named printf
    KERNELS, OVERLOADS = KERNELS.replace(" abort", ""), OVERLOADS.replace(" printf", "")
FREE = [name for name in KERNELS.split() if name not in ("clock", "mulhi", "unix", "linux")]


def run(module, name, count=1, *more):
    out = gpuarray.zeros(count, np.float32)
    module.get_function(name)(out, *more, block=(1, 1, 1))
    return out.get().tolist()


@pytest.mark.parametrize("no_extern_c", [False, True])
def test_kernels(no_extern_c):
    names = KERNELS.split()
    kernels = (
        f"__global__ void {name}(float *x) {{ x[0] = {k}; }}" for k, name in enumerate(names)
    )
    module = SourceModule("\n".join(kernels), no_extern_c=no_extern_c)
    assert [run(module, name) for name in names] == [[k] for k in range(len(names))]


def test_kernels_that_overload_a_function():
    names = OVERLOADS.split()
    kernels = (
        f"__global__ void {name}(float *x) {{ x[0] = {k} + cosf(0); }}"
        for k, name in enumerate(names)
    )
    module = SourceModule("\n".join(kernels), no_extern_c=True)
    assert [run(module, name) for name in names] == [[k + 1] for k in range(len(names))]


def test_a_kernel_that_calls_the_function_of_its_name():
    text = """
    __global__ void exp(float *x) { x[0] = exp(x[0]); }
    __global__ void clock(float *x) { x[0] = clock() != 0; }
    __global__ void memset(float *x) { x[0] = 5; memset(x, 0, 4); }
    __global__ void time(float *time) { time[0] = 3; }
    """
    module = SourceModule(text, no_extern_c=True)
    assert [run(module, name) for name in ("exp", "clock", "memset", "time")] == [
        [1],
        [1],
        [0],
        [3],
    ]


@pytest.mark.parametrize("no_extern_c", [False, True])
def test_functions_variables_and_types(no_extern_c):
    functions = (
        f"__device__ float {n}(float *x) {{ return *x + {k}; }}" for k, n in enumerate(FREE)
    )
    calls = (f"x[{k}] = {name}(x + 99);" for k, name in enumerate(FREE))
    module = SourceModule(
        f"{' '.join(functions)} __global__ void f(float *x) {{ {' '.join(calls)} }}",
        no_extern_c=no_extern_c,
    )
    assert run(module, "f", 100)[: len(FREE)] == list(range(len(FREE)))

    variables = (f"__device__ float {name}[2] = {{0, {k}}};" for k, name in enumerate(FREE))
    reads = (f"x[{k}] = {name}[1];" for k, name in enumerate(FREE))
    module = SourceModule(
        f"__constant__ float alpha = 2, tm; {' '.join(variables)}"
        f"__global__ void f(float *x) {{ {' '.join(reads)} x[99] = alpha + tm; }}",
        no_extern_c=no_extern_c,
    )
    assert run(module, "f", 100) == [*range(len(FREE)), *[0] * (99 - len(FREE)), 2]
    assert {module.get_global(name)[1] for name in FREE} == {8}

    types = (f"typedef float {name};" for name in FREE)
    uses = (f"{name} y{k} = {k}; x[{k}] = y{k};" for k, name in enumerate(FREE))
    module = SourceModule(
        f"{' '.join(types)} __global__ void f(float *x) {{ {' '.join(uses)} }}",
        no_extern_c=no_extern_c,
    )
    assert run(module, "f", 100)[: len(FREE)] == list(range(len(FREE)))


@pytest.mark.skipif(PyGPU.target != "host", reason="the C library is the host target's")
@pytest.mark.parametrize(
    "text",
    [
        "__device__ float {}(float x, float y) {{ return x * y; }}",
        "__device__ double {}(double x) {{ return x; }}",
        "__global__ void {}(float *x) {{ x[0] = 1; }}",
        "struct {} {{ float x; }};",
    ],
)
def test_all_names(text):
    compile("\n".join(map(text.format, library_names.NAMES)), no_extern_c=True)


def test_a_function_of_the_program_replaces_one_of_the_same_type():
    text = """
    __device__ size_t strlen(const char *) { return 77; }
    __device__ int rand() { return 5; }
    __global__ void f(float *x) { char text[4] = "abc"; x[0] = strlen(text) + rand(); }
    """
    assert run(SourceModule(text), "f") == [82]


def test_names_in_the_compiler_s_messages():
    with pytest.raises(Exception, match="time") as caught:
        SourceModule("__global__ void time(float *x) { x[0] = missing; }")
    assert "missing" in caught.value.stderr
    assert library_names.PREFIX not in caught.value.stderr


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("__global__ void div(float *x)", ["div"]),
        ("__constant__ float a, gamma;", ["gamma"]),
        ("float *rand(int)", ["rand"]),
        ("struct { int x; } time;", ["time"]),
        ("enum { remove, rename = 2 };", ["remove", "rename"]),
        (
            "f(1, rand()); return clock(); else exit(1); p->time; std::remove(x);",
            [],
        ),
        ("int divide; float div2(int);", []),
        ('printf("elapsed time: %f"); // int clock;', []),
        ("#define DECLARE float gamma;", ["gamma"]),
        ("bool a = x && isnormal(y);", []),
        ("float fminimum_numf(float); u = getc_unlocked_2;", ["fminimum_numf"]),
    ],
)
def test_declared_names(text, names):
    assert library_names.declared([text.encode()]) == names


@pytest.mark.parametrize("mark", ["\ufeff", "\n\ufeff", "__device__ int one;\n\ufeff"])
def test_byte_order_marks(mark):
    """A mark starts a file, and may stand within texts that were put together from files."""
    assert run(SourceModule(f"{mark}__global__ void f(float *x) {{ x[0] = 7; }}"), "f") == [7]
