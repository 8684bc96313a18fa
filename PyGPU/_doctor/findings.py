"""Finding: the state of something on this machine and, for a fault, the remedy."""

from __future__ import annotations

import re
from typing import NamedTuple

OK, WARN, FAIL = STATES = ("OK", "WARN", "FAIL")


class Finding(NamedTuple):
    """Something that a check found.

    Parameters
    ----------
    state : {"OK", "WARN", "FAIL"}
        FAIL: something that PyGPU needs does not work.
    found : str
        What was found, in one line.
    remedy : str
        What to do, in one sentence; empty for OK.
    """

    state: str
    found: str
    remedy: str = ""


def ok(found: str) -> Finding:
    return Finding(OK, found)


def warn(found: str, remedy: str) -> Finding:
    return Finding(WARN, found, remedy)


def fault(is_needed: bool, found: str, remedy: str) -> Finding:
    """Return a FAIL if PyGPU needs what is at fault, otherwise a WARN."""
    return Finding(FAIL if is_needed else WARN, found, remedy)


def of_error(is_needed: bool, error: Exception) -> Finding:
    """Return the fault of an error whose message ends with the remedy."""
    text = str(getattr(error, "msg", None) or error)  # of a CompileError, without the command
    parts = re.fullmatch(r"(.*)(?:\. |; )(\S.*)", text, re.DOTALL)
    if not parts:
        return fault(is_needed, text, "Run `python -m PyGPU report` and read its checks.")
    remedy = parts[2][0].upper() + parts[2][1:].rstrip(".")
    return fault(is_needed, parts[1], f"{remedy}.")


def size(nbytes: float) -> str:
    """Return a size with its unit, such as ``1.5 GiB``."""
    units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while nbytes >= 1024 and len(units) > 1:
        nbytes /= 1024
        del units[0]
    return f"{nbytes:.1f}".removesuffix(".0") + f" {units[0]}"
