"""``python -m PyGPU doctor``: faults of this machine, and their remedies.

Exit status: 0 without a FAIL, 1 with one, 2 for invalid arguments.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator, Sequence

from PyGPU._runtime import commands
from PyGPU._tools import checks, runner
from PyGPU._tools.findings import FAIL, STATES, Finding

#: Prefixes of the checks that use the runtime: where one hangs, the next would hang as well.
_OF_RUNTIME = ("runtime.", "devices.")
_REPORT = (
    "Follow the other lines' remedies first; if this line stays, run `python -m PyGPU report -o "
    "report.txt` and send us the file."
)
_NO_MEMORY = (
    "End other programs, or raise the limits that the checks `limits` report: of memory, of "
    "addresses, of processes and threads."
)
_NO_PROCESS = (
    "Raise this process's limits of open files, of processes and of memory: `ulimit -a` lists them."
)
_HANGS = (
    "Read the kernel's log (`dmesg`), then reset the device or restart the computer; --timeout "
    "waits longer."
)


def examine(names: Sequence[str], limit: float) -> Iterator[tuple[str, Finding]]:
    """Run checks in child processes, and yield each finding with the name of its check."""
    environment = {"PYTHONWARNINGS": "ignore"}  # the command itself has shown them
    left = list(names)
    try:
        for result in runner.run("doctor", names, limit, environment):
            left.remove(result.name)
            for found in result.found:
                yield result.name, Finding(*found)
            if result.state == "OK":
                continue
            is_lost = "Traceback" not in result.text
            yield result.name, _failure(result, is_lost)
            if result.text.startswith(runner.NOT_STARTED):
                return  # the next one would not start either
            if is_lost and result.name.startswith(_OF_RUNTIME):
                return  # the following checks of devices would hang as well
    except OSError as error:
        why = f"no process starts for the checks: {error.strerror or error}"
        yield left[0], Finding(FAIL, why, _NO_PROCESS)


def _failure(result: runner.Result, is_lost: bool) -> Finding:
    """Return the finding of a check that raised an exception, crashed or did not end."""
    if not is_lost:
        error = result.text.strip().splitlines()[-1]
        is_limited = "MemoryError" in error or os.strerror(errno.EAGAIN) in error
        return Finding(FAIL, f"the check failed: {error}", _NO_MEMORY if is_limited else _REPORT)
    found = " ".join([result.text, *result.output.splitlines()[-3:]])
    if result.text.startswith(runner.NOT_STARTED):
        return Finding(FAIL, found, _NO_PROCESS)
    return Finding(FAIL, found, _HANGS if result.name.startswith(_OF_RUNTIME) else _REPORT)


def _line(name: str, finding: Finding) -> str:
    """Return a finding as text: the state, the check, what was found; below it the remedy."""
    state, found, remedy = finding
    text = f"{state:5}{name:26}{' '.join(found.split())}"
    return f"{text}\n{'':5}{'remedy:':>24}  {' '.join(remedy.split())}" if remedy else text


def main(arguments: Sequence[str]) -> int:
    """Run the command with its arguments, and return the exit status."""
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
    options, names = checks.chosen("doctor", parser, arguments, 20.0)
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
