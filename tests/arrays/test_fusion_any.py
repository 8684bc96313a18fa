"""PyGPU.fuse: any function gives, to the last bit, what it gives unfused."""

import pytest
from expressions import assert_same, operands, others_like, trees
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import examples

import PyGPU
from PyGPU.gpuarray import GPUArray

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def outcome(function, arguments):
    try:
        return function(*arguments)
    except (TypeError, ValueError, OverflowError) as error:
        return error


@examples(5)
@given(data=st.data())
def test_any_function_gives_what_it_gives_unfused(data):
    """Any dtypes, layouts and shapes; again with other numbers of the same types."""
    arguments, tree = data.draw(operands()), data.draw(trees(3))
    fused = PyGPU.fuse(tree)
    for _ in range(2):
        expected, got = outcome(tree, arguments), outcome(fused, arguments)
        if isinstance(expected, Exception):
            assert isinstance(got, type(expected)), (expected, got)
        elif isinstance(got, Exception):
            raise got
        else:
            assert_same(got, expected)
        arguments = [
            one if isinstance(one, GPUArray) else data.draw(others_like(one)) for one in arguments
        ]


@examples(2)
@given(data=st.data())
def test_several_results_at_once(data):
    """Of one shape or of several: with one launch or with one for each."""
    arguments = data.draw(operands(4))
    drawn = [data.draw(trees(4, depth=2)) for _ in range(5)]
    own = [one for one in drawn if not isinstance(outcome(one, arguments), Exception)][:4]
    assume(own)
    results = PyGPU.fuse(lambda *arguments: [one(*arguments) for one in own])(*arguments)
    for one, got in zip(own, results):
        expected = one(*arguments)
        if any(expected is argument for argument in arguments):
            expected = expected.copy()  # what is fused gives new arrays
        assert_same(got, expected)
