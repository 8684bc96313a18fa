"""Checks in child processes, so that a crash or a hang is a result like any other.

A child process, ``python -m PyGPU._tools.runner DESCRIPTOR COMMAND CHECK...``, writes lines of JSON
to the descriptor: a check begins, has found something, or has ended. The process ends after a check
that failed, because a device error may break the following checks.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from PyGPU._runtime import PACKAGE, programs
from PyGPU._tools.checks import CHECKS, Skipped

#: Beginning of the text of a result whose process ended before its first check.
NOT_STARTED = "the process of the checks did not start: "
_MOST_PRINTED = 1 << 14  # bytes


class Result(NamedTuple):
    """Result of a check."""

    name: str
    state: str  # "OK", "FAILED" or "SKIPPED"
    seconds: list[float]  # times of the first and the second run
    text: str  # facts, a reason or a traceback
    output: str  # text that the process printed meanwhile: runtime, compiler and kernels
    found: list[Any]  # items that a generator yielded before its end or its failure


def run(
    command: str,
    names: Sequence[str],
    limit: float,
    environment: Mapping[str, str],
    started: Callable[[str], object] = lambda name: None,
) -> Iterator[Result]:
    """Run checks of a command in order; a failed check is followed by a new process.

    A check has `limit` seconds, after which its process is killed. The processes have the variables
    `environment` besides those of this process. `started` is called when a check begins.
    """
    left = list(names)
    while left:
        with _Process(command, left, environment) as process:
            for result in process.results(left[0], limit, started):
                left.remove(result.name)
                yield result


def _same_package() -> dict[str, str]:
    """Return the variable that makes a child process import this PyGPU.

    ``python -m`` looks in the working directory first, which may be the source folder of another.
    """
    with contextlib.suppress(OSError):  # the working directory is removed
        if os.path.samefile(os.curdir, PACKAGE.parent):
            return {}
    return {"PYTHONSAFEPATH": "1"}


class _Process(contextlib.ExitStack):
    """A process that runs checks, and its reports. It ends with the ``with`` block."""

    def __init__(self, command: str, names: Sequence[str], environment: Mapping[str, str]) -> None:
        super().__init__()
        self._unread, self._seen = b"", 0
        self._reader, writer = os.pipe()
        self.callback(os.close, self._reader)
        # In memory, so that the checks run where no folder for temporary files can be written.
        self._output = os.memfd_create("PyGPU-output")
        self.callback(os.close, self._output)
        passed = fcntl.fcntl(writer, fcntl.F_DUPFD, 10)  # inherited; 0 to 3 are taken
        os.close(writer)
        try:
            self._process = programs.Program(
                [sys.executable, "-m", "PyGPU._tools.runner", str(passed), command, *names],
                stdout=self._output,
                stderr=self._output,
                env={**os.environ, **_same_package(), **environment},
            )
        finally:
            os.close(passed)
        self.callback(self._end)

    def _end(self) -> None:
        self._process.kill()  # does nothing if the process has ended
        with contextlib.suppress(TimeoutError):
            self._process.wait(10)  # a process blocked in the driver survives the signal

    def _printed(self) -> str:
        """Return the last part of the text that the process printed since the last call."""
        file = self._output  # its position is shared with the process
        size = os.fstat(file).st_size
        start = max(self._seen, size - _MOST_PRINTED)
        self._seen = size
        return os.pread(file, size - start, start).decode("utf-8", "replace").strip()

    def _line(self, end: float) -> dict[str, Any] | None:
        """Return the next report; None at the end of the process. TimeoutError after `end`."""
        while b"\n" not in self._unread:
            if not programs.is_readable(self._reader, max(0.0, end - time.monotonic())):
                raise TimeoutError
            data = os.read(self._reader, 1 << 16)
            if not data:
                return None
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        report: dict[str, Any] = json.loads(line)
        return report

    def results(
        self, first: str, limit: float, started: Callable[[str], object]
    ) -> Iterator[Result]:
        """Yield results until the process ends; an end during a check is the check's result."""
        current, prefix = first, NOT_STARTED  # until the first check begins
        begin = time.monotonic()
        found: list[Any] = []
        while True:
            try:
                report = self._line(begin + limit)
                why = "" if report else self._ended()
            except TimeoutError:
                self._process.kill()
                report, why = None, f"no end within {limit:g} s: killed"
            if report and "found" in report:
                found.append(report["found"])
                continue
            seconds, begin = [time.monotonic() - begin], time.monotonic()
            if report and "begin" in report:
                current, prefix, found = report["begin"], "", []
                started(current)
            elif report:
                yield Result(**report, output=self._printed(), found=found)
                current = ""
            else:
                if current:
                    text = prefix + why
                    yield Result(current, "FAILED", seconds, text, self._printed(), found)
                return

    def _ended(self) -> str:
        """Return how the process ended."""
        try:
            status = self._process.wait(10)
        except TimeoutError:
            return "the process closed its report and did not end"
        if status >= 0:
            return f"the process ended with status {status}"
        names = {one.value: one.name for one in signal.Signals}
        return f"the process was ended by {names.get(-status, f'signal {-status}')}"


def _result(command: str, name: str, report: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Run a check, twice unless a second run adds nothing, and return the result."""
    module, function = CHECKS[command][name]
    is_once = command == "doctor" or name.startswith(("machine.", "speed."))
    state, text = "OK", ""
    seconds: list[float] = []
    while state == "OK" and len(seconds) < (1 if is_once else 2):
        start = time.perf_counter()
        try:
            result = getattr(importlib.import_module(module), function)()
            if isinstance(result, Iterator):
                for item in result:
                    report({"found": item})
            else:
                text = result or ""
        except Skipped as error:
            state, text = "SKIPPED", str(error)
        except BaseException:
            state, text = "FAILED", traceback.format_exc()
        seconds.append(time.perf_counter() - start)
    return {"name": name, "state": state, "seconds": seconds, "text": text}


def main(descriptor: int, command: str, names: Sequence[str]) -> None:
    """Run checks until one fails."""

    def report(line: dict[str, Any]) -> None:
        os.write(descriptor, json.dumps(line).encode() + b"\n")

    for name in names:
        report({"begin": name})
        result = _result(command, name, report)
        sys.stdout.flush()
        report(result)
        if result["state"] == "FAILED":
            return


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
