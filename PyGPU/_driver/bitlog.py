"""The integer logarithm to base two, under PyCUDA's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._runtime import docstrings, integer

if TYPE_CHECKING:
    from PyGPU._types import Int


def bitlog2(n: Int) -> int:
    """Return the position of the highest bit that is set.

    :param n: Number, 0 or more.
    :returns: floor(log2(n)), and 0 for 0.

    >>> from PyGPU.tools import bitlog2
    >>> bitlog2(1000)
    9
    """
    return max(integer("n", n).bit_length() - 1, 0)


docstrings.complete(__name__)
