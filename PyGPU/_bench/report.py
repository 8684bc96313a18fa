"""Text report of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_KINDS = {
    "big": "Big arrays: {n} elements, GB/s of the memory that the work must move",
    "small": "Small arrays: {small} elements, microseconds per call",
    "transfer": "Transfers: GB/s, below 1 MB microseconds",
}


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _spread(seconds: dict[str, float]) -> str:
    """Return the 10th and the 90th percentile in percent of the median."""
    median = seconds["median"]
    return f"-{1 - seconds['p10'] / median:.0%} +{seconds['p90'] / median - 1:.0%}"


def _head(found: dict[str, Any]) -> Iterator[str]:
    machine, limits = found["machine"], found["limits"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    yield f"{machine['device']['name']}, target {machine['target']}, {machine['date']}"
    yield versions
    for name, reason in machine["missing"].items():
        yield f"without {name}: {reason}"
    yield (
        f"raw limits: copy {limits['copy']['GB/s']:.4g} GB/s, addition "
        f"{limits['add']['GB/s']:.4g} GB/s, launch {limits['launch']['us']:.4g} us"
    )


def _row(row: dict[str, Any], names: list[str]) -> Iterator[str]:
    ours = row["seconds"].get("PyGPU")
    cells = [
        f"  {row['name']:<41} {row['dtype']:<10}",
        f"{_number(row['speed'].get('PyGPU')):>9} {_spread(ours) if ours else '':>10}",
        f"{_number(row['limit']):>9} {_number(row['of limit']):>7}",
        *(f"{_number(row['speed'].get(name)):>9}" for name in names[1:]),
    ]
    if len(names) > 1:
        cells.append(f"{_number(row['of peer']):>7}")
    yield " ".join(cells)
    for name, reason in row["errors"].items():
        yield f"    {name}: {reason}"


def _table(found: dict[str, Any], kind: str, names: list[str]) -> Iterator[str]:
    rows = [row for row in found["rows"] if row["kind"] == kind]
    if not rows:
        return
    settings = found["settings"]
    peers = " ".join(f"{name:>9}" for name in names[1:])
    yield ""
    yield _KINDS[kind].format(n=f"2^{settings['exponent']}", small=settings["small"])
    yield (
        f"{'':54} {'PyGPU':>9} {'spread':>10} {'limit':>9} {'ratio':>7} "
        + (f"{peers} {'ratio':>7}" if peers else "")
    ).rstrip()
    for group in dict.fromkeys(row["group"] for row in rows):
        yield group
        for row in rows:
            if row["group"] == group:
                yield from _row(row, names)


def _end(found: dict[str, Any], names: list[str]) -> Iterator[str]:
    summary = found["summary"]
    yield ""
    yield "Geometric means of the speed ratios of PyGPU"
    for kind, means in summary["means"].items():
        peer, line = means["of peer"], f"  {kind}, {means['rows']} rows: "
        line += f"{_number(means['of limit'])} of the limit"
        if peer:
            line += f", {peer:.3g} of the fastest peer ({1 / peer:.3g} of its time)"
        yield line
    if len(names) > 1:
        yield f"behind the fastest peer by more than 3 %: {len(summary['behind'])} rows"
        yield from (f"  {ratio:.3f} {row}" for row, ratio in summary["behind"].items())
    if summary["wrong"]:
        yield f"wrong results or failures: {len(summary['wrong'])} rows"
        yield from (f"  {row}" for row in summary["wrong"])


def text(found: dict[str, Any]) -> str:
    """Return the report of a run as text."""
    names = list(found["rows"][0]["texts"])
    lines = [*_head(found)]
    for kind in _KINDS:
        lines += _table(found, kind, names)
    return "\n".join([*lines, *_end(found, names)])
