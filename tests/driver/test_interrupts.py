"""Ctrl-C at bytecodes of calls that take resources: it is never lost, and leaves nothing behind."""

import interrupts
import pytest


@pytest.mark.parametrize("name", interrupts.CALLS)
def test_an_interrupt_is_raised_and_leaves_nothing(name):
    count = interrupts.sweep(interrupts.CALLS[name], interrupts.state_now, step=3)
    assert count >= 4


def test_what_swallows_an_interrupt_is_found():
    class Swallows:
        def __del__(self):
            pass

    def call():
        Swallows()

    def work():  # __del__ belongs to this module, which the tracer must count for this test
        interrupts.sweep(call, dict)

    interrupts.counted.add(__name__)
    try:
        with pytest.raises(AssertionError, match=r"lost|Interrupt"):
            work()
    finally:
        interrupts.counted.discard(__name__)
