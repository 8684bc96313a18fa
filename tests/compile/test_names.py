"""Kernels, variables and references by C++ names, as in NVRTC's name expressions."""

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import driver as drv
from PyGPU import errors, gpuarray
from PyGPU._compile.compilers import build, hip
from PyGPU._driver import kernel_names
from PyGPU.compiler import DynamicModule, SourceModule, compile

TEXT = """
namespace q {
__constant__ float C[4];
namespace { __device__ float hidden[4]; }
namespace r { __device__ float m[4]; }
__global__ void f(float *x) {
    int i = threadIdx.x;
    x[i] = C[i] + hidden[i] + r::m[i];
}
}
static __constant__ float internal[4];
__device__ struct { float x[4]; } unnamed;
template <class T> __device__ T instance[4] = {T(1)};
__device__ float plain[4];
__global__ void g(float *x) {
    int i = threadIdx.x;
    x[i] = internal[i] + unnamed.x[i] + instance<float>[i] + plain[i];
}
template <class T> __global__ void scale(T *x) { x[threadIdx.x] *= 3; }
"""
REQUESTED = ["&instance<float>", "&scale<float>", "::scale<int>"]
VARIABLES = {
    "q::C": ("f", ["q::C", "&q::C", "C", " ::q :: C"]),
    "q::hidden": ("f", ["q::hidden", "hidden"]),
    "q::r::m": ("f", ["q::r::m", "&q::r::m", "m"]),
    "internal": ("g", ["internal", "&internal", "::internal"]),
    "unnamed": ("g", ["unnamed", "&unnamed"]),
    "instance<float>": ("g", ["instance<float>", "&instance< float >"]),
    "plain": ("g", ["plain", "&plain", "::plain"]),
}


@pytest.fixture(scope="module")
def module():
    return SourceModule(TEXT, no_extern_c=True, name_expressions=REQUESTED)


@pytest.mark.parametrize("variable", VARIABLES)
def test_variables(module, variable):
    kernel, names = VARIABLES[variable]
    found = {module.get_global(name) for name in names}
    assert len(found) == 1
    ((address, nbytes),) = found
    assert nbytes == 16
    before, after = (gpuarray.zeros(4, np.float32) for _ in range(2))
    run = module.get_function(f"q::{kernel}" if kernel == "f" else kernel)
    run(before, block=(4, 1, 1))
    values = np.array([1, 2, 3, 4], np.float32)
    held = drv.from_device(address, 4, np.float32)
    drv.memcpy_htod(address, values)
    run(after, block=(4, 1, 1))
    assert (after.get() - before.get() == values - held).all()
    drv.memcpy_htod(address, held)


def test_kernels(module):
    for name in ("q::f", "f", "&q::f", "::q::f", "_ZN1q1fEPf"):
        assert module.get_function(name).num_regs >= 0
    for names, dtype in ((("scale<float>", "&scale<float>"), "f4"), (("scale<int>",), "i4")):
        for name in names:
            x = gpuarray.to_gpu(np.array([1, 2], dtype))
            module.get_function(name)(x, block=(2, 1, 1))
            assert x.get().tolist() == [3, 6]


def test_listings_have_names_that_work(module):
    with pytest.raises(errors.LogicError, match=r"get_global.*'zz' not found.* has ") as caught:
        module.get_global("zz")
    listed = str(caught.value).rpartition("the source has ")[2].split(", ")
    assert sorted(listed) == ["internal", "plain", "q::C", "q::hidden", "q::r::m", "unnamed"]
    for name in listed:
        assert module.get_global(name)[1] == 16
    for name in ("x::C", "q::plain", "C<int>"):
        with pytest.raises(errors.LogicError, match="not found"):
            module.get_global(name)
    with pytest.raises(errors.LogicError, match=r"name_expressions=\['&instance<double>'\]"):
        module.get_global("instance<double>")


@pytest.mark.skipif(PyGPU.target == "cuda", reason="NVRTC allows no data members on devices")
def test_members_of_classes():
    text = """
struct S { static __device__ int x; }; __device__ int S::x = 3;
class P { static __device__ int hidden; public: static __device__ int open; };
__device__ int P::open = 4, P::hidden;
__global__ void f(int *x) { *x = S::x + P::open; }"""
    module, x = SourceModule(text, no_extern_c=True), gpuarray.zeros(1, np.int32)
    for name, value in (("S::x", 30), ("&P::open", 40)):
        drv.memcpy_htod(module.get_global(name)[0], np.array([value], np.int32))
    module.get_function("f")(x, block=(1, 1, 1))
    assert x.get()[0] == 70
    with pytest.raises(errors.LogicError, match=r"'zz' not found.* has S::x, P::open$"):
        module.get_global("zz")


def test_names_in_a_namespace_without_mangling():
    text = "namespace q { __device__ int v = 3; __global__ void f(int *x) { *x = v; } }"
    module, x = SourceModule(text), gpuarray.zeros(1, np.int32)
    assert module.get_global("q::v") == module.get_global("v")
    for name in ("q::f", "f"):
        module.get_function(name)(x.fill(0), block=(1, 1, 1))
        assert x.get()[0] == 3


@pytest.mark.parametrize("load", ["module_from_buffer", "DynamicModule"])
def test_images_without_their_text(load):
    text = "namespace q { __device__ int v = 3; __global__ void f(int *x) { *x = v; } }"
    if load == "DynamicModule":
        module = DynamicModule(no_extern_c=True).add_source(text).link()
    else:
        module = drv.module_from_buffer(compile(text, no_extern_c=True))
    x = gpuarray.zeros(1, np.int32)
    assert module.get_global("q::v") == module.get_global("v") == module.get_global("_ZN1q1vE")
    for name in ("q::f", "f"):
        module.get_function(name)(x.fill(0), block=(1, 1, 1))
        assert x.get()[0] == 3


def test_overloads():
    text = "__global__ void g(float *x) { *x = 1; } __global__ void g(int *x) { *x = 2; }"
    module = SourceModule(text, no_extern_c=True)
    for name, dtype, expected in (("_Z1gPf", np.float32, 1), ("_Z1gPi", np.int32, 2)):
        x = gpuarray.zeros(1, dtype)
        module.get_function(name)(x, block=(1, 1, 1))
        assert x.get()[0] == expected
    for name in ("_Z1gPd", "g"):
        with pytest.raises(errors.LogicError, match="not found"):
            module.get_function(name)


@pytest.mark.no_device
def test_hiprtcs_refusal_of_casts_is_a_compile_error():
    with pytest.raises(errors.CompileError, match="HIPRTC takes no casts") as caught:
        hip._as_hiprtc_takes_it("(void(*)(float*))g")
    assert caught.value.command_line == ["hiprtc"]


def test_casts():
    text = "__global__ void g(float *x) { *x = 1; } __global__ void g(int *x) { *x = 2; }"
    if PyGPU.target == "hip":
        with pytest.raises(errors.CompileError, match=r"HIPRTC takes no casts such as '\(void"):
            SourceModule(text, no_extern_c=True, name_expressions=["(void(*)(float*))g"])
        return
    module = SourceModule(text, no_extern_c=True, name_expressions=["(void(*)(float*))g"])
    x = gpuarray.zeros(1, np.float32)
    for name in ("(void(*)(float*))g", "(void (*)(float *)) g"):
        module.get_function(name)(x.fill(0), block=(1, 1, 1))
        assert x.get()[0] == 1


def test_a_mangled_name_has_the_types():
    module = SourceModule("__global__ void f(float *x) {}", no_extern_c=True)
    assert module.get_function("_Z1fPf").num_regs >= 0
    with pytest.raises(errors.LogicError, match="'_Z1fPd' not found"):
        module.get_function("_Z1fPd")


def test_variables_that_a_condition_excludes():
    text = "#if 0\nnamespace q { __device__ int v; }\n#endif\n" + TEXT
    module = SourceModule(text, no_extern_c=True)
    assert module.get_global("q::C")[1] == 16
    with pytest.raises(errors.LogicError, match="'q::v' not found"):
        module.get_global("q::v")


@pytest.mark.no_device
def test_names_from_amds_compiler_without_a_device():
    needs.compiler("hiprtc")
    made = build.build_for(build.Request(TEXT, extern_c=False, expressions=REQUESTED), "gfx90a")
    assert made.names["&scale<float>"] == "_Z5scaleIfEvPT_"
    assert made.names["::scale<int>"] == "_Z5scaleIiEvPT_"
    assert made.names["&q::C"] == "_ZN1q1CE"  # a variable that nobody asked for


@pytest.mark.no_device
def test_names_from_nvidias_compiler_without_a_device():
    needs.compiler("nvrtc")
    request = build.Request(TEXT, extern_c=False, expressions=(*REQUESTED, "(void(*)(float*))g"))
    made = build.build_for(request, "sm_90")
    for name in ("q::C", "q::hidden", "q::r::m", "internal", "unnamed"):
        lowered = made.names[f"&{name}"]
        assert lowered.encode() in made.image and lowered.endswith(("E", name))
    assert made.names["(void(*)(float*))g"] == "_Z1gPf"
    for find, name, expected in (
        (kernel_names.variable_in, "q::r::m", "_ZN1q1r1mE"),
        (kernel_names.variable_in, "hidden", made.names["&q::hidden"]),
        (kernel_names.kernel_in, "f", "_ZN1q1fEPf"),
        (kernel_names.kernel_in, "scale<int>", "_Z5scaleIiEvPT_"),
        (kernel_names.kernel_in, "scale", None),
    ):
        assert find(made.image, name) == expected


INSTANCES = """
template <class T> __global__ void fill(T *a) { a[0] = 7; }
template __global__ void fill<float>(float *);
template <> __global__ void fill<char>(char *a) { a[0] = 1; }
template <class T, int n> __global__ void __launch_bounds__(64) number(T *a) { a[0] = n; }
template __global__ void __launch_bounds__(64) number<double, 3>(double *a);
template void __global__ number<int, 4>(int *a);
#define INSTANCE(T) template __global__ void deduced(T *);
template <class T> __global__ void deduced(T *a) { a[0] = 6; }
INSTANCE(short) INSTANCE(int)
namespace q {
template <class T> __global__ void inside(T *a) { a[0] = 9; }
template __global__ void inside<float>(float *);
}
__global__ void plain(float *a, int n) { a[0] = n; }
"""


def test_explicit_instances_by_mangled_names():
    module = SourceModule(INSTANCES, no_extern_c=True)
    for name, dtype, value in [
        ("_Z4fillIfEvPT_", "f4", 7),
        ("_Z4fillIcEvPT_", "i1", 1),
        ("_Z6numberIdLi3EEvPT_", "f8", 3),
        ("_Z6numberIiLi4EEvPT_", "i4", 4),
        ("_Z7deducedIsEvPT_", "i2", 6),
        ("_Z7deducedIiEvPT_", "i4", 6),
        ("_ZN1q6insideIfEEvPT_", "f4", 9),
        ("fill<float>", "f4", 7),
    ]:
        a = gpuarray.zeros(2, dtype)
        module.get_function(name)(a, block=(1, 1, 1))
        assert a.get().tolist() == [value, 0], name
    a = gpuarray.zeros(1, np.float32)
    module.get_function("plain")(a, 5, block=(1, 1, 1))  # the reader knows its parameters
    assert a.get()[0] == 5


@pytest.mark.parametrize(
    "expression",
    [
        "(scale<float>)",
        "(&scale<float>)",
        "&(scale<float>)",
        "(void (*)(float *))scale",
        "(void (*)(float *))(scale)",
        "static_cast<void (*)(float *)>(scale)",
        "static_cast<void (*)(float *)>(&scale<float>)",
    ],
)
def test_expressions_in_brackets_and_casts(expression):
    module = SourceModule(TEXT, no_extern_c=True, name_expressions=[expression])
    x = gpuarray.to_gpu(np.array([2], np.float32))
    module.get_function(expression)(x, block=(1, 1, 1))
    assert x.get()[0] == 6
