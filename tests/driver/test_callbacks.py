"""Functions that streams call: order, exceptions, captures, threads, references."""

import contextlib
import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from host_functions import captures

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray

SECONDS = 60  # the most that a test waits for another thread


@contextlib.contextmanager
def blocked(stream):
    """Let a function on the stream wait until the body has ended, or has set the yielded event.

    The target host calls functions in the thread that enqueues them, so a thread of its own does.
    """
    begun, end = threading.Event(), threading.Event()

    def wait():
        begun.set()
        assert end.wait(SECONDS)

    thread = threading.Thread(target=stream.add_callback, args=(wait,))
    thread.start()
    try:
        assert begun.wait(SECONDS)
        yield end
    finally:
        end.set()
        thread.join(SECONDS)
    assert not thread.is_alive()


@contextlib.contextmanager
def enqueued(*work):
    """Enqueue work in a thread: on the target host, a blocked stream blocks it."""
    thread = threading.Thread(target=lambda: [one() for one in work])
    thread.start()
    yield
    thread.join(SECONDS)
    assert not thread.is_alive()


@pytest.fixture(params=[0, 1], ids=["blocking", "non-blocking"])
def stream(request):
    return drv.Stream(request.param)


@pytest.fixture
def unraised(monkeypatch):
    """The exceptions that were reported, with their functions."""
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: found.append((one.object, one.exc_type)))
    return found


def test_a_function_runs_after_the_work_before_it_and_before_the_work_after(stream):
    source, result = drv.pagelocked_zeros(4, np.int32), drv.pagelocked_zeros(4, np.int32)
    memory, seen = drv.mem_alloc(source.nbytes), []
    source[:] = 1
    drv.memcpy_htod_async(memory, source, stream)
    drv.memcpy_dtoh_async(result, memory, stream)

    def look():
        seen.append(result.tolist())
        source[:] = 2

    stream.add_callback(look)
    drv.memcpy_htod_async(memory, source, stream)
    drv.memcpy_dtoh_async(result, memory, stream)
    stream.synchronize()
    assert seen == [[1] * 4] and result.tolist() == [2] * 4


def test_functions_run_in_order_with_their_arguments(stream):
    calls = []
    for number in range(100):
        stream.add_callback(calls.append, number)
    stream.add_callback(calls.extend, ["a", "b"])
    stream.synchronize()
    assert calls == [*range(100), "a", "b"]


def test_work_waits_for_the_function(stream):
    a, done = gpuarray.zeros(4, "int32"), drv.Event()
    PyGPU.cudaDeviceSynchronize()
    with blocked(stream) as end:
        record = lambda: done.record(stream)  # noqa: E731
        with enqueued(lambda: drv.memset_d32_async(a.ptr, 5, 4, stream), record):
            assert not end.is_set() and not stream.is_done()
            end.set()
    done.synchronize()
    assert a.get().tolist() == [5] * 4


def test_the_null_stream_calls_functions_too():
    calls = []
    assert PyGPU.cudaLaunchHostFunc(None, lambda: calls.append(1)) == 0
    assert PyGPU.cudaStreamSynchronize(None) == 0
    assert calls == [1]


def test_an_exception_is_reported_and_the_stream_continues(stream, unraised):
    calls = []

    def fail():
        raise KeyError("mine")

    def leave():
        raise SystemExit(3)

    for function in (fail, leave):
        stream.add_callback(function)
        stream.add_callback(calls.append, function)
    stream.synchronize()
    assert unraised == [(fail, KeyError), (leave, SystemExit)]
    assert calls == [fail, leave] and stream.is_done()


def test_arguments_are_checked(stream):
    for bad in (3, None, "f"):
        with pytest.raises(TypeError, match="function: expected a callable, got"):
            stream.add_callback(bad)
        with pytest.raises(TypeError, match="function: expected a callable, got"):
            stream.add_callback(bad, 1)
    PyGPU.cudaStreamDestroy(stream)
    with pytest.raises(ValueError, match="stream"):
        stream.add_callback(print)


def test_a_function_and_its_arguments_are_released(stream):
    class Thing:
        def __call__(self, other):
            pass

    function, argument = Thing(), Thing()
    references = weakref.ref(function), weakref.ref(argument)
    stream.add_callback(function, argument)
    stream.synchronize()
    del function, argument
    wait_for(lambda: [one() for one in references] == [None, None])


def wait_for(condition):
    """Wait for what a thread of the runtime does after it has called a function."""
    for _ in range(1000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("nothing happened within 10 s")


def test_objects_that_end_in_a_function_are_released_afterwards(stream, capfd):
    """Their releases are calls of the runtime, which it does not allow in the function."""
    before = PyGPU.memory_stats()

    class Cycle:
        pass

    cycle = Cycle()
    cycle.itself, cycle.array = cycle, gpuarray.zeros(1 << 20, "uint8")
    things = [gpuarray.zeros(1 << 20, "uint8"), drv.mem_alloc(1 << 20), drv.Event(), drv.Stream()]
    held = [drv.pagelocked_empty(16, np.uint8), cycle]
    PyGPU.cudaDeviceSynchronize()
    del cycle
    stream.add_callback(things.clear)
    stream.add_callback(held.clear)
    stream.add_callback(gc.collect)
    stream.synchronize()

    def is_released():
        gpuarray.empty(1, "uint8")  # an allocation releases what was postponed
        after = PyGPU.memory_stats()
        return after.in_use <= before.in_use + 512

    wait_for(is_released)
    assert things == held == [] and capfd.readouterr().err == ""


def test_a_function_cannot_use_the_runtime(stream):
    a, errors = gpuarray.zeros(4, "float32"), []

    def use():
        add, new = (lambda: stream.add_callback(use)), (lambda: gpuarray.zeros(4, "float32"))
        for call in (a.get, new, add, a.gpudata.free, drv.Stream, stream.synchronize):
            try:
                call()
            except PyGPU.errors.Error as error:
                errors.append(str(error))

    stream.add_callback(use)
    stream.synchronize()
    assert len(errors) == 6, errors
    assert all("a function that a stream calls cannot use the runtime" in text for text in errors)
    assert a.get().tolist() == [0] * 4 and PyGPU.cudaPeekAtLastError() == 0


WAITS = {
    "the stream": lambda stream, event, a, memory: stream.synchronize(),
    "an event": lambda stream, event, a, memory: event.synchronize(),
    "the device": lambda stream, event, a, memory: drv.Context.synchronize(),
    "a free": lambda stream, event, a, memory: memory.free(),
    "a result": lambda stream, event, a, memory: a.get(),
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_python_runs_while_a_call_waits_for_a_function(wait):
    """The function needs the GIL, and another thread must run to end it."""
    stream, event, a = drv.Stream(), drv.Event(), gpuarray.zeros(4, "int32")
    memory, order = drv.mem_alloc(64), []
    PyGPU.cudaDeviceSynchronize()
    with blocked(stream) as end:
        with enqueued(lambda: event.record(stream)):
            pass  # a record does not wait, on any target

        def release():
            order.append("released")
            end.set()

        timer = threading.Timer(0.1, release)
        timer.start()
        wait(stream, event, a, memory)
        order.append("waited")
        timer.join()
    assert order == ["released", "waited"]


def test_threads_have_their_own_streams():
    total, lock = [0], threading.Lock()

    def add(number):
        with lock:
            total[0] += number

    def work():
        stream, a = drv.Stream(1), gpuarray.zeros(64, "int32")
        for number in range(50):
            drv.memset_d32_async(a.ptr, number, 64, stream)
            stream.add_callback(add, number)
        stream.synchronize()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert total == [4 * sum(range(50))]


def test_many_functions_among_other_work(stream):
    """More than any queue holds: what enqueues then waits, and the functions run meanwhile."""
    calls, memory = [0], drv.mem_alloc(64)
    kept = [gpuarray.zeros(16, "uint8") for _ in range(8)]

    def count():
        calls[0] += 1

    for number in range(1500):
        stream.add_callback(count)
        drv.memset_d32_async(memory, number, 16, stream)
        kept[number % 8] = gpuarray.zeros(16 + number, "uint8")
        kept[0].copy()
        if number % 100 == 0:
            drv.Event().record(stream)
    stream.synchronize()
    assert calls == [1500]
    assert drv.from_device(memory, 16, np.uint32).tolist() == [1499] * 16


def test_a_pending_function_and_more_work_than_a_queue_holds(stream):
    kept = [gpuarray.zeros(16, "uint8") for _ in range(8)]
    PyGPU.cudaDeviceSynchronize()
    calls = []
    with blocked(stream) as end:
        timer = threading.Timer(0.3, end.set)
        timer.start()
        stream.add_callback(calls.append, 1)
        for number in range(3000):
            kept[number % 8] = gpuarray.zeros(16 + number % 64, "uint8")
            kept[number % 8].copy()
        timer.join()
    stream.synchronize()
    assert calls == [1]


# Captures.


@captures
def test_each_launch_of_a_graph_calls_the_function(stream):
    calls, a = [], gpuarray.zeros(4, "int32")
    with stream.capture() as graph:
        drv.memset_d32_async(a.ptr, 1, 4, stream)
        stream.add_callback(calls.append, 1)
        drv.memset_d32_async(a.ptr, 2, 4, stream)
        stream.add_callback(calls.append, 2)
    assert calls == []
    for launches in range(1, 4):
        graph.launch(stream)
        stream.synchronize()
        assert calls == [1, 2] * launches and a.get().tolist() == [2] * 4


@captures
def test_a_graph_owns_its_functions():
    class Function:
        calls = 0

        def __call__(self):
            Function.calls += 1

    stream, function = drv.Stream(), Function()
    reference = weakref.ref(function)
    with stream.capture() as graph:
        stream.add_callback(function)
    del function
    gc.collect()
    graph.launch()
    graph.launch()
    PyGPU.cudaDeviceSynchronize()
    assert Function.calls == 2 and reference() is not None
    del graph
    wait_for(lambda: reference() is None)


@captures
def test_a_capture_that_fails_releases_its_functions():
    class Function:
        def __call__(self):
            raise AssertionError("it was called")

    stream, function = drv.Stream(), Function()
    reference = weakref.ref(function)
    with pytest.raises(KeyError), stream.capture():
        stream.add_callback(function)
        raise KeyError
    del function
    wait_for(lambda: reference() is None)
    stream.synchronize()


@captures
def test_a_graph_that_is_captured_again_calls_the_new_function():
    stream, calls, graph = drv.Stream(), [], drv.Graph()
    for word in ("old", "new"):
        with stream.capture(graph):
            stream.add_callback(calls.append, word)
        graph.launch(stream)
    stream.synchronize()
    assert calls == ["old", "new"]


@captures
def test_a_graph_in_a_graph():
    stream, calls = drv.Stream(), []
    with stream.capture() as inner:
        stream.add_callback(calls.append, 1)
    with stream.capture() as outer:
        inner.launch(stream)
        stream.add_callback(calls.append, 2)
        inner.launch(stream)
    del inner
    gc.collect()
    outer.launch(stream)
    stream.synchronize()
    assert calls == [1, 2, 1]


@captures
def test_a_graph_may_end_before_its_launch_is_done():
    stream, calls = drv.Stream(), []
    with stream.capture() as graph:
        stream.add_callback(calls.append, 1)
    graphs = [graph]
    del graph
    with blocked(stream) as end, enqueued(lambda: graphs[0].launch(stream)):
        threading.Event().wait(0.05)
        graphs.clear()
        gc.collect()
        assert calls == []
        end.set()
    stream.synchronize()
    assert calls == [1]


@captures
def test_another_thread_cannot_add_a_function_to_a_capture():
    stream, calls, errors = drv.Stream(), [], []

    def add():
        try:
            stream.add_callback(calls.append, "other")
        except drv.LogicError as error:
            errors.append(str(error))

    with stream.capture() as graph:
        thread = threading.Thread(target=add)
        thread.start()
        thread.join()
        stream.add_callback(calls.append, "own")
    graph.launch(stream)
    stream.synchronize()
    assert calls == ["own"] and "another thread or library captures it" in errors[0]
