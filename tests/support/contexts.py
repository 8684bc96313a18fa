"""Fixtures for the stack of contexts. Import one to use it."""

import pytest

from PyGPU.driver import Context
from PyGPU.tools import make_default_context


@pytest.fixture(autouse=True)
def own_stack():
    """The thread's stack is empty, whatever other tests have left on it, and is put back."""
    others = []
    while Context.get_current() is not None:
        others.append(Context.get_current())
        Context.pop()
    yield
    assert Context.get_current() is None
    for context in reversed(others):
        context.push()


@pytest.fixture(autouse=True)
def default_context():
    """A context such as `pycuda.autoinit` makes, current during the test."""
    context = make_default_context()
    yield context
    context.pop()
