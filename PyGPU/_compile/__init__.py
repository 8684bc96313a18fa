"""From kernel text to an image: options, headers, compilers, the disk cache, signatures."""

from PyGPU._compile import build, code_object, kernel_types, rtc, signature

__all__ = ["build", "code_object", "kernel_types", "rtc", "signature"]
