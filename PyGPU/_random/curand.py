"""Installed cuRAND and rocRAND: cuRAND's header for kernels, and the tables of both."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from PyGPU._compile.compilers import libraries, rtc
from PyGPU._runtime import capabilities, errors

if TYPE_CHECKING:
    from PyGPU._types import HostArray

# {prefix of the functions: (compiler of the same toolkit, library, its usual version)}
_VENDORS = {"curand": ("nvrtc", "libcurand", 10), "rocrand": ("hiprtc", "librocrand", 1)}


@cache
def library(vendor: str) -> ctypes.CDLL | None:
    """Load the host library "curand" or "rocrand"; return None if it is not installed."""
    compiler, stem, usual = _VENDORS[vendor]
    for path in libraries.candidates(compiler, stem, [f"{stem}.so.{usual}", f"{stem}.so"]):
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def version() -> tuple[int, int, int] | None:
    """Return (major, minor, revision) of cuRAND, or of rocRAND on the hip target, or None."""
    vendor = capabilities.random_library
    found = library(vendor)
    if found is None:
        return None
    number = ctypes.c_int()
    if vendor == "rocrand":
        found.rocrand_get_version(ctypes.byref(number))
        return number.value // 100000, number.value // 100 % 1000, number.value % 100
    numbers = (ctypes.c_int(), ctypes.c_int(), ctypes.c_int())
    for part, value in enumerate(numbers):
        found.curandGetProperty(part, ctypes.byref(value))
    major, minor, revision = numbers
    return major.value, minor.value, revision.value


DIMENSIONS = 20000  # length of the tables

_FUNCTIONS = {  # {(table, bits): (function of cuRAND, of rocRAND)}
    ("vectors", 32): ("curandGetDirectionVectors32", "rocrand_get_direction_vectors32"),
    ("vectors", 64): ("curandGetDirectionVectors64", "rocrand_get_direction_vectors64"),
    ("constants", 32): ("curandGetScrambleConstants32", "rocrand_get_scramble_constants32"),
    ("constants", 64): ("curandGetScrambleConstants64", "rocrand_get_scramble_constants64"),
}


def table(kind: str, bits: int, number: int | None = None) -> HostArray:
    """Return direction vectors (20000, bits) or scramble constants (20000,) of a host library.

    :param {"vectors", "constants"} kind: Table to read.
    :param {32, 64} bits: Bits of an element.
    :param number: Number of the set of vectors.
    :raises NotImplementedError: If neither cuRAND nor a rocRAND with these tables is installed.
    """
    for vendor, name in zip(_VENDORS, _FUNCTIONS[kind, bits]):
        found = library(vendor)
        if found is None or not hasattr(found, name):
            continue
        address = ctypes.c_void_p()
        arguments = [] if number is None else [ctypes.c_int(number)]
        status = getattr(found, name)(ctypes.byref(address), *arguments)
        if status:
            raise errors.LogicError(f"{name} failed: status {status}")
        shape = (DIMENSIONS, bits) if kind == "vectors" else (DIMENSIONS,)
        c_type = ctypes.c_uint32 if bits == 32 else ctypes.c_uint64
        pointer = ctypes.cast(address, ctypes.POINTER(c_type))
        return np.ctypeslib.as_array(pointer, shape)
    raise NotImplementedError(
        "dir_vector, scramble_vector: the default tables of Sobol sequences need cuRAND; install "
        "the CUDA toolkit or 'pip install nvidia-curand' (on AMD rocRAND of ROCm 6 or later), or "
        "pass both arguments"
    )


def _holding(folders: Iterable[str], name: str) -> str | None:
    return next((folder for folder in folders if Path(folder, name).exists()), None)


@cache
def include_dirs() -> tuple[str, ...] | None:
    """Return the folders that cuRAND's header needs besides the compiler's own ones.

    None means that the header is not installed.
    """
    if not capabilities.compiles_vendor_headers:
        return None
    try:
        own = rtc.toolkit_include_options("nvrtc")
    except errors.CompileError:
        return None
    own = [option.replace("-I", "", 1) for option in own]
    folders = libraries.include_folders("nvrtc")
    folders += [os.path.join(folder, "cccl") for folder in folders]
    result = []
    for name in ("curand_kernel.h", "cuda_runtime.h", "nv/target", "cuda/std/type_traits"):
        if _holding(own, name) is None:
            found = _holding(folders, name)
            if found is not None:
                result.append(found)
            elif name.endswith(".h"):  # old toolkits lack the other headers and do not need them
                return None
    return tuple(dict.fromkeys(result))
