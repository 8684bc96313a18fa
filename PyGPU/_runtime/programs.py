"""Programs that PyGPU runs, such as compilers: their status and messages, whatever SIGCHLD does.

The system discards the status of a child process if SIGCHLD is ignored, as daemons and some
schedulers have it. Another part of the process may also fetch the status first. So a shell waits
for the program, and writes the program's status to a pipe.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from typing import BinaryIO, NamedTuple

_SHELL = "/bin/sh"
# The program does not inherit the pipe, and the shell's own remarks ("Aborted") are dropped.
_SCRIPT = 'exec 4>&2 2>/dev/null; (exec "$@" 2>&4 3>&- 4>&-); echo $? >&3'
#: Signals that a program starts with as usual, although this process ignores them.
_RESET = (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
#: Statuses by which a shell says that a program cannot be executed, or is not there.
CANNOT_RUN = (126, 127)


def environment() -> dict[str, str]:
    """Return this process's environment for a program of the system.

    PyInstaller puts the folder of a frozen program into LD_LIBRARY_PATH. Its libraries may be older
    than those that a compiler needs.
    """
    variables = dict(os.environ)
    folder = getattr(sys, "_MEIPASS", None)
    if folder and "LD_LIBRARY_PATH" in variables:
        folders = variables.pop("LD_LIBRARY_PATH").split(os.pathsep)
        others = [one for one in folders if one.rstrip(os.sep) != folder.rstrip(os.sep)]
        if others:
            variables["LD_LIBRARY_PATH"] = os.pathsep.join(others)
    return variables


def is_readable(descriptor: int, seconds: float | None) -> bool:
    """Wait at most some seconds until a file has data or ends; return False after that time."""
    poll = select.poll()  # select.select() refuses descriptors above 1023
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(None if seconds is None else 1000 * seconds))


class Finished(NamedTuple):
    """Result of a program: its status as in :mod:`subprocess`, and the texts that it wrote."""

    status: int
    stdout: str
    stderr: str


class Program:
    """A running program, with its children in a process group of their own.

    It writes to the file descriptors `stdout` and `stderr`. Its environment is by default
    `environment()`.
    """

    def __init__(
        self,
        command: Sequence[str],
        stdout: int,
        stderr: int,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._told = b""
        reader, writer = os.pipe()
        # The moved descriptors are none of 0 to 3, so that one dup2 does not close the next.
        moved = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 10) for one in (stdout, stderr, writer)]
        os.close(writer)
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            *((os.POSIX_SPAWN_DUP2, one, at) for one, at in zip(moved, (1, 2, 3))),
        ]
        try:
            self._pid = os.posix_spawn(
                _SHELL,
                [_SHELL, "-c", _SCRIPT, _SHELL, *command],
                environment() if env is None else env,
                file_actions=actions,
                setpgroup=0,
                setsigdef=_RESET,
            )
        except BaseException:
            os.close(reader)
            raise
        finally:
            for one in moved:
                os.close(one)
        self._reader = reader

    def wait(self, timeout: float | None = None) -> int:
        """Return the status: negative for a signal. Raise TimeoutError after some seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while self._reader >= 0:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not is_readable(self._reader, left):
                raise TimeoutError
            data = os.read(self._reader, 64)
            self._told += data
            if not data:
                if not self._told:  # the shell itself was killed
                    self.kill()
                self._close()
        if not self._told:
            return -signal.SIGKILL
        status = int(self._told)
        return 128 - status if 128 < status <= 128 + signal.SIGRTMAX else status

    def kill(self) -> None:
        """Kill the program and its children, unless it has ended."""
        if self._reader >= 0:  # the shell has not ended, so the number is still its own
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)

    def _close(self) -> None:
        with contextlib.suppress(ChildProcessError):  # the system, or another part, has waited
            os.waitpid(self._pid, 0)
        os.close(self._reader)
        self._reader = -1


def _memory() -> BinaryIO:
    """Return an empty file in memory."""
    return os.fdopen(os.memfd_create("PyGPU-texts"), "w+b")


def run(
    command: Sequence[str], timeout: float | None = None, env: Mapping[str, str] | None = None
) -> Finished:
    """Run a program to its end; kill it if an exception, such as Ctrl-C, ends the wait.

    A program that cannot be run has a status in `CANNOT_RUN`, and the shell's message is in
    `stderr`. Raise TimeoutError after `timeout` seconds; OSError if there is no shell, no process
    or no memory for the texts.
    """
    # In memory: a program that writes no files needs no folder for temporary files.
    with _memory() as stdout, _memory() as stderr:
        program = Program(command, stdout.fileno(), stderr.fileno(), env)
        try:
            status = program.wait(timeout)
        except BaseException:
            program.kill()
            program.wait()
            raise
        texts = []
        for file in (stdout, stderr):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace").replace("\r\n", "\n"))
        return Finished(status, *texts)
