"""Streams, and what passes for one."""

import operator

import memory_tools
import numpy as np
import pytest
from campaign import each_once
from stand_ins import Carrier, StreamProtocol

import PyGPU

MB = 1 << 20
memory = memory_tools.memory


# Streams.


def test_a_stream_is_its_handle():
    stream, other = PyGPU.cudaStream_t(), PyGPU.cudaStream_t()
    assert stream.last_status() == 0
    handle = stream.get()
    assert handle != 0 and handle != other.get()
    assert int(stream) == operator.index(stream) == stream.handle == handle
    assert stream.__cuda_stream__() == (0, handle)
    assert repr(stream) == f"<cudaStream_t {handle:#x} on device 0, blocking>"


@pytest.mark.parametrize("flags", [PyGPU.cudaStreamDefault, PyGPU.cudaStreamNonBlocking])
def test_stream_flags(flags):
    stream = PyGPU.cudaStream_t(flags)
    assert stream.last_status() == 0
    assert PyGPU.cudaStreamGetFlags(stream) == (flags, 0)


def test_stream_priority():
    least, greatest, _ = PyGPU.cudaDeviceGetStreamPriorityRange()
    for priority in (least, greatest):
        stream = PyGPU.cudaStream_t(flags=0, priority=priority)
        assert PyGPU.cudaStreamGetPriority(stream) == (priority, 0)
    eager = PyGPU.cudaStream_t(priority=greatest - 1000)  # clamped to the range
    assert PyGPU.cudaStreamGetPriority(eager) == (greatest, 0)


def test_the_null_stream_has_flags_and_priority():
    assert PyGPU.cudaStreamGetFlags(None) == (PyGPU.cudaStreamDefault, 0)
    assert PyGPU.cudaStreamGetPriority(None) == (0, 0)


def test_unknown_flags_make_no_stream():
    stream = PyGPU.cudaStream_t(flags=99)
    assert stream.last_status() == 1
    assert int(stream) == 0 and repr(stream) == "<cudaStream_t 0x0, destroyed or never created>"
    with pytest.raises(ValueError, match="stream"):
        PyGPU.cudaStreamSynchronize(stream)
    assert PyGPU.cudaStreamDestroy(stream) == 400


@pytest.mark.parametrize("arguments", [("0",), (-1,), (None,), (0, "high"), (0, 0.5)])
def test_stream_arguments_are_ints(arguments):
    with pytest.raises(TypeError, match=r"flags.*priority"):
        PyGPU.cudaStream_t(*arguments)


def test_query_and_synchronize(memory):
    stream = PyGPU.cudaStream_t()
    assert PyGPU.cudaStreamQuery(stream) == 0
    assert PyGPU.cudaMemsetAsync(memory, 1, 16 * MB, stream) == 0
    assert PyGPU.cudaStreamQuery(stream) in (0, 600)
    assert PyGPU.cudaPeekAtLastError() == 0  # "not ready" is an answer, no error
    assert PyGPU.cudaStreamSynchronize(stream) == 0
    assert PyGPU.cudaStreamQuery(stream) == 0


def test_a_stream_is_destroyed_once():
    stream = PyGPU.cudaStream_t()
    assert PyGPU.cudaStreamDestroy(stream) == stream.last_status() == 0
    assert int(stream) == 0
    assert PyGPU.cudaStreamDestroy(stream) == stream.last_status() == 400


def test_a_stream_may_go_while_it_works(memory):
    stream = PyGPU.cudaStream_t()
    assert PyGPU.cudaMemsetAsync(memory, 7, 16 * MB, stream) == 0
    del stream
    found = np.zeros(16 * MB, np.uint8)
    assert PyGPU.cudaDeviceSynchronize() == 0
    assert PyGPU.cudaMemcpy(found, memory, found.nbytes) == 0
    assert (found == 7).all()


def test_work_on_one_stream_waits_for_an_event_on_another(memory):
    first = PyGPU.cudaStream_t(PyGPU.cudaStreamNonBlocking)
    second = PyGPU.cudaStream_t(PyGPU.cudaStreamNonBlocking)
    event = PyGPU.cudaEvent_t(PyGPU.cudaEventDisableTiming)
    half = 8 * MB
    for value in range(1, 20):
        assert PyGPU.cudaMemsetAsync(memory, value, half, first) == 0
        assert PyGPU.cudaEventRecord(event, first) == 0
        assert PyGPU.cudaStreamWaitEvent(second, event) == 0
        assert PyGPU.cudaMemcpyAsync(memory + half, memory, half, 3, second) == 0
        found = np.zeros(half, np.uint8)
        assert PyGPU.cudaStreamSynchronize(second) == 0
        assert PyGPU.cudaMemcpy(found, memory + half, half) == 0
        assert (found == value).all()


# What passes for a stream.


PASSING = {
    "None": lambda stream: None,
    "zero": lambda stream: 0,
    "legacy": lambda stream: PyGPU.cudaStreamLegacy,
    "per thread": lambda stream: PyGPU.cudaStreamPerThread,
    "object": lambda stream: stream,
    "handle": lambda stream: stream.get(),
    ".handle": lambda stream: Carrier(handle=stream.get()),
    ".ptr": lambda stream: Carrier(ptr=stream.get()),
    ".cuda_stream": lambda stream: Carrier(cuda_stream=stream.get()),
    "NumPy's int": lambda stream: Carrier(handle=np.uint64(stream.get())),
    "protocol": lambda stream: StreamProtocol(stream.get()),
    "protocol, object": lambda stream: StreamProtocol(stream),
}


@pytest.mark.parametrize("form", PASSING)
def test_what_passes_for_a_stream(memory, form):
    owner, event = PyGPU.cudaStream_t(), PyGPU.cudaEvent_t()
    stream = PASSING[form](owner)
    assert PyGPU.cudaMemsetAsync(memory, 3, MB, stream) == 0
    assert PyGPU.cudaEventRecord(event, stream) == 0
    assert PyGPU.cudaStreamWaitEvent(stream, event) == 0
    assert PyGPU.cudaStreamSynchronize(stream) == 0
    assert PyGPU.cudaStreamQuery(stream) == 0


CALLS = [
    PyGPU.cudaStreamSynchronize,
    PyGPU.cudaStreamQuery,
    PyGPU.cudaStreamGetFlags,
    PyGPU.cudaStreamGetPriority,
    lambda stream: PyGPU.cudaStreamWaitEvent(stream, PyGPU.cudaEvent_t()),
    lambda stream: PyGPU.cudaEventRecord(PyGPU.cudaEvent_t(), stream),
    lambda stream: PyGPU.cudaMallocAsync(0, stream),
    lambda stream: PyGPU.cudaFreeAsync(0, stream),
    lambda stream: PyGPU.cudaMemsetAsync(0, 0, 0, stream),
    lambda stream: PyGPU.cudaMemcpyAsync(0, 0, 0, 0, stream),
    lambda stream: PyGPU.cudaMemcpy2DAsync(0, 0, 0, 0, 0, 0, 0, stream),
    lambda stream: PyGPU.cudaMemset2DAsync(0, 0, 0, 0, 0, stream),
    lambda stream: PyGPU.cudaMemcpyPeerAsync(0, 0, 0, 0, 0, stream),
    lambda stream: PyGPU.cudaStreamAttachMemAsync(stream, 0),
    lambda stream: PyGPU.cudaMemPrefetchAsync(0, 1, 0, stream),
    lambda stream: PyGPU.cudaLaunchHostFunc(stream, print),
]


NO_STREAMS = ["0", b"0", 0.0, [0], (0, 0), {}, object(), Carrier(handle="0")]


@pytest.mark.parametrize(("call", "bad"), each_once(CALLS, [(bad,) for bad in NO_STREAMS]))
def test_what_does_not_pass_for_a_stream(call, bad):
    with pytest.raises(TypeError, match="stream"):
        call(bad)


@pytest.mark.parametrize("call", CALLS)
def test_a_destroyed_stream_cannot_be_used(call):
    stream = PyGPU.cudaStream_t()
    assert PyGPU.cudaStreamDestroy(stream) == 0
    with pytest.raises(ValueError, match=r"stream.*destroyed"):
        call(stream)


def test_a_handle_cannot_be_negative():
    with pytest.raises(ValueError, match="stream"):
        PyGPU.cudaStreamSynchronize(-1)


def test_only_our_own_streams_can_be_destroyed():
    for stream in (None, 0, PyGPU.cudaStream_t().get(), "0"):
        with pytest.raises(TypeError, match="stream"):
            PyGPU.cudaStreamDestroy(stream)
