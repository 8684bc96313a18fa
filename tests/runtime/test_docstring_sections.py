"""Docstrings whose sections are made from fields and annotations."""

from __future__ import annotations

import inspect
import sys
import types

import pytest

from PyGPU._runtime import docstrings

pytestmark = pytest.mark.no_device

SOURCE = '''
from __future__ import annotations

def copy(
    a: Address,
    b: core.GPUArray,
    n: int | None = None,
    *,
    dtype: DTypeLike,
    stream: StreamLike = None,
) -> Int:
    """Copy it.

    Text, which has
    :func:`a link` at a line's start.

    :param a, b: Memory, which
        two lines describe.
    :param {4, 8} n: Bytes.
    :param dtype, stream:
    :returns: The bytes.
    :raises ValueError: If `n` is wrong.

    See Also
    --------
    move : Move it.

    >>> copy(1, np.ones(2))
    3
    """

class Pair:
    """A pair.

    :param first: The first.

    Examples
    --------
    Make one:

    >>> Pair(1)
    """

    def __init__(self, first: float | str) -> None: ...

    @staticmethod
    def swap(*others: object, stream: StreamLike) -> tuple[int, int]:
        """Swap it.

        :param object *others: Others.
        :param stream:
        :returns (int, int): Both.
        """
'''
COPY = """Copy it.

Text, which has
:func:`a link` at a line's start.

Parameters
----------
a, b : int or device memory
    Memory, which
    two lines describe.
n : {4, 8}, optional
    Bytes.
dtype : dtype
    Data type of the elements.
stream : Stream, optional
    The null stream by default.

Returns
-------
int
    The bytes.

Raises
------
ValueError
    If `n` is wrong.

See Also
--------
move : Move it.

Examples
--------
>>> import numpy as np
>>> copy(1, np.ones(2))
3"""
PAIR = """A pair.

Parameters
----------
first : float or str
    The first.

Examples
--------
Make one:

>>> Pair(1)"""
SWAP = """Swap it.

Parameters
----------
*others : object
    Others.
stream : Stream or None
    The null stream by default.

Returns
-------
(int, int)
    Both."""


@pytest.fixture
def module(monkeypatch):
    """Return a module of functions and classes whose docstrings have fields."""
    module = types.ModuleType("documented")
    monkeypatch.setitem(sys.modules, "documented", module)
    exec(SOURCE, vars(module))
    return module


def test_fields_become_sections(module):
    module.foreign = inspect.getdoc  # its docstring stays
    kept = inspect.getdoc(inspect.getdoc)
    for _ in range(2):  # complete docstrings stay as they are
        docstrings.complete("documented")
        assert inspect.getdoc(module.copy) == COPY
        assert inspect.getdoc(module.Pair) == PAIR
        assert inspect.getdoc(module.Pair.swap) == SWAP
    assert inspect.getdoc(inspect.getdoc) == kept


def test_functions_without_docstrings_stay(module):
    """Python with -OO removes the docstrings."""
    module.copy.__doc__ = module.Pair.__doc__ = None
    docstrings.complete("documented")
    assert (module.copy.__doc__, module.Pair.__doc__) == (None, None)


@pytest.mark.parametrize("field", [":param c: Unknown.", ":param a:"])
def test_a_wrong_field_is_an_error_of_the_import(module, field):
    module.copy.__doc__ = f"Copy it.\n\n    {field}\n    "
    if sys.version_info >= (3, 13):
        module.copy.__doc__ = inspect.cleandoc(module.copy.__doc__)
    with pytest.raises(KeyError):
        docstrings.complete("documented")
