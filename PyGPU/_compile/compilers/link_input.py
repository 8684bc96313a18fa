"""Inputs of the linkers of device code, and the numbers of their kinds."""

from __future__ import annotations

from typing import NamedTuple

# PyCUDA's jit_input_type, with the driver's numbers; the driver has no number for LTO-IR.
CUBIN, PTX, FATBINARY, OBJECT, LIBRARY, LTO_IR = range(6)


class Input(NamedTuple):
    """An image or a library to link."""

    kind: int
    data: bytes
    name: str
