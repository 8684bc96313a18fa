"""``python -m PyGPU bench``: compare PyGPU's speed with raw limits and with other libraries.

The exit status is 1 if a result was wrong or PyGPU failed, 2 if measuring was impossible, and
otherwise 0.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from PyGPU._runtime import capabilities, commands, core, errors, targets
from PyGPU._tools import bench_results, bench_suite
from PyGPU._tools.bench_table import DTYPES

_EXPONENTS = range(12, 32)


def _exponent(text: str) -> int:
    if not text.isdecimal() or int(text) not in _EXPONENTS:
        minimum, maximum = _EXPONENTS[0], _EXPONENTS[-1]
        raise argparse.ArgumentTypeError(
            f"expected an integer from {minimum} to {maximum}, got {text!r}"
        )
    return int(text)


def _writable(text: str) -> Path:
    """Return the path if the file can be written, or raise an error. The file is not changed."""
    file = Path(text)
    was_there = file.exists()
    try:
        file.open("a").close()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"cannot write {text!r}: {error.strerror}") from None
    if not was_there:
        file.unlink()
    return file


def _parser() -> argparse.ArgumentParser:
    parser = commands.parser(
        "bench",
        """Measure arrays, transfers and launches on this machine: operators, functions,
        reductions, scans, copies to and from the device, and the time of small calls.

        Each line shows the time or the speed, and its ratio to a raw limit: 1 means as fast as the
        limit. The same run measures the limits, which are a copy on the device, a copy over the
        bus and an empty launch. With --peers, a line also shows the ratio to the fastest peer.
        Other programs should not use the device during the run. A full run takes minutes, --quick
        much less.""",
        [
            ("--quick", "a first look"),
            ("--peers --json mine.json", "compare with CuPy and torch, and save all measurements"),
            ("--only sum", "the reductions named sum, in all dtypes"),
            ("--plot mine.png", "a figure of the ratios, for a report"),
        ],
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="smaller arrays, fewer samples")
    add(
        "--peers", action="store_true", help="measure CuPy and torch too; on the target host, NumPy"
    )
    add("--json", metavar="FILE", type=_writable, help="save all measurements as JSON")
    add("--plot", metavar="FILE", type=_writable, help="plot the ratios; needs matplotlib")
    add(
        "--only",
        metavar="TEXT",
        default="",
        help="measure only rows with TEXT in their group, name, dtype or kind",
    )
    add(
        "--dtypes",
        type=lambda text: DTYPES if text == "all" else tuple(text.split(",")),
        default=(),
        metavar="LIST",
        help="measure each row, except transfers, in these dtypes (int16,uint8 or all) if NumPy "
        "supports them; GB/s assume that results have the dtype of the operands",
    )
    add(
        *("--exponent", "-n"),
        type=_exponent,
        help="big arrays have 2**EXPONENT elements (default: 26, 24 on host, 22 with --quick)",
    )
    return parser


def _progress(text: str) -> None:
    """Show the name of the current row in the terminal's last line, in place of the last name."""
    print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _settings(options: argparse.Namespace) -> bench_suite.Settings:
    exponent = options.exponent or (22 if options.quick else 24 if not core.cuda_enabled else 26)
    if options.quick:
        return bench_suite.Settings(exponent, 5, 1e-3, 0.2, options.only, options.dtypes)
    return bench_suite.Settings(exponent, only=options.only, dtypes=options.dtypes)


def main(arguments: Sequence[str]) -> int:
    """Run the command with its arguments and return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    count, status = core.cudaGetDeviceCount()
    if count == 0:
        reason = f"{status.name} ({status.code})" if status else "none was found"
        hidden = targets.hiding() if status.code == errors.NO_DEVICE else None
        reason += f"; {hidden}" if hidden else ""
        parser.error(f"the target {capabilities.target} has no device: {reason}")
    progress = _progress if sys.stderr.isatty() else lambda text: None
    try:
        if options.plot:
            bench_results.require_plot(options.plot)
        found = bench_suite.run(_settings(options), options.peers, progress)
    except ValueError as error:
        parser.error(f"--{error}")
    progress("")
    print(bench_results.text(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1, allow_nan=False) + "\n")
    if options.plot:
        bench_results.plot(found, options.plot)
    return 1 if found["summary"]["wrong"] else 0
