"""Fault injection: scenarios in which each call of the host machine's runtime fails in turn.

`python tests/support/failing_calls.py cold warm` (PYGPU_TARGET=host) prints the failures.
"""

import contextlib
import ctypes
import gc
import itertools
import sys
import warnings

import numpy as np

import PyGPU
import PyGPU.autoinit
import PyGPU.driver as drv
from PyGPU import cumath, curandom, errors, gpuarray, tools
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel

machine = ctypes.CDLL(f"{PyGPU.get_library_dir()}/libPyGPU_host.so")
fail_call = machine.PyGPU_host_cudaHostFail
fail_call.argtypes, fail_call.restype = [ctypes.c_long, ctypes.c_char_p], ctypes.c_char_p
KINDS = ["blocks", "bytes", "imports", "streams", "events", "arrays", "textures", "modules"]


def live():
    gc.collect()
    counts = (ctypes.c_size_t * len(KINDS))()
    machine.PyGPU_host_cudaHostCountLive(counts)
    return dict(zip(KINDS, counts))


DATA = np.arange(1000, dtype=np.float32)
SOURCE = """
__constant__ float factor[1];
__global__ void scale(float *out, const float *in, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) out[i] = factor[0] * in[i];
}
"""


def create():
    a = gpuarray.to_gpu(DATA)
    b = gpuarray.zeros((10, 10), np.int32)
    c = gpuarray.full(7, 3, np.int16)
    d = gpuarray.arange(0, 50, dtype=np.float64)
    e = gpuarray.empty_like(a)
    e[...] = a
    assert (e.get() == DATA).all() and not b.get().any()
    assert (c.get() == 3).all() and (d.get() == np.arange(50)).all()


def operate():
    a = gpuarray.to_gpu(DATA)
    b = 2 * a + a.astype(np.float64)
    b += 1
    b[10:20] = 5
    expected = 3 * DATA.astype(np.float64) + 1
    expected[10:20] = 5
    assert (b.get() == expected).all()
    assert (a.reshape(10, 100).T.copy().get() == DATA.reshape(10, 100).T).all()
    np.testing.assert_allclose(cumath.sqrt(a).get(), np.sqrt(DATA), rtol=1e-6)


def reduce():
    a = gpuarray.to_gpu(DATA)
    assert gpuarray.sum(a).get() == DATA.sum()
    assert gpuarray.max(a).get() == DATA.max()
    assert (a.reshape(10, 100).sum(axis=1).get() == DATA.reshape(10, 100).sum(axis=1)).all()
    np.testing.assert_allclose(gpuarray.dot(a, a).get(), np.dot(DATA, DATA), rtol=1e-5)
    k = ReductionKernel(np.float32, "0", "a+b", map_expr="x[i]*2", arguments="float *x")
    assert k(a).get() == 2 * DATA.sum()


def scan():
    a = gpuarray.to_gpu(np.arange(5000, dtype=np.int32))
    InclusiveScanKernel(np.int32, "a+b")(a)
    assert (a.get() == np.cumsum(np.arange(5000))).all()


def select():
    a = gpuarray.to_gpu(DATA)
    assert (a[(a > 500).astype(bool)].get() == DATA[DATA > 500]).all()
    assert (a[[3, 5, 1]].get() == DATA[[3, 5, 1]]).all()
    a[[3, 5]] = 9
    a[(a > 990).astype(bool)] = 1
    index = gpuarray.to_gpu(np.array([1, 2], np.int32))
    assert (gpuarray.take(a, index).get() == [1, 2]).all()
    assert (gpuarray.concatenate([a, a]).get()[[3, 5, 999, 1999]] == [9, 9, 1, 1]).all()


def copy():
    a = drv.mem_alloc(DATA.nbytes)
    drv.memcpy_htod(a, DATA)
    b = drv.mem_alloc(DATA.nbytes)
    drv.memcpy_dtod(b, a, DATA.nbytes)
    found = np.empty_like(DATA)
    drv.memcpy_dtoh(found, b)
    assert (found == DATA).all()
    drv.memset_d32(b, 0, DATA.size)
    stream = drv.Stream()
    pinned = drv.pagelocked_empty(DATA.shape, DATA.dtype)
    pinned[:] = DATA
    drv.memcpy_htod_async(b, pinned, stream)
    stream.synchronize()
    back = drv.pagelocked_zeros(DATA.shape, DATA.dtype)
    drv.memcpy_dtoh_async(back, b, stream)
    stream.synchronize()
    assert (back == DATA).all()
    plane = drv.Memcpy2D()
    plane.set_src_host(DATA)
    plane.set_dst_device(int(b))
    plane.width_in_bytes = plane.src_pitch = plane.dst_pitch = 400
    plane.height = 10
    plane(aligned=True)
    managed = drv.managed_zeros(10, np.int32, mem_flags=drv.mem_attach_flags.GLOBAL)
    managed[:] = 4
    aligned = drv.register_host_memory(drv.aligned_zeros(1000, np.float32))
    assert aligned.base.get_device_pointer()


def transfer():
    """Transfer arrays that are large enough for staging."""
    data = np.arange(5 << 20, dtype=np.float32)
    a = gpuarray.to_gpu(data)
    assert (a.get() == data).all()
    with PyGPU.transfer.configure(threads=2, chunk_bytes=4096, threshold=1):
        a[:5000].set(data[:10000:2])
        assert (a[:5000].get() == data[:10000:2]).all()
    stream = drv.Stream()
    b = gpuarray.to_gpu_async(data[:1000], stream=stream)
    found = b.get_async(stream=stream)
    stream.synchronize()
    assert (found == data[:1000]).all()


def launch():
    module = SourceModule(SOURCE)
    scale = module.get_function("scale")
    address, _ = module.get_global("factor")
    drv.memcpy_htod(address, np.array([3], np.float32))
    out = np.zeros_like(DATA)
    scale(drv.Out(out), drv.In(DATA), np.int32(1000), block=(100, 1, 1), grid=(10, 1))
    assert (out == 3 * DATA).all()
    twice = DATA.copy()
    a = gpuarray.zeros(1000, np.float32)
    scale(drv.InOut(twice), drv.In(DATA), np.int32(1000), block=(100, 1, 1), grid=(10, 1))
    scale.prepare("PPi")
    stream = drv.Stream()
    source = gpuarray.to_gpu(DATA)
    scale.prepared_async_call(
        (10, 1), (100, 1, 1), stream, a.gpudata, source.gpudata, np.int32(1000)
    )
    scale.prepared_timed_call((10, 1), (100, 1, 1), a.gpudata, source.gpudata, np.int32(1000))()
    stream.synchronize()
    assert (a.get() == 3 * DATA).all() and (twice == out).all()
    scale.set_attribute(drv.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000)


def elementwise():
    k = ElementwiseKernel("float *z, float a, float *x", "z[i] = a * x[i]", "scaled")
    x, z = gpuarray.to_gpu(DATA), gpuarray.empty(1000, np.float32)
    k(z, np.float32(2), x)
    assert (z.get() == 2 * DATA).all()


def pool():
    pool = tools.DeviceMemoryPool()
    a = gpuarray.to_gpu(DATA, allocator=pool.allocate)
    b = a + a
    assert (b.get() == 2 * DATA).all()
    del a, b
    c = gpuarray.zeros(1000, np.float32, allocator=pool.allocate)
    assert not c.get().any()
    del c
    pool.free_held()
    host = tools.PageLockedMemoryPool()
    d = host.allocate(DATA.shape, DATA.dtype)
    d[:] = 1
    del d
    pool.stop_holding()
    host.stop_holding()


def dlpack():
    a = gpuarray.to_gpu(DATA)
    b = PyGPU.from_dlpack(a)
    assert (b.get() == DATA).all()
    c = PyGPU.from_dlpack(np.arange(10.0))
    d = PyGPU.asarray(a)
    capsule = a.__dlpack__()
    e = (b + c[0]).get()
    assert e[1] == 1 and (d.get() == DATA).all()
    del capsule


def streams():
    stream, event = drv.Stream(), drv.Event()
    a = gpuarray.to_gpu_async(DATA, stream=stream)
    event.record(stream)
    other = drv.Stream()
    other.wait_for_event(event)
    end = drv.Event().record(other)
    end.synchronize()
    assert event.time_till(end) >= 0 and end.query()
    a.fill(3, stream=other)
    other.synchronize()
    assert stream.is_done() and (a.get() == 3).all()


def random():
    generator = curandom.XORWOWRandomNumberGenerator()
    a = generator.gen_uniform(1000, np.float32)
    assert 0 <= a.get().min() and a.get().max() <= 1
    b = curandom.rand((30, 30), np.float32)
    assert b.get().shape == (30, 30)


def textures():
    module = SourceModule("""
__global__ void f(cudaTextureObject_t t, float *out) {
    out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 1.5f);
}""")
    array = drv.np_to_array(DATA.reshape(10, 100), "C")
    texture = drv.TextureObject(array)
    out = gpuarray.zeros(50, np.float32)
    module.get_function("f")(texture, out, block=(50, 1, 1))
    assert (out.get() == DATA[100:150]).all()


def devices():
    device = drv.Device(0)
    assert device.name() and device.total_memory() and device.pci_bus_id()
    assert device.get_attributes()
    assert drv.mem_get_info()[0] > 0
    drv.Context.synchronize()
    context = device.retain_primary_context()
    context.push()
    gpuarray.zeros(3, np.int32).get()
    drv.Context.pop()


def low_level():
    """Call the low level, whose errors are statuses: only the injected failure may occur."""
    bad = []

    def note(outcome):
        status = outcome[-1] if isinstance(outcome, tuple) else outcome
        if status:
            bad.append(status)
        return outcome

    array = PyGPU.DeviceArray_float32(DATA.copy())
    done = not note(array.allocate()) and not note(array.to_device()) and not note(array.to_host())
    if done:
        assert (np.asarray(array) == DATA).all()
    address, status = note(PyGPU.cudaMalloc(100))
    if not status:
        note(PyGPU.cudaMemset(address, 0, 100))
        note(PyGPU.cudaFree(address))
    allocator = PyGPU.DeviceAllocator_float32()
    note(allocator.allocate(10))
    with contextlib.suppress(errors.Error, ValueError):
        stream = PyGPU.cudaStream_t()
        note(PyGPU.cudaStreamSynchronize(stream))
        event = PyGPU.cudaEvent_t()
        note(PyGPU.cudaEventRecord(event, stream))
    PyGPU.cudaGetLastError()
    assert len(bad) <= 2, bad


SCENARIOS = (
    *(create, operate, reduce, scan, select, copy, transfer, launch, elementwise, pool, dlpack),
    *(streams, random, textures, devices, low_level),
)
CLEAN = (errors.Error, MemoryError)


def attempt(scenario, number):
    """Run a scenario while its n-th call fails; return the exception and the call's name."""
    raised = None
    fail_call(number, None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an attribute that the device does not support
            scenario()
    except Exception as error:
        raised = error
    finally:
        failed = fail_call(0, None)
    return raised, failed and failed.decode()


def campaign(scenario, warm):
    """Let each call of a scenario fail in turn.

    Each failure must raise one of PyGPU's exceptions or be recovered from, and the scenario must
    work afterwards. `warm` means that all kernels are compiled; then no resource may leak.

    Returns
    -------
    tuple of int
        (calls that failed, failures that raised an exception).
    """
    if warm:
        scenario()
        before = live()
    exceptions = 0
    for number in itertools.count(1):
        raised, failed = attempt(scenario, number)
        where = f"{scenario.__name__}, {'warm' if warm else 'cold'}, call {number}, {failed}"
        if raised is not None:
            if not isinstance(raised, CLEAN):
                raise AssertionError(where) from raised
            assert str(raised), where
            exceptions += 1
            raised = None
        if warm:
            after = live()
            assert after == before, f"{where}: {before} became {after}"
        left = PyGPU.cudaGetLastError()
        assert not left, f"{where}: {left.name} was left behind"
        if not failed:
            return number - 1, exceptions
        if not warm:
            scenario()


def report(kinds):
    """Run all scenarios with failures; print the numbers of failures and the live resources."""
    gc.freeze()  # exclude the modules' objects: collections take a tenth of the time
    for scenario in SCENARIOS:
        for kind in kinds:
            calls, exceptions = campaign(scenario, kind == "warm")
            print(f"{scenario.__name__}, {kind}: {calls} calls failed, {exceptions} exceptions")
        scenario()
    print(live())


if __name__ == "__main__":
    report(sys.argv[1:])
