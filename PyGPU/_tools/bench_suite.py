"""A run of the benchmark: check every row against NumPy, then measure the libraries in turns.

The result is plain data (numbers, strings, lists and dicts), which `bench_results.py` prints
and draws, and JSON can store.
"""

from __future__ import annotations

import ast
import os
import platform
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._runtime import capabilities, core
from PyGPU._tools import bench_limits as limits
from PyGPU._tools.bench_libraries import WRITTEN, Library, Operands, fetch, numpy, ours, peers
from PyGPU._tools.bench_results import compared, summarized
from PyGPU._tools.bench_table import DTYPES, Row, Work, rows
from PyGPU._tools.measuring import Measure, batch_of, interleaved, medians, summary

if TYPE_CHECKING:
    from PyGPU._types import DType, HostArray

SMALL = 1024  # elements of small rows
_CHECKED = 1 << 12  # elements of the arrays for checking results
_MOST_CALLS = 500  # calls in one sample: fewer than the launch queue of a GPU holds


class Settings(NamedTuple):
    """Settings of a run."""

    exponent: int  # big rows have 2 ** `exponent` elements
    samples: int = 9  # most samples of a row
    sample: float = 2e-3  # approximate seconds of a sample, which has as many calls as needed
    budget: float = 1.0  # most seconds of a row, over all libraries; it limits the samples
    only: str = ""  # measure only rows with this text in their group, name, dtype or kind
    dtypes: tuple[str, ...] = ()  # of every line instead of its own, if NumPy supports it


class Wrong(Exception):
    """A library's result differs from NumPy's."""


def program(text: str, library: Library, operands: Operands) -> tuple[Callable[[], Any], Any]:
    """Compile a text with the arrays and names of a library.

    Return the call, and the first array in the text that it may write: the result of a call that
    returns None.
    """
    tree = ast.parse(text)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names = [node.id for node in sorted(nodes, key=lambda node: node.col_offset)]
    values: dict[str, Any] = {"n": operands.n}
    for name in {*names} - values.keys():
        is_operand = name in operands
        values[name] = (
            operands.of(library, name) if is_operand else library.word(name, operands.dtype)
        )
    result = "return " if isinstance(tree.body[0], ast.Expr) else ""
    exec(compile(f"def call():\n    {result}{text}", text, "exec"), values)
    return values["call"], next((values[name] for name in names if name in WRITTEN), None)


def _results(text: str, library: Library, dtype: str) -> list[HostArray]:
    """Return the results of a text on small arrays as NumPy arrays."""
    call, written = program(text, library, Operands(_CHECKED, dtype))
    found = call()
    found = written if found is None else found
    return [fetch(part) for part in (found if isinstance(found, tuple) else (found,))]


def _is_defined(work: Work, dtype: str) -> bool:
    """Report whether NumPy computes a line with this dtype without a warning."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            _results(work.text, numpy(), dtype)
    except (TypeError, ValueError, Warning):
        return False
    return True


def check(work: Work, library: Library, dtype: str) -> None:
    """Run a line once on small arrays and raise Wrong if the result is not NumPy's.

    The elements may differ by the square root of the dtype's precision. Result dtypes may differ.
    """
    expected = _results(work.text, numpy(), dtype)
    found = _results(work.of(library.name) or work.text, library, dtype)
    if [part.shape for part in found] != [part.shape for part in expected]:
        shapes = [[part.shape for part in parts] for parts in (expected, found)]
        raise Wrong(f"expected the shape {shapes[0]}, got {shapes[1]}")
    for part, known in zip(found, expected):
        if work.check == "values":
            _compare(part, known, np.dtype(dtype))
        elif work.check == "moments":
            own, wanted = ([float(one.mean()), float(one.std())] for one in (part, known))
            if not np.allclose(own, wanted, 0, 0.1):
                raise Wrong(f"expected mean and deviation {wanted}, got {own}")


def _compare(found: HostArray, expected: HostArray, dtype: DType) -> None:
    """Raise Wrong if the arrays differ beyond the least precise dtype; integers must be equal."""
    kinds = [one for one in (found.dtype, expected.dtype, dtype) if one.kind in "fc"]
    close = max((float(np.finfo(one).eps) ** 0.5 for one in kinds), default=0.0)
    wide, widened = found.astype(np.complex128), expected.astype(np.complex128)
    differs = ~np.isclose(wide, widened, close, close)
    if differs.any():
        at = tuple(np.argwhere(differs)[0])
        raise Wrong(
            f"expected {expected[at]} at {[*map(int, at)]}, got {found[at]}; "
            f"{differs.sum()} of {differs.size} elements differ"
        )


def _reason(error: Exception) -> str:
    first = next(iter(f"{error}".splitlines()), "")
    return f"{type(error).__name__}: {first}"[:200]


class _Run:
    """Libraries, operands of the current size and dtype, and raw limits."""

    def __init__(self, settings: Settings, libraries: list[Library]) -> None:
        self._settings, self._libraries = settings, libraries
        self._current: Operands | None = None
        self.raw: dict[str, Any] = limits.bandwidth(1 << settings.exponent, settings.samples)
        self.raw["launch"] = limits.launch(settings.samples, _MOST_CALLS)

    def release(self) -> None:
        self._current = None
        for library in self._libraries:
            library.release()

    def _operands(self, row: Row) -> Operands:
        current = self._current
        if current is None or (current.n, current.dtype) != (row.n, np.dtype(row.dtype)):
            current = None
            self.release()
            self._current = current = Operands(row.n, row.dtype)
        return current

    def _calls(self, row: Row, errors: dict[str, str]) -> dict[str, Callable[[], Any]]:
        """Return {library: call} for correct results, and add {library: reason} to `errors`."""
        found: dict[str, Callable[[], Any]] = {}
        for library in self._libraries:
            text = row.work.of(library.name)
            if text is None:
                continue
            try:
                check(row.work, library, row.dtype)
                call, _ = program(text, library, self._operands(row))
                call()
                limits.wait()
                found[library.name] = call
            except Exception as error:  # any error of a library is reported
                errors[library.name] = _reason(error)
                core.cudaGetLastError()
                library.release()
        return found

    def _measured(
        self, row: Row, calls: dict[str, Callable[[], Any]]
    ) -> dict[str, dict[str, float]]:
        """Return {library: summary of its samples, in seconds per call}.

        Events of the device time big rows. The host's clock times other rows, up to the end of the
        work.
        """

        def measure(call: Callable[[], Any], number: int) -> Measure:
            if row.kind == "big":
                return limits.on_device(call, number)
            return batch_of(call, number, limits.wait)

        settings, turns, round_takes = self._settings, {}, 0.0
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

    def _limit(self, row: Row) -> float:
        """Return the minimum seconds of a row.

        The limit is a raw kernel that moves the same memory, a launch, or a raw copy of page-locked
        memory.
        """
        if row.kind == "small":
            return float(self.raw["launch"]["us"]) / 1e6
        if row.kind == "big":
            return row.nbytes / float(max(self.raw[kind]["GB/s"] for kind in ("copy", "add"))) / 1e9
        operands, library = self._operands(row), self._libraries[0]
        number = int(min(max(self._settings.sample * 2e10 / row.n, 1), _MOST_CALLS))
        device, pinned = operands.of(library, "d"), operands.of(library, "pinned")
        copy = limits.transfer(row.direction, device, pinned, number)
        return medians(self._settings.samples, {"raw": copy}, limits.wait)["raw"]

    def result(self, row: Row) -> dict[str, Any]:
        """Measure a row and return its results. Afterwards only this object has its operands."""
        seconds: dict[str, dict[str, float]] = {}
        errors: dict[str, str] = {}
        least = None
        try:
            with np.errstate(all="ignore"):  # sums of 2^26 elements overflow float16
                calls = self._calls(row, errors)
                least = self._limit(row)
                seconds = self._measured(row, calls)
        except Exception as error:  # such as too little memory for the shared arrays
            errors["all"] = _reason(error)
            self.release()
        return {
            **{"group": row.group, "name": row.name, "dtype": row.dtype, "kind": row.kind},
            **{"n": row.n, "bytes": row.nbytes, "unit": row.unit, "own": row.own, "errors": errors},
            "texts": {library.name: row.work.of(library.name) for library in self._libraries},
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
    """Measure all rows and return the results; `progress` receives a line of text before each row.

    A row has its texts and the moved memory in bytes; in "seconds", a summary of the samples of
    each library; "speed" in "unit", GB/s or microseconds; "errors"; the entries of `compared`.

    Raises
    ------
    ValueError
        If no row has the text `settings.only`, or if the table lacks one of the dtypes.
    """
    for dtype in settings.dtypes:
        if dtype not in DTYPES:
            raise ValueError(f"dtypes={dtype!r}: expected some of {', '.join(DTYPES)}")
    everything = [*rows(1 << settings.exponent, SMALL, settings.dtypes)]
    wanted = [
        row
        for row in everything
        if settings.only in f"{row.group} {row.name} {row.dtype} {row.kind}"
        and (row.own or _is_defined(row.work, row.dtype))
    ]
    if not wanted:
        groups = ", ".join(dict.fromkeys(row.group for row in everything))
        raise ValueError(
            f"only={settings.only!r}: no row has this text in its group, name, dtype or kind; "
            f"the groups are {groups}"
        )
    others, missing = peers() if with_peers else ([], {})
    libraries = [ours(), *others]
    progress("raw limits")
    current = _Run(settings, libraries)
    results = []
    for number, row in enumerate(wanted, 1):
        progress(f"{number}/{len(wanted)} {row.group}: {row.name}, {row.dtype}")
        results.append(current.result(row))
    current.release()
    return {
        "machine": _machine(libraries, missing),
        "settings": {
            **settings._asdict(),
            "dtypes": [*settings.dtypes],
            "small": SMALL,
            "peers": with_peers,
        },
        "limits": current.raw,
        "rows": results,
        "summary": summarized(results),
    }
