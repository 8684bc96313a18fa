"""Compilation of kernel text to an image: reading the text, the compilers, the cache on disk."""

from PyGPU._compile.cache import entry, image_files, kept
from PyGPU._compile.compilers import (
    build,
    code_object,
    default_flags,
    device_names,
    libraries,
    link,
    options,
    rtc,
)
from PyGPU._compile.source import (
    c_names,
    child_launches,
    headers,
    hints,
    includes,
    kernel_types,
    name_expressions,
    signature,
    variables,
)

__all__ = [
    "build",
    "c_names",
    "child_launches",
    "code_object",
    "default_flags",
    "device_names",
    "entry",
    "headers",
    "hints",
    "image_files",
    "includes",
    "kept",
    "kernel_types",
    "libraries",
    "link",
    "name_expressions",
    "options",
    "rtc",
    "signature",
    "variables",
]
