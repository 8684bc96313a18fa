"""From kernel text to an image: options, headers, compilers, the disk cache, signatures."""

from PyGPU._compile import (
    build,
    cache,
    child_launches,
    code_object,
    device_names,
    image_files,
    inline_ptx,
    kernel_types,
    libraries,
    link,
    rtc,
    signature,
)

__all__ = [
    "build",
    "cache",
    "child_launches",
    "code_object",
    "device_names",
    "image_files",
    "inline_ptx",
    "kernel_types",
    "libraries",
    "link",
    "rtc",
    "signature",
]
