"""driver.Stream and Event: order of work, times, waiting, handles, flags; the profiler."""

import ctypes
import inspect

import needs
import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv

MB = 1 << 20


@pytest.fixture
def stream():
    return drv.Stream()


def passed(event):
    return event.record().synchronize()


# Streams.


def test_a_stream_does_its_work(stream):
    memory = drv.mem_alloc(MB)
    back = drv.pagelocked_zeros(MB, np.uint8)
    drv.memset_d8_async(memory, 7, MB, stream)
    drv.memcpy_dtoh_async(back, memory, stream)
    assert stream.synchronize() is None
    assert (back == 7).all() and stream.is_done() is True


@pytest.mark.parametrize("flags", [0, 1, np.int64(1)])
def test_flags_of_streams(flags):
    stream = drv.Stream(flags=flags)
    stream.synchronize()
    assert stream.is_done() is True


def test_bad_flags_of_streams():
    for flags in (2, 9, 1 << 20):
        with pytest.raises(drv.LogicError):
            drv.Stream(flags)
    for flags in ("x", None, 1.5, [1]):
        with pytest.raises((TypeError, ValueError)):
            drv.Stream(flags)
    with pytest.raises((OverflowError, TypeError)):
        drv.Stream(-1)
    with pytest.raises(TypeError):
        drv.Stream(0, 1)


def test_the_handle_of_a_stream(stream):
    assert type(stream.handle) is int and stream.handle != 0
    assert ctypes.c_void_p(stream.handle).value == stream.handle
    other = drv.Stream()
    assert other.handle != stream.handle
    memory = drv.mem_alloc(100)
    drv.memset_d8_async(memory, 5, 100, stream.handle)
    stream.synchronize()
    assert (drv.from_device(memory, 100, np.uint8) == 5).all()


def test_objects_that_have_a_stream(stream):
    class Protocol:
        def __cuda_stream__(self):
            return 0, stream.handle

    class Handle:
        handle = stream.handle

    memory = drv.mem_alloc(100)
    for value, like in enumerate((Protocol(), Handle(), None), 1):
        drv.memset_d8_async(memory, value, 100, like)
        drv.Context.synchronize()
        assert (drv.from_device(memory, 100, np.uint8) == value).all()


def test_streams_can_be_subclassed():
    class Named(drv.Stream):
        def __init__(self, name):
            super().__init__()
            self.name = name

    named, memory = Named("mine"), drv.mem_alloc(100)
    drv.memset_d8_async(memory, 5, 100, named)
    named.synchronize()
    assert named.name == "mine" and (drv.from_device(memory, 100, np.uint8) == 5).all()


def test_a_stream_that_is_gone_has_done_its_work():
    memory = drv.mem_alloc(MB)
    for value in range(20):
        drv.memset_d8_async(memory, value, MB, drv.Stream())
    drv.Context.synchronize()
    assert (drv.from_device(memory, MB, np.uint8) == 19).all()


def test_a_stream_waits_for_an_event(stream):
    other, memory, back = drv.Stream(), drv.mem_alloc(MB), drv.pagelocked_zeros(MB, np.uint8)
    for value in range(1, 20):
        drv.memset_d8_async(memory, value, MB, stream)
        assert other.wait_for_event(drv.Event().record(stream)) is None
        drv.memcpy_dtoh_async(back, memory, other)
        stream.wait_for_event(drv.Event().record(other))
        drv.memset_d8_async(memory, 99, MB, stream)
        other.synchronize()
        assert (back == value).all()


def test_an_event_that_was_never_recorded_holds_nobody_up(stream):
    stream.wait_for_event(evt=drv.Event())
    stream.synchronize()
    assert stream.is_done()


@pytest.mark.parametrize("bad", [None, 5, "event", 1.5])
def test_what_no_stream_waits_for(stream, bad):
    with pytest.raises(TypeError):
        stream.wait_for_event(bad)


# Events.


def test_calls_on_events_can_be_chained(stream):
    event = drv.Event()
    assert event.record() is event and event.synchronize() is event
    assert event.record(stream).synchronize() is event
    assert event.record(stream=None).synchronize().query() is True


def test_times_between_events(stream):
    first, second, third = drv.Event(), drv.Event(), drv.Event()
    memory = drv.mem_alloc(16 * MB)
    first.record(stream)
    drv.memset_d8_async(memory, 1, 16 * MB, stream)
    second.record(stream)
    drv.memset_d8_async(memory, 2, 16 * MB, stream)
    third.record(stream).synchronize()
    assert type(second.time_since(first)) is float
    assert 0 <= first.time_till(second) == second.time_since(first)
    assert third.time_since(first) >= second.time_since(first)
    assert second.time_till(event=first) == first.time_since(event=second) <= 0
    total = second.time_since(first) + third.time_since(second)
    assert third.time_since(first) == pytest.approx(total, abs=0.01)
    assert first.time_since(first) == 0


def test_an_event_counts_from_when_it_was_recorded_last():
    first, second = passed(drv.Event()), passed(drv.Event())
    assert second.time_since(first) >= 0
    passed(first)
    assert second.time_since(first) <= 0


def no_time(why):
    return pytest.raises(drv.LogicError, match=f"cudaEventElapsedTime failed: .* - {why}")


def test_no_time_without_a_record():
    recorded, never = passed(drv.Event()), drv.Event()
    with no_time("the earlier event was never recorded"):
        recorded.time_since(never)
    with no_time("the later event was never recorded"):
        recorded.time_till(never)
    with no_time("the later event was never recorded"):
        never.time_since(recorded)
    with no_time("the earlier event was never recorded"):
        never.time_till(never)
    assert never.query() is True and never.synchronize() is never
    for bad in (None, 5, "event"):
        with pytest.raises(TypeError):
            recorded.time_since(bad)


def test_no_time_from_events_without_timing():
    timed = passed(drv.Event())
    untimed = passed(drv.Event(drv.event_flags.DISABLE_TIMING))
    with no_time("the earlier event has no time: its timing is disabled"):
        timed.time_since(untimed)
    with no_time("the later event has no time: its timing is disabled"):
        timed.time_till(untimed)
    assert untimed.query() is True


def test_no_time_from_a_destroyed_event():
    timed, destroyed = passed(drv.Event()), passed(drv.Event())
    assert PyGPU.cudaEventDestroy(destroyed) == 0
    with no_time("the later event was destroyed"):
        timed.time_till(destroyed)


@pytest.mark.skipif(not needs.ON_MACHINE, reason="the vendors do not document this outcome")
def test_no_time_from_an_event_in_a_capture(stream):
    timed, captured = passed(drv.Event()), drv.Event()
    with stream.capture():
        captured.record(stream)
    with no_time("the later event has no time: it was last recorded on a stream that was captured"):
        timed.time_till(captured)


ON_TWO_DEVICES = """
import pytest
import PyGPU
import PyGPU.driver as drv

events = []
for device in range(2):
    assert PyGPU.cudaSetDevice(device) == 0
    events.append(drv.Event().record().synchronize())
with pytest.raises(drv.LogicError, match="earlier .* device 0, the later .* device 1"):
    events[1].time_since(events[0])
with pytest.raises(drv.LogicError, match="earlier .* device 1, the later .* device 0"):
    events[1].time_till(events[0])
"""


def test_no_time_between_two_devices(two_devices):
    two_devices(ON_TWO_DEVICES)


@pytest.mark.parametrize(
    "flags", [drv.event_flags.DEFAULT, drv.event_flags.BLOCKING_SYNC, 1, np.int64(2), 1 | 2]
)
def test_flags_of_events(flags):
    assert passed(drv.Event(flags=flags)).query() is True


def test_bad_flags_of_events():
    for flags in (drv.event_flags.INTERPROCESS, 64, 1 << 20):  # INTERPROCESS needs DISABLE_TIMING
        with pytest.raises(drv.LogicError):
            drv.Event(flags)
    for flags in ("x", None, 1.5):
        with pytest.raises((TypeError, ValueError)):
            drv.Event(flags)
    with pytest.raises((OverflowError, TypeError)):
        drv.Event(-1)


@pytest.mark.parametrize("bad", ["x", 1.5, [1], object()], ids=lambda bad: type(bad).__name__)
def test_what_no_event_is_recorded_on(bad):
    with pytest.raises(TypeError, match="stream"):
        drv.Event().record(bad)


def test_event_queries_answer_at_last(stream):
    memory, event = drv.mem_alloc(64 * MB), drv.Event()
    drv.memset_d8_async(memory, 1, 64 * MB, stream)
    event.record(stream)
    answers = [event.query() for _ in range(100)]
    event.synchronize()
    answers.append(event.query())
    assert set(answers) <= {True, False} and answers == sorted(answers) and answers[-1] is True


# Events of other processes.


def test_bad_handles_of_events():
    for size in (0, 63, 65):
        with pytest.raises(drv.LogicError, match="64"):
            drv.Event.from_ipc_handle(bytearray(size))
    for bad in (None, 5):
        with pytest.raises(TypeError):
            drv.Event.from_ipc_handle(bad)
    with pytest.raises(drv.LogicError):
        drv.Event().ipc_handle()


OTHER_PROCESS = """
import sys
import PyGPU.driver as drv
drv.init()
event = drv.Event.from_ipc_handle(HANDLE)
assert isinstance(event, drv.Event)
assert event.synchronize() is event and event.query() is True
stream = drv.Stream()
stream.wait_for_event(event)
stream.synchronize()
"""


def test_handles_of_events(python):
    event = drv.Event(drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING)
    passed(event)
    handle = event.ipc_handle()
    assert isinstance(handle, bytearray) and len(handle) == 64
    for kind in (bytes, bytearray):
        python(OTHER_PROCESS.replace("HANDLE", repr(kind(handle))))


# The profiler.


def test_the_profiler_starts_and_stops():
    assert drv.start_profiler() is None
    assert drv.stop_profiler() is None
    for _ in range(2):  # it may be told so again
        drv.start_profiler()
    drv.stop_profiler()


def test_the_profiler_needs_no_configuration(tmp_path):
    mode = drv.profiler_output_mode.KEY_VALUE_PAIR
    output = tmp_path / "profile.csv"
    assert drv.initialize_profiler(str(tmp_path / "config"), str(output), mode) is None
    names = list(inspect.signature(drv.initialize_profiler).parameters)
    assert names == ["config_file", "output_file", "output_mode"]
