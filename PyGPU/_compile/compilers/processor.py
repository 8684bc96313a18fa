"""The processor at hand, as far as compilers of the ``host`` target can make use of it."""

from __future__ import annotations

import os
import platform
from functools import lru_cache

_LIST = "/proc/cpuinfo"
# What they are called in that list, and by compilers. Each group counts as a whole, after the one
# before it. The first processors with vectors of 64 bytes slow down when these are used.
_GROUPS = (
    (
        ("sse4_1", "sse4_2", "popcnt", "avx", "avx2", "f16c", "bmi1", "bmi2"),
        ("-mpopcnt", "-mavx2", "-mf16c", "-mbmi", "-mbmi2"),
    ),
    (("fma",), ("-mfma",)),
    (
        ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
        ("-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl")
        + ("-mprefer-vector-width=256",),
    ),
    (("avx512_vbmi2", "avx512_bitalg"), ("-mprefer-vector-width=512",)),
)
# Of a processor with all groups: functions of vectors of 64 bytes (host/loop_math.h).
_LIBMVEC = ("-DPYGPU_LIBMVEC_BYTES=64",)


def _has() -> set[str]:
    """What the first processor of the machine has; empty where that is not known."""
    try:
        with open(_LIST) as lines:
            for line in lines:  # the list is long, and slow to make, on big machines
                name, _, values = line.partition(":")
                if name.strip() == "flags":
                    return set(values.split())
    except (OSError, UnicodeDecodeError):
        pass
    return set()


@lru_cache
def _groups() -> tuple[tuple[str, ...], ...]:
    """The flags of the groups that the processor has."""
    has, found = _has(), []
    for needed, words in _GROUPS:
        if not has.issuperset(needed):
            break
        found.append(words)
    return tuple(found)


def flags(text: str) -> tuple[str, ...]:
    """A compiler's flags for what the processor has beyond its architecture's oldest.

    Arithmetic has the same results to the last bit on all processors: products and sums are not
    fused. g++ 12 fuses them all the same where it finds a sum beside a difference, as in products
    of complex numbers, whose texts so do without what can. Functions are the same for all kernels
    on one processor. With PYGPU_HOST_PROCESSOR=any there are no flags: for emulators that know less
    than the processor's list says.
    """
    if os.environ.get("PYGPU_HOST_PROCESSOR", "") == "any":
        return ()
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ()
    groups = _groups()
    functions = _LIBMVEC if len(groups) == len(_GROUPS) else ()
    words = (word for group in groups[: 1 if "complex" in text else None] for word in group)
    return ("-ffp-contract=off", *words, *functions)
