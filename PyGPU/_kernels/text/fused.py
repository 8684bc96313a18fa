"""Text of operations that combine other operations: one block for each step, in order.

Operands are converted to the dtypes of a step's computation. Results are converted to their dtypes
as a store and a load would, so that a step computes the same values as the separate operation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._kernels.operations import expressions, statement
from PyGPU._kernels.text.common import Element

if TYPE_CHECKING:
    from PyGPU._types import DType

_LETTERS = "abcd"
#: Operations that compilers fold for complex constants as the processor would compute them, without
#: the C library. The operands of other operations are hidden from the compiler.
EXACT = frozenset(
    ("copy", "positive", "negative", "conjugate", "add", "subtract", "multiply", "divide")
    + ("square", "cube", "reciprocal", "mul_add", "equal", "not_equal", "real", "imag", "where")
)


class Value(NamedTuple):
    """An operand of a step: a variable's name or a literal, and its dtype."""

    text: str
    dtype: np.dtype


class Step(NamedTuple):
    """A step of a combined operation."""

    name: str
    operands: tuple[Value, ...]
    compute: tuple[np.dtype, ...]
    results: tuple[Value | None, ...]  # None: the result is not needed


def names(count: int) -> list[str]:
    """Return the names of a combined operation's operands."""
    return [f"in{number}" for number in range(count)]


class Body(NamedTuple):
    """A combined operation: its steps, and the values that are its results."""

    steps: tuple[Step, ...]
    results: tuple[Value, ...]


#: The combined operations, by the names of their operations.
BODIES: dict[str, Body] = {}


def literal(data: bytes, dtype: DType) -> Value:
    """Make a literal of a finite number from its bytes in a dtype."""
    return Value(_literal(data, Element(dtype)), dtype)


def _literal(data: bytes, element: Element) -> str:
    value = np.frombuffer(data, element.dtype)[0]
    if element.is_bool:
        return "true" if value else "false"
    if element.dtype.kind in "iu":
        return _integer(int(value), element)
    if element.is_complex:
        return f"{element.computed}({_real(value.real)}, {_real(value.imag)})"
    return _real(value)


def _integer(value: int, element: Element) -> str:
    suffix = "ull" if element.dtype.kind == "u" else "ll"
    text = f"{value}{suffix}" if value != -(2**63) else f"(-{2**63 - 1}ll - 1)"
    return f"({element.computed}){text}"


def _real(value: np.floating[Any]) -> str:
    text = float(value).hex()
    return text if value.dtype.itemsize == 8 else f"{text}f"


def _block(step: Step) -> str:
    computed = [Element(one) for one in step.compute]
    lines = []
    for letter, value, element in zip(_LETTERS, step.operands, computed):
        text = Element(value.dtype).converted(value.text, element)
        if element.is_complex and step.name not in EXACT:
            text = f"P_hidden({text})"
        lines.append(f"typedef {element.computed} {letter.upper()}; const {element.computed}")
        lines[-1] += f" {letter} = {text};"
    values = expressions(step.name, *step.compute)
    if any(re.search(r"\bT\b", value) for value in values):
        lines.append("typedef A T;")
    lines.append(statement(step.name))
    for expression, result in zip(values, step.results):
        if result is not None:
            element = Element(result.dtype)
            is_whole = element.dtype.kind in "iu" and computed[0].dtype.kind == "f"
            if is_whole or step.name == "copy":
                expression = computed[0].converted(expression, element)
            lines.append(f"{result.text} = {element.load(element.store(expression))};")
    names = [result for result in step.results if result is not None]
    declared = " ".join(f"{Element(one.dtype).computed} {one.text};" for one in names)
    return f"{declared} {{ {' '.join(lines)} }}"


def statements(body: Body) -> str:
    """Return the statements between the loads of operands and the stores of results."""
    return "\n".join(map(_block, body.steps))


def stored(body: Body, results: Sequence[Element]) -> list[str]:
    """Convert the results to the types of elements, which may have other dtypes."""
    return [
        Element(value.dtype).converted(value.text, result, is_used=False)
        for value, result in zip(body.results, results)
    ]


def elements(body: Body) -> list[Element]:
    """Return the types that the text uses."""
    dtypes = {one for step in body.steps for one in step.compute}
    dtypes |= {one.dtype for step in body.steps for one in step.results if one is not None}
    return [Element(one) for one in dtypes]
