"""Names of the checks, in the order in which they run: group -> functions of the module so named.

The process that writes the report imports no check: what fails at import is reported as well.
"""

from __future__ import annotations

_GROUPS = {
    "machine": ("runtime", "devices", "compilers"),
    "arrays": (
        *("transfers", "operators", "functions", "fused", "reductions", "scans"),
        *("masks", "gather", "random_numbers", "large_indices"),
    ),
    "kernels": (
        *("arguments", "shared_memory", "atomics", "warp", "constant_memory", "numbers"),
        *("templates", "elementwise", "reduction", "textures", "wrong_arguments"),
    ),
    "streams": (
        *("order", "events", "graphs", "pools", "page_locked", "managed", "two_devices"),
        *("out_of_memory",),
    ),
    "speed": ("transfer_rates", "copy_rates", "call_times"),
}

#: Every check, "group.name".
CHECKS = tuple(f"{group}.{name}" for group, names in _GROUPS.items() for name in names)

#: Prefixes of the checks that run once, because a second time adds nothing.
ONCE = ("machine.", "speed.")
