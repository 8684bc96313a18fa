"""Captures that cannot be: what is refused, what ends one, and captures of other libraries."""

import ctypes
import gc
import threading
from pathlib import Path

import graph_tools
import numpy as np
import pytest
from graph_tools import ADD, X, add_to, launched

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.curandom import Philox4x32RandomNumberGenerator
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel

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
    with pytest.raises(drv.LogicError, match="the thread that has begun it"):
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


# Captures of other libraries.


@pytest.fixture(params=["blocking", "non-blocking"])
def foreign_capture(request):
    """begin() and end() -> status of a capture by another library, of which we know nothing: CuPy,
    or calls of the host machine."""
    stream = drv.Stream(0 if request.param == "blocking" else 1)
    if PyGPU.target == "host":
        return _OfTheHost(stream)
    pytest.importorskip("cupy")
    return _OfCuPy(stream)


_GLOBAL = 0  # the mode of a capture that minds what all threads do


class _OfTheHost:
    def __init__(self, stream):
        self.kept, self._handle = stream, ctypes.c_void_p(int(stream))
        self._library = ctypes.CDLL(str(Path(PyGPU.get_library_dir(), "libPyGPU_host.so")))

    def begin(self):
        assert self._library.PyGPU_host_cudaStreamBeginCapture(self._handle, _GLOBAL) == 0

    def end_with_graph(self):
        graph, made = ctypes.c_void_p(), ctypes.c_void_p()
        end = self._library.PyGPU_host_cudaStreamEndCapture
        assert end(self._handle, ctypes.byref(graph)) == 0
        assert self._library.PyGPU_host_cudaHostGraphInstantiate(ctypes.byref(made), graph) == 0
        return lambda: self._library.PyGPU_host_cudaGraphLaunch(made, self._handle)

    def end(self):
        graph = ctypes.c_void_p()
        status = self._library.PyGPU_host_cudaStreamEndCapture(self._handle, ctypes.byref(graph))
        if graph:
            self._library.PyGPU_host_cudaGraphDestroy(graph)
        return status


class _OfCuPy:
    def __init__(self, stream):
        from cupy.cuda import runtime

        self.kept, self._runtime = stream, runtime

    def begin(self):
        self._runtime.streamBeginCapture(int(self.kept), _GLOBAL)

    def end_with_graph(self):
        made = self._runtime.graphInstantiate(self._runtime.streamEndCapture(int(self.kept)))
        return lambda: self._runtime.graphLaunch(made, int(self.kept))

    def end(self):
        try:
            self._runtime.graphDestroy(self._runtime.streamEndCapture(int(self.kept)))
        except self._runtime.CUDARuntimeError as error:
            return error.status
        return 0


def test_frees_do_not_spoil_anothers_capture(foreign_capture):
    small = [gpuarray.to_gpu(X + k) for k in range(100)]
    large = gpuarray.zeros(1 << 20, "f4")
    used = gpuarray.zeros(1 << 20, "f4")
    other = drv.Stream(1)
    used.fill(1, stream=other)
    earlier = gpuarray.zeros(1 << 20, "f4")
    earlier.fill(1, stream=foreign_capture.kept)
    freed = gpuarray.zeros(1 << 20, "f4")
    freed.fill(1, stream=foreign_capture.kept)
    plain = drv.mem_alloc(4096)
    pinned = drv.pagelocked_empty(1000, "f4")
    module = SourceModule(ADD)
    events = [drv.Event(), drv.Stream(1)]
    foreign_capture.begin()
    freed.gpudata.free()
    del small, large, used, earlier, plain, pinned, module, events
    gc.collect()
    assert foreign_capture.end() == 0
    assert (gpuarray.to_gpu(X) + 1).get()[3] == 4


def test_interfaces_do_not_spoil_anothers_capture(foreign_capture):
    a = gpuarray.to_gpu(X)
    busy = drv.Stream(1)
    a.fill(1, stream=busy)
    foreign_capture.begin()
    assert a.__cuda_array_interface__["shape"] == (1000,)
    a.__dlpack__(stream=int(foreign_capture.kept))
    assert foreign_capture.end() == 0


def test_new_arrays_do_not_spoil_anothers_capture(foreign_capture):
    foreign_capture.begin()
    made = [gpuarray.empty(1000 + k, "f4") for k in range(3)]
    kept = gpuarray.empty(1 << 20, "f4")
    assert foreign_capture.end() == 0
    del made
    kept.fill(2)
    assert kept.get()[5] == 2


def test_anothers_capture_records_work_on_arrays(foreign_capture):
    a, b = gpuarray.to_gpu(X), gpuarray.to_gpu(X)
    add_to(a, 0)
    b.fill(0, stream=drv.Stream(1))
    foreign_capture.begin()
    add_to(a, 1, foreign_capture.kept)
    b.fill(2, stream=foreign_capture.kept)
    drv.memcpy_dtod_async(a.gpudata, b.gpudata, a.nbytes, foreign_capture.kept)
    assert foreign_capture.end() == 0
    np.testing.assert_array_equal(a.get(), X)  # the graph was not launched
    np.testing.assert_array_equal(b.get(), 0 * X)


def test_anothers_graph_has_room_of_its_own(foreign_capture):
    """A scan and sums that take memory besides: it is not given to arrays made later."""
    n = 1 << 22
    a, out = gpuarray.zeros(n, "i4"), gpuarray.zeros(n, "i4")
    whole, rows = gpuarray.zeros((), "i4"), gpuarray.zeros(8, "i4")
    inclusive = InclusiveScanKernel(np.int32, "a + b")
    a.fill(1)
    work = [
        lambda: inclusive(a, out, stream=foreign_capture.kept),
        lambda: gpuarray.sum(a, out=whole, stream=foreign_capture.kept),
        lambda: gpuarray.sum(a.reshape(8, -1), axis=1, out=rows, stream=foreign_capture.kept),
    ]
    for call in work:
        call()  # what is compiled is compiled now
    foreign_capture.kept.synchronize()
    for array in (out, whole, rows):
        array.fill(0)
    foreign_capture.begin()
    for call in work:
        call()
    graph = foreign_capture.end_with_graph()
    sizes = (64, 800, 4096, 32768, 50_000, 1 << 16)
    others = [gpuarray.zeros(nbytes, "u1") for nbytes in sizes * 8]
    graph()
    foreign_capture.kept.synchronize()
    assert out[-1].get() == whole.get() == n and (rows.get() == n // 8).all()
    assert not any(other.get().any() for other in others)


N = 1 << 10


def reduced():
    a, out = gpuarray.zeros(1 << 20, "i4"), gpuarray.zeros((), "i4")
    a.fill(1)
    total = ReductionKernel(np.int32, "0", "a + b", arguments="int *in")
    return lambda stream: total(a, stream=stream, out=out), lambda: out.get() == a.size


def copied_over_itself():
    a = gpuarray.to_gpu(np.arange(N, dtype="i4"))
    expected = np.arange(N) - (np.arange(N) > 0)
    a_before = a.copy()

    def work(stream):
        a.set_async(a_before, stream=stream)
        a[1:].set_async(a[:-1], stream=stream)

    return work, lambda: np.array_equal(a.get(), expected)


def sent_to_gaps():
    a, host = gpuarray.zeros((60, 60), "f4"), drv.pagelocked_empty((60, 30), np.float32)
    host[:] = 3
    return (
        lambda stream: a[:, ::2].set_async(host, stream=stream),
        lambda: (a.get()[:, ::2] == 3).all() and (a.get()[:, 1::2] == 0).all(),
    )


def taken_over_itself():
    a, indices = gpuarray.zeros(N, "i4"), gpuarray.arange(N, dtype="i4")
    start = gpuarray.arange(N, dtype="i4")

    def work(stream):
        a.set_async(start, stream=stream)
        gpuarray.take(a, indices, out=a, stream=stream, mode="clip")

    return work, lambda: np.array_equal(a.get(), np.arange(N))


def drawn_into_gaps():
    a = gpuarray.zeros(2 * N, "f4")
    generator = Philox4x32RandomNumberGenerator(seed=1)
    return (
        lambda stream: generator.fill_uniform(a[::2], stream),
        lambda: (a.get()[::2] > 0).all() and (a.get()[1::2] == 0).all(),
    )


@pytest.mark.parametrize(
    "make",
    [
        *(reduced, copied_over_itself, sent_to_gaps),
        *(taken_over_itself, drawn_into_gaps),
    ],
)
def test_what_anothers_graph_uses_besides_is_not_given_away(foreign_capture, make):
    work, is_right = make()
    work(foreign_capture.kept)  # what is compiled is compiled now
    foreign_capture.kept.synchronize()
    assert is_right()
    foreign_capture.begin()
    work(foreign_capture.kept)
    graph = foreign_capture.end_with_graph()
    sizes = [*range(256, 8192, 256)]
    others = [gpuarray.zeros(nbytes, "u1") for nbytes in sizes * 4]
    graph()
    foreign_capture.kept.synchronize()
    assert is_right()
    assert not any(other.get().any() for other in others)


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
    assert "the stream is of device 0, the current one is 1" in str(error)
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
    with pytest.raises(drv.LogicError, match="done when the graph is launched"), stream.capture():
        kernel(drv.InOut(host), np.float32(1), np.int32(9), block=(9, 1, 1))
    begun = drv.Event()
    other = drv.Stream(1)
    with pytest.raises(drv.LogicError, match="does not wait for it in the end"):  # noqa: SIM117
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
