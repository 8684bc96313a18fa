"""The system's C++ compiler, which compiles kernels of the ``host`` target: its path and flags."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Sequence
from functools import lru_cache

from PyGPU._compile.compilers import host_lockstep
from PyGPU._compile.compilers.options import Options
from PyGPU._compile.source import headers, library_names
from PyGPU._compile.source.includes import Found
from PyGPU._runtime import (
    PACKAGE,
    CompileError,
    CompilerMissing,
    include_root,
    programs,
    settings,
    toolkits,
    warn,
)

#: Remedy for a compiler that is missing or does not run.
REMEDY = "Install g++ (Debian, Ubuntu: apt-get install g++), or name a compiler in PYGPU_HOST_CXX."
#: Flags of strict mode (PYGPU_HOST_STRICT=1), in which each access calls the machine to check it.
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
)
#: Functions by which a kernel allocates, copies and fills; the symbols are new and delete.
_WATCHED = (
    *("malloc", "calloc", "free", "memcpy", "memmove", "memset"),
    *("_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"),
)
_STRICT_MARK = "PyGPU_host_strict"  # a symbol of images whose accesses are checked
STRICT_LINK = (
    *(f"-Wl,--wrap={name}" for name in _WATCHED),
    f"-Wl,--defsym={_STRICT_MARK}=0",
)
# -fopenmp-simd: functions with vector forms are declared in include/PyGPU/host/loop_math.h.
# -fstack-clash-protection: a stack that grows past its guard page must touch the page.
_BASE_FLAGS = (
    *("-fPIC", "-shared", "-pipe", "-fno-strict-aliasing", "-fno-semantic-interposition"),
    *("-fno-math-errno", "-fno-trapping-math", "-fstack-clash-protection", "-fopenmp-simd"),
    *("-Wno-unknown-pragmas", "-Wno-attributes", "-Wno-psabi", "-Wno-register"),
    *("-Uunix", "-Ulinux", "-Ui386"),  # names that only the GNU dialects take from the program
)
#: Name of the table of names in messages.
TABLE = "(table of names)"
_NO_SCHEDULING = "-fno-schedule-insns2"
# Macros of a text that change our header too, which is precompiled.
_FOR_OUR_HEADER = {
    "-DNDEBUG",
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
    "-D__CUDA_NO_BFLOAT16_OPERATORS__",
    "-D__CUDA_NO_BFLOAT162_OPERATORS__",
}
_STANDARDS = {"c++03": "gnu++17", "c++98": "gnu++17", "c++11": "gnu++17", "c++14": "gnu++17"}


def _none_on(path: str) -> str:
    return f"none of g++, c++ and clang++ is on PATH, which {'is ' + path if path else 'is empty'}."


@lru_cache
def _find(asked: str | None, path: str) -> str:
    for name in [asked] if asked else ["g++", "c++", "clang++"]:
        found = toolkits.program_on(path, name)
        if found:
            return found
    raise CompilerMissing(
        "kernels of the host target need a C++ compiler, and "
        + (f"PYGPU_HOST_CXX={asked} is not found." if asked else _none_on(path))
        + f" {REMEDY}",
        [asked or "g++"],
    )


def compiler() -> str:
    """Return the path of the C++ compiler: PYGPU_HOST_CXX, by default g++, c++ or clang++."""
    asked, path = settings.value("PYGPU_HOST_CXX"), os.environ.get("PATH", os.defpath)
    found = _find(asked, path)
    if not os.path.exists(found):  # removed since the last look
        _find.cache_clear()
        found = _find(asked, path)
    return found


_real = lru_cache(os.path.realpath)


def identity() -> str:
    """Return a text that differs between installed compilers, without running one."""
    path = compiler()
    state = os.stat(path)
    # The name counts, too: ccache finds the compiler by the name of a link to ccache.
    return f"{path} {_real(path)} {state.st_size} {state.st_mtime_ns}"


def run(command: list[str], name: str) -> programs.Finished:
    """Run the compiler; raise CompileError with its messages if it fails.

    Where g++ itself fails, it runs again without a pass that fails in g++ 10.
    """
    done = programs.run(command)
    if "internal compiler error" in done.stderr and _NO_SCHEDULING not in command:
        return run([command[0], _NO_SCHEDULING, *command[1:]], name)
    if done.status in programs.CANNOT_RUN:
        raise CompileError(f"{command[0]} does not run", command, stderr=done.stderr)
    done = done._replace(stderr=done.stderr.replace(library_names.PREFIX, ""))
    if done.status:
        why = ""
        if done.status < 0:
            number = -done.status
            why = f": {command[0]} was killed by signal {number} ({signal.strsignal(number)})"
        if os.strerror(errno.ENOSPC) in done.stderr:
            why += (
                f": {os.strerror(errno.ENOSPC)} (TMPDIR names another folder for temporary files)"
            )
        raise CompileError(
            f"compilation of {name} failed{why}", command, stdout=done.stdout, stderr=done.stderr
        )
    return done


def is_strict() -> bool:
    return bool(settings.value("PYGPU_HOST_STRICT") == "1")


def warn_unchecked(image: bytes) -> None:
    """Warn in strict mode about a saved image of this target without checks."""
    if is_strict() and b"PyGPU_host_names" in image and _STRICT_MARK.encode() not in image:
        warn(
            "PYGPU_HOST_STRICT=1: the accesses of this image are not checked, because it was "
            "compiled without this setting, or its warps run in lockstep: compile it again"
        )


@lru_cache
def _lockstep_flags(compiler: str) -> list[str]:
    result = host_lockstep.flags(is_clang())
    probe = [compiler, *result, "-x", "c++", "-fsyntax-only", "/dev/null"]
    try:
        run(probe, "nothing")
    except CompileError as error:
        raise CompileError(host_lockstep.REASON, probe, stderr=error.stderr) from None
    return result


def lockstep_flags() -> list[str]:
    """Return the flags for lockstep; raise CompileError if the compiler rejects them."""
    return _lockstep_flags(compiler())


def without_strict(words: Sequence[str]) -> list[str]:
    """Return options without the flags of strict mode, which exclude those for lockstep."""
    strict = {*STRICT_FLAGS, *_STRICT_FLAGS_OF_CLANG} - {"-mllvm"}
    pairs = zip(words, [*words[1:], ""])
    return [a for a, b in pairs if not (a in strict or (a == "-mllvm" and b in strict))]


def is_clang() -> bool:
    path = compiler()
    return any("clang" in os.path.basename(one) for one in (path, _real(path)))


def flags(options: Options, in_lockstep: bool = False) -> list[str]:
    """Return the compiler's flags; a precompiled header is valid for one set of them."""
    standard = options.std or "c++17"
    result = [f"-std={_STANDARDS.get(standard, standard.replace('c++', 'gnu++'))}", *_BASE_FLAGS]
    if not is_clang():  # unique symbols would prevent unloading; clang++ makes none
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
    if settings.value("PYGPU_HOST_WARP") == "64":
        result.append("-DPYGPU_HOST_WARP=64")
    result = list(dict.fromkeys(result))  # a repeated flag would need another precompiled header
    if in_lockstep:
        result += lockstep_flags()
    elif is_strict():
        result += _STRICT_FLAGS_OF_CLANG if is_clang() else STRICT_FLAGS
    return result


def few_libraries(in_lockstep: bool) -> list[str]:
    """Return options that leave out libstdc++, which the machine's library provides.

    Reading it would take the linker as long as compiling a small kernel.
    """
    if in_lockstep or is_strict() or is_clang():
        return []
    return ["-nodefaultlibs", "-lm", "-lgcc", "-lc"]


def linking(in_lockstep: bool = False) -> list[str]:
    """Return the options for linking a shared library with the machine's library."""
    words = ["-Wl,-Bsymbolic", "-L", str(PACKAGE), "-lPyGPU_host"]
    return [*words, *(host_lockstep.LINK if in_lockstep else STRICT_LINK if is_strict() else ())]


def include_options(options: Options, found: Found, for_ours: str = "-I") -> list[str]:
    """Return the options for the user's folders, PyGPU's and the working directory."""
    ours = [headers.folder("device"), headers.folder("host/cuda"), str(include_root())]
    words = [word for folder in options.include_dirs for word in ("-I", folder)]
    words += [word for folder in ours for word in (for_ours, folder)]
    return [*words, *(["-idirafter", "."] if found.uses_working_directory else [])]
