"""Texts of the table, compiled to calls of one library, and the check of their results."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._bench.libraries import Library, numpy
from PyGPU._bench.operands import WRITTEN, Operands
from PyGPU._bench.table import Work

if TYPE_CHECKING:
    from PyGPU._types import DType, HostArray

#: Elements of the arrays for checking results.
CHECKED = 1 << 12


class Wrong(Exception):
    """A library's result differs from NumPy's."""


class Program(NamedTuple):
    """A compiled text: `call` runs it.

    If `call` returns None, the result is the array `written`: the first writable array in the text.
    """

    call: Callable[[], Any]
    written: Any


def program(text: str, library: Library, operands: Operands) -> Program:
    """Compile a text with the arrays and names of a library."""
    tree = ast.parse(text)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names = [node.id for node in sorted(found, key=lambda node: node.col_offset)]
    values: dict[str, Any] = {"n": operands.n}
    for name in {*names} - values.keys():
        is_operand = name in operands
        values[name] = (
            operands.of(library, name) if is_operand else library.word(name, operands.dtype)
        )
    result = "return " if isinstance(tree.body[0], ast.Expr) else ""
    exec(compile(f"def call():\n    {result}{text}", text, "exec"), values)
    written = [values[name] for name in names if name in WRITTEN]
    return Program(values["call"], written[0] if written else None)


def _results(text: str, library: Library, operands: Operands) -> list[HostArray]:
    """Return the results of a text as NumPy arrays."""
    call, written = program(text, library, operands)
    found = call()
    found = written if found is None else found
    parts = found if isinstance(found, tuple) else (found,)
    return [np.array(library.fetch(part)) for part in parts]


def is_defined(work: Work, dtype: str) -> bool:
    """Report whether NumPy computes a line with this dtype without a warning."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            _results(work.text, numpy(), Operands(CHECKED, dtype))
    except (TypeError, ValueError, Warning):
        return False
    return True


def _moments(array: HostArray) -> list[float]:
    return [float(array.mean()), float(array.std())]


def check(work: Work, library: Library, dtype: str) -> None:
    """Run a line once on small arrays and compare the result with NumPy's.

    Raises
    ------
    Wrong
        If the result differs by more than the square root of the dtype's precision, or has another
        shape. Result dtypes may differ.
    """
    expected = _results(work.text, numpy(), Operands(CHECKED, dtype))
    found = _results(work.of(library.name) or work.text, library, Operands(CHECKED, dtype))
    if [part.shape for part in found] != [part.shape for part in expected]:
        shapes = [[part.shape for part in parts] for parts in (expected, found)]
        raise Wrong(f"expected the shape {shapes[0]}, got {shapes[1]}")
    for ours, theirs in zip(found, expected):
        if work.check == "values":
            _compare(ours, theirs, np.dtype(dtype))
        elif work.check == "moments" and not np.allclose(_moments(ours), _moments(theirs), 0, 0.1):
            raise Wrong(f"expected mean and deviation {_moments(theirs)}, got {_moments(ours)}")


def _compare(found: HostArray, expected: HostArray, dtype: DType) -> None:
    """Raise Wrong if the arrays differ beyond the least precise dtype; integers must be equal."""
    kinds = [one for one in (found.dtype, expected.dtype, dtype) if one.kind in "fc"]
    close = max((float(np.finfo(one).eps) ** 0.5 for one in kinds), default=0.0)
    wide, widened = found.astype(np.complex128), expected.astype(np.complex128)
    differs = ~np.isclose(wide, widened, close, close)
    if differs.any():
        at = tuple(np.argwhere(differs)[0])
        raise Wrong(
            f"expected {expected[at]} at {[*map(int, at)]}, got {found[at]}; "
            f"{differs.sum()} of {differs.size} elements differ"
        )
