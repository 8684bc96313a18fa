"""Kernel text through the run-time compilers, for devices that are not here."""

import pytest

from PyGPU import errors
from PyGPU._compile import build as _build
from PyGPU._compile import rtc

# Compiler, its backend in _build, and what an image of an architecture has at its start.
COMPILERS = [
    ("nvrtc", "_cuda", "sm_75"),
    ("nvrtc", "_cuda", "sm_90"),
    ("hiprtc", "_hip", "gfx908"),
    ("hiprtc", "_hip", "gfx90a"),
]


def require(prefix):
    """Skip where the compiler is not installed."""
    try:
        rtc.library(prefix)
    except errors.CompileError as error:
        pytest.skip(error.msg)


def build(text, backend, arch, want="cubin"):
    request = _build.Request(
        text.source,
        arch=arch,
        extern_c=text.extern_c,
        expressions=text.expressions,
        want=want,
        cache_dir=False,
    )
    return getattr(_build, backend)(request, _build._options.parse(()), arch)
