"""Captures by other libraries, of which PyGPU knows nothing."""

import ctypes
import gc
import threading
import weakref
from pathlib import Path

import graph_tools
import needs
import numpy as np
import pytest
from graph_tools import ADD, X, add_to, exported, launched

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.curandom import Philox4x32RandomNumberGenerator
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel
from PyGPU.transfer import configure

stream = graph_tools.stream  # the fixture


@pytest.fixture(params=["blocking", "non-blocking"])
def foreign_capture(request):
    """begin() and end() -> status of a capture by another library, of which we know nothing: CuPy,
    or calls of the host machine."""
    return _foreign(drv.Stream(0 if request.param == "blocking" else 1))


def _foreign(stream):
    if PyGPU.target == "host":
        return _OfTheHost(stream)
    needs.module("cupy")
    return _OfCuPy(stream)


def in_thread(call, *arguments):
    thread = threading.Thread(target=call, args=arguments)
    thread.start()
    thread.join()


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


def textured():
    array = drv.np_to_array(np.ones((8, 8), "f4"), "C", allowSurfaceBind=True)
    return drv.TextureObject(array), drv.SurfaceObject(array)


def graphed():
    stream, a = drv.Stream(1), gpuarray.to_gpu(X)
    with stream.capture() as graph:
        a += 1
    graph.launch(stream)
    stream.synchronize()
    return graph, a


def lent():
    theirs = np.zeros(1000, "f4") if PyGPU.target == "host" else needs.module("cupy").zeros(1000)
    a, b = gpuarray.from_dlpack(theirs), gpuarray.from_dlpack(theirs)
    b.fill(1, stream=drv.Stream(1))
    return a, b


def registered():
    return drv.register_host_memory(np.zeros(1 << 20, "u1")), drv.managed_empty(
        1000, "f4", mem_flags=drv.mem_attach_flags.GLOBAL
    )


def pooled():
    on_device, pinned = drv.DeviceMemoryPool(), drv.PageLockedMemoryPool()
    return on_device, on_device.allocate(1 << 16), pinned, pinned.allocate((1000,), "f4")


def drawing():
    generator = Philox4x32RandomNumberGenerator(seed=1)
    return generator, generator.gen_uniform(1000, "f4", stream=drv.Stream(1))


GONE = [textured, graphed, lent, registered, pooled, drawing]


@pytest.mark.parametrize("make", GONE)
def test_what_goes_does_not_spoil_anothers_capture(foreign_capture, make):
    """Each of these is given back by calls that end a capture, where nothing prevents that."""
    kept = make()
    drv.Context.synchronize()
    foreign_capture.begin()
    del kept
    gc.collect()
    assert foreign_capture.end() == 0
    np.testing.assert_array_equal((gpuarray.to_gpu(X) + 1).get(), X + 1)


@pytest.mark.parametrize("make", [*GONE, exported])
def test_what_goes_does_not_spoil_a_capture_of_ours(stream, make):
    kept, a = make(), gpuarray.to_gpu(X)
    with stream.capture() as graph:
        a += 1
        del kept
        gc.collect()
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 1)


def test_what_is_lent_goes_back_after_a_capture(stream):
    ours = gpuarray.to_gpu(X)
    lent_again = gpuarray.from_dlpack(ours)
    lent_again.fill(3)
    given_back = weakref.ref(ours)
    del ours
    with stream.capture():
        del lent_again
    gc.collect()
    drv.mem_alloc(16)
    gpuarray.empty(1, "f4")
    gc.collect()
    assert given_back() is None


def test_what_is_made_does_not_spoil_anothers_capture(foreign_capture):
    layout = drv.ArrayDescriptor()
    layout.width, layout.height, layout.num_channels = 8, 8, 1
    layout.format = drv.array_format.FLOAT
    a, stream, made = gpuarray.to_gpu(X), drv.Stream(1), []

    def work():
        array = drv.Array(layout)
        made.append(drv.TextureObject(array))
        with stream.capture() as graph:
            a.fill(2)
        made.append(graph)

    foreign_capture.begin()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert foreign_capture.end() == 0
    launched(made[1], stream)
    assert (a.get() == 2).all()


def test_a_new_thread_does_not_spoil_anothers_capture():
    """A thread's first call is one of the driver, which needs a context."""
    a = gpuarray.zeros((20, 30), np.float32)
    capture = _foreign(drv.Stream(1))
    for call in (
        lambda: drv.mem_get_address_range(a.gpudata),
        lambda: drv.memset_d2d32_async(a.gpudata, a.strides[0], 7, 10, 20, drv.Stream(1)),
        lambda: add_to(a.ravel(), 1, drv.Stream(1)),
        lambda: SourceModule(ADD).get_function("add"),
    ):
        capture.begin()
        in_thread(call)
        assert capture.end() == 0


def test_interfaces_do_not_spoil_anothers_capture(foreign_capture):
    a = gpuarray.to_gpu(X)
    busy = drv.Stream(1)
    a.fill(1, stream=busy)
    foreign_capture.begin()
    assert a._array_interface["shape"] == (1000,)
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


# The shorter ones are one cudaMemcpy, which the host machine refuses beside a capture.
_KILOBYTES = [450, 600] if PyGPU.target == "host" else [4, 64, 300, 450, 600]


@pytest.mark.parametrize("kilobytes", _KILOBYTES)
def test_downloads_do_not_spoil_anothers_capture(kilobytes):
    """The page-locked memory is there already. The captured stream is a non-blocking one: the null
    stream, which downloads wait for, synchronizes with blocking ones."""
    x = np.arange(kilobytes << 10, dtype=np.uint8)
    array, back = gpuarray.to_gpu(x), np.zeros_like(x)
    with configure(threshold=512 << 10, threads=2, chunks=1):
        for _ in range(200):
            array.get(back)
        capture = _foreign(drv.Stream(1))
        for get in (array.get, lambda out: in_thread(array.get, out)):
            back[:] = 0
            capture.begin()
            get(back)
            assert capture.end() == 0
            assert (back == x).all()


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
