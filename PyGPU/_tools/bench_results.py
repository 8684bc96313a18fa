"""Evaluation of measured seconds: speeds, ratios to the limit and to peers, means; the report."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from typing import Any

from PyGPU._tools.bench_table import Row

#: A row is behind if PyGPU's speed divided by the fastest peer's is below this ratio.
BEHIND = 0.97
_KINDS = {
    "big": "Big arrays: {n} elements, GB/s of the memory that the work must move",
    "small": "Small arrays: {small} elements, microseconds per call",
    "transfer": "Transfers: GB/s, below 1 MB microseconds",
}


def compared(row: Row, seconds: dict[str, dict[str, float]], least: float | None) -> dict[str, Any]:
    """Return the speeds and ratios of a row whose limit takes `least` seconds.

    A ratio above one means that PyGPU is faster. "peer" is the name of the fastest other library.
    """

    def speed(seconds: float) -> float:
        return row.nbytes / seconds / 1e9 if row.unit == "GB/s" else seconds * 1e6

    medians = {name: found["median"] for name, found in seconds.items()}
    speeds = {name: speed(median) for name, median in medians.items()}
    mine = medians.pop("PyGPU", None)
    peer = min(medians, key=medians.__getitem__, default=None)
    return {
        "speed": speeds,
        "limit": speed(least) if least else None,
        "of limit": least / mine if least and mine else None,
        "peer": peer,
        "of peer": medians[peer] / mine if mine and peer else None,
    }


def _mean(ratios: Iterable[float | None]) -> float | None:
    """Return the geometric mean of the ratios that are there, or None."""
    found = [ratio for ratio in ratios if ratio]
    return statistics.geometric_mean(found) if found else None


def summarized(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return geometric means for each kind of row, the rows that are behind, and failed rows."""
    means = {}
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        ratios = {ratio: _mean(row[ratio] for row in own) for ratio in ("of limit", "of peer")}
        means[kind] = {"rows": len(own), **ratios}
    compared = sorted((row for row in rows if row["of peer"]), key=lambda row: row["of peer"])
    return {
        "means": means,
        "behind": {label(row): row["of peer"] for row in compared if row["of peer"] < BEHIND},
        "wrong": [label(row) for row in rows if _is_wrong(row)],
    }


def _is_wrong(row: dict[str, Any]) -> bool:
    """Report whether PyGPU failed (except by lack of memory) or any library's result was wrong.

    Rows with dtypes that the table does not list are ignored, as PyGPU's result dtypes may differ
    from NumPy's there.
    """
    return row["own"] and any(
        reason.startswith("Wrong:") or (name in ("PyGPU", "all") and "MemoryError" not in reason)
        for name, reason in row["errors"].items()
    )


def label(row: dict[str, Any]) -> str:
    """Return the name of a row in reports."""
    return f"{row['kind']}: {row['name']}, {row['dtype']}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _row(row: dict[str, Any], peers: list[str]) -> Iterator[str]:
    spread = ""
    if seconds := row["seconds"].get("PyGPU"):
        low, high = (seconds[tenth] / seconds["median"] for tenth in ("p10", "p90"))
        spread = f"-{1 - low:.0%} +{high - 1:.0%}"  # of the median
    cells = [
        f"  {row['name']:<41} {row['dtype']:<10}",
        f"{_number(row['speed'].get('PyGPU')):>9} {spread:>10}",
        f"{_number(row['limit']):>9} {_number(row['of limit']):>7}",
        *(f"{_number(row['speed'].get(name)):>9}" for name in peers),
        *([f"{_number(row['of peer']):>7}"] if peers else []),
    ]
    yield " ".join(cells)
    for name, reason in row["errors"].items():
        yield f"    {name}: {reason}"


def _lines(found: dict[str, Any]) -> Iterator[str]:
    machine, limits, summary = found["machine"], found["limits"], found["summary"]
    peers = list(found["rows"][0]["texts"])[1:]
    yield f"{machine['device']['name']}, target {machine['target']}, {machine['date']}"
    yield ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    yield from (f"without {name}: {reason}" for name, reason in machine["missing"].items())
    yield (
        f"raw limits: copy {limits['copy']['GB/s']:.4g} GB/s, addition "
        f"{limits['add']['GB/s']:.4g} GB/s, launch {limits['launch']['us']:.4g} us"
    )
    settings = {"n": f"2^{found['settings']['exponent']}", "small": found["settings"]["small"]}
    heads = ["", *(f"{name:>9}" for name in peers), *([f"{'ratio':>7}"] if peers else [])]
    head = f"{'':54} {'PyGPU':>9} {'spread':>10} {'limit':>9} {'ratio':>7}" + " ".join(heads)
    for kind, title in _KINDS.items():
        rows = [row for row in found["rows"] if row["kind"] == kind]
        if rows:
            yield from ("", title.format(**settings), head)
        for group in dict.fromkeys(row["group"] for row in rows):
            yield group
            for row in rows:
                if row["group"] == group:
                    yield from _row(row, peers)
    yield from ("", "Geometric means of the speed ratios of PyGPU")
    for kind, means in summary["means"].items():
        peer, line = means["of peer"], f"  {kind}, {means['rows']} rows: "
        line += f"{_number(means['of limit'])} of the limit"
        if peer:
            line += f", {peer:.3g} of the fastest peer ({1 / peer:.3g} of its time)"
        yield line
    if peers:
        yield f"behind the fastest peer by more than 3 %: {len(summary['behind'])} rows"
        yield from (f"  {ratio:.3f} {row}" for row, ratio in summary["behind"].items())
    if summary["wrong"]:
        yield f"wrong results or failures: {len(summary['wrong'])} rows"
        yield from (f"  {row}" for row in summary["wrong"])


def text(found: dict[str, Any]) -> str:
    """Return the report of a run as text."""
    return "\n".join(_lines(found))
