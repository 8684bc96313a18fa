"""Results of a run: speeds, their ratios to the limit and to peers, means; as text, as a chart."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from PyGPU._tools.bench_table import Row

#: A row is behind if PyGPU's speed divided by the fastest peer's is below this ratio.
BEHIND = 0.97
_KINDS = {
    "big": "Big arrays: {n} elements, GB/s of the memory that the work must move",
    "small": "Small arrays: {small} elements, microseconds per call",
    "transfer": "Transfers: GB/s, below 1 MB microseconds",
}
_TITLES = {"big": "big arrays", "small": "small arrays", "transfer": "transfers"}


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


def require_plot(file: Path) -> None:
    """Raise ValueError unless matplotlib is installed and can write a file with this suffix."""
    try:
        backend = importlib.import_module("matplotlib.backends.backend_agg")
        figure = importlib.import_module("matplotlib.figure").Figure()
    except ImportError as error:
        message = f"plot needs matplotlib: pip install 'PyGPU[plot]' ({error})"
        raise ValueError(message) from None
    formats = backend.FigureCanvasAgg(figure).get_supported_filetypes()
    if file.suffix[1:].lower() not in formats:
        raise ValueError(f"plot {file}: expected a name that ends in .{', .'.join(formats)}")


def _bars(axes: Any, rows: list[dict[str, Any]], ratio: str) -> int:
    """Draw the bars of one panel, with an empty line and a heading above each group.

    Return the number of lines: bars, headings and empty lines.
    """
    positions: list[int] = []
    line, group = 0, None
    for row in rows:
        if row["group"] != group:
            group, line = row["group"], line + 2
            transform = axes.get_yaxis_transform()
            axes.text(0, line - 1, group, transform=transform, weight="bold", size=7)
        positions.append(line)
        line += 1
    values = [row[ratio] for row in rows]
    colors = ["#15803d" if value >= BEHIND else "#b91c1c" for value in values]
    axes.barh(positions, [value - 1 for value in values], left=1, color=colors, height=0.8)
    axes.set_yticks(positions, [f"{row['name']}, {row['dtype']}" for row in rows], size=6)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:.2g}")
    axes.tick_params(axis="x", labelsize=7, top=True, labeltop=True)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.grid(axis="x", linewidth=0.3)
    return line


def plot(found: dict[str, Any], file: Path) -> None:
    """Draw a bar chart of the ratios to the fastest peer, or to the raw limit without peers.

    There is one panel for each kind of row. A bar is green if the ratio is at least ``BEHIND``, red
    if not. Rows without a ratio are left out.
    """
    has_peers = any(row["of peer"] for row in found["rows"])
    ratio, base = ("of peer", "the fastest peer") if has_peers else ("of limit", "the raw limit")
    rows = [row for row in found["rows"] if row[ratio]]
    groups = list(dict.fromkeys(row["group"] for row in rows))
    rows.sort(key=lambda row: groups.index(row["group"]))  # in the order of the run
    kinds = [kind for kind in _TITLES if any(row["kind"] == kind for row in rows)]
    figure = importlib.import_module("matplotlib.figure").Figure()
    panels = figure.subplots(1, max(len(kinds), 1), squeeze=False)[0]
    lines = 1
    for axes, kind in zip(panels, kinds):
        lines = max(lines, _bars(axes, [row for row in rows if row["kind"] == kind], ratio))
        axes.set_title(_TITLES[kind])
        axes.set_xlabel(f"speed, 1 = {base}")
    for axes in panels:
        axes.set_ylim(lines, 0)  # the same bar height in all panels
    width, height = 6.5 * len(panels), 2 + 0.13 * lines  # inches
    figure.set_size_inches(width, height)
    figure.subplots_adjust(wspace=0.75, bottom=0.5 / height, top=1 - 1 / height)
    peers = [name for name in found["rows"][0]["texts"] if name != "PyGPU"]
    versus = f" versus {' and '.join(peers)}" if peers else ""
    machine = found["machine"]
    title = f"PyGPU{versus} on {machine['device']['name']}, {machine['date'][:10]}"
    figure.suptitle(title, y=1 - 0.3 / height)
    figure.savefig(file, dpi=130, bbox_inches="tight")
