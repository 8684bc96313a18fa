"""The processor at hand, as far as compilers of the ``host`` target can make use of it."""

from __future__ import annotations

import platform
from functools import lru_cache

_LIST = "/proc/cpuinfo"
# What they are called in that list, and by compilers. Each group counts as a whole, after the one
# before it. Vectors stay at 32 bytes: some processors slow down at wider ones.
_GROUPS = (
    (
        ("sse4_1", "sse4_2", "popcnt", "avx", "avx2", "fma", "f16c", "bmi1", "bmi2"),
        ("-mpopcnt", "-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2"),
    ),
    (
        ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
        ("-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl")
        + ("-mprefer-vector-width=256",),
    ),
)


def _has() -> set[str]:
    """What the first processor of the machine has; empty where that is not told."""
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
def flags() -> tuple[str, ...]:
    """A compiler's flags for the instructions that the processor has beyond its architecture's
    oldest. Results stay the same to the last bit: products and sums are not fused."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ()
    has, words = _has(), ["-ffp-contract=off"]
    for needed, told in _GROUPS:
        if not has.issuperset(needed):
            break
        words += told
    return tuple(words)
