"""Settings of transfers between host and device: threads, chunks, thresholds, progress.

Several threads copy pageable memory above a threshold, each through its own page-locked memory:
while one part of it is on the bus, the processor fills or empties another. Host memory that is not
contiguous, or in another order, is gathered into that memory and scattered from it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

from PyGPU._runtime import core, docstrings, hooks, integer

if TYPE_CHECKING:
    from PyGPU._types import Int, MakesProgress, Progress

__all__ = ["Settings", "configure"]

_MOST_PINNED = 4 << 30


class _Fields(NamedTuple):
    threads: int
    chunk_bytes: int
    chunks: int
    threshold: int
    progress: MakesProgress | None
    progress_threshold: int
    result_cache: int


class Settings(_Fields):
    """Settings of transfers, from :func:`configure`.

    At the end of a ``with`` statement, the previous settings are restored.

    Parameters
    ----------
    threads : int
        Threads that copy an array.
    chunk_bytes : int
        Largest copy over the bus in bytes.
    chunks : int
        Page-locked memory of each thread, in chunks.
    threshold : int
        Smallest transfer in bytes that several threads share; 0: all transfers are the runtime's.
    progress : callable or None
        Makes the progress bars.
    progress_threshold : int
        Smallest transfer with a progress bar, in bytes.
    result_cache : int
        Most bytes of host memory kept for later results.

    Examples
    --------
    >>> from PyGPU.transfer import configure
    >>> with configure(threads=2) as settings:
    ...     settings.threads
    2
    """

    if TYPE_CHECKING:  # core._begin_settings adds them

        def __enter__(self) -> Settings: ...
        def __exit__(self, type: object, value: object, traceback: object) -> None: ...

    def _changed(self, **changes: Any) -> Settings:
        """Return a copy with these fields changed, or raise ValueError."""
        wanted = self._replace(**changes)
        pinned = wanted.threads * wanted.chunks * wanted.chunk_bytes
        if pinned > _MOST_PINNED:
            raise ValueError(
                f"threads={wanted.threads}, chunks={wanted.chunks}, chunk_bytes="
                f"{wanted.chunk_bytes}: {pinned} bytes of page-locked memory, expected at most "
                f"{_MOST_PINNED}"
            )
        return wanted

    def __reduce__(self) -> tuple[type[Settings], tuple[Any, ...]]:
        return Settings, tuple(self)  # what `with` restores belongs to this object alone


core._begin_settings(Settings(*core._transfer_settings(), None, 1 << 30, core._result_memory()[2]))


def _show(progress: MakesProgress | None, nbytes: int, up: bool) -> Progress | None:
    """Return the progress bar of a starting transfer, or None."""
    if progress is None:  # another thread has switched progress off
        return None
    description = "to the device" if up else "to the host"
    return progress(total=nbytes, unit="B", unit_scale=True, desc=description)


hooks.register(transfer_progress=_show)

_LIMITS = {
    "threads": (1, 64),
    "chunk_bytes": (512, 1 << 30),
    "chunks": (1, 16),
    "threshold": (0, (1 << 63) - 1),
    "progress_threshold": (0, (1 << 63) - 1),
    "result_cache": (0, (1 << 63) - 1),
}


def _number(name: str, value: Int) -> int:
    number = integer(name, value)
    least, most = _LIMITS[name]
    if not least <= number <= most:
        raise ValueError(f"{name}={number}: expected {least} to {most}")
    return number


def _makes_progress(progress: MakesProgress | bool) -> MakesProgress | None:
    if progress is False:
        return None
    if progress is True:
        try:
            made: MakesProgress = importlib.import_module("tqdm").tqdm
        except ImportError as error:
            raise ImportError(
                "progress=True: needs the package tqdm (pip install tqdm), or pass a callable"
            ) from error
        return made
    if not callable(progress):
        raise TypeError(f"progress: expected True, False or a callable, got {progress!r}")
    return progress


def configure(
    *,
    threads: Int | None = None,
    chunk_bytes: Int | None = None,
    chunks: Int | None = None,
    threshold: Int | None = None,
    progress: MakesProgress | bool | None = None,
    progress_threshold: Int | None = None,
    result_cache: Int | None = None,
) -> Settings:
    """Change the settings of later transfers, in all threads.

    Transfers in progress keep their settings. An argument of None keeps its setting, so
    ``configure()`` returns the current settings.

    :param threads: Most threads that copy one array, 1 to 64. By default half the usable cores, at
        most 8.
    :param chunk_bytes: Largest copy over the bus in bytes, 512 to 2**30. By default 2 MiB.
    :param chunks: Page-locked memory of each thread, 1 to 16 chunks. By default 4. On each device
        with large transfers, threads * chunks * chunk_bytes bytes stay page-locked, at most 4 GiB;
        they are allocated once transfers have moved a quarter of as many bytes. Memory beyond new
        settings is released at once, or at the end of the transfer that uses it.
    :param threshold: Size in bytes from which several threads copy pageable memory to the device.
        To the host, they do so from three quarters of it. One thread copies smaller transfers: up
        to 384 KiB, and those with gaps, through page-locked memory where that is faster. 0: all
        transfers are copies of the runtime. By default the environment variable PYGPU_STAGING, else
        512 KiB on GPUs, and 0 on `host` and on one core.
    :param bool or callable progress: True: show the progress of transfers by tqdm. False: show
        none, the default. A callable makes the progress bar, like `tqdm.tqdm`: the transferring
        thread calls ``progress(total=nbytes, unit="B", unit_scale=True, desc=text)`` before the
        first copy. It then calls ``update(nbytes)`` of the result with the bytes copied since the
        last call, at most 25 times a second, and ``close()`` once. An exception from these ends the
        transfer.
    :param progress_threshold: Size in bytes from which transfers show their progress. By default
        2**30.
    :param result_cache: Most bytes of host memory that results of 256 KiB or more leave for later
        results when they are freed; memory that no result uses for 3 seconds returns to the system.
        0: none. By default the environment variable PYGPU_RESULT_CACHE, else a sixteenth of the
        memory, at most 1 GiB.
    :returns: The new settings. ``with configure(...):`` restores the previous ones at its end.
    :raises TypeError, ValueError: If a value is invalid; then no setting changes.
    :raises ImportError: If ``progress=True`` and tqdm is not installed.

    >>> from PyGPU.transfer import configure
    >>> with configure(threads=2, chunk_bytes=1 << 20):
    ...     configure().threads
    2
    """
    numbers = {
        "threads": threads,
        "chunk_bytes": chunk_bytes,
        "chunks": chunks,
        "threshold": threshold,
        "progress_threshold": progress_threshold,
        "result_cache": result_cache,
    }
    changes: dict[str, Any] = {
        name: _number(name, value) for name, value in numbers.items() if value is not None
    }
    if progress is not None:
        changes["progress"] = _makes_progress(progress)
    return core._change_settings(changes)


docstrings.complete(__name__)
