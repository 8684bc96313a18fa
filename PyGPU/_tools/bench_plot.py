"""Bar chart of a run: PyGPU's speed relative to the fastest peer, or to the raw limit.

The raw limit is used for runs without peers. matplotlib is imported only if a chart is requested.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from PyGPU._tools.bench_results import BEHIND

_TITLES = {"big": "big arrays", "small": "small arrays", "transfer": "transfers"}


def require(file: Path) -> None:
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


def draw(found: dict[str, Any], file: Path) -> None:
    """Draw the ratios of a run, as ``bench_suite.run`` returns it, and save the chart.

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
