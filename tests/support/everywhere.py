"""Compilation of kernel text by the run-time compilers, for devices that need not be present."""

from needs import compiler as require

from PyGPU._compile.compilers import build as _build
from PyGPU._compile.compilers import options as _options

__all__ = ["COMPILERS", "build", "by_backend", "require"]

# (compiler, name of its back end, architecture)
COMPILERS = [
    ("nvrtc", "cuda", "sm_75"),
    ("nvrtc", "cuda", "sm_90"),
    ("hiprtc", "hip", "gfx908"),
    ("hiprtc", "hip", "gfx90a"),
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
    return by_backend(backend, request, options, arch)


def by_backend(name, request, options=(), arch=None):
    """Compile a request by the back end of a target, whatever target is in use."""
    return _build.compiled(_build.backend_named(name), request, _options.parse(options), arch)
