"""Kernels' parameters as the compiler sees them: whatever the preprocessor makes of the text."""

import re

import needs
import numpy as np
import pytest
from everywhere import by_backend

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU._compile.compilers import build as _build
from PyGPU._compile.source import kernel_types
from PyGPU.compiler import CompileError, SourceModule

COMPILERS = [("g++", "host", None), ("nvrtc", "cuda", "sm_90"), ("hiprtc", "hip", "gfx90a")]


@pytest.fixture(params=COMPILERS, ids=[row[0] for row in COMPILERS])
def told(request, cache):
    """told(source, *options) -> {kernel: "P8 f4"}, as it is kept with the image."""
    compiler, backend, arch = request.param
    (needs.program if compiler == "g++" else needs.compiler)(compiler)

    def build(source, *options, **settings):
        wanted = _build.Request(source, options=options, cache_dir=cache, **settings)
        for _ in ("compiled", "from the cache"):
            entry = by_backend(backend, wanted, options, arch)
        return {
            name: " ".join(f"{kind[0]}{nbytes}" for _, kind, nbytes in parameters)
            for name, parameters in entry.parameters.items()
        }

    build.compiler = compiler
    return build


CONDITION = """
#ifdef FLOATS
typedef float real;
#else
typedef int real;
#endif
__global__ void f(real *p, real x, const real y[], unsigned char c, float2 v) {}
"""


@pytest.mark.no_device
def test_types_under_conditions(told):
    assert told(CONDITION) == {"f": "P8 i4 P8 u1 ?0"}
    assert told(CONDITION, "-DFLOATS") == {"f": "P8 f4 P8 u1 ?0"}


@pytest.mark.no_device
def test_types_from_options_and_headers(told, tmp_path):
    (tmp_path / "real.h").write_text("using real = double;\ntypedef unsigned long long big;\n")
    source = '#include "real.h"\n__global__ void f(real x, REAL y, big n, bool b) {}'
    assert told(source, f"-I{tmp_path}", "-DREAL=short") == {"f": "f8 i2 u8 b1"}


TWICE = """
#if BITS == 64
__global__ void f(double x, int n) {}
#else
__global__ void f(float x, int n) {}
#endif
"""


@pytest.mark.no_device
def test_kernels_under_conditions(told):
    assert told(TWICE, "-DBITS=64") == {"f": "f8 i4"}
    assert told(TWICE, "-DBITS=32") == {"f": "f4 i4"}


@pytest.mark.no_device
def test_a_kernel_that_is_not_there(told):
    """The compiler cannot be asked for it, nor then for the others: what is not sure is unknown."""
    source = "#if 0\ntypedef int real;\n__global__ void no(real x) {}\n#endif\n"
    source += "typedef float real;\n__global__ void f(real x, real *p) {}\n"
    found = told(source + "__global__ void g(double x) {}")
    assert found["f"] == ("f4 P8" if told.compiler == "g++" else "?0 P8") and found["g"] == "f8"


@pytest.mark.no_device
def test_instances_of_templates(told):
    source = """
    template <class T, int n> __global__ void one(T *a, T x, int m) {}
    namespace outer { template <class T> __global__ void deep(T x) {} }
    """
    names = ("one<double, 4>", "one<unsigned char, 1>", "outer::deep<long>", "outer::deep<int *>")
    found = told(source, extern_c=False, expressions=names)
    expected = dict(zip(names, ("P8 f8 i4", "P8 u1 i4", "i8", "P8")))
    assert {name: found[name] for name in names} == expected


@pytest.mark.no_device
def test_plain_text_is_compiled_as_it_stands(told, monkeypatch):
    """No question where the text itself tells."""
    monkeypatch.setattr(kernel_types, "questions", lambda names: "" if not names else "nonsense")
    source = "typedef int own;\n#define N 5\n__global__ void f(const float *p, unsigned n) {}"
    assert told(source) == {"f": "P8 u4"}


MANGLED = {
    "_Z4axpyPffi": "P8 f4 i4",
    "_Z1fv": "",
    "_Z1gIlEvT_": "i8",
    "_ZN5outer1hENS_1ZEmbPKc": "?0 u8 b1 P8",
    "_Z1fPFviE6__halfN6pycuda7complexIfEE": "P8 f2 c8",
    "_Z1fhatsyxd": "u1 i1 u2 i2 u8 i8 f8",
}


@pytest.mark.no_device
@pytest.mark.parametrize("name", MANGLED)
def test_names_of_cpp(name):
    found = kernel_types.of_mangled(name)
    assert " ".join(f"{one.kind[0]}{one.nbytes}" for one in found) == MANGLED[name]


@pytest.mark.no_device
@pytest.mark.parametrize("name", ["", "f", "_Z", "_Z1", "_ZTV1A", "_Z4axpy", "_Zééé", "_Z1fQQ"])
def test_what_is_no_function_of_cpp(name):
    assert kernel_types.of_mangled(name) is None


@pytest.mark.no_device
def test_kernels_in_a_header_of_the_system(told, tmp_path, monkeypatch):
    if told.compiler != "g++":
        pytest.skip("run-time compilers have no such folders")
    (tmp_path / "kernels.h").write_text("__global__ void inside(int n) {}\n")
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(tmp_path))
    found = told("#include <kernels.h>\n#define N 5\n__global__ void f(float x) {}")
    assert found == {"inside": "i4", "f": "f4"}


@pytest.mark.no_device
def test_an_error_of_the_preprocessor_stands_in_the_users_lines(told):
    with pytest.raises(CompileError) as caught:
        told('#define N 5\n\n#include "nothing.h"\n__global__ void f(float x) {}')
    first = caught.value.stderr.splitlines()[0]
    assert re.match(r"kernel\.cu(\(3\)|:3:)", first) and "nothing.h" in first


# Launches.

ONE = {"block": (1, 1, 1)}


def test_plain_numbers_become_what_the_compiler_says():
    out = gpuarray.zeros(1, np.float32)
    source = CONDITION.replace("{}", "{ *p = x; }")
    kernel = SourceModule(source, options=["-DFLOATS"]).get_function("f")
    others = (0, np.uint8(1), np.zeros(2, np.float32))
    for value, expected in ((3, 3), (np.float32(4.5), 4.5), (-0.25, -0.25)):
        kernel(out, value, *others, **ONE)
        assert out.get()[0] == expected
    with pytest.raises(drv.ArgumentError, match="x"):
        kernel(out, "3", *others, **ONE)
    out = gpuarray.zeros(1, np.int32)
    kernel = SourceModule(source).get_function("f")
    kernel(out, 3, *others, **ONE)
    assert out.get()[0] == 3
    with pytest.raises(drv.ArgumentError):
        kernel(out, 3.5, *others, **ONE)


def test_prepared_calls_of_types_under_conditions():
    out = gpuarray.zeros(1, np.float32)
    source = "#ifdef FLOATS\ntypedef float real;\n#else\ntypedef int real;\n#endif\n"
    source += "__global__ void f(real *p, real x) { *p = x; }"
    kernel = SourceModule(source, options=["-DFLOATS"]).get_function("f").prepare("Pf")
    kernel.prepared_call((1, 1), (1, 1, 1), out.gpudata, 2.5)
    assert out.get()[0] == 2.5


MACROS = """
#include <cuda_runtime.h>
#define KERNEL __global__
#define NAME five
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define DECLARE(name, value) KERNEL void name(int *out, int more) { *out = value + more; }
KERNEL void NAME(int *out, int more) { *out = 5 + more; }
__global__ void JOIN(si, x)(int *out, int more) { *out = 6 + more; }
DECLARE(seven, 7)
"""


@pytest.mark.parametrize("name", ["five", "six", "seven"])
def test_kernels_that_macros_declare(name):
    """Their types are known on the host, where the preprocessed text is read."""
    out = gpuarray.zeros(1, np.int32)
    SourceModule(MACROS).get_function(name)(out, np.int32(100), **ONE)
    assert out.get()[0] == 100 + {"five": 5, "six": 6, "seven": 7}[name]


def test_vectors_that_say_how_they_are_aligned():
    if PyGPU.target == "hip" or (PyGPU.target == "cuda" and drv.get_version()[0] < 13):
        pytest.skip("CUDA has them from version 13 on")
    kernel = SourceModule(
        """
        struct pair { char tag; double4_16a near; char other; long4_32a far; };
        __global__ void f(double *out, double4_16a v, ulonglong4_32a w, pair p)
        {
          const double4_32a s = make_double4_32a(v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w);
          out[0] = s.x, out[1] = s.y, out[2] = s.z, out[3] = s.w;
          out[4] = sizeof(pair), out[5] = alignof(double4_16a), out[6] = p.near.w + p.far.x;
        }"""
    ).get_function("f")
    numbers = np.arange(1.0, 5)
    places = {"tag": 0, "near": 16, "other": 48, "far": 64}
    types = ["i1", ("f8", 4), "i1", ("i8", 4)]
    layout = {"names": list(places), "formats": types, "offsets": list(places.values())}
    pair = np.zeros((), {**layout, "itemsize": 96})
    pair["near"], pair["far"] = numbers, 10 * numbers
    out = gpuarray.zeros(7, np.float64)
    kernel(
        out,
        *(np.array(one).view("V32")[0] for one in (numbers, 10 * numbers.astype("u8"))),
        pair[()],
        block=(1, 1, 1),
    )
    assert out.get().tolist() == [11, 22, 33, 44, 96, 16, 14]
