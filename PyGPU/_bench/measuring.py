"""Measuring: contestants that take turns in one process, and what their samples come to.

Imports nothing of PyGPU: the scripts of benchmarks/ measure older packages with it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

Call = Callable[[], object]
Measure = Callable[[], float]


def median_seconds(work: Call, number: int, repeat: int = 7) -> float:
    """Median over `repeat` rounds of the time of one of `number` calls, after a warm-up."""
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
    """A function that makes `number` calls, waits for the device and returns the seconds of one."""

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
    """{name: what its function returned, once a round}: the contestants take turns, each after a
    wait for the device, so that all see the same clocks."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, measure in contestants.items():
            wait()
            found[name].append(measure())
    wait()
    return found


def medians(rounds: int, contestants: Mapping[str, Measure], wait: Call) -> dict[str, float]:
    """{name: median of what its function returned}, the contestants interleaved."""
    found = interleaved(rounds, contestants, wait)
    return {name: statistics.median(figures) for name, figures in found.items()}


def summary(samples: list[float]) -> dict[str, float]:
    """Median, 10th and 90th percentile, least, greatest and number of samples."""
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
