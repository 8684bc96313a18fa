"""Work on a stream that uses arrays by their addresses.

Calls that are given the arrays themselves do this on their own.
"""

import contextlib

from PyGPU._targets import core

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
