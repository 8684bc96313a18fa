"""Draws docs/architecture.svg from the code: which part imports or includes which.

Run: python docs/architecture.py. A part is a public module, a package of PyGPU/ or a folder of C++.
An arrow that a longer way implies is left out; one that closes a cycle is red and dashed. A test,
tests/test_architecture_page.py, checks that the picture is up to date.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "architecture.svg"
#: Imports by a name that is put together: the target's extension module, PyCUDA's modules.
BY_NAME = {
    "_runtime": {"src/python"},
    "_as_pycuda": {"driver", "gpuarray"},
}
COLOURS = {"module": "#dbeafe", "package": "#dcfce7", "C++": "#fef3c7"}
WIDTH, HEIGHT, GAP, ROW = 104, 30, 14, 78
_LINE = 'stroke="#64748b"'


def python_parts():
    """{part: parts that it imports} of PyGPU/."""
    found = {}
    for path in sorted((ROOT / "PyGPU").rglob("*.py")):
        part = path.relative_to(ROOT / "PyGPU").with_suffix("").parts[0]
        if part in ("__init__", "__main__") or "shim" in path.parts:
            continue
        below = found.setdefault(part, set())
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            below.update(name.split(".")[1] for name in names if name.startswith("PyGPU."))
    return {
        part: (below & found.keys()) - {part} | BY_NAME.get(part, set())
        for part, below in found.items()
    }


def cpp_part(path):
    """The part of a C++ file, by its path; None for headers that only kernels include."""
    words = path.relative_to(ROOT).parts
    if words[0] == "src":
        return "/".join(words[:2])
    if words[2] == "vendor" or path.name in ("gpu.h", "cuda_on_host.h"):
        return "gpu.h, vendor/"
    return "src/core" if len(words) == 3 else None


def cpp_parts():
    """{part: parts that it includes} of src/ and include/; a header of include/ is its body's."""
    found = {}
    for path in sorted(p for folder in ("src", "include") for p in (ROOT / folder).rglob("*.*")):
        part = cpp_part(path)
        below = found.setdefault(part, set())
        for name in re.findall(r'#\s*include\s+["<]([^">]+)[">]', path.read_text()):
            places = (folder / name for folder in (path.parent, ROOT / "include", ROOT / "src"))
            file = next((place.resolve() for place in places if place.is_file()), None)
            below.update({cpp_part(file)} if file else ())
    found.pop(None)  # headers that only kernels include
    return {part: below - {part, None} for part, below in found.items()}


def cycle(graph):
    """The arrows of one cycle, or none."""
    seen = set()

    def visit(part, path):
        if part in path:
            around = [*path[path.index(part) :], part]
            return list(zip(around, around[1:]))
        if part in seen:
            return []
        seen.add(part)
        found = (visit(other, [*path, part]) for other in sorted(graph[part]))
        return next((arrows for arrows in found if arrows), [])

    found = (visit(part, []) for part in sorted(graph))
    return next((arrows for arrows in found if arrows), [])


def closing(graph):
    """The arrows that close cycles: rather those from a package to a public module."""
    left, found = {part: set(below) for part, below in graph.items()}, set()
    while arrows := cycle(left):
        part, other = min(arrows, key=lambda a: (kind(a[0]) != "package", kind(a[1]) != "module"))
        left[part].remove(other)
        found.add((part, other))
    return found


def reach(graph, part):
    """All parts below one."""
    below = set()
    for other in graph[part]:
        below |= {other} | reach(graph, other)
    return below


def reduced(graph):
    """The graph without the arrows that a longer way implies."""
    return {
        part: {o for o in below if not any(o in reach(graph, via) for via in below - {o})}
        for part, below in graph.items()
    }


def rows(graph):
    """The parts by their height: one row above the highest part that they need."""
    height = {}

    def of(part):
        if part not in height:
            height[part] = 1 + max((of(other) for other in sorted(graph[part])), default=-1)
        return height[part]

    for part in sorted(graph):
        of(part)
    return [sorted(p for p in graph if height[p] == h) for h in range(max(height.values()) + 1)]


def kind(part):
    return "C++" if "/" in part else "package" if part.startswith("_") else "module"


def places(graph):
    """{part: (x, y) of its box's middle}: from the bottom row up, each near what it needs."""
    floors = rows(graph)
    widest = max(len(floor) for floor in floors)
    middle = widest * (WIDTH + GAP) / 2 + GAP
    found = {}
    for height, floor in enumerate(floors):
        x_of = {p: sum(found[o][0] for o in graph[p]) / max(len(graph[p]), 1) for p in floor}
        start = middle - (len(floor) - 1) * (WIDTH + GAP) / 2
        for i, part in enumerate(sorted(floor, key=lambda p: (x_of[p], p))):
            found[part] = (start + i * (WIDTH + GAP), (len(floors) - height) * ROW - ROW / 2)
    return found


def svg():
    """The picture's text."""
    graph = {**python_parts(), **cpp_parts()}
    upward = closing(graph)
    graph = reduced({p: {o for o in graph[p] if (p, o) not in upward} for p in graph})
    place = places(graph)
    across = max(x for x, _ in place.values()) + WIDTH / 2 + GAP
    down = max(y for _, y in place.values()) + ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:.0f} {down:.0f}" '
        'font-family="sans-serif" font-size="12" text-anchor="middle">',
        '<rect width="100%" height="100%" fill="white"/>',
        '<marker id="arrow" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L6 3L0 6z" fill="#64748b"/></marker>',
    ]
    for part, other in sorted((p, o) for p in graph for o in graph[p]) + sorted(upward):
        (x, y), (to_x, to_y) = place[part], place[other]
        look = _LINE
        if (part, other) in upward:  # beside the arrow of the other direction
            look, x, to_x = 'stroke="#dc2626" stroke-dasharray="4"', x + 12, to_x + 12
        side = 1 if to_y > y else -1  # of the boxes, on which the arrow leaves and comes in
        y, to_y = y + side * HEIGHT / 2, to_y - side * HEIGHT / 2
        bend = side * (ROW - HEIGHT) / 2
        lines.append(
            f'<path d="M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} '
            f'{to_x:.0f} {to_y:.0f}" fill="none" {look} marker-end="url(#arrow)"/>'
        )
    for part in sorted(graph):
        x, y = place[part]
        lines.append(
            f'<rect x="{x - WIDTH / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{WIDTH}" '
            f'height="{HEIGHT}" rx="5" fill="{COLOURS[kind(part)]}" {_LINE}/>'
            f'<text x="{x:.0f}" y="{y + 4:.0f}">{part}</text>'
        )
    for i, (name, colour) in enumerate(COLOURS.items()):
        x = GAP + 12 + i * 90
        lines.append(
            f'<rect x="{x - 12}" y="{down - 22:.0f}" width="12" height="12" fill="{colour}" '
            f'{_LINE}/><text x="{x + 6}" y="{down - 12:.0f}" text-anchor="start">'
            f"{name}</text>"
        )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(svg())
