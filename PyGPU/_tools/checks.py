"""Checks of ``doctor`` and ``report``: their names, the options that choose them, their results."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

#: {command: {group: (module, functions)}}, in the order in which the checks run. The commands
#: import no check, so that an error at import is reported as well. Checks of the doctor that use
#: the runtime come last, because they may hang.
_GROUPS = {
    "doctor": {
        "target": ("doctor_machine", "choice variables"),
        "machine": ("doctor_machine", "system_files nodes visibility"),
        "limits": (
            "doctor_limits",
            "memory address_space locked_memory shared_memory processors processes files "
            "temporary_files",
        ),
        "libraries": ("doctor_toolkits", "variables duplicates stubs"),
        "compilers": ("doctor_toolkits", "versions headers"),
        "cache": ("doctor_machine", "folder"),
        "mpi": ("doctor_toolkits", "device_memory"),
        "runtime": ("doctor_devices", "driver"),
        "devices": ("doctor_devices", "memory bandwidth peers kernel"),
    },
    "report": {
        "machine": ("report_machine", "runtime devices compilers"),
        "arrays": (
            "report_arrays",
            "transfers operators functions fused reductions scans masks gather random_numbers "
            "large_indices",
        ),
        "kernels": (
            "report_kernels",
            "arguments shared_memory atomics warp constant_memory numbers templates elementwise "
            "reduction textures wrong_arguments",
        ),
        "streams": (
            "report_streams",
            "order events graphs pools page_locked managed two_devices out_of_memory",
        ),
        "speed": ("report_machine", "transfer_rates copy_rates call_times"),
    },
}
#: {command: {check: (module, function)}}; the name of a check is "group.function".
CHECKS = {
    command: {
        f"{group}.{function}": (f"PyGPU._tools.{module}", function)
        for group, (module, functions) in groups.items()
        for function in functions.split()
    }
    for command, groups in _GROUPS.items()
}


class Skipped(Exception):
    """A check does not apply to this machine; the message is the reason."""


def chosen(
    command: str, parser: argparse.ArgumentParser, arguments: Sequence[str], limit: float
) -> tuple[argparse.Namespace, list[str]]:
    """Add ``--timeout`` and ``--only``, and return the options and the names of the checks."""
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=limit, help="for one check: %(default)g"
    )
    parser.add_argument(
        "--only", metavar="TEXT", default="", help="checks with TEXT in their names"
    )
    options = parser.parse_args(arguments)
    checks = CHECKS[command]
    names = [name for name in checks if options.only in name]
    if not names:
        parser.error(f"--only {options.only}: no such check; there are {', '.join(checks)}")
    if not options.timeout > 0:
        parser.error(f"--timeout {options.timeout:g}: expected seconds, more than 0")
    return options, names


def expect(what: str, found: Any, expected: Any, tolerance: float = 0.0) -> None:
    """Raise AssertionError for unexpected elements.

    `tolerance` is relative to the expected value; 0 requires equal values.
    """
    a, b = np.asarray(found), np.asarray(expected)
    if a.shape != b.shape:
        raise AssertionError(f"{what}: the shape is {a.shape}, expected {b.shape}")
    if tolerance:
        wrong = ~np.isclose(a, b, rtol=tolerance, atol=tolerance)
    else:
        wrong = (a != b) & ~((a != a) & (b != b))
    if wrong.any():
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{what}: {int(wrong.sum())} of {wrong.size} elements are wrong; the first is "
            f"element {first}: {a[first]!r}, expected {b[first]!r}"
        )
