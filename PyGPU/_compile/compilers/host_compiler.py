"""The system's C++ compiler, which compiles kernels of the ``host`` target: its path and flags."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from PyGPU._compile.compilers import host_lockstep, libraries
from PyGPU._compile.compilers.options import Options
from PyGPU._runtime import PACKAGE, CompileError, CompilerMissing

if TYPE_CHECKING:
    import subprocess

#: Kernels watched access by access (PYGPU_HOST_STRICT=1): calls into the machine for each.
STRICT_FLAGS = (
    "-fsanitize=kernel-address",
    "--param=asan-instrumentation-with-call-threshold=0",
    "--param=asan-stack=0",
    "--param=asan-globals=0",
    "-fno-sanitize-address-use-after-scope",
)
_STRICT_FLAGS_OF_CLANG = (
    "-fsanitize=kernel-address",
    *("-mllvm", "-asan-instrumentation-with-call-threshold=0"),
    *("-mllvm", "-asan-stack=0", "-mllvm", "-asan-globals=0"),
    "-fno-sanitize-address-use-after-scope",
)
#: Functions by which a kernel allocates, copies and fills; new and delete by their symbols.
_WATCHED = (
    *("malloc", "calloc", "free", "memcpy", "memmove", "memset"),
    *("_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"),
)
STRICT_LINK = tuple(f"-Wl,--wrap={name}" for name in _WATCHED)
# Unique symbols would keep a library from being unloaded; a stack that grows past its guard page
# must touch it. Functions are declared to have vector forms: include/PyGPU/host/loop_math.h.
_BASE_FLAGS = (
    *("-fPIC", "-shared", "-pipe", "-fno-strict-aliasing", "-fno-semantic-interposition"),
    *("-fno-math-errno", "-fno-trapping-math", "-fstack-clash-protection", "-fopenmp-simd"),
    *("-Wno-unknown-pragmas", "-Wno-attributes", "-Wno-psabi"),
)
# Macros of a text that count in our header too, which is precompiled.
_FOR_OUR_HEADER = {
    "-DNDEBUG",
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
    "-D__CUDA_NO_BFLOAT16_OPERATORS__",
    "-D__CUDA_NO_BFLOAT162_OPERATORS__",
}
_STANDARDS = {"c++03": "gnu++17", "c++98": "gnu++17", "c++11": "gnu++17", "c++14": "gnu++17"}


@lru_cache
def _find(asked: str | None, path: str) -> str:
    for name in [asked] if asked else ["g++", "c++", "clang++"]:
        found = libraries.program_on(path, name)
        if found:
            return found
    raise CompilerMissing(
        "kernels of the host target need a C++ compiler, and "
        + (f"PYGPU_HOST_CXX={asked} is not found." if asked else "none is found.")
        + " Install g++, or name a compiler in PYGPU_HOST_CXX.",
        [asked or "g++"],
    )


def compiler() -> str:
    """The path of the C++ compiler: PYGPU_HOST_CXX, else g++, c++ or clang++."""
    asked, path = os.environ.get("PYGPU_HOST_CXX"), os.environ.get("PATH", os.defpath)
    found = _find(asked, path)
    if not os.path.exists(found):  # it was removed since
        _find.cache_clear()
        found = _find(asked, path)
    return found


_real = lru_cache(os.path.realpath)


def identity() -> str:
    """What tells one installed compiler from another, without running it."""
    path = compiler()
    state = os.stat(path)
    return f"{_real(path)} {state.st_size} {state.st_mtime_ns}"


def run(command: list[str], name: str) -> subprocess.CompletedProcess[str]:
    """Run the compiler; CompileError with its messages where it fails."""
    import signal
    import subprocess  # slow to import, and not needed for kernels in the cache

    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise CompileError(f"{command[0]} does not run: {error}", command) from None
    if done.returncode:
        why = ""
        if done.returncode < 0:
            number = -done.returncode
            why = f": {command[0]} was killed by signal {number} ({signal.strsignal(number)})"
        raise CompileError(
            f"compilation of {name} failed{why}", command, stdout=done.stdout, stderr=done.stderr
        )
    return done


def is_strict() -> bool:
    return os.environ.get("PYGPU_HOST_STRICT", "") == "1"


@lru_cache
def lockstep_flags(compiler: str, is_clang: bool) -> list[str]:
    """The flags for it; CompileError where the compiler does not know them."""
    result = host_lockstep.flags(is_clang)
    probe = [compiler, *result, "-x", "c++", "-fsyntax-only", "/dev/null"]
    try:
        run(probe, "nothing")
    except CompileError as error:
        raise CompileError(host_lockstep.REASON, probe, stderr=error.stderr) from None
    return result


def is_clang() -> bool:
    return "clang" in os.path.basename(_real(compiler()))


def flags(options: Options, in_lockstep: bool = False) -> list[str]:
    """The compiler's flags that decide what a precompiled header is good for."""
    standard = options.std or "c++17"
    result = [f"-std={_STANDARDS.get(standard, standard.replace('c++', 'gnu++'))}", *_BASE_FLAGS]
    if not is_clang():  # which makes none of them
        result.append("-fno-gnu-unique")
    result.append("-O0" if options.debug else f"-O{options.optimize or '2'}")
    if options.debug or options.line_info:
        result.append("-g")
    if options.is_without_fma():
        result.append("-ffp-contract=off")
    result += options.processor
    if not options.warnings:
        result.append("-w")
    result += [macro for macro in options.macros if macro in _FOR_OUR_HEADER]
    if os.environ.get("PYGPU_HOST_WARP", "").strip() == "64":
        result.append("-DPYGPU_HOST_WARP=64")
    result = list(dict.fromkeys(result))  # said twice, a flag would need a header of its own
    if in_lockstep:
        result += lockstep_flags(compiler(), is_clang())
    elif is_strict():
        result += _STRICT_FLAGS_OF_CLANG if is_clang() else STRICT_FLAGS
    return result


def few_libraries(in_lockstep: bool) -> list[str]:
    """libstdc++ comes with the machine's library. To look through it takes the linker as long as
    all the rest takes the compiler for a small kernel."""
    if in_lockstep or is_strict() or is_clang():
        return []
    return ["-nodefaultlibs", "-lm", "-lgcc", "-lc"]


def linking(in_lockstep: bool = False) -> list[str]:
    """What the compiler needs to make a shared library for the machine."""
    words = ["-Wl,-Bsymbolic", "-L", str(PACKAGE), "-lPyGPU_host"]
    return [*words, *(host_lockstep.LINK if in_lockstep else STRICT_LINK if is_strict() else ())]
