"""``python -m PyGPU report``: facts about a machine and the results of checks, in a text file.

Exit status: 0 if no check failed, 1 if one did, 2 for arguments that make no sense.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from typing import TextIO

from PyGPU._report import choice, facts, runner, table
from PyGPU._runtime import capabilities, commands, core

_MOST_LINES = 60  # printed lines of a check's process that are reported


class _Report:
    """The report's file and the terminal, written line by line so that a crash loses nothing."""

    def __init__(self, file: TextIO | None) -> None:
        self._file = file

    def line(self, text: str = "") -> None:
        for one in facts.anonymous(text).split("\n"):
            print(one, flush=True)
            if self._file is not None:
                print(one, file=self._file, flush=True)
        if self._file is not None:
            with contextlib.suppress(OSError):  # a pipe cannot be synchronized
                os.fsync(self._file.fileno())

    def section(self, title: str) -> None:
        self.line(f"\n== {title}")

    def result(self, result: runner.Result) -> None:
        seconds = "".join(f"{one:9.3f}" for one in result.seconds)
        self.line(f"{result.state:8}{result.name:28}{seconds}")
        if result.text:
            self.line(textwrap.indent(result.text.rstrip(), "    "))
        printed = result.output.splitlines()
        for one in printed[-_MOST_LINES:]:
            self.line(f"    | {one}")


def _parser() -> argparse.ArgumentParser:
    parser = commands.parser(
        "report",
        """Write down what this machine is, try PyGPU's parts with known answers, and measure
        transfers and launches, in about a minute. The file holds no names of users; read it, then
        send it.""",
        [
            ("-o report.txt", "the report of a machine, as a file"),
            ("--only kernels", "the checks with this text in their names"),
        ],
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the report there, and to the terminal"
    )
    choice.add_options(parser, 120.0)
    return parser


def _run(report: _Report, names: Sequence[str], limit: float) -> dict[str, int]:
    """Run the checks and report each; return the number of checks in each state."""
    counts = dict.fromkeys(("OK", "FAILED", "SKIPPED"), 0)
    is_terminal, has_device = sys.stderr.isatty(), True
    last = max((name for name in names if name.startswith("machine.")), key=names.index, default="")

    def started(name: str) -> None:
        if is_terminal:
            print(f"\r\x1b[K{name} ...\r", end="", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="PyGPU-") as cache:
        environment = {"PYGPU_TARGET": capabilities.target, "PYGPU_CACHE_DIR": cache}
        for result in runner.run(names, limit, environment, started):
            report.result(result)
            counts[result.state] += 1
            has_device &= (result.name, result.state) != ("machine.runtime", "FAILED")
            if not has_device and result.name == last:
                report.line("The other checks need a device.")
                break
    return counts


def main(arguments: Sequence[str]) -> int:
    """Run the command with its arguments, and return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    names = choice.chosen(parser, options, table.CHECKS)
    if options.output is None:
        return _write(None, names, options.timeout)
    try:
        with open(options.output, "w", encoding="utf-8") as file:
            return _write(file, names, options.timeout)
    except OSError as error:
        parser.error(f"cannot write {options.output!r}: {error.strerror}")


def _write(file: TextIO | None, names: Sequence[str], limit: float) -> int:
    report, start = _Report(file), time.monotonic()
    now = datetime.datetime.now(datetime.timezone.utc)
    report.line(f"PyGPU report of {now:%Y-%m-%d %H:%M} UTC")
    report.section("environment")
    for line in facts.lines(core.__version__):
        report.line(line)
    report.section("checks: seconds of the first run, with compilations, and of the second")
    counts = _run(report, names, limit)
    report.section("total")
    text = ", ".join(f"{count} {state}" for state, count in counts.items())
    report.line(f"{text}; {time.monotonic() - start:.1f} s on the target {capabilities.target}")
    return 1 if counts["FAILED"] else 0
