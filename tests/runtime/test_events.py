"""Events: creation, completion, elapsed time, and events that cannot be used."""

import operator

import memory_tools
import pytest

import PyGPU

MB = 1 << 20
memory = memory_tools.memory


def test_an_event_is_its_handle():
    event, other = PyGPU.cudaEvent_t(), PyGPU.cudaEvent_t()
    assert event.last_status() == 0
    handle = event.get()
    assert handle != 0 and handle != other.get()
    assert int(event) == operator.index(event) == handle
    assert repr(event) == f"<cudaEvent_t {handle:#x} on device 0, never recorded>"


@pytest.mark.parametrize(
    "flags",
    [
        PyGPU.cudaEventDefault,
        PyGPU.cudaEventBlockingSync,
        PyGPU.cudaEventDisableTiming,
        PyGPU.cudaEventBlockingSync | PyGPU.cudaEventDisableTiming,
        PyGPU.cudaEventInterprocess | PyGPU.cudaEventDisableTiming,
    ],
)
def test_event_flags(flags):
    event = PyGPU.cudaEvent_t(flags)
    assert event.last_status() == 0
    assert PyGPU.cudaEventRecord(event) == 0
    assert PyGPU.cudaEventSynchronize(event) == 0
    assert PyGPU.cudaEventQuery(event) == 0


@pytest.mark.parametrize("flags", [99, PyGPU.cudaEventInterprocess])
def test_flags_that_make_no_event(flags):
    event = PyGPU.cudaEvent_t(flags)
    assert event.last_status() == 1
    assert int(event) == 0 and repr(event) == "<cudaEvent_t 0x0, destroyed or never created>"
    assert PyGPU.cudaEventDestroy(event) == 400


@pytest.mark.parametrize("flags", ["0", -1, None, 0.5])
def test_event_arguments_are_ints(flags):
    with pytest.raises(TypeError, match="flags"):
        PyGPU.cudaEvent_t(flags)


def test_elapsed_time(memory):
    before, after = PyGPU.cudaEvent_t(), PyGPU.cudaEvent_t()
    assert PyGPU.cudaEventRecord(before) == 0
    for value in range(20):
        assert PyGPU.cudaMemsetAsync(memory, value, 16 * MB) == 0
    assert PyGPU.cudaEventRecord(after) == 0
    assert PyGPU.cudaEventSynchronize(after) == 0
    milliseconds, status = PyGPU.cudaEventElapsedTime(before, after)
    assert status == 0 and isinstance(milliseconds, float) and milliseconds > 0
    assert PyGPU.cudaEventElapsedTime(before, before) == (0.0, 0)


def test_an_event_that_was_never_recorded_is_complete_but_has_no_time():
    never, recorded = PyGPU.cudaEvent_t(), PyGPU.cudaEvent_t()
    assert PyGPU.cudaEventQuery(never) == PyGPU.cudaEventSynchronize(never) == 0
    assert PyGPU.cudaEventRecord(recorded) == PyGPU.cudaEventSynchronize(recorded) == 0
    assert PyGPU.cudaEventElapsedTime(never, recorded)[1] == 400
    assert PyGPU.cudaEventElapsedTime(recorded, never)[1] == 400


def test_an_event_without_timing_has_no_time():
    timed, untimed = PyGPU.cudaEvent_t(), PyGPU.cudaEvent_t(PyGPU.cudaEventDisableTiming)
    for event in (timed, untimed):
        assert PyGPU.cudaEventRecord(event) == PyGPU.cudaEventSynchronize(event) == 0
    assert PyGPU.cudaEventElapsedTime(timed, untimed)[1] == 400


def test_an_event_is_destroyed_once():
    event = PyGPU.cudaEvent_t()
    assert PyGPU.cudaEventRecord(event) == 0
    assert PyGPU.cudaEventDestroy(event) == event.last_status() == 0
    assert int(event) == 0
    assert PyGPU.cudaEventDestroy(event) == event.last_status() == 400


def test_a_destroyed_event_cannot_be_used():
    event, other = PyGPU.cudaEvent_t(), PyGPU.cudaEvent_t()
    assert PyGPU.cudaEventRecord(other) == PyGPU.cudaEventDestroy(event) == 0
    assert PyGPU.cudaEventRecord(event) == 400
    assert PyGPU.cudaEventQuery(event) == 400
    assert PyGPU.cudaEventSynchronize(event) == 400
    assert PyGPU.cudaStreamWaitEvent(None, event) == 400
    assert PyGPU.cudaEventElapsedTime(event, other)[1] == 400
    assert PyGPU.cudaEventElapsedTime(other, event)[1] == 400


@pytest.mark.parametrize("bad", [None, 0, "event", object])
def test_what_does_not_pass_for_an_event(bad):
    event = PyGPU.cudaEvent_t()
    for call in (PyGPU.cudaEventRecord, PyGPU.cudaEventQuery, PyGPU.cudaEventSynchronize):
        with pytest.raises(TypeError, match="event"):
            call(bad)
    with pytest.raises(TypeError, match="event"):
        PyGPU.cudaStreamWaitEvent(None, bad)
    with pytest.raises(TypeError, match="end"):
        PyGPU.cudaEventElapsedTime(event, bad)


def test_wait_flags():
    event = PyGPU.cudaEvent_t()
    assert PyGPU.cudaStreamWaitEvent(None, event, 0) == 0
    assert PyGPU.cudaStreamWaitEvent(None, event, 99) == 1
