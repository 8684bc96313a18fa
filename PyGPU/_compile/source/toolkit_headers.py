"""Headers of the toolkits: of libraries that the host machine lacks, and of missing wheels."""

from __future__ import annotations

import re
from collections.abc import Iterable

from PyGPU._compile.source import comments

# Thrust and CUB call each other and compiler built-ins of nvcc. The others have no source.
_LIBRARIES = {
    r"(?:cublas\w*|hipblas\S*|rocblas\S*)\.h|(?:hipblas|rocblas)/.*": "cuBLAS",
    r"(?:cufft\w*|hipfft\S*|rocfft\S*)\.h|(?:hipfft|rocfft)/.*": "cuFFT",
    r"(?:cusolver\w*|hipsolver\S*)\.h|hipsolver/.*": "cuSOLVER",
    r"(?:cusparse\w*|hipsparse\S*)\.h|(?:hipsparse|rocsparse)/.*": "cuSPARSE",
    r"cudnn\w*\.h|miopen/.*": "cuDNN",
    r"nvml\.h": "NVML",
    r"r?nccl\.h|rccl/.*": "NCCL",
    r"npp\w*\.h": "NPP",
    r"nvrtc\.h|nvJitLink\.h|hip/hiprtc\.h": "NVRTC",
    r"thrust/(?!complex\.h).*": "Thrust",
    r"(?:cub|hipcub|rocprim)/.*": "CUB",
    r"cuda/(?!std/)\w+": "libcu++",
    r"(?:cutlass|cute)/.*": "CUTLASS",
    r"optix\w*\.h": "OptiX",
}
_INCLUDE = r'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]'


def library_of(header: str) -> str | None:
    """Return the name of the library that a header declares, or None."""
    names = (name for pattern, name in _LIBRARIES.items() if re.fullmatch(pattern, header))
    return next(names, None)


def hint(texts: Iterable[str]) -> str:
    """Return advice for texts that do not compile for the host machine; often nothing.

    A header may be missing, or an installed one may be read that our headers cannot serve. So the
    texts tell what is wrong, not the compiler's messages.
    """
    found: dict[str, str] = {}
    for text in texts:
        for header in re.findall(_INCLUDE, re.sub(r"/\*.*?\*/", comments.spaces, text, flags=re.S)):
            name = library_of(header)
            if name:
                found.setdefault(name, header)
    if not found:
        return ""
    named = " and ".join(f"{name} (<{header}>)" for name, header in found.items())
    return (
        f"the host machine has no {named}: compile what needs it where PYGPU_TARGET_HOST is not "
        "defined, or use a GPU"
    )


# Headers that CUDA's own headers include, and that pip has in a wheel of their own.
_OF_CCCL = r'cannot open source file "(nv/target|cuda/std/[\w/]+)"'


def missing_wheel(log: str) -> str:
    """Return advice for a text that does not compile for want of CUDA's core headers."""
    missing = re.search(_OF_CCCL, log)
    if missing is None:
        return ""
    return (
        f"<{missing[1]}> is in a wheel of its own: pip install nvidia-cuda-cccl (for CUDA 12: "
        "nvidia-cuda-cccl-cu12)"
    )
