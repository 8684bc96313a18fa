"""A picture of a run: bars of PyGPU's speed beside the better peer's, or the limit's.

matplotlib is loaded when a picture is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PyGPU._runtime import hooks

_EXTRA = "--plot needs matplotlib: pip install 'PyGPU[plot]'"
_TITLES = {"big": "big arrays", "small": "small arrays", "transfer": "transfers"}


def require(file: Path) -> None:
    """Check that a picture can be drawn into a file of this name.

    Raises
    ------
    ValueError
        Without matplotlib, or for a kind of file that it does not write.
    """
    try:
        backend = hooks.loaded("matplotlib.backends.backend_agg")
        figure = hooks.loaded("matplotlib.figure").Figure()
    except ImportError as error:
        raise ValueError(f"{_EXTRA} ({error})") from None
    known = backend.FigureCanvasAgg(figure).get_supported_filetypes()
    if file.suffix[1:].lower() not in known:
        raise ValueError(f"--plot {file}: expected a name that ends in .{', .'.join(known)}")


def _bars(axes: Any, rows: list[dict[str, Any]], ratio: str) -> None:
    """One panel: rows from above, a gap and a heading before each group."""
    places, at, group = [], 0, None
    for row in rows:
        if row["group"] != group:
            group, at = row["group"], at + 2
            axes.text(0, at - 1, group, transform=axes.get_yaxis_transform(), weight="bold", size=7)
        places.append(at)
        at += 1
    values = [row[ratio] for row in rows]
    colours = ["#15803d" if value >= 0.97 else "#b91c1c" for value in values]
    axes.barh(places, [value - 1 for value in values], left=1, color=colours, height=0.8)
    axes.set_yticks(places, [f"{row['name']}, {row['dtype']}" for row in rows], size=6)
    axes.set_ylim(at, 0)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.grid(axis="x", linewidth=0.3)


def draw(found: dict[str, Any], file: Path) -> None:
    """Draw what `suite.run` has found."""
    pyplot_free = hooks.loaded("matplotlib.figure").Figure
    ratio = "of peer" if any(row["of peer"] for row in found["rows"]) else "of limit"
    rows = [row for row in found["rows"] if row[ratio]]
    kinds = [kind for kind in _TITLES if any(row["kind"] == kind for row in rows)]
    most = max([sum(row["kind"] == kind for row in rows) for kind in kinds], default=1)
    figure = pyplot_free(figsize=(6.5 * max(len(kinds), 1), 2.5 + 0.14 * (most + 28)))
    for axes, kind in zip(figure.subplots(1, max(len(kinds), 1), squeeze=False)[0], kinds):
        _bars(axes, _by_group([row for row in rows if row["kind"] == kind]), ratio)
        axes.set_title(_TITLES[kind])
        axes.set_xlabel(
            f"speed, 1 = {'the better peer' if ratio == 'of peer' else 'the raw limit'}"
        )
    machine = found["machine"]
    others = [name for name in found["rows"][0]["texts"] if name != "PyGPU"] if rows else []
    beside = f" beside {' and '.join(others)}" if others else ""
    figure.suptitle(f"PyGPU{beside} on {machine['device']['name']}, {machine['date'][:10]}")
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    figure.savefig(file, dpi=130)


def _by_group(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    groups = list(dict.fromkeys(row["group"] for row in rows))
    return sorted(rows, key=lambda row: groups.index(row["group"]))
