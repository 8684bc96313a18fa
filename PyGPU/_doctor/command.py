"""``python -m PyGPU doctor``: faults of this machine, and their remedies.

Exit status: 0 without a FAIL, 1 with one, 2 for invalid arguments.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

from PyGPU._doctor import table
from PyGPU._doctor.findings import FAIL, STATES, Finding
from PyGPU._report import choice, runner
from PyGPU._runtime import commands

_REPORT = "Run `python -m PyGPU report -o report.txt` and send us the file."
_HANGS = (
    "Read the kernel's log (`dmesg`), then reset the device or restart the computer; --timeout "
    "waits longer."
)


def _parser() -> argparse.ArgumentParser:
    parser = commands.parser(
        "doctor",
        """Find what keeps PyGPU from working well on this machine, with the remedy for each fault.
        The exit status is 1 if a line is FAIL.""",
        [
            ("", "all checks, each in a process of its own"),
            ("--only compilers", "the checks with this text in their names"),
            ("--json", "the same for a program"),
        ],
    )
    parser.add_argument(
        "--json", action="store_true", help="print a list of {check, state, found, remedy}"
    )
    choice.add_options(parser, 20.0)
    return parser


def examine(names: Sequence[str], limit: float) -> Iterator[tuple[str, Finding]]:
    """Run checks in child processes, and yield each finding with the name of its check.

    Parameters
    ----------
    names : sequence of str
        Names of checks, in their order in the table.
    limit : float
        Seconds for one check, after which its process is killed.
    """
    environment = {"PYTHONWARNINGS": "ignore"}  # the command itself has shown them
    for result in runner.run(names, limit, environment, lambda _: None, "PyGPU._doctor"):
        for found in result.found:
            yield result.name, Finding(*found)
        if result.state != "OK":
            is_lost = "Traceback" not in result.text
            yield result.name, _failure(result, is_lost)
            if is_lost and result.name.startswith(table.OF_RUNTIME):
                return  # the following checks of devices would hang as well


def _failure(result: runner.Result, is_lost: bool) -> Finding:
    """Return the finding of a check that raised an exception, crashed or did not end."""
    if not is_lost:
        return Finding(FAIL, f"the check failed: {result.text.strip().splitlines()[-1]}", _REPORT)
    found = " ".join([result.text, *result.output.splitlines()[-3:]])
    return Finding(FAIL, found, _HANGS if result.name.startswith(table.OF_RUNTIME) else _REPORT)


def _line(name: str, finding: Finding) -> str:
    """Return a finding as text: the state, the check, what was found; below it the remedy."""
    state, found, remedy = finding
    text = f"{state:5}{name:26}{' '.join(found.split())}"
    return f"{text}\n{'':5}{'remedy:':>24}  {' '.join(remedy.split())}" if remedy else text


def main(arguments: Sequence[str]) -> int:
    """Run the command with its arguments, and return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    names = choice.chosen(parser, options, table.CHECKS)
    rows = []
    for name, finding in examine(names, options.timeout):
        rows.append({"check": name, **finding._asdict()})
        if not options.json:
            print(_line(name, finding), flush=True)
    counts = [sum(row["state"] == state for row in rows) for state in STATES]
    if options.json:
        json.dump(rows, sys.stdout, indent=2)
        print()
    else:
        print(", ".join(f"{count} {state}" for count, state in zip(counts, STATES)))
    return 1 if counts[STATES.index(FAIL)] else 0
