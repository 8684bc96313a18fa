"""Options of the commands that run checks: which checks, and how long each may take."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def add_options(parser: argparse.ArgumentParser, limit: float) -> None:
    """Add ``--timeout``, by default `limit` seconds, and ``--only``."""
    add = parser.add_argument
    add(
        "--timeout", metavar="SECONDS", type=float, default=limit, help="for one check: %(default)g"
    )
    add("--only", metavar="TEXT", default="", help="checks with TEXT in their names")


def chosen(
    parser: argparse.ArgumentParser, options: argparse.Namespace, checks: Sequence[str]
) -> list[str]:
    """Return the names of the checks that the options choose; end the program if there are none."""
    names = [name for name in checks if options.only in name]
    if not names:
        parser.error(f"--only {options.only}: no such check; there are {', '.join(checks)}")
    if not options.timeout > 0:
        parser.error(f"--timeout {options.timeout:g}: expected seconds, more than 0")
    return names
