"""What a test needs of the machine. Where it is missing the test is skipped; where PYGPU_REQUIRE
names it ("nvrtc,hiprtc"), as CI does for all that it has installed, the test fails instead."""

import importlib
import os
import shutil

import pytest

from PyGPU import errors
from PyGPU._compile import rtc

PROGRAMS = {"g++", "clang++", "nvcc", "hipcc"}
COMPILERS = {"nvrtc", "hiprtc"}
HEADERS = {"cuda", "cccl", "curand", "rocrand", "doctest"}
MODULES = {"torch", "cupy", "numba.cuda", "jax", "matplotlib"}
KNOWN = PROGRAMS | COMPILERS | HEADERS | MODULES | {"devices"}  # devices: two of them


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
    """A run-time compiler: "nvrtc" or "hiprtc"."""
    try:
        return rtc.library(prefix)
    except errors.CompileError as error:
        missing(prefix, error.msg)


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing(name, f"{name} is not installed: {error}")
