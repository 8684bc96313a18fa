"""Checks in child processes, so that a crash or a hang is a result like any other."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from PyGPU._runtime import PACKAGE, programs

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
    names: Sequence[str],
    limit: float,
    environment: Mapping[str, str],
    started: Callable[[str], None],
    package: str = "PyGPU._report",
) -> Iterator[Result]:
    """Run checks in order; a failed check is followed by a new process.

    Parameters
    ----------
    names : sequence of str
        Names of checks, such as ``"machine.devices"``: functions of modules of the package.
    limit : float
        Seconds for one check, after which its process is killed.
    environment : mapping of str to str
        Variables that the processes have besides those of this process.
    started : callable(name)
        Called when a check begins.
    package : str, optional
        Package of the checks. `ONCE` of its module ``table`` has the prefixes of checks that run
        once; the others run twice.
    """
    left = list(names)
    while left:
        with _Process(left, environment, package) as process:
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

    def __init__(self, names: Sequence[str], environment: Mapping[str, str], package: str) -> None:
        super().__init__()
        self._told, self._seen = b"", 0
        self._reader, writer = os.pipe()
        self.callback(os.close, self._reader)
        # In memory, so that the checks run where no folder for temporary files can be written.
        self._output = os.memfd_create("PyGPU-output")
        self.callback(os.close, self._output)
        passed = fcntl.fcntl(writer, fcntl.F_DUPFD, 10)  # inherited; 0 to 3 are taken
        os.close(writer)
        try:
            self._process = programs.Program(
                [sys.executable, "-m", "PyGPU._report.child", str(passed), package, *names],
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
        while b"\n" not in self._told:
            if not programs.is_readable(self._reader, max(0.0, end - time.monotonic())):
                raise TimeoutError
            data = os.read(self._reader, 1 << 16)
            if not data:
                return None
            self._told += data
        line, _, self._told = self._told.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def results(self, first: str, limit: float, started: Callable[[str], None]) -> Iterator[Result]:
        """Yield results until the process ends; an end during a check is the check's result."""
        current: str | None = None
        start = NOT_STARTED  # until the first check begins
        begin = time.monotonic()
        found: list[Any] = []
        while True:
            try:
                told = self._line(begin + limit)
            except TimeoutError:
                self._process.kill()
                why = f"no end within {limit:g} s: killed"
                yield self._lost(current or first, begin, f"{start}{why}", found)
                return
            if told is None:
                status = self._ended()
                if start or current is not None:
                    yield self._lost(current or first, begin, f"{start}{status}", found)
                return
            if "found" in told:
                found.append(told["found"])
                continue
            begin = time.monotonic()
            if "begin" in told:
                start = ""
                current, found = told["begin"], []
                started(told["begin"])
            else:
                current = None
                name, state = told["end"], told["state"]
                yield Result(name, state, told["seconds"], told["text"], self._printed(), found)

    def _lost(self, name: str, begin: float, why: str, found: list[Any]) -> Result:
        return Result(name, "FAILED", [time.monotonic() - begin], why, self._printed(), found)

    def _ended(self) -> str:
        """Return how the process ended."""
        try:
            status = self._process.wait(10)
        except TimeoutError:
            return "the process closed its report and did not end"
        if status >= 0:
            return f"the process ended with status {status}"
        try:
            return f"the process was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"the process was ended by signal {-status}"
