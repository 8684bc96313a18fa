"""What a test needs of the machine. Where it is missing the test is skipped; where PYGPU_REQUIRE
names it ("nvrtc,hiprtc"), as CI does for all that it has installed, the test fails instead."""

import ctypes
import importlib
import os
import shutil

import pytest

import PyGPU
from PyGPU import errors
from PyGPU._compile import device_link, link, rtc
from PyGPU._runtime.targets import runtime_library

PROGRAMS = {"g++", "clang++", "nvcc", "hipcc"}
TARGETS = {"nvrtc": "cuda", "hiprtc": "hip"}
COMPILERS = {*TARGETS, "nvjitlink"}
HEADERS = {"cuda", "cccl", "curand", "doctest", "cudadevrt"}
MODULES = {"torch", "cupy", "numba.cuda", "jax", "matplotlib", "ml_dtypes", "mpi4py.MPI"}
KNOWN = PROGRAMS | COMPILERS | HEADERS | MODULES | {"devices"}  # devices: two of them


def _is_standin():
    """Does the target hip run on the stand-in for AMD's runtime (tests/standin)?"""
    if PyGPU.target != "hip":
        return False
    return hasattr(ctypes.CDLL(runtime_library("hip")), "PyGPU_is_standin")


STANDIN = _is_standin()
ON_MACHINE = STANDIN or PyGPU.target == "host"  # what runs is the host machine
#: How runtimes name errors; HIP has no more than names for them.
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
    """Skip, or fail where it is required."""
    assert what in KNOWN, what
    if what in required():
        pytest.fail(f"PYGPU_REQUIRE names {what}, but {reason}", pytrace=False)
    pytest.skip(reason)


def program(name):
    """The path of a compiler on PATH."""
    return shutil.which(name) or missing(name, f"{name} is not on PATH")


def compiler(prefix):
    """A vendor's run-time compiler: "nvrtc" or "hiprtc".

    What it makes needs no GPU, but is the same whatever the target in use: the target whose
    compiler it is looks at it, and others where it is required.
    """
    if STANDIN and prefix == "hiprtc":
        pytest.skip("about AMD's own compiler, whose place the stand-in's takes")
    if PyGPU.target != TARGETS[prefix] and prefix not in required():
        pytest.skip(f"the target {TARGETS[prefix]} tests its compiler; else PYGPU_REQUIRE={prefix}")
    try:
        return rtc.library(prefix)
    except errors.CompileError as error:
        missing(prefix, error.msg)


def device_linker():
    """nvJitLink."""
    nvrtc = compiler("nvrtc")
    return device_link.nvjitlink(nvrtc.path, nvrtc.version()[0]) or missing(
        "nvjitlink", device_link.MISSING
    )


def device_runtime():
    """NVIDIA's library by which kernels launch kernels."""
    try:
        return link.nvidia_library("cudadevrt")
    except OSError as error:
        missing("cudadevrt", str(error))


def module(name):
    try:
        return importlib.import_module(name)
    except (ImportError, RuntimeError) as error:  # mpi4py finds no MPI
        missing(name, f"{name} is not installed: {error}")
