"""Interleaved time measurements in one process, and statistics of their samples.

The module imports nothing from PyGPU, as the scripts in benchmarks/ measure older versions with it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

Call = Callable[[], object]
Measure = Callable[[], float]


def median_seconds(work: Call, number: int, repeat: int = 7) -> float:
    """Return the seconds of one call: the median over rounds of `number` calls, after a warm-up."""
    for _ in range(max(1, number // 10)):
        work()
    rounds = []
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(number):
            work()
        rounds.append((time.perf_counter() - start) / number)
    return statistics.median(rounds)


def batch_of(work: Call, number: int, wait: Call) -> Measure:
    """Return a function that makes `number` calls, waits and returns the seconds of one call."""

    def batch() -> float:
        start = time.perf_counter()
        for _ in range(number):
            work()
        wait()
        return (time.perf_counter() - start) / number

    return batch


def interleaved(
    rounds: int, contestants: Mapping[str, Measure], wait: Call
) -> dict[str, list[float]]:
    """Return {name: samples}; the contestants take turns, one sample each per round.

    Each turn starts after a wait for the device, so that all contestants see the same clocks.
    """
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, measure in contestants.items():
            wait()
            found[name].append(measure())
    wait()
    return found


def medians(rounds: int, contestants: Mapping[str, Measure], wait: Call) -> dict[str, float]:
    """Return {name: median of its samples}, with the contestants interleaved."""
    found = interleaved(rounds, contestants, wait)
    return {name: statistics.median(samples) for name, samples in found.items()}


def summary(samples: list[float]) -> dict[str, float]:
    """Return median, 10th and 90th percentile, minimum, maximum and number of samples."""
    if len(samples) > 1:
        tenths = statistics.quantiles(samples, n=10, method="inclusive")
    else:
        tenths = samples * 9
    return {
        "median": statistics.median(samples),
        "p10": tenths[0],
        "p90": tenths[-1],
        "least": min(samples),
        "greatest": max(samples),
        "samples": len(samples),
    }
