"""PyGPU.timer: time of a block on a stream, without waiting before the time is read."""

import time

import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray


def test_a_block_has_a_time():
    a = gpuarray.zeros(1000, "float32")
    with PyGPU.timer() as timer:
        a.fill(1)
    assert timer.milliseconds > 0
    assert timer.is_done() and timer.milliseconds == timer.milliseconds


@pytest.mark.parametrize("flags", [0, 1])
def test_the_stream_of_the_work(flags):
    stream, a = drv.Stream(flags), gpuarray.zeros(1 << 20, "int32")
    with PyGPU.timer(stream) as timer:
        drv.memset_d32_async(a.ptr, 1, a.size, stream)
    assert timer.milliseconds > 0


def test_a_longer_block_takes_longer():
    """The sleep is between two pieces of work, so that the second event comes after it."""
    a = gpuarray.zeros(16, "float32")
    a.fill(1)
    with PyGPU.timer() as short:
        a.fill(2)
    with PyGPU.timer() as long:
        a.fill(3)
        PyGPU.cudaDeviceSynchronize()
        time.sleep(0.05)
        a.fill(4)
    assert long.milliseconds >= 49 and short.milliseconds >= 0


def test_a_timer_may_be_used_again_and_outlives_exceptions():
    timer = PyGPU.timer()
    with pytest.raises(KeyError), timer:
        raise KeyError
    first = timer.milliseconds
    with timer:
        time.sleep(0.01)
    assert first >= 0 and timer.milliseconds >= 9


def test_there_is_no_time_before_the_end():
    timer = PyGPU.timer()
    with pytest.raises(drv.LogicError, match="was not entered"):
        timer.is_done()
    assert repr(timer) == "<timer, not started>"
    with timer:
        assert repr(timer) == "<timer, running>"
        with pytest.raises(drv.LogicError, match="has not ended"):
            _ = timer.milliseconds
    assert repr(timer) == "<timer, ended>"


def test_a_bad_stream_is_named():
    with pytest.raises(TypeError, match="stream"), PyGPU.timer(1.5):
        pass


def test_work_in_a_graph_has_no_time():
    stream, a = drv.Stream(), gpuarray.zeros(4, "int32")
    with stream.capture() as graph, PyGPU.timer(stream) as timer:
        drv.memset_d32_async(a.ptr, 3, 4, stream)
    graph.launch()
    with pytest.raises(drv.LogicError):
        _ = timer.milliseconds
    assert a.get().tolist() == [3] * 4
