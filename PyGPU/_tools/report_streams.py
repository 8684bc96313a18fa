"""Checks of streams, events, graphs, pools, page-locked and managed memory, several devices."""

from __future__ import annotations

import numpy as np

from PyGPU import driver, gpuarray, tools
from PyGPU._tools.checks import Skipped, expect
from PyGPU.compiler import SourceModule

_ADD = "__global__ void add(int *a, int n, int by) { \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) \
    a[i] += by; }"
_SHAPE = {"block": (256, 1, 1), "grid": (64, 1)}
_N = 1 << 20


def order() -> None:
    """Check two streams, one of which waits for an event of the other."""
    add = SourceModule(_ADD).get_function("add")
    a, b = gpuarray.zeros(_N, np.int32), gpuarray.zeros(_N, np.int32)
    first, second, done = driver.Stream(), driver.Stream(1), driver.Event()
    driver.Context.synchronize()
    for by in range(1, 11):
        add(a, _N, by, stream=first, **_SHAPE)
    done.record(first)
    second.wait_for_event(done)
    driver.memcpy_dtod_async(b.gpudata, a.gpudata, a.nbytes, second)
    second.synchronize()
    expect("the copy", b.get(), np.full(_N, 55))


def events() -> str:
    """Check the time between two events."""
    add, a = SourceModule(_ADD).get_function("add"), gpuarray.zeros(_N, np.int32)
    start, end = driver.Event(), driver.Event()
    start.record()
    add(a, _N, 1, **_SHAPE)
    end.record()
    end.synchronize()
    milliseconds = end.time_since(start)
    if not (end.query() and 0 <= milliseconds < 10_000):
        raise AssertionError(f"{milliseconds} ms between two events")
    return f"{milliseconds:.3f} ms"


def graphs() -> None:
    """Check captured work, launched three times."""
    add, a = SourceModule(_ADD).get_function("add"), gpuarray.zeros(1000, np.int32)
    add(a, 1000, 0, **_SHAPE)
    stream = driver.Stream()
    with stream.capture() as graph:
        add(a, 1000, 1, stream=stream, **_SHAPE)
        a *= 2
    for _ in range(3):
        graph.launch(stream)
    stream.synchronize()
    expect("after three launches", a.get(), np.full(1000, 14))


def pools() -> str:
    """Check arrays of the default pool, allocated and freed often, and PyCUDA's pool."""
    for n in (10, 1000, 1_000_000):
        held = [gpuarray.zeros(n, np.float32) + i for i in range(20)]
        for i, a in enumerate(held):
            expect(f"array {i} of {n}", a.get()[[0, -1]], [i, i])
        del held[::2]
        again = [gpuarray.zeros(n, np.float32) for _ in range(20)]
        for a in again:
            expect(f"zeros of {n}", a.get(), np.zeros(n))
    pool = tools.DeviceMemoryPool()
    a = gpuarray.to_gpu(np.arange(1000), allocator=pool.allocate)
    expect("a pool's array", (a + 1).get(), np.arange(1000) + 1)
    address = a.ptr
    del a
    b = gpuarray.zeros(1000, np.int64, allocator=pool.allocate)
    return "the pool reuses its block" if b.ptr == address else "the pool allocated anew"


def page_locked() -> None:
    """Check asynchronous copies from and to page-locked memory."""
    x = driver.pagelocked_empty(_N, np.int32)
    x[:] = np.arange(_N)
    y, stream = driver.pagelocked_zeros(_N, np.int32), driver.Stream()
    a = gpuarray.empty(_N, np.int32)
    driver.Context.synchronize()
    a.set_async(x, stream=stream)
    driver.memcpy_dtoh_async(y, a.gpudata, stream)
    stream.synchronize()
    expect("what came back", y, np.arange(_N))


def managed() -> None:
    """Check managed memory, written by the host and by a kernel."""
    try:
        x = driver.managed_zeros(1000, np.int32, mem_flags=driver.mem_attach_flags.GLOBAL)
    except driver.Error as error:
        raise Skipped(f"the device has none: {error}") from None
    x[:] = 5
    SourceModule(_ADD).get_function("add")(x, 1000, 2, **_SHAPE)
    driver.Context.synchronize()
    expect("values", np.array(x), np.full(1000, 7))


def two_devices() -> str:
    """Check a copy from the first device to the second."""
    if driver.Device.count() < 2:
        raise Skipped("there is one device")
    x = np.arange(100_000, dtype="f4")
    first, second = (driver.Device(i).retain_primary_context() for i in range(2))
    source = driver.to_device(x)  # plain memory: pools are closed to other devices
    second.push()
    try:
        target = driver.mem_alloc(x.nbytes)
        driver.memcpy_peer(target, source, x.nbytes, second, first)
        expect("the copy", driver.from_device(target, x.shape, x.dtype), x)
    finally:
        driver.Context.pop()
    access = driver.Device(0).can_access_peer(driver.Device(1))
    return f"peer access: {access}"


def out_of_memory() -> None:
    """Check that a too large allocation is a MemoryError, and that arrays work afterwards."""
    try:
        gpuarray.empty(1 << 50, np.int8)
    except MemoryError:
        expect("an array afterwards", (gpuarray.zeros(10, np.int32) + 1).get(), np.ones(10))
        return
    raise AssertionError("2**50 bytes: no MemoryError")
