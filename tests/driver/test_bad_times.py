"""Objects that go, are used or are copied at a bad time: in captures, in cycles, beside threads."""

import array
import ctypes
import gc
import os
import threading
import weakref

import graph_tools
import needs
import numpy as np
import pytest
from graph_tools import ADD, X, add_to, exported, launched

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

stream = graph_tools.stream  # the fixture


def filled(value, pool=None):
    allocator = pool.allocate if pool else None
    return gpuarray.to_gpu(np.full(1000, value, np.float32), allocator=allocator)


class Things:
    """What the uses of an array need besides."""

    def __init__(self, stream):
        self.stream, self.other = stream, filled(1)
        self.mask = gpuarray.to_gpu(np.arange(1000) % 2 == 0)
        self.indices = gpuarray.arange(1000, dtype=np.int32)
        self.pinned = drv.pagelocked_zeros(1000, np.float32)


# What a graph uses stays for it, also where a pool would give it to others.
USES = {
    "fill": lambda a, t: a.fill(7),
    "a[...] = number": lambda a, t: a.__setitem__(..., 7),
    "a[...] = array": lambda a, t: a.__setitem__(..., t.other),
    "gaps": lambda a, t: a.__setitem__(slice(None, None, 2), 7),
    "a mask": lambda a, t: a.__setitem__(t.mask, 7),
    "take": lambda a, t: gpuarray.take(a, t.indices, mode="clip", out=t.other),
    "put": lambda a, t: a.put(t.indices, t.other, mode="clip"),
    "read": lambda a, t: t.other.__setitem__(..., a),
    "set_async": lambda a, t: a.set_async(t.pinned, stream=t.stream),
    "set_async of an array": lambda a, t: a.set_async(t.other, stream=t.stream),
    "get_async": lambda a, t: a.get_async(stream=t.stream, ary=t.pinned),
    "an operator": lambda a, t: t.other.__iadd__(a),
    "a launch": lambda a, t: add_to(a, 1),
    "memcpy_dtod": lambda a, t: drv.memcpy_dtod(a.gpudata, t.other.gpudata, a.nbytes),
    "memcpy_dtod_async": lambda a, t: drv.memcpy_dtod_async(t.other.ptr, a, a.nbytes, t.stream),
    "memcpy_htod_async": lambda a, t: drv.memcpy_htod_async(a.gpudata, t.pinned, t.stream),
    "memcpy_dtoh_async": lambda a, t: drv.memcpy_dtoh_async(t.pinned, a.gpudata, t.stream),
    "memset_d32_async": lambda a, t: drv.memset_d32_async(a.gpudata, 0, a.size, t.stream),
    "Memcpy2D": lambda a, t: rows(a.gpudata, t.pinned, a.nbytes)(t.stream),
}


def rows(device, host, nbytes):
    """A description of a copy from host memory to a device."""
    box = drv.Memcpy2D()
    box.set_src_host(host)
    box.set_dst_device(device)
    box.width_in_bytes = box.src_pitch = box.dst_pitch = nbytes
    box.height = 1
    return box


@pytest.mark.parametrize("use", USES)
def test_a_graph_keeps_memory_of_pools(stream, use):
    pool = drv.DeviceMemoryPool()
    a, things = filled(5, pool), Things(stream)
    USES[use](a, things)  # what is compiled is compiled now
    stream.synchronize()
    with stream.capture() as graph:
        USES[use](a, things)
    del a
    gc.collect()
    assert pool.active_blocks == 1
    launched(graph, stream)
    del graph
    gc.collect()
    assert pool.active_blocks == 0


def test_a_graph_keeps_what_boxes_are_copied_from(stream):
    host, target = drv.pagelocked_zeros(1000, np.float32), filled(0)
    host[:] = 5
    box = rows(target.gpudata, host, host.nbytes)
    with stream.capture() as graph:
        box(stream)
    kept = weakref.ref(host.base)
    del host, box
    gc.collect()
    assert kept() is not None
    launched(graph, stream)
    assert (target.get() == 5).all()


OBJECTS = """
__global__ void read(cudaTextureObject_t image, float *out)
{ out[threadIdx.x] = tex2D<float>(image, threadIdx.x + 0.5f, 0.5f); }
__global__ void write(cudaSurfaceObject_t image)
{ surf2Dwrite<float>(3.f, image, 4 * threadIdx.x, 0); }
"""


def image(value, for_surfaces=False):
    matrix = np.full((8, 8), value, np.float32)
    return drv.np_to_array(matrix, "C", allowSurfaceBind=for_surfaces)


def test_a_graph_keeps_textures_and_surfaces(stream):
    module, out = SourceModule(OBJECTS), gpuarray.zeros(8, np.float32)
    read, write = module.get_function("read"), module.get_function("write")
    texture, surface = drv.TextureObject(image(5)), drv.SurfaceObject(image(5, True))
    read(texture, out, block=(8, 1, 1))
    with stream.capture() as reads:
        read(texture, out, block=(8, 1, 1))
    with stream.capture() as writes:
        write(surface, block=(8, 1, 1))
    del texture, surface
    gc.collect()
    later = image(9, True)
    others = drv.TextureObject(later), drv.SurfaceObject(later)
    launched(reads, stream)
    assert (out.get() == 5).all()
    launched(writes, stream)
    read(others[0], out, block=(8, 1, 1))
    assert (out.get() == 9).all()


def test_boxes_that_wait_are_refused(stream):
    a, seen = gpuarray.zeros((4, 4), np.float32), np.full(16, -1, np.float32)
    box = drv.Memcpy2D()
    box.set_src_device(a.gpudata)
    box.set_dst_host(seen)
    box.width_in_bytes = box.src_pitch = box.dst_pitch = 64
    box.height = 1
    a += 1
    with stream.capture() as graph:
        a += 1
        for wait in (
            lambda: box(aligned=True),
            lambda: drv.gpuarray_to_array(a, "C"),
            lambda: drv.np_to_array(seen.reshape(4, 4), "C"),
        ):
            with pytest.raises(drv.LogicError, match="captures a stream"):
                wait()
        a += 1
    launched(graph, stream)
    assert (a.get() == 3).all()
    assert (seen == -1).all()


@pytest.mark.parametrize("make", [bytearray, lambda n: array.array("B", bytes(n))])
def test_a_description_keeps_the_buffer_where_it_is(make):
    memory, buffer = drv.mem_alloc(4096), make(4096)
    box = rows(memory, buffer, 4096)
    with pytest.raises(BufferError):
        buffer.extend(bytes(1 << 20))
    box(aligned=True)
    del box
    buffer.extend(b"1")


# What is asked, and what fails, in a capture of ours leaves it as it was.


def too_much():
    with pytest.raises(drv.MemoryError):
        gpuarray.empty(1 << 50, np.uint8)


ASKED = {
    "a shortage of memory": lambda event, other: too_much(),
    "managed memory": lambda event, other: drv.managed_empty(4, np.float32),
    "an event": lambda event, other: event.query(),
    "an event's wait": lambda event, other: event.synchronize(),
    "another stream": lambda event, other: other.is_done(),
    "another stream's wait": lambda event, other: other.synchronize(),
}


@pytest.mark.parametrize("what", ASKED)
def test_a_capture_goes_on_after(what):
    stream, a = drv.Stream(1), gpuarray.to_gpu(X)
    event, other = drv.Event().record(), drv.Stream(1)
    a += 0
    with stream.capture() as graph:
        a += 1
        ASKED[what](event, other)
        a += 1
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 2)


def textured():
    module = SourceModule(
        "texture<float, 2, cudaReadModeElementType> tex;"
        "__global__ void f(float *o) { o[threadIdx.x] = tex2D(tex, threadIdx.x + 0.5f, 0.5f); }"
    )
    reference, out = module.get_texref("tex"), gpuarray.zeros(8, np.float32)
    reference.set_array(image(5))
    function = module.get_function("f")
    function(out, block=(8, 1, 1), texrefs=[reference])
    function(out, block=(8, 1, 1), texrefs=[reference], stream=drv.Stream(1))
    return module, reference, function, out


def exported_to_a_stream():
    return exported(lambda stream: stream)


def test_exports_to_streams_of_ours_are_free_while_others_capture():
    stream, consumer = drv.Stream(1), drv.Stream(1)
    begun, end = threading.Event(), threading.Event()

    def captures():
        with stream.capture():
            begun.set()
            end.wait(60)

    thread = threading.Thread(target=captures)
    thread.start()
    begun.wait(60)
    free = drv.mem_get_info()[0]
    for given in (consumer, consumer.handle) * 20:
        gpuarray.empty(1 << 20, np.uint8).__dlpack__(stream=given)
    held = free - drv.mem_get_info()[0]
    end.set()
    thread.join()
    assert held < 8 << 20 or not needs.ON_MACHINE  # others use a GPU


@pytest.mark.parametrize("make", [exported, exported_to_a_stream, textured])
def test_what_another_thread_lets_go_does_not_spoil_a_capture(make):
    stream, a, kept = drv.Stream(1), gpuarray.to_gpu(X), [make()]
    with stream.capture() as graph:
        a += 1
        thread = threading.Thread(target=lambda: (kept.clear(), gc.collect()))
        thread.start()
        thread.join()
        a += 1
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 2)


def test_another_thread_may_launch_and_wait_meanwhile():
    stream, a = drv.Stream(1), gpuarray.to_gpu(X)
    kernel, given = SourceModule(ADD).get_function("add"), np.array(X)

    def work():
        kernel(
            *(drv.InOut(given), np.float32(1), np.int32(given.size)),
            **{"block": (128, 1, 1), "grid": (8, 1)},
        )

    with stream.capture() as graph:
        a += 1
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 1)
    np.testing.assert_array_equal(given, X + 1)


def test_texture_references_in_captures():
    module, reference, function, out = textured()
    stream = drv.Stream(1)
    with stream.capture() as graph:
        function(out, block=(8, 1, 1), texrefs=[reference])
    out.fill(0)
    launched(graph, stream)
    assert (out.get() == 5).all()
    reference.set_array(image(6))
    with pytest.raises(drv.LogicError, match="'tex' was bound after"), stream.capture():
        function(out, block=(8, 1, 1), texrefs=[reference])
    function(out, block=(8, 1, 1), texrefs=[reference])
    assert (out.get() == 6).all()
    del module, reference, function
    gc.collect()
    kept = image(9)
    out.fill(0)
    launched(graph, stream)
    assert (out.get() == 6).all()
    del kept


def test_a_module_goes_after_its_streams():
    module, reference, function, out = textured()
    other = drv.Stream(1)
    reference.set_array(image(7))
    function(out, block=(8, 1, 1), texrefs=[reference], stream=other)
    PyGPU.cudaStreamDestroy(other)
    reference.set_array(image(8))
    function(out, block=(8, 1, 1), texrefs=[reference])
    assert (out.get() == 8).all()
    del module, reference, function
    gc.collect()


def test_a_capture_that_another_thread_let_go():
    """Its own thread ends it with what it does next."""
    stream, a = drv.Stream(), gpuarray.to_gpu(X)
    a += 0

    def steps():
        with stream.capture() as graph:
            yield graph

    suspended = [steps()]
    next(suspended[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.unraisablehook", lambda unraisable: None)
        thread = threading.Thread(target=suspended.clear)
        thread.start()
        thread.join()
    np.testing.assert_array_equal((a + 1).get(), X + 1)
    with stream.capture() as graph:
        a += 1
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 1)


def test_memory_that_was_put_off_comes_back_when_it_is_short():
    a = gpuarray.zeros(1000, np.float32)
    stream, gone = drv.Stream(), []
    weakref.finalize(a, gone.append, True)
    with stream.capture():
        del a
    drv.mem_alloc(16)
    assert gone


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_in_a_capture_is_no_capture_of_the_child():
    stream, a = drv.Stream(1), gpuarray.to_gpu(X)
    with stream.capture() as graph:
        a += 1
        child = os.fork()
        if child == 0:
            try:
                drv.memcpy_dtod(a.ptr, a.ptr, 4)
            except drv.RuntimeError as error:
                os._exit(0 if "forked" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        a += 1
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 2)


@pytest.mark.skipif(not needs.ON_MACHINE, reason="only the machine captures for others by calls")
def test_threads_that_use_an_array_beside_anothers_capture():
    library = ctypes.CDLL(f"{PyGPU.get_library_dir()}/libPyGPU_host.so")
    a, other, captured = gpuarray.zeros(1000, np.float32), drv.Stream(1), drv.Stream(1)
    a.fill(1, stream=other)
    done = threading.Event()

    def records():
        library.PyGPU_host_cudaStreamBeginCapture(ctypes.c_void_p(int(captured)), 2)
        for _ in range(3000):
            a.fill(1, stream=captured)
        done.set()

    def works():
        while not done.is_set():
            a.fill(2, stream=other)

    threads = [threading.Thread(target=work, daemon=True) for work in (records, works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
