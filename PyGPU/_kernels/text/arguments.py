"""Arguments of elementwise kernels, and the statements that compute one element."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from PyGPU._kernels.operations import INDEXED, expressions, statement
from PyGPU._kernels.text import fused
from PyGPU._kernels.text.common import Element

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike


class Argument:
    """An operand or a result: its letter in the text, and its types."""

    def __init__(
        self,
        letter: str,
        dtype: DTypeLike,
        compute: DTypeLike | None = None,
        is_scalar: bool = False,
    ) -> None:
        self.letter = letter
        self.type = Element(dtype)
        self.compute = Element(compute or dtype)
        self.is_scalar = is_scalar
        self.vector = self.type.stored  # type of an access
        self.item = ""  # suffix that selects an element of a vector

    def by_float(self) -> Argument:
        """Return a copy whose halves are read and written as floats."""
        other = copy.copy(self)
        if self.type.is_half:
            other.type = Element("float32")
            if self.compute.is_half and not self.is_scalar:
                other.compute = other.type
        return other

    def value(self, raw: str) -> str:
        """Convert the text of an element to a value of the computation's type."""
        return self.type.converted(self.type.load(raw), self.compute)


class Computation(NamedTuple):
    """A computation of results: its statements, and the values to store."""

    statements: str
    values: Sequence[str]
    is_indexed: bool = False


def computation_of(name: str, operands: list[Argument], results: list[Argument]) -> Computation:
    """Return the computation of an operation by its name, which may be a combined operation."""
    types = [one.type for one in results]
    if name in fused.BODIES:
        body = fused.BODIES[name]
        return Computation(fused.statements(body), fused.stored(body, types))
    if name == "copy":
        return Computation("", (operands[0].compute.converted("a", types[0], is_used=False),))
    values = expressions(name, *(one.compute.dtype for one in operands))
    return Computation(statement(name), values, name in INDEXED)


def parameters_of(
    first: str,
    operands: list[Argument],
    results: list[Argument],
    pointer: Callable[[Argument], str],
) -> str:
    """Return the kernel's parameters; `pointer(argument)` is the pointer's base type."""
    texts = [first, *(f"{pointer(one)} *{one.letter}_data" for one in results)]
    for one in operands:
        if one.is_scalar:
            texts.append(f"{one.compute.stored} {one.letter}_value")
        else:
            texts.append(f"const {pointer(one)} *{one.letter}_data")
    return ", ".join(texts)


def loads(operands: list[Argument], read: Callable[[Argument], str]) -> str:
    """Declare the operands' values; `read(argument)` is the text of an array's element."""
    return " ".join(
        f"const {one.letter.upper()} {one.letter} = "
        + (one.compute.load(f"{one.letter}_value") if one.is_scalar else one.value(read(one)))
        + ";"
        for one in operands
    )


def stores(results: list[Argument], values: Sequence[str], write: Callable[[Argument], str]) -> str:
    """Store the values; `write(argument)` is the text of a result's element."""
    return " ".join(
        f"{write(one)} = {one.type.store(value)};" for one, value in zip(results, values)
    )


def single_element(
    operands: list[Argument],
    results: list[Argument],
    computation: Computation,
    read: Callable[[Argument], str],
    position: str = "A(i)",
) -> str:
    """Return the statements for one element.

    `read(argument)` is the text of an array's element, and `position` the text of its index.
    """
    declared = f"const A position = {position};" if computation.is_indexed else ""
    stored = stores(results, computation.values, read)
    return f"{declared} {loads(operands, read)} {computation.statements} {stored}"


def arrays_of(operands: Iterable[Argument]) -> list[Argument]:
    """Return the operands that are arrays."""
    return [one for one in operands if not one.is_scalar]
