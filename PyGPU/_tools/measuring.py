"""Interleaved time measurements in one process, and statistics of their samples.

Scripts in benchmarks/ load this file to measure older versions of PyGPU, so it imports nothing from
PyGPU.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

Call = Callable[[], object]
Measure = Callable[[], float]


def batch_of(work: Call, number: int, wait: Call = lambda: None) -> Measure:
    """Return a function that times `number` calls and a `wait`, and returns seconds per call."""

    def batch() -> float:
        start = time.perf_counter()
        for _ in range(number):
            work()
        wait()
        return (time.perf_counter() - start) / number

    return batch


def interleaved(
    rounds: int, candidates: Mapping[str, Measure], wait: Call
) -> dict[str, list[float]]:
    """Return {name: samples}, with one sample of each candidate per round.

    Candidates alternate within a round, so that changes of the clock rate affect all of them alike.
    `wait` synchronizes the device before each sample.
    """
    found: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, measure in candidates.items():
            wait()
            found[name].append(measure())
    wait()
    return found


def medians(rounds: int, candidates: Mapping[str, Measure], wait: Call) -> dict[str, float]:
    """Return {name: median of its samples}, with the candidates interleaved."""
    found = interleaved(rounds, candidates, wait)
    return {name: statistics.median(samples) for name, samples in found.items()}


def summary(samples: list[float]) -> dict[str, float]:
    """Return statistics: median, percentiles 10 and 90, minimum, maximum, number of samples."""
    if len(samples) > 1:
        tenths = statistics.quantiles(samples, n=10, method="inclusive")
    else:
        tenths = samples * 9
    return {
        "median": statistics.median(samples),
        "p10": tenths[0],
        "p90": tenths[-1],
        "min": min(samples),
        "max": max(samples),
        "samples": len(samples),
    }
