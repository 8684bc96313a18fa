"""Lockstep warps on the ``host`` target: how their kernels are compiled and linked.

The compiler's instrumentation for data races, which distinguishes volatile accesses, calls
``include/PyGPU/host/lockstep.h`` before each of them. ``source/lockstep.py`` detects such texts.
"""

from __future__ import annotations

#: Symbols in every object whose accesses are instrumented.
CALLS = b"__tsan_"

#: Text that follows a kernel text, and follows linked texts once.
TEXT = "#include <PyGPU/host/lockstep.h>\n"

#: Link options without the instrumentation's own library, which the header replaces.
LINK = ("-nodefaultlibs", "-lstdc++", "-lm", "-lc", "-lgcc_s", "-lgcc")

#: Note in strict mode: a compiler has one instrumentation at a time.
UNCHECKED = (
    "PYGPU_HOST_STRICT=1: the accesses of this text are not checked, because its warps run in "
    "lockstep (volatile shared memory)"
)

#: Error for a compiler that rejects the flags.
REASON = (
    "volatile shared memory makes this warp-synchronous code, whose warps run in lockstep on the "
    "host target; that needs g++ 12, clang++ 13 or newer (PYGPU_HOST_CXX), or __syncwarp() between "
    "the steps instead of volatile"
)


def flags(is_clang: bool) -> list[str]:
    """Return the compiler's flags that instrument the accesses.

    Lanes in different branches take turns in the order of their code. It must be the source's
    order, so most optimizations are off.
    """
    result = ["-fsanitize=thread", "-fno-omit-frame-pointer", "-DPYGPU_LOCKSTEP"]
    if is_clang:
        result += ["-O0", "-fsanitize-coverage=bb,no-prune,trace-pc"]
        result += ["-mllvm", "-tsan-distinguish-volatile=1"]
        for part in ("func-entry-exit", "atomics", "memintrinsics"):
            result += ["-mllvm", f"-tsan-instrument-{part}=0"]
    else:
        result += ["-Og", "-fno-inline", "-fsanitize-coverage=trace-pc", "-fno-reorder-blocks"]
        result += ["-fno-thread-jumps", "-fno-crossjumping", "-Wno-tsan"]  # of fences
        result += ["--param=tsan-distinguish-volatile=1"]
        result += ["--param=tsan-instrument-func-entry-exit=0"]
    return result
