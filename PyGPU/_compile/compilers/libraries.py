"""Search for the vendors' libraries at run time: in toolkits, by cuda-pathfinder, by the loader."""

from __future__ import annotations

import ctypes
import glob
import importlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from PyGPU._runtime import CompilerMissing, toolkits

#: The vendors by the prefixes of their run-time compilers.
VENDORS = {"nvrtc": toolkits.CUDA, "hiprtc": toolkits.ROCM}

_Found = TypeVar("_Found")


def _or_missing(search: Callable[..., _Found], vendor: toolkits.Vendor, *arguments: Any) -> _Found:
    """Return the result of a search; a toolkit that is named but wrong is a CompilerMissing."""
    try:
        return search(vendor, *arguments)
    except toolkits.Misnamed as error:
        raise CompilerMissing(str(error), [vendor.program]) from None


def check_named(prefix: str, stems: Sequence[str]) -> None:
    """Raise CompilerMissing if a variable names a toolkit without one of these libraries."""
    files = [f"{stem}.so*" for stem in stems]
    _or_missing(toolkits.check_named, VENDORS[prefix], files, toolkits.library_subfolders())


def folders(prefix: str) -> list[str]:
    """Return folders that may have the libraries of a compiler's vendor, the likeliest first."""
    return _or_missing(toolkits.folders, VENDORS[prefix], toolkits.library_subfolders())


def include_folders(prefix: str) -> list[str]:
    """Return folders that may have the headers of a compiler's vendor, the likeliest first."""
    return _or_missing(toolkits.folders, VENDORS[prefix], toolkits.header_subfolders())


def program(prefix: str) -> str:
    """Return the path of the vendor's compiler of whole files, or raise CompilerMissing."""
    vendor = VENDORS[prefix]
    try:
        return _or_missing(toolkits.program, vendor)
    except toolkits.NotFound as error:
        if found := next(by_pathfinder(prefix, "find_nvidia_binary_utility", vendor.program), None):
            return found
        raise CompilerMissing(str(error), [vendor.program]) from None


def beside(path: str) -> list[str]:
    """Return the folders of the libraries installed with this one, in the same place or wheels."""
    own = os.path.dirname(os.path.realpath(path))
    return list(dict.fromkeys([own, *toolkits.near(toolkits.CUDA, path, ["lib"])]))


def shared(stem: str, where: Sequence[str]) -> list[str]:
    """Return the paths of a library's files; those without a version come first in a folder."""
    paths = []
    for folder in where:
        paths += sorted(
            (p for p in glob.glob(os.path.join(folder, f"{stem}.so*")) if ".alt." not in p),
            key=lambda p: (len(re.findall(r"\d+", os.path.basename(p))), p),
        )
    return paths


def candidates(
    prefix: str, stem: str, sonames: Sequence[str], where: Sequence[str] | None = None
) -> Iterator[str]:
    """Yield the paths and the names that may be a library, the likeliest first.

    `stem` is the name of its file up to ``.so``, `sonames` are names for the loader's own search.
    The folders `where` are by default those of the toolkits.
    """
    yield from shared(stem, folders(prefix) if where is None else where)
    yield from by_pathfinder(prefix, "load_nvidia_dynamic_lib", stem.replace("lib", "", 1))
    yield from sonames


def by_pathfinder(prefix: str, function: str, name: str) -> Iterator[str]:
    """Yield the path that NVIDIA's package cuda-pathfinder finds, if the package is installed.

    Its import takes a tenth of a second and more, so that it is asked after the toolkits.
    """
    if VENDORS[prefix] is not toolkits.CUDA:
        return
    try:
        found = getattr(importlib.import_module("cuda.pathfinder"), function)(name)
    except (ImportError, AttributeError, OSError, RuntimeError, ValueError):
        return
    path = getattr(found, "abs_path", found)
    if path:
        yield str(path)


class _DlInfo(ctypes.Structure):
    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def file_of(function: Any) -> str | None:
    """Return the path of the library that a function was loaded from, or None."""
    info = _DlInfo()
    address = ctypes.cast(function, ctypes.c_void_p)
    if not ctypes.CDLL(None).dladdr(address, ctypes.byref(info)) or not info.file:
        return None
    path = os.path.abspath(os.fsdecode(info.file))
    return path if os.path.exists(path) else None


def _major(folder: str) -> str | None:
    """Return the major version of CUDA whose headers a folder has, or None."""
    try:
        with open(os.path.join(folder, "cuda.h"), errors="replace") as file:
            for line in file:  # the file has a megabyte, and the line is near its start
                if version := re.match(r"\s*#\s*define\s+CUDA_VERSION\s+(\d+)\d{3}", line):
                    return version[1]
    except OSError:
        pass
    return None


def headers(prefix: str, path: str) -> list[str]:
    """Return the folders of the vendor's headers for the compiler's library at `path`, or none."""
    vendor, subfolders = VENDORS[prefix], toolkits.header_subfolders()
    mark = "cuda_fp16.h" if prefix == "nvrtc" else "hip"
    root = toolkits.holder(toolkits.near(vendor, path, subfolders), mark)
    if prefix != "nvrtc":
        return [root] if root else []
    if root is None:  # headers of another toolkit must be of the compiler's version
        version = re.search(r"\.so\.(\d+)", os.path.basename(os.path.realpath(path)))
        major = version[1] if version else None
        where = [
            *include_folders(prefix),
            *by_pathfinder(prefix, "find_nvidia_header_directory", "cudart"),
        ]
        root = toolkits.holder([one for one in where if major in (None, _major(one))], mark)
    if root is None:
        return []
    # The headers include <nv/target>, which is in a folder or a wheel of its own since CUDA 12.
    subfolders = [*(f"{one}/cccl" for one in subfolders), *subfolders]
    spread = toolkits.holder(
        toolkits.near(vendor, os.path.join(root, mark), subfolders), "nv/target"
    )
    return [root, *([spread] if spread not in (None, root) else [])]
