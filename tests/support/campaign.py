"""Parameters of tests of which each costs a compilation: the usual ones are tried at every run."""

import pytest


def rare_but(usual, values):
    """Those of `values` that are not `usual` belong to the campaign."""

    def parameter(one):
        marks = () if one in usual else pytest.mark.campaign
        return pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=marks)

    return [parameter(one) for one in values]
