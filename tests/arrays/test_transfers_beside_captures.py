"""Large transfers in the middle of which another thread captures a stream."""

import threading

import numpy as np
import pytest

import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.gpuarray import to_gpu
from PyGPU.transfer import configure


class Ended(Exception):
    """Ends a transfer in the middle."""


class Halfway:
    """A progress bar that calls a function once, in the middle of the first transfer."""

    def __init__(self, function):
        self.function, self.is_called = function, False

    def __call__(self, *, total, **options):
        self.left = total
        return self

    def update(self, nbytes):
        self.left -= nbytes
        if self.left and not self.is_called:
            self.is_called = True
            self.function()

    def close(self):
        pass


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("up", [True, False])
def test_neither_the_graph_nor_the_transfer_is_lost(up, ends):
    """The stream synchronizes with the null stream. A transfer that ends by an exception waits for
    its own copies, and for nothing else."""
    x = np.arange(1 << 22, dtype=np.int64)
    array, host = (to_gpu(0 * x), x.copy()) if up else (to_gpu(x), 0 * x)
    filled, stream, graphs = gpuarray.zeros(10, np.int32), drv.Stream(), []
    begun, over = threading.Event(), threading.Event()

    def capture():
        with stream.capture() as graph:
            filled.fill(7, stream=stream)
            begun.set()
            over.wait(60)
        graphs.append(graph)

    thread = threading.Thread(target=capture)

    def begin():
        thread.start()
        assert begun.wait(60)
        if ends:
            raise Ended

    halfway = Halfway(begin)
    small = {"threads": 3, "chunk_bytes": 2048, "chunks": 16, "threshold": 1}
    is_ended = False
    try:
        with configure(**small, progress=halfway, progress_threshold=1):
            array.set(host) if up else array.get(host)
    except Ended:
        is_ended = True
    finally:
        over.set()
    if not halfway.is_called:
        pytest.skip("the transfer was over within 40 ms")
    thread.join()
    assert is_ended == ends
    if not ends:
        assert (array.get() == x).all() and (host == x).all()
    (graph,) = graphs
    graph.launch(stream)
    stream.synchronize()
    assert (filled.get() == 7).all()
