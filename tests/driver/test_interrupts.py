"""Ctrl-C at bytecodes of calls that take resources: it is never lost, and leaves nothing behind."""

import interrupts
import pytest


@pytest.mark.parametrize("name", interrupts.CALLS)
def test_an_interrupt_is_raised_and_leaves_nothing(name):
    count = interrupts.sweep(interrupts.CALLS[name], interrupts.state_now, step=7)
    assert count >= 2


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


TWO_DEVICES = """
import interrupts
from PyGPU import driver as drv
from PyGPU._runtime import core, state

def scope():
    with core.device(1):
        pass

def context():
    drv.Device(1).make_context()
    drv.Context.pop()

def is_consistent():
    top = state.stack()[-1].device if state.stack() else drv.Device(0)
    return drv.Device(core.cudaGetDevice()[0]) == top

interrupts.counted.add("__main__")
assert interrupts.sweep(scope, core.cudaGetDevice) >= 5
at = 0
while interrupts.interrupted(context, at):
    assert is_consistent(), at
    while state.stack():
        drv.Context.pop()
    assert core.cudaGetDevice()[0] == 0
    at += 1
assert at >= 40
assert not state.stack() and core.cudaGetDevice()[0] == 0
"""


def test_the_stack_of_contexts_fits_the_current_device(two_devices):
    two_devices(TWO_DEVICES)
