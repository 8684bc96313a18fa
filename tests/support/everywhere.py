"""Compilation of kernel text by the run-time compilers, for devices that need not be present."""

from needs import compiler as require

from PyGPU._compile.compilers import build as _build

__all__ = ["COMPILERS", "build", "require"]

# (compiler, its back end in _build, architecture)
COMPILERS = [
    ("nvrtc", "_cuda", "sm_75"),
    ("nvrtc", "_cuda", "sm_90"),
    ("hiprtc", "_hip", "gfx908"),
    ("hiprtc", "_hip", "gfx90a"),
]


def build(text, backend, arch, want="cubin", options=()):
    request = _build.Request(
        text.source,
        arch=arch,
        extern_c=text.extern_c,
        expressions=text.expressions,
        want=want,
        cache_dir=False,
    )
    return getattr(_build, backend)(request, _build._options.parse(options), arch)
