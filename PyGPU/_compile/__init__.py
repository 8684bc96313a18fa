"""Compilation of kernel text to an image: reading the text, the compilers, the cache on disk."""

from PyGPU._compile.cache import (
    architectures,
    dependencies,
    entries,
    entry,
    eviction,
    files,
    image_files,
    kept,
)
from PyGPU._compile.compilers import (
    build,
    code_object,
    default_flags,
    device_names,
    host_compiler,
    libraries,
    link,
    options,
    rtc,
)
from PyGPU._compile.source import (
    child_launches,
    dynamic_shared,
    headers,
    hints,
    includes,
    kernel_types,
    signature,
)

__all__ = [
    "architectures",
    "build",
    "child_launches",
    "code_object",
    "default_flags",
    "dependencies",
    "device_names",
    "dynamic_shared",
    "entries",
    "entry",
    "eviction",
    "files",
    "headers",
    "hints",
    "host_compiler",
    "image_files",
    "includes",
    "kept",
    "kernel_types",
    "libraries",
    "link",
    "options",
    "rtc",
    "signature",
]
