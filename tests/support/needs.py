"""Requirements of tests: a test is skipped if its requirement is missing.

If PYGPU_REQUIRE names the requirement ("nvrtc,hiprtc"), the test fails instead. CI names all that
it has installed.
"""

import ctypes
import importlib
import os
import shutil

import pytest

import PyGPU
from PyGPU import errors
from PyGPU._runtime import targets

if "kernels" in targets.installed:
    from PyGPU._compile.compilers import cuda, device_link, rtc
    from PyGPU._library import toolchains

PROGRAMS = {"g++", "clang++", "nvcc", "hipcc", "localedef", "cmake"}
TARGETS = {"nvrtc": "cuda", "hiprtc": "hip"}
COMPILERS = {*TARGETS, "nvjitlink"}
HEADERS = {"cuda", "cccl", "curand", "doctest", "cudadevrt"}
MODULES = {
    "astropy.units",
    "quantities",
    "unyt",
    "cloudpickle",
    "dask",
    "nccl.core",
    "dask.array",
    "distributed",
    "h5py",
    "torch",
    "cupy",
    "numba",
    "numba.cuda",
    "jax",
    "matplotlib",
    "ml_dtypes",
    "mpi4py.MPI",
    "nanobind",
    "numpydoc",
    "PyInstaller",
    "pybind11",
    "pytensor",
    "sphinx_gallery",
    "tblib",
}
KNOWN = PROGRAMS | COMPILERS | HEADERS | MODULES | {"devices"}  # devices: two or more


def compiler_of_files():
    """Return the path of the target's compiler for files, which PyGPU.load runs."""
    try:
        return toolchains.of(None).compiler()
    except errors.CompilerMissing as error:
        pytest.skip(f"the target {PyGPU.target} has no compiler for files here: {error}")


def _is_standin():
    """Report whether the target hip runs on the stand-in for AMD's runtime (tests/standin)."""
    if PyGPU.target != "hip":
        return False
    return hasattr(ctypes.CDLL(targets.runtime_library("hip")), "PyGPU_is_standin")


STANDIN = _is_standin()
ON_MACHINE = STANDIN or PyGPU.target == "host"  # the host machine executes the work
#: Settings for Open MPI, which does not run as root without them, as in a container.
MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
#: Error texts of the runtimes; HIP may only return the name of an error.
NO_MEMORY = "out of memory" + ("|hipErrorOutOfMemory" if PyGPU.use_hip else "")
NOT_SUPPORTED = "not supported" + ("|hipErrorNotSupported" if PyGPU.use_hip else "")
#: The version of HIP, (major, minor); (0, 0) on other targets.
HIP = (0, 0)
if PyGPU.target == "hip":
    _version = PyGPU.cudaRuntimeGetVersion()[0]
    HIP = (_version // 10_000_000, _version // 100_000 % 100)


def required():
    return set(filter(None, os.environ.get("PYGPU_REQUIRE", "").replace(" ", "").split(",")))


def missing(what, reason):
    """Skip the test, or fail it if PYGPU_REQUIRE names the requirement."""
    assert what in KNOWN, what
    if what in required():
        pytest.fail(f"PYGPU_REQUIRE names {what}, but {reason}", pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def program(name):
    """Return the path of a compiler on PATH."""
    return shutil.which(name) or missing(name, f"{name} is not on PATH")


def compiler(prefix):
    """Return a vendor's run-time compiler, "nvrtc" or "hiprtc".

    Its output needs no GPU and does not depend on the target in use. So only the vendor's own
    target tests it, and other targets if PYGPU_REQUIRE names it.
    """
    if STANDIN and prefix == "hiprtc":
        pytest.skip("tests AMD's own compiler, which the stand-in's compiler replaces")
    if PyGPU.target != TARGETS[prefix] and prefix not in required():
        pytest.skip(f"the target {TARGETS[prefix]} tests its compiler; else PYGPU_REQUIRE={prefix}")
    try:
        return rtc.library(prefix)
    except errors.CompileError as error:
        missing(prefix, error.msg)


def standard(prefix, name):
    """Skip the test if a vendor's run-time compiler lacks a standard of C++."""
    if prefix == "nvrtc" and name == "c++20" and compiler(prefix).version() < (12, 0):
        pytest.skip("NVRTC has C++20 since CUDA 12")


def device_linker():
    """Return nvJitLink."""
    nvrtc = compiler("nvrtc")
    return device_link.nvjitlink(nvrtc.path, nvrtc.version()[0]) or missing(
        "nvjitlink", device_link.MISSING
    )


def device_runtime():
    """Return NVIDIA's device runtime, the library by which kernels launch kernels."""
    try:
        return cuda.nvidia_library("cudadevrt")
    except OSError as error:
        missing("cudadevrt", str(error))


def module(name):
    try:
        return importlib.import_module(name)
    except (ImportError, RuntimeError) as error:  # mpi4py finds no MPI
        missing(name, f"{name} is not installed: {error}")
