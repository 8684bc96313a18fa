"""Cost of a call of a compiled function with four arguments, and of its build: `PyGPU.load` beside
ctypes, cffi, pybind11, nanobind, tvm-ffi and torch, as far as they are installed.

Run: python benchmarks/calls.py [--json FILE]. The function is empty: its arguments are two arrays,
an integer and a floating-point number. Rounds of the candidates alternate. Extensions are compiled
by g++, with ninja where the tool wants it.
"""

import ctypes
import importlib.util
import os
import subprocess
import sys
import sysconfig
import tempfile
import timeit
from pathlib import Path

from timing import medians, peer, report

import PyGPU
import PyGPU.driver as drv
import PyGPU.gpuarray as gpuarray

CALLS, ROUNDS = 2000, 60
BODY = 'extern "C" int nothing(double *a, const double *b, long n, double f) { return 0; }\n'
EXPORTED = "#include <PyGPU/gpu.h>\n#include <PyGPU/export.h>\n"
EXPORTED += "int nothing(double *a, const double *b, long n, double f) { return 0; }\n"
EXPORTED += "int queued(double *a, const double *b, long n, cudaStream_t s) { return 0; }\n"
EXPORTED += "PYGPU_EXPORT(nothing);\nPYGPU_EXPORT(queued);\n"
DECLARED = "int nothing(double *a, const double *b, long n, double f);"
PYBIND11 = """
#include <pybind11/pybind11.h>
#include <cstdint>
PYBIND11_MODULE(with_pybind11, m) {
  m.def("nothing", [](std::uintptr_t, std::uintptr_t, long, double) { return 0; });
}
"""
NANOBIND = """
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <cstdint>
namespace nb = nanobind;
NB_MODULE(with_nanobind, m) {
  m.def("integers", [](std::uintptr_t, std::uintptr_t, long, double) { return 0; });
  m.def("arrays", [](nb::ndarray<double, nb::ndim<1>>, nb::ndarray<const double, nb::ndim<1>>, long,
                     double) { return 0; });
}
"""
TVM = """
#include <tvm/ffi/container/tensor.h>
int nothing(tvm::ffi::TensorView a, tvm::ffi::TensorView b, int64_t n, double f) { return 0; }
"""
TORCH = """
#include <torch/extension.h>
int nothing(at::Tensor a, at::Tensor b, int64_t n, double f) { return 0; }
"""

folder = Path(tempfile.mkdtemp())


def write(name, text):
    (folder / name).write_text(text)
    return folder / name


def timed(statement, function, arrays, **names):
    """The seconds that CALLS runs of a statement take; `f` is the function, `a` and `b` arrays."""
    a, b = arrays
    timer = timeit.Timer(statement, globals={"f": function, "a": a, "b": b, **names})
    return lambda: timer.timeit(CALLS)


def extension(name, sources, *options):
    """Import a module that g++ compiles."""
    built = folder / f"{name}.so"
    words = ["g++", "-std=c++17", "-O3", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden"]
    words += [f"-I{sysconfig.get_path('include')}", *options, *map(str, sources)]
    subprocess.run([*words, "-o", str(built)], check=True)
    spec = importlib.util.spec_from_file_location(name, built)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLAIN = "f(a, b, 3, 0.5)"
POINTERS = "f(a.ptr, b.ptr, 3, 0.5)"


def unchecked(arrays):
    """Calls of the plain C function: {work: callable}."""
    source, built = write("plain.cpp", BODY), folder / "plain.so"
    subprocess.run(["g++", "-O3", "-fPIC", "-shared", source, "-o", built], check=True)
    addresses = [one.ptr for one in arrays]
    function = ctypes.CDLL(str(built)).nothing
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_double]
    found = {
        "PyGPU.load, declared": timed(PLAIN, PyGPU.load(built, DECLARED).nothing, arrays),
        "ctypes, argtypes, a.ptr": timed(POINTERS, function, arrays),
        "ctypes, argtypes, ints ready": timed(PLAIN, function, addresses),
        "ctypes, argtypes, arrays": timed(PLAIN, function, arrays),
    }
    if peer("cffi"):
        ffi = peer("cffi").FFI()
        ffi.cdef(DECLARED)
        function, cast = ffi.dlopen(str(built)).nothing, ffi.cast
        pointers = [cast("double *", one) for one in addresses]
        casts = "f(cast('double *', a.ptr), cast('double *', b.ptr), 3, 0.5)"
        found["cffi, pointers ready"] = timed(PLAIN, function, pointers)
        found["cffi, casts of a.ptr"] = timed(casts, function, arrays, cast=cast)
    return found


def extensions(arrays):
    """Calls of functions in extension modules: {work: callable}."""
    found, addresses = {}, [one.ptr for one in arrays]
    pybind11, nanobind = peer("pybind11"), peer("nanobind")
    if pybind11:
        source = write("with_pybind11.cpp", PYBIND11)
        module = extension("with_pybind11", [source], f"-I{pybind11.get_include()}")
        found["pybind11, ints ready"] = timed(PLAIN, module.nothing, addresses)
        found["pybind11, a.ptr"] = timed(POINTERS, module.nothing, arrays)
    if nanobind:
        root = Path(nanobind.source_dir())
        includes = [nanobind.include_dir(), root.parent / "ext" / "robin_map" / "include"]
        sources = [write("with_nanobind.cpp", NANOBIND), root / "nb_combined.cpp"]
        options = ["-fno-strict-aliasing", *(f"-I{one}" for one in includes)]
        module = extension("with_nanobind", sources, *options)
        found["nanobind, ints ready"] = timed(PLAIN, module.integers, addresses)
        found["nanobind, a.ptr"] = timed(POINTERS, module.integers, arrays)
        found["nanobind, ndarray"] = timed(PLAIN, module.arrays, arrays)
    return found


def seconds_in_a_child(setup, statement):
    """The seconds of a statement in a Python of its own, after the imports of `setup`."""
    program = f"import time\n{setup}\nstart = time.perf_counter()\n{statement}\n"
    program += "print(time.perf_counter() - start)"
    words = [sys.executable, "-c", program]
    environment = {**os.environ, "PYGPU_TARGET": PyGPU.target}
    environment["TVM_FFI_CACHE_DIR"] = environment["TORCH_EXTENSIONS_DIR"] = str(folder)
    done = subprocess.run(words, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.split()[-1])


def builds():
    """{tool: (setup, statement)}: each builds the function at first and loads it afterwards."""
    source = write("exported.cu", EXPORTED)
    tools = {
        "PyGPU": (
            "import PyGPU.library\nPyGPU.gpuarray.zeros(1)  # the runtime begins",
            f"PyGPU.load({str(source)!r}, cache_dir={str(folder / 'cache')!r}).nothing",
        )
    }
    if peer("tvm_ffi"):
        text = f"cpp_sources={TVM!r}, functions=['nothing']"
        tools["tvm-ffi"] = (
            "import tvm_ffi.cpp",
            f"tvm_ffi.cpp.load_inline('nothing', {text}).nothing",
        )
    if peer("torch"):
        text = f"cpp_sources={TORCH!r}, functions=['nothing']"
        tools["torch"] = (
            "import torch.utils.cpp_extension as e",
            f"e.load_inline('nothing', {text}).nothing",
        )
    return tools


def calls():
    """All calls: {work: callable}."""
    arrays = gpuarray.zeros(64, "float64"), gpuarray.zeros(64, "float64")
    library = PyGPU.load(write("exported.cu", EXPORTED))
    found = {
        "PyGPU.load, exported": timed(PLAIN, library.nothing, arrays),
        "PyGPU.load, exported, stream=": timed(
            "f(a, b, 3, stream=stream)", library.queued, arrays, stream=drv.Stream()
        ),
        **unchecked(arrays),
        **extensions(arrays),
    }
    if peer("cupy") and PyGPU.target != "host":
        theirs = [peer("cupy").zeros(64) for _ in range(2)]
        found["PyGPU.load, exported, CuPy's arrays"] = timed(PLAIN, library.nothing, theirs)
    if peer("tvm_ffi"):
        module = peer("tvm_ffi.cpp").load_inline("nothing", cpp_sources=TVM, functions=["nothing"])
        found["tvm-ffi, arrays"] = timed(PLAIN, module.nothing, arrays)
        theirs = [peer("tvm_ffi").from_dlpack(one) for one in arrays]
        found["tvm-ffi, its tensors"] = timed(PLAIN, module.nothing, theirs)
    return found


def main():
    device = drv.Device(0).name()
    found = medians(ROUNDS, calls())
    rows = {work: {"time": 1e6 * seconds / CALLS} for work, seconds in found.items()}
    report("a call of an empty function of four arguments", "us", rows, device)
    table = {"cold": {}, "warm, another process": {}}
    for tool, (setup, statement) in builds().items():
        table["cold"][tool] = 1e3 * seconds_in_a_child(setup, statement)
        again = sorted(seconds_in_a_child(setup, statement) for _ in range(5))
        table["warm, another process"][tool] = 1e3 * again[2]
    report("build and load of the function, after imports", "ms", table, device)


if __name__ == "__main__":
    main()
