"""The order of work on several streams, where arrays are used by their addresses.

Calls that are given the arrays themselves see to it on their own.
"""

import contextlib

from PyGPU._runtime import errors
from PyGPU._runtime.targets import core

_NOTHING = contextlib.nullcontext()


@contextlib.contextmanager
def _using(stream, arrays):
    core._enter(arrays, stream)
    try:
        yield
    finally:
        core._leave(arrays, stream)


def using(stream, *arrays):
    """A context for launches: their stream waits for what arrays' memory was taken from, and the
    memory is not given away before they are done. None is the null stream, which needs neither."""
    return _NOTHING if stream is None else _using(stream, arrays)


def order_after(later, earlier):
    """Work put on the stream `later` from now on waits for what is on `earlier` now."""
    event = core.cudaEvent_t(core.cudaEventDisableTiming)
    errors.check(event.last_status(), "cudaEventCreate")
    errors.check(core.cudaEventRecord(event, earlier), "cudaEventRecord")
    errors.check(core.cudaStreamWaitEvent(later, event), "cudaStreamWaitEvent")


def _is_apart(stream):
    flags = errors.check(core.cudaStreamGetFlags(stream), "cudaStreamGetFlags")
    return bool(flags & core.cudaStreamNonBlocking)


def run(stream, work, *arguments):
    """Call `work`, which queues kernels that use memory of the null stream's pool.

    A stream that runs apart from the null stream begins them after it, and what the null stream
    does later waits for them.
    """
    if stream is None or not _is_apart(stream):
        return work(*arguments)
    order_after(stream, None)
    try:
        return work(*arguments)
    finally:
        order_after(None, stream)
