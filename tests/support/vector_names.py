"""Names of CUDA's vector types."""

COUNTS = {
    **dict.fromkeys(["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"], 4),
    **{"float": 4, "longlong": 2, "ulonglong": 2, "double": 2},
}
NAMES = [f"{base}{count}" for base, most in COUNTS.items() for count in range(1, most + 1)]
