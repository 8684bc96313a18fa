"""Parameters of tests that each cost a compilation: usual ones run always, others in campaigns."""

import pytest


def _parameter(values, is_usual):
    return pytest.param(*values, marks=() if is_usual else pytest.mark.campaign)


def _as_tuple(one):
    return one if isinstance(one, tuple) else (one,)


def rare_but(usual, values):
    """Return parameters of all `values`; values that are not `usual` belong to the campaign."""
    return [_parameter(_as_tuple(one), one in usual) for one in values]


def each_once(rows, columns):
    """Return all pairs of a row and a column.

    Each run tests each row and each column at least once; the other pairs belong to the campaign.
    """
    rows, columns = list(rows), list(columns)
    most = max(len(rows), len(columns))
    usual = {(number % len(rows), number % len(columns)) for number in range(most)}
    return [
        _parameter((*_as_tuple(row), *_as_tuple(column)), (i, j) in usual)
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]


def each_with(rows, usual, values):
    """Return all pairs of a row and one of `values`.

    Each run tests each row and each `usual` value at least once.
    """
    others = [value for value in values if value not in usual]
    rare = [(*_as_tuple(row), *_as_tuple(value)) for row in rows for value in others]
    return [*each_once(rows, usual), *rare_but([], rare)]
