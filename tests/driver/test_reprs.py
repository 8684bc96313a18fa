"""Texts of objects at the prompt: handle, device, state. They never raise and never wait."""

import re

import numpy as np
import pytest
from array_tools import has_arrays

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.tools import DeviceMemoryPool, PageLockedMemoryPool


def test_streams_show_their_flags():
    for flags, text in ((0, "blocking"), (1, "non-blocking")):
        stream = drv.Stream(flags)
        assert repr(stream) == f"<Stream {stream.handle:#x} on device 0, {text}>"


def test_a_subclass_shows_its_own_name():
    class Queue(drv.Stream):
        pass

    assert repr(Queue()).startswith("<Queue 0x")


def test_a_destroyed_stream_says_so():
    stream, event = drv.Stream(), drv.Event()
    assert PyGPU.cudaStreamDestroy(stream) == 0
    assert PyGPU.cudaEventDestroy(event) == 0
    assert repr(stream) == "<Stream 0x0, destroyed or never created>"
    assert repr(event) == "<Event 0x0, destroyed or never created>"


def test_events_show_whether_they_were_recorded():
    stream, event = drv.Stream(), drv.Event()
    untimed = drv.Event(drv.event_flags.DISABLE_TIMING)
    assert repr(event).endswith("on device 0, never recorded>")
    assert repr(untimed).endswith("never recorded, without timing>")
    assert repr(event.record(stream)).endswith("on device 0, recorded>")
    with stream.capture():
        event.record(stream)
        assert repr(stream).endswith("blocking, being captured>")
        assert repr(event).endswith("recorded in a capture>")
    assert repr(stream).endswith("blocking>")


def test_graphs_show_whether_they_have_work():
    stream, a = drv.Stream(), gpuarray.zeros(4, "int32")
    graph = drv.Graph()
    assert repr(graph) == "<Graph without work>"
    with stream.capture(graph):
        assert repr(graph) == "<Graph capturing a stream on device 0>"
        drv.memset_d32_async(a.ptr, 1, 4, stream)
    assert repr(graph) == "<Graph with captured work on device 0>"
    graph.launch()
    assert a.get().tolist() == [1] * 4


def test_modules_and_functions():
    source = """struct S { int a, b, c; };
extern "C" __global__ void f(float *x, double y, unsigned short n, S s, bool b, long long i) {}"""
    module = SourceModule(source)
    function = module.get_function("f")
    assert repr(module.module).startswith("<Module of ")
    assert repr(module.module).endswith(" bytes on device 0>")
    assert repr(module) == f"<SourceModule with {module.module!r}>"
    parameters = "x: pointer, y: float64, n: uint16, s: 12 bytes, b: bool, i: int64"
    assert repr(function) == f"<Function f({parameters}) on device 0>"


def test_allocations_show_their_bytes_until_they_are_freed():
    memory = drv.mem_alloc(100)
    address = int(memory)
    assert repr(memory) == f"<DeviceAllocation of 100 bytes at {address:#x} on device 0>"
    memory.free()
    assert repr(memory) == f"<DeviceAllocation at {address:#x}, freed>"
    for owner, release in (
        (drv.pagelocked_empty(4, np.int32).base, "free"),
        (drv.aligned_empty(4, np.int32).base, "free"),
        (drv.register_host_memory(np.zeros(4, np.int32)).base, "unregister"),
    ):
        text = f"<{type(owner).__name__} at {int(owner):#x}"
        assert repr(owner) == f"{text}>"
        getattr(owner, release)()
        assert repr(owner) == f"{text}, released>"


def test_arrays_of_textures():
    if not has_arrays():
        pytest.skip("the device has no arrays, textures and surfaces")
    array = drv.np_to_array(np.ones((4, 4), np.float32), "C")
    assert re.fullmatch("<Array 0x[0-9a-f]+ on device 0>", repr(array))
    array.free()
    assert repr(array) == "<Array 0x0, destroyed or never created>"


def test_managed_memory():
    memory = drv.managed_empty(4, np.int32).base
    assert repr(memory) == f"<ManagedAllocation of 16 bytes at {int(memory):#x} on device 0>"


def test_pools_show_their_blocks():
    pool = DeviceMemoryPool()
    first, second = pool.allocate(64), pool.allocate(64)
    text = "<DeviceMemoryPool: {} blocks of {} bytes in use, {} free blocks held, {} bytes in all>"
    size = pool.alloc_size(pool.bin_number(64))
    assert repr(pool) == text.format(2, 128, 0, 2 * size)
    second.free()
    assert repr(second).endswith(", returned to its pool>")
    assert repr(pool) == text.format(1, 64, 1, 2 * size)
    assert repr(first) == f"<PooledDeviceAllocation of 64 bytes at {int(first):#x}>"
    assert repr(PageLockedMemoryPool()).startswith("<PageLockedMemoryPool: 0 blocks of 0 bytes")


CLASSES = [
    *(drv.Stream, drv.Event, drv.Device, drv.Graph, drv.Module, drv.Function, drv.Array),
    *(drv.DeviceAllocation, drv.ManagedAllocation, drv.PagelockedHostAllocation),
    *(drv.RegisteredHostMemory, drv.IPCMemoryHandle, DeviceMemoryPool, PageLockedMemoryPool),
    *(drv.PooledDeviceAllocation, drv.PooledHostAllocation, SourceModule),
    *(PyGPU.cudaStream_t, PyGPU.cudaEvent_t),
]


@pytest.mark.no_device
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_objects_without_init_have_a_text(kind):
    """A debugger shows objects whose __init__ has not run yet, or has failed."""
    assert kind.__name__ in repr(kind.__new__(kind))


PROGRAM = """
import os
import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
stream, event, memory, graph = drv.Stream(), drv.Event(), drv.mem_alloc(8), drv.Graph()
module = SourceModule('extern "C" __global__ void f() {}')
a = gpuarray.zeros(2, "int32")
with stream.capture(graph):
    drv.memset_d32_async(a.ptr, 1, 2, stream)
everything = stream, event, memory, graph, module, module.get_function("f"), drv.Device(0)
"""
FORK = """
child = os.fork()
if child == 0:
    for one in everything:
        print(repr(one), flush=True)
    print(a._repr_html_(), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
RESET = """
PyGPU.cudaDeviceReset()
for one in everything:
    print(repr(one))
"""


def test_a_forked_child_shows_the_objects_of_its_parent(python):
    shown = python(PROGRAM + FORK).stdout.splitlines()
    assert len(shown) == 8
    for line in shown[:4] + shown[5:6]:
        assert "of the parent process" in line, line
    assert shown[6] == "<Device 0>"
    assert "cannot be read" in shown[7]


def test_a_reset_of_the_device_is_shown(python):
    shown = python(PROGRAM + RESET).stdout.splitlines()
    assert all("destroyed by cudaDeviceReset" in line for line in (shown[0], shown[1], shown[3]))
    assert shown[2].endswith(", freed>")
    assert all("unloaded by cudaDeviceReset" in line for line in shown[4:6])
    assert shown[6] == repr(drv.Device(0))
