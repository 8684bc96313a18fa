"""Lines on stderr about work that takes long: compilations of kernels and builds of libraries.

Transfers have progress bars of their own (``PyGPU.transfer``), because their size is known.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
import threading
import time
from collections.abc import Iterator

from PyGPU._runtime import settings

_PATIENCE = 2.0  # seconds


def _is_watched() -> bool:
    """Report whether somebody reads stderr now: a terminal, or a notebook of IPython."""
    stderr = sys.stderr
    if hasattr(builtins, "__IPYTHON__"):
        return True
    try:
        return stderr is not None and stderr.isatty()
    except ValueError:  # stderr is closed
        return False


def _delay() -> float:
    """Return the seconds after which work is announced; 0: never."""
    asked: float | None = settings.value("PYGPU_PROGRESS")
    if asked is None:
        return _PATIENCE if _is_watched() else 0.0
    return asked


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # of a stderr that is gone
        print(f"PyGPU: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def announced(doing: str, done: str) -> Iterator[None]:
    """Announce the work of the ``with`` block if it takes long, and its end then as well.

    A thread writes the first line, so that calls into a compiler's library can be announced.

    :param doing, done: The work, such as "compiling kernel.cu" and "compiled kernel.cu".
    """
    delay = _delay()
    if not delay:
        yield
        return
    is_announced = threading.Event()

    def announce() -> None:
        _write(f"{doing} ...")
        is_announced.set()

    start = time.monotonic()
    timer = threading.Timer(delay, announce)
    timer.daemon = True
    with contextlib.suppress(RuntimeError):  # no thread can start: the work itself goes on
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if is_announced.is_set():
        _write(f"{done} in {time.monotonic() - start:.1f} s")
