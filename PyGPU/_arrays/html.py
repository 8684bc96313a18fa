"""HTML representation of an array for notebooks: its properties, and the values at its corners."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU._runtime import core, errors

_EDGE = 3  # rows and columns at each end; the rest is an ellipsis
_LIMIT = 64 << 20  # bytes of the largest array whose values are read


def _escape(text: str) -> str:
    from html import escape  # imports tables of entities

    return escape(text)


def bytes_text(nbytes: int) -> str:
    """Return a number of bytes in words, such as ``48 bytes`` or ``1.5 GiB``."""
    size, units = float(nbytes), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{nbytes} bytes" if units[0] == "bytes" else f"{size:.1f} {units[0]}"


def _shown(length: int) -> list[range]:
    """Return the indices shown along an axis: all, or those at the ends of a long axis."""
    if length <= 2 * _EDGE + 1:
        return [range(length)]
    return [range(_EDGE), range(length - _EDGE, length)]


def _read_row(row: core.GPUArray, columns: list[range]) -> list[list[Any]]:
    """Copy the shown elements of a one-dimensional array to the host."""
    is_dense = row.strides[0] == row.itemsize
    read = []
    for part in columns:
        pieces = [part] if is_dense else [range(j, j + 1) for j in part]
        read.append([x for piece in pieces for x in row[piece.start : piece.stop].get()])
    return read


def _format(value: Any) -> str:
    """Return an element as text: floating-point numbers with four digits."""
    if isinstance(value, (float, complex, np.inexact)):
        return format(value, ".4g")
    text = str(value)
    return text if len(text) <= 24 else text[:23] + "…"


def _table(array: core.GPUArray) -> str:
    """Return the values at the corners of a two-dimensional array as a table."""
    columns = _shown(array.shape[1])
    gap = "<td>…</td>"
    lines = []
    for number, rows in enumerate(_shown(array.shape[0])):
        if number:
            lines.append(f"<tr>{gap * (sum(map(len, columns)) + len(columns) - 1)}</tr>")
        for i in rows:
            parts = [
                "".join(f"<td>{_escape(_format(x))}</td>" for x in part)
                for part in _read_row(array[i], columns)
            ]
            lines.append(f"<tr>{gap.join(parts)}</tr>")
    return f"<table style='text-align:right'>{''.join(lines)}</table>"


def _plane(array: core.GPUArray) -> tuple[core.GPUArray, str]:
    """Return the array at index 0 of all axes but the last two, and the text of this index."""
    if array.ndim < 2:
        return array.reshape(1, array.size) if array.ndim == 0 else array[None], ""
    index = (0,) * (array.ndim - 2)
    return array[index], f"[{', '.join(['0'] * len(index) + [':', ':'])}]" if index else ""


def _values(array: core.GPUArray) -> str:
    """Return the values as HTML, or the reason why none are shown."""
    if array.size == 0:
        return "no elements"
    if array.nbytes > _LIMIT:
        return f"values not read: the array is larger than {bytes_text(_LIMIT)}"
    if core._wait_would_invalidate_capture(array.device or 0):
        return "values not read: a stream is being captured"
    try:
        plane, index = _plane(array)
        return index + _table(plane)
    except errors.Error as error:
        return _escape(f"values cannot be read: {error}")


def _repr_html_(self: core.GPUArray) -> str:
    """Return the array as HTML: its properties, and a table of the values at its corners.

    Notebooks call this method. It waits for the work that computes the array, and copies at most 49
    elements to the host. It copies no elements of an array above 64 MiB or during a capture.

    Returns
    -------
    str
        HTML text.
    """
    shape = _escape(str(tuple(self.shape)))
    properties = f"shape {shape}, {_escape(str(self.dtype))}, {bytes_text(self.nbytes)}"
    device = "" if self.device is None else f", device {self.device}"
    name = _escape(type(self).__name__)
    return f"<div><b>{name}</b> {properties}{device}<br>{_values(self)}</div>"


#: Methods of the class GPUArray.
METHODS = {"_repr_html_": _repr_html_}
