"""Captures that cannot be: what is refused, and what ends one."""

import contextlib
import gc
import threading

import graph_tools
import numpy as np
import pytest
from graph_tools import ADD, X, add_to, launched
from threads_tools import Call, at_once

import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

stream = graph_tools.stream  # the fixture


@pytest.mark.parametrize(
    "wait",
    [
        lambda a, stream: a.get(),
        lambda a, stream: a.set(X),
        lambda a, stream: gpuarray.to_gpu(X),
        lambda a, stream: drv.memcpy_dtoh(np.empty_like(X), a.gpudata),
        lambda a, stream: drv.memcpy_htod(a.gpudata, X),
        lambda a, stream: float(gpuarray.sum(a).get()),
        lambda a, stream: a[np.greater(a, 3)],
        lambda a, stream: stream.synchronize(),
        lambda a, stream: drv.Context.synchronize(),
        lambda a, stream: stream.is_done(),
    ],
)
def test_what_waits_is_refused(stream, wait):
    a = gpuarray.to_gpu(X)
    _ = a[np.greater(a, 3)], gpuarray.sum(a)
    with pytest.raises(drv.LogicError, match="captur"), stream.capture():
        wait(a, stream)
    # Nothing is left of it.
    with stream.capture() as graph:
        a += 1
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 1)


def test_an_exception_ends_the_capture(stream):
    a = gpuarray.to_gpu(X)
    with pytest.raises(ZeroDivisionError), stream.capture() as graph:
        a += 1
        raise ZeroDivisionError
    with pytest.raises(drv.LogicError, match="nothing was captured"):
        graph.launch()
    a += 1
    np.testing.assert_array_equal(a.get(), X + 1)


def test_one_capture_at_a_time_in_a_thread(stream):
    other = drv.Stream(1)
    already = pytest.raises(drv.LogicError, match="captures a stream already")
    with stream.capture(), already, other.capture():
        pass


def test_a_thread_with_the_number_of_a_dead_one_captures_nothing():
    begun, seen = [], []

    def begin():
        stream = drv.Stream(1)
        begun.append((stream, stream.capture()))
        begun[0][1].__enter__()

    def work():
        seen.append((gpuarray.to_gpu(X) + 1).get())

    for task in (begin, work):
        thread = threading.Thread(target=task)
        thread.start()
        thread.join()
    np.testing.assert_array_equal(seen[0], X + 1)
    np.testing.assert_array_equal((gpuarray.to_gpu(X) + 1).get(), X + 1)
    with pytest.raises(drv.LogicError, match="the thread that began it"):
        begun[0][1].__exit__(ValueError, ValueError(), None)


def test_an_empty_graph(stream):
    with stream.capture() as graph:
        pass
    launched(graph, stream)


def test_memory_that_was_freed(stream):
    a = gpuarray.to_gpu(X)
    with stream.capture() as graph:
        a += 1
    a.gpudata.free()
    with pytest.raises(drv.LogicError, match="was freed"):
        graph.launch()


def test_threads_capture_each_for_itself():
    results = {}

    def work(number):
        stream = drv.Stream(1)
        a = gpuarray.to_gpu(X + number)
        with stream.capture() as graph:
            b = a * number
        launched(graph, stream)
        results[number] = b.get()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, result in results.items():
        np.testing.assert_array_equal(result, (X + number) * number)
    assert len(results) == 8


SLOW_ADD = """
__global__ void add(int *x) {
  int before = *(volatile int *)x;
  for (volatile int i = 0; i < 20000; i = i + 1) {}
  *x = before + 1;
}
"""


def test_launches_of_one_graph_by_several_threads_do_not_overlap():
    add = SourceModule(SLOW_ADD).get_function("add")
    x = gpuarray.zeros(1, np.int32)
    add(x, block=(1, 1, 1))
    with drv.Stream(1).capture() as graph:
        add(x, block=(1, 1, 1))
    x.get()

    def launch():
        stream = drv.Stream(1)
        for _ in range(50):
            graph.launch(stream)
        stream.synchronize()

    at_once([launch] * 4)
    assert x.get() == 1 + 4 * 50


def test_threads_that_disturb_a_capture_while_it_ends():
    # Without the machine's lock, only tests/sanitized.py finds the error.
    a = gpuarray.zeros(1000, np.int32)
    a += 1
    captured, other = drv.Stream(1), drv.Stream(1)
    is_over = threading.Event()

    def disturb():
        while not is_over.is_set():
            with contextlib.suppress(drv.LogicError):
                captured.synchronize()
            drv.Event().record(other).query()

    threads = [Call(disturb) for _ in range(3)]
    for _ in range(100):
        with contextlib.suppress(drv.LogicError), captured.capture():
            a += 1
    is_over.set()
    for thread in threads:
        thread.result()
    with captured.capture() as graph:
        a += 1
    graph.launch()
    assert (a.get() == 2).all()


def test_other_threads_go_on_meanwhile():
    stream = drv.Stream(1)
    a = gpuarray.to_gpu(X)
    seen = []

    def work():
        for k in range(50):
            seen.append(np.array_equal((gpuarray.to_gpu(X) + k).get(), X + k))

    with stream.capture() as graph:
        other = threading.Thread(target=work)
        other.start()
        b = a + 1
        other.join()
    launched(graph, stream)
    assert all(seen) and len(seen) == 50
    np.testing.assert_array_equal(b.get(), X + 1)


@pytest.mark.alone
def test_memory_comes_back():
    def once():
        stream = drv.Stream(1)
        a = gpuarray.to_gpu(X)
        with stream.capture() as graph:
            b = a
            for _ in range(5):
                b = (b + 1)[::-1].copy()
        launched(graph, stream)

    once()
    gc.collect()
    before = drv.mem_get_info()[0]
    for _ in range(20):
        once()
    gc.collect()
    assert drv.mem_get_info()[0] >= before - (4 << 20)


@pytest.mark.parametrize("flags", [0, 1])
@pytest.mark.parametrize("is_thread", [False, True])
@pytest.mark.parametrize("is_explicit", [False, True])
def test_frees_of_what_the_stream_used_before(flags, is_thread, is_explicit):
    stream = drv.Stream(flags)
    a, used = gpuarray.to_gpu(X), [gpuarray.zeros(1 << 20, "f4")]
    used[0].fill(1, stream=stream)
    a += 0

    def free():
        if is_explicit:
            used[0].gpudata.free()
        used.clear()
        gc.collect()

    with stream.capture() as graph:
        a += 1
        if is_thread:
            thread = threading.Thread(target=free)
            thread.start()
            thread.join()
        else:
            free()
        a += 1
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 2)


def test_a_process_that_ends_in_a_capture_is_silent(python):
    program = """
import PyGPU.autoinit, PyGPU.driver as drv
from PyGPU import gpuarray
a = gpuarray.zeros(100, 'f4')
stream = drv.Stream()
with stream.capture() as graph:
    b = a + 1
    raise SystemExit(7)
"""
    done = python(program, expect=7)
    assert (done.stdout, done.stderr) == ("", "")


def test_memory_of_the_graph_that_was_freed(stream):
    a = gpuarray.to_gpu(X)
    with stream.capture() as graph:
        b = a + 1
        c = b * 2
    b.gpudata.free()
    with pytest.raises(drv.LogicError, match="was freed"):
        graph.launch()
    assert c.shape == a.shape


def test_a_graph_is_of_the_device_that_it_began_on(two_devices):
    two_devices("""
import PyGPU, PyGPU.driver as drv, PyGPU.autoinit
from PyGPU import gpuarray
stream, a = drv.Stream(1), gpuarray.zeros(10, "f4")
a += 1
with stream.capture() as graph:
    a += 1
    PyGPU.cudaSetDevice(1)
graph.launch(stream)
PyGPU.cudaSetDevice(0)
stream.synchronize()
assert a.get()[0] == 2
PyGPU.cudaSetDevice(1)
try:
    with stream.capture():
        pass
except drv.LogicError as error:
    assert "it belongs to device 0, the current device is 1" in str(error)
else:
    raise SystemExit("captured")
""")


@pytest.mark.parametrize("graph", ["a", 3, drv.Stream])
def test_what_is_no_graph(stream, graph):
    with pytest.raises(TypeError, match="graph: expected a Graph"), stream.capture(graph):
        pass


def test_the_reason_is_told_where_a_runtime_refuses(stream):
    a = gpuarray.to_gpu(X)
    add_to(a, 0)
    host = X.copy()
    kernel = SourceModule(ADD).get_function("add")
    with pytest.raises(drv.LogicError, match="when the graph is launched"), stream.capture():
        kernel(drv.InOut(host), np.float32(1), np.int32(9), block=(9, 1, 1))
    begun = drv.Event()
    other = drv.Stream(1)
    with pytest.raises(drv.LogicError, match="was never joined back"):  # noqa: SIM117
        with stream.capture():
            begun.record(stream)
            other.wait_for_event(begun)
            add_to(a, 1, other)


def test_an_error_that_is_caught_leaves_the_capture_as_it_was(stream):
    a = gpuarray.to_gpu(X)
    with stream.capture() as graph:
        for wait in (stream.synchronize, drv.Context.synchronize, stream.is_done, a.get):
            with pytest.raises(drv.LogicError):
                wait()
        a += 1
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 1)
