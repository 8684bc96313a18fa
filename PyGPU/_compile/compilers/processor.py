"""Compiler flags of the ``host`` target for the instructions of this machine's processor."""

from __future__ import annotations

import platform
from functools import lru_cache

from PyGPU._runtime import settings

_LIST = "/proc/cpuinfo"
# Groups of instructions: names in that list, and flags of compilers. A group is used if the
# processor has all of it and of the groups before. The first processors with vectors of 64 bytes
# slow down when such vectors are used.
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
# A processor with all groups uses functions of 64-byte vectors (host/loop_math.h).
_LIBMVEC = ("-DPYGPU_LIBMVEC_BYTES=64",)


def _has() -> set[str]:
    """Return the instruction sets of the machine's first processor; an empty set if unknown."""
    try:
        with open(_LIST) as lines:
            for line in lines:  # reading all of the list is slow on big machines
                name, _, values = line.partition(":")
                if name.strip() == "flags":
                    return set(values.split())
    except (OSError, UnicodeDecodeError):
        pass
    return set()


@lru_cache
def _groups() -> tuple[tuple[str, ...], ...]:
    """Return the flags of the groups that the processor has."""
    has, found = _has(), []
    for needed, words in _GROUPS:
        if not has.issuperset(needed):
            break
        found.append(words)
    return tuple(found)


def flags(text: str) -> tuple[str, ...]:
    """Return a compiler's flags for the instructions beyond the architecture's baseline.

    Arithmetic gives the same bits on all processors, because products and sums are not fused.
    g++ 12 fuses them nevertheless in a sum next to a difference, as in products of complex numbers.
    So texts with complex numbers get no flags for fused instructions. All kernels on one processor
    call the same mathematical functions. PYGPU_HOST_PROCESSOR=any disables the flags, for emulators
    that lack instructions of the processor's list.
    """
    if settings.value("PYGPU_HOST_PROCESSOR") == "any":
        return ()
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ()
    groups = _groups()
    functions = _LIBMVEC if len(groups) == len(_GROUPS) else ()
    words = (word for group in groups[: 1 if "complex" in text else None] for word in group)
    return ("-ffp-contract=off", *words, *functions)
