"""A run of the benchmark: check every row against NumPy, then measure the libraries in turns.

The result is plain data (numbers, strings, lists and dicts), which `report.py` prints, `plot.py`
draws and JSON can store.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from PyGPU._bench import limits
from PyGPU._bench.comparison import compared, summarized
from PyGPU._bench.libraries import Library, ours, peers
from PyGPU._bench.measuring import Measure, batch_of, interleaved, medians, summary
from PyGPU._bench.operands import Operands
from PyGPU._bench.programs import check, is_defined, program
from PyGPU._bench.table import DTYPES, Row, rows
from PyGPU._runtime import capabilities, core

SMALL = 1024  # elements of small rows
_MOST_CALLS = 500  # calls in one sample: fewer than the launch queue of a GPU holds


class Settings(NamedTuple):
    """Settings of a run.

    Attributes
    ----------
    exponent : int
        Big rows have 2 ** `exponent` elements.
    samples : int
        Most samples of a row.
    sample : float
        Approximate seconds of a sample, which has as many calls as needed.
    budget : float
        Most seconds of a row, over all libraries; it limits the samples.
    only : str
        Measure only rows with this text in their group, name, dtype or kind.
    dtypes : tuple of str
        Measure every line in these dtypes instead of its own, if NumPy supports it.
    """

    exponent: int
    samples: int = 9
    sample: float = 2e-3
    budget: float = 1.0
    only: str = ""
    dtypes: tuple[str, ...] = ()


class _Arrays:
    """Operands of the current size and dtype; operands of other rows are released."""

    def __init__(self, libraries: list[Library]) -> None:
        self._libraries = libraries
        self._kept: Operands | None = None

    def release(self) -> None:
        self._kept = None
        for library in self._libraries:
            library.release()

    def of(self, row: Row) -> Operands:
        kept = self._kept
        if kept is None or (kept.n, kept.dtype) != (row.n, np.dtype(row.dtype)):
            kept = None
            self.release()
            self._kept = kept = Operands(row.n, row.dtype)
        return kept


def _reason(error: Exception) -> str:
    first = next(iter(f"{error}".splitlines()), "")
    return f"{type(error).__name__}: {first}"[:200]


def _calls(
    row: Row, libraries: list[Library], arrays: _Arrays
) -> tuple[dict[str, Callable[[], Any]], dict[str, str]]:
    """Return {library: call} for correct results, and {library: reason} for failures."""
    found: dict[str, Callable[[], Any]] = {}
    errors: dict[str, str] = {}
    for library in libraries:
        text = row.work.of(library.name)
        if text is None:
            continue
        try:
            check(row.work, library, row.dtype)
            call = program(text, library, arrays.of(row)).call
            call()
            limits.wait()
            found[library.name] = call
        except Exception as error:  # any error of a library is reported
            errors[library.name] = _reason(error)
            core.cudaGetLastError()
            library.release()
    return found, errors


def _measured(
    row: Row, calls: dict[str, Callable[[], Any]], settings: Settings
) -> dict[str, dict[str, float]]:
    """Return {library: summary of its samples, in seconds per call}.

    Events of the device time big rows. The host's clock times other rows, up to the end of the
    work.
    """

    def measure(call: Callable[[], Any], number: int) -> Measure:
        if row.kind == "big":
            return limits.on_device(call, number)
        return batch_of(call, number, limits.wait)

    turns, round_takes = {}, 0.0
    for name, call in calls.items():
        once = measure(call, 1)()
        if 20 * once < settings.sample:
            once = measure(call, 20)()  # more calls per wait at the end
        number = int(min(max(settings.sample / max(once, 1e-9), 1), _MOST_CALLS))
        turns[name] = measure(call, number)
        round_takes += once * number
    rounds = int(min(max(settings.budget / max(round_takes, 1e-9), 1), settings.samples))
    found = interleaved(rounds, turns, limits.wait)
    return {name: summary(samples) for name, samples in found.items()}


def _limit(
    row: Row, library: Library, arrays: _Arrays, found: dict[str, Any], settings: Settings
) -> float:
    """Return the minimum seconds of a row.

    The limit is a raw kernel that moves the same memory, a launch, or a raw copy of page-locked
    memory.
    """
    if row.kind == "small":
        return float(found["launch"]["us"]) / 1e6
    if row.kind == "big":
        return row.nbytes / float(max(found[kind]["GB/s"] for kind in ("copy", "add"))) / 1e9
    operands = arrays.of(row)
    number = int(min(max(settings.sample * 2e10 / row.n, 1), _MOST_CALLS))
    device, pinned = operands.of(library, "d"), operands.of(library, "pinned")
    copy = limits.transfer(row.direction, device, pinned, number)
    return medians(settings.samples, {"raw": copy}, limits.wait)["raw"]


def _found(
    row: Row,
    libraries: list[Library],
    arrays: _Arrays,
    raw_limits: dict[str, Any],
    settings: Settings,
) -> dict[str, Any]:
    """Measure a row and return its results. Afterwards only `arrays` refers to its operands."""
    seconds: dict[str, dict[str, float]] = {}
    errors: dict[str, str] = {}
    least = None
    try:
        with np.errstate(all="ignore"):  # sums of 2^26 elements overflow float16
            calls, errors = _calls(row, libraries, arrays)
            least = _limit(row, libraries[0], arrays, raw_limits, settings)
            seconds = _measured(row, calls, settings)
    except Exception as error:  # such as too little memory for the shared arrays
        errors["all"] = _reason(error)
        arrays.release()
    return {
        **{"group": row.group, "name": row.name, "dtype": row.dtype, "kind": row.kind},
        **{"n": row.n, "bytes": row.nbytes, "unit": row.unit, "own": row.own, "errors": errors},
        "texts": {library.name: row.work.of(library.name) for library in libraries},
        "seconds": seconds,
        **compared(row, seconds, least),
    }


def _machine(libraries: list[Library], missing: dict[str, str]) -> dict[str, Any]:
    """Return the date, the device and the versions of the software."""
    device = core.cudaDeviceProp(core.cudaGetDevice()[0])
    return {
        "date": time.strftime("%F %T"),
        "target": capabilities.target,
        "device": {
            "name": device.name(),
            "memory": device.totalGlobalMem(),
            "architecture": device.architecture(),
            "multiprocessors": device.multiProcessorCount(),
        },
        "cores": len(os.sched_getaffinity(0)),
        "versions": {
            "runtime": core.cudaRuntimeGetVersion()[0],
            "driver": core.cudaDriverGetVersion()[0],
            "Python": platform.python_version(),
            "NumPy": np.__version__,
            **{library.name: library.version for library in libraries},
        },
        "missing": missing,
    }


def run(
    settings: Settings, with_peers: bool, progress: Callable[[str], object] = lambda text: None
) -> dict[str, Any]:
    """Measure all rows and return the results.

    Parameters
    ----------
    settings : Settings
        Settings of the run.
    with_peers : bool
        Measure CuPy and torch as well, on `host` NumPy.
    progress : callable(str), optional
        Called with a line of text before each row.

    Returns
    -------
    dict
        "machine", "settings", "limits", "summary" and "rows". A row has:

        - its texts, and the moved memory in bytes;
        - "seconds": a summary of the samples of each library;
        - "speed" in "unit", GB/s or microseconds;
        - "errors", and the entries of `comparison.py`.

    Raises
    ------
    ValueError
        If no row has the text `settings.only`, or if the table lacks one of the dtypes.
    """
    n = 1 << settings.exponent
    for dtype in settings.dtypes:
        if dtype not in DTYPES:
            raise ValueError(f"dtypes={dtype!r}: expected some of {', '.join(DTYPES)}")
    everything = [*rows(n, SMALL, settings.dtypes)]
    wanted = [
        row
        for row in everything
        if settings.only in f"{row.group} {row.name} {row.dtype} {row.kind}"
        and (row.own or is_defined(row.work, row.dtype))
    ]
    if not wanted:
        groups = ", ".join(dict.fromkeys(row.group for row in everything))
        raise ValueError(
            f"only={settings.only!r}: no row has this text in its group, name, dtype or kind; "
            f"the groups are {groups}"
        )
    others, missing = peers() if with_peers else ([], {})
    libraries = [ours(), *others]
    arrays = _Arrays(libraries)
    progress("raw limits")
    found: dict[str, Any] = limits.bandwidth(n, settings.samples)
    found["launch"] = limits.launch(settings.samples, _MOST_CALLS)
    measured = []
    for number, row in enumerate(wanted, 1):
        progress(f"{number}/{len(wanted)} {row.group}: {row.name}, {row.dtype}")
        measured.append(_found(row, libraries, arrays, found, settings))
    arrays.release()
    return {
        "machine": _machine(libraries, missing),
        "settings": {
            **settings._asdict(),
            "dtypes": [*settings.dtypes],
            "small": SMALL,
            "peers": with_peers,
        },
        "limits": found,
        "rows": measured,
        "summary": summarized(measured),
    }
