"""Which texts run their warps in lockstep on the ``host`` target, and how they are compiled.

Code from before ``__syncwarp`` lets the lanes of a warp exchange values through volatile shared
memory. A compiler's instrumentation for data races, which tells volatile accesses from others,
calls ``include/PyGPU/host/lockstep.h`` before each of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from PyGPU._compile import signature
from PyGPU._compile.options import Options
from PyGPU._runtime import include_root

#: In every object whose accesses are instrumented.
CALLS = b"__tsan_"

#: Stands behind the text, and once behind those that are linked.
TEXT = "#include <PyGPU/host/lockstep.h>\n"

#: Leaves out the instrumentation's own library, which the header replaces.
LINK = ("-nodefaultlibs", "-lstdc++", "-lm", "-lc", "-lgcc_s", "-lgcc")

#: What strict mode says of such a text: a compiler has one instrumentation at a time.
UNCHECKED = (
    "PYGPU_HOST_STRICT=1: the accesses of this text are not checked, because its warps run in "
    "lockstep (volatile shared memory)"
)

_ASSEMBLY = r"\b(?:asm|__asm|__asm__)\s+(?:volatile|__volatile__|__volatile)\b"
_VOLATILE = r"\b(?:volatile|__volatile__|__volatile)\b"
_SHARED = r"\b__shared__\b"


#: Why a compiler that does not take the flags cannot do.
REASON = (
    "volatile shared memory makes this warp-synchronous code, whose warps run in lockstep on the "
    "host target; that needs g++ 12, clang++ 13 or newer (PYGPU_HOST_CXX), or __syncwarp() between "
    "the steps instead of volatile"
)


def is_needed(source: str, options: Options, files: Mapping[str, bytes], is_linked: bool) -> bool:
    """May a text, with the user's macros and headers, have volatile shared memory? Of texts that
    are linked, one may have it from another."""
    source = "\n".join([source, *options.macros])
    if "volatile" not in source and not any(b"volatile" in one for one in files.values()):
        return False
    ours = os.path.realpath(include_root()) + os.sep
    texts = [
        data.decode("utf-8", "replace")
        for path, data in files.items()
        if not os.path.realpath(path).startswith(ours)
    ]
    likely = [text for text in (source, *texts) if "volatile" in text or "__shared__" in text]
    read = [re.sub(_ASSEMBLY, "", signature.blanked(text)) for text in likely]
    words = (_VOLATILE,) if is_linked else (_VOLATILE, _SHARED)
    return all(any(re.search(one, text) for text in read) for one in words)


def flags(is_clang: bool) -> list[str]:
    """What instruments the accesses.

    Lanes in different branches take turns by the order of their code, so it must be the source's:
    little is optimised.
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
