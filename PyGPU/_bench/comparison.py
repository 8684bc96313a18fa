"""Evaluation of measured seconds: speeds, ratios to the limit and to the fastest peer, means."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from PyGPU._bench.table import Row

#: A row is behind if PyGPU's speed divided by the fastest peer's is below this ratio.
BEHIND = 0.97


def compared(row: Row, seconds: dict[str, dict[str, float]], least: float | None) -> dict[str, Any]:
    """Return the speeds and ratios of a row whose limit takes `least` seconds.

    A ratio above one means that PyGPU is faster. "peer" is the name of the fastest other library.
    """

    def speed(one: float) -> float:
        return row.nbytes / one / 1e9 if row.unit == "GB/s" else one * 1e6

    medians = {name: found["median"] for name, found in seconds.items()}
    mine = medians.pop("PyGPU", None)
    peer = min(medians, key=medians.__getitem__, default=None)
    return {
        "speed": {name: speed(found["median"]) for name, found in seconds.items()},
        "limit": speed(least) if least else None,
        "of limit": least / mine if least and mine else None,
        "peer": peer,
        "of peer": medians[peer] / mine if mine and peer else None,
    }


def _mean(ratios: Iterable[float]) -> float | None:
    """Return the geometric mean, or None for no ratios."""
    logarithms = [math.log(one) for one in ratios]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else None


def summarized(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return geometric means for each kind of row, the rows that are behind, and failed rows."""
    kinds = dict.fromkeys(row["kind"] for row in rows)
    means = {
        kind: {
            "rows": sum(row["kind"] == kind for row in rows),
            **{
                ratio: _mean(row[ratio] for row in rows if row["kind"] == kind and row[ratio])
                for ratio in ("of limit", "of peer")
            },
        }
        for kind in kinds
    }
    return {
        "means": means,
        "behind": {
            label(row): row["of peer"]
            for row in sorted(rows, key=lambda row: row["of peer"] or 1.0)
            if (row["of peer"] or 1.0) < BEHIND
        },
        "wrong": [label(row) for row in rows if _is_wrong(row)],
    }


def _is_wrong(row: dict[str, Any]) -> bool:
    """Report whether PyGPU failed (except by lack of memory) or any library's result was wrong.

    Rows with dtypes that the table does not list are ignored, as PyGPU's result dtypes may differ
    from NumPy's there.
    """
    if not row["own"]:
        return False
    ours = [row["errors"].get(name, "MemoryError") for name in ("PyGPU", "all")]
    return not all("MemoryError" in reason for reason in ours) or any(
        reason.startswith("Wrong:") for reason in row["errors"].values()
    )


def label(row: dict[str, Any]) -> str:
    """Return the name of a row in reports."""
    return f"{row['kind']}: {row['name']}, {row['dtype']}"
