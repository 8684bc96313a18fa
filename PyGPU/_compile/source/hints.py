"""Hints for programs whose kernel text does not compile.

Inline PTX, which only NVIDIA's compilers understand, is found in the text:
``asm("mov.u32 %0, %laneid;" : ...)``. So are headers of the toolkits' libraries, which the host
machine lacks. Compilers' messages show missing wheels.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable

from PyGPU._compile.source import child_launches, comments, wrapping

_ASM = r"\b(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|__volatile)\b\s*)?\("
_PTX_TEMPLATE = r'\s*(?:"(?:\\.|[^"\\\n])*"\s*)+'
# Marks of PTX: an instruction with a type or a memory space after a dot, or one of its registers.
# Other assemblers have directives that begin with a dot.
_PTX = (
    r"(?<![.\w])[a-z]\w*(?:\.\w+)+[\s;]"
    r"|\b(?:trap|exit|brkpt)\s*;"
    r"|%(?:laneid|warpid|nwarpid|smid|nsmid|gridid|clock|globaltimer|lanemask_|n?tid\.|n?ctaid\.)"
)
#: Words in the messages of compilers about inline assembly.
_COMPLAINT = r"(?i)asm|assembler|instruction|constraint|mnemonic|error in backend"


def lines_of_ptx(source: str) -> list[int]:
    """Return the numbers of the lines where inline PTX begins."""
    if "asm" not in source:
        return []
    blank = comments.blanked(source)
    starts = [match.end() for match in re.finditer("\n", source)]
    found = []
    for match in re.finditer(_ASM, blank):
        template = re.compile(_PTX_TEMPLATE).match(source, match.end())
        if template and re.search(_PTX, template.group() + ";"):
            found.append(bisect.bisect_right(starts, match.start()) + 1)
    return list(dict.fromkeys(found))


def _hint_of_ptx(source: str, log: str) -> str:
    """Return advice for a text that does not compile; often nothing."""
    found = lines_of_ptx(source) if re.search(_COMPLAINT, log) else []
    if not found:
        return ""
    several = len(found) > 1
    named = ", ".join(map(str, found[:8])) + (", ..." if len(found) > 8 else "")
    return (
        f"line{'s' if several else ''} {named} hold{'' if several else 's'} inline PTX (asm), the "
        "assembly language of NVIDIA's GPUs, which this target does not understand"
    )


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
_HEADER = r'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]'


def library_of(header: str) -> str | None:
    """Return the name of the library that a header declares, or None."""
    names = (name for pattern, name in _LIBRARIES.items() if re.fullmatch(pattern, header))
    return next(names, None)


def hint_of_headers(texts: Iterable[str]) -> str:
    """Return advice for texts that do not compile for the host machine; often nothing.

    A header may be missing, or an installed one may be read that our headers cannot serve. So the
    texts tell what is wrong, not the compiler's messages.
    """
    found: dict[str, str] = {}
    for text in texts:
        for header in re.findall(_HEADER, re.sub(r"/\*.*?\*/", comments.spaces, text, flags=re.S)):
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


def _missing_wheel(log: str) -> str:
    """Return advice for a text that does not compile for want of CUDA's core headers."""
    missing = re.search(_OF_CCCL, log)
    if missing is None:
        return ""
    return (
        f"<{missing[1]}> is in a wheel of its own: pip install nvidia-cuda-cccl (for CUDA 12: "
        "nvidia-cuda-cccl-cu12)"
    )


_FILE = r"[^\n{};]+\.(cu|cuh|cpp|cc|c|h|hpp|ptx|cubin)"


def hint(
    source: str,
    log: str,
    has_c_names: bool,
    is_relocatable: bool,
    understands_ptx: bool,
    has_toolkit: bool,
) -> str:
    """Return advice for a text that does not compile, by the compiler's log; often nothing.

    `has_c_names`: the text was wrapped in ``extern "C"``.
    """
    name = re.fullmatch(_FILE, source.strip())
    if name and name[1] in ("ptx", "cubin"):
        return "the source is a file's name: module_from_file() loads what is compiled"
    if name:
        return "the source is a file's name, not the text of kernels: pass open(name).read()"
    ptx = "" if understands_ptx else _hint_of_ptx(source, log)
    c_names = wrapping.hint(log) if has_c_names else ""
    missing = _missing_wheel(log)
    libraries = missing if has_toolkit else hint_of_headers([source])
    return ptx or c_names or libraries or child_launches.hint(source, is_relocatable)
