"""What the PYGPU_HOST_... variables make of the host machine. It is there on every target."""

import platform

import pytest


@pytest.fixture
def host(python):
    """Run a program on a host machine of its own: host(source, devices=4, memory="16M")."""

    def run(source, **settings):
        variables = {f"PYGPU_HOST_{name.upper()}": value for name, value in settings.items()}
        return python("import PyGPU\n" + source, PYGPU_TARGET="host", **variables)

    return run


def test_several_devices(host):
    host(
        """
import threading
assert PyGPU.cudaGetDeviceCount() == (4, 0)
assert [PyGPU.cudaSetDevice(i) for i in (3, 4)] == [0, 101]
assert PyGPU.cudaGetDevice() == (3, 0)
seen = []
thread = threading.Thread(target=lambda: seen.append(PyGPU.cudaGetDevice()[0]))
thread.start()
thread.join()
assert seen == [0], seen  # the choice is the thread's own
assert len({PyGPU.cudaDeviceProp(i).uuid() for i in range(4)}) == 4
names = [PyGPU.cudaDeviceGetPCIBusId(i)[0] for i in range(4)]
assert [PyGPU.cudaDeviceGetByPCIBusId(name) for name in names] == [(i, 0) for i in range(4)]
""",
        devices=4,
    )


def test_each_device_has_its_own_memory(host):
    host(
        """
def free():
    found = []
    for device in range(4):
        PyGPU.cudaSetDevice(device)
        found.append(PyGPU.cudaMemGetInfo()[0])
    return found

size = 1 << 20
assert free() == [64 * size] * 4
PyGPU.cudaSetDevice(2)
address, status = PyGPU.cudaMalloc(size)
assert status == 0 and PyGPU.cudaPointerGetAttributes(address)[0]["device"] == 2
block = PyGPU.DeviceAllocator_uint8()
assert block.allocate(size) == 0
array = PyGPU.DeviceArray_uint8(size)
assert array.allocate() == 0
assert free() == [64 * size, 64 * size, 61 * size, 64 * size]
PyGPU.cudaSetDevice(0)  # the memory goes back to where it came from
assert PyGPU.cudaFree(address) == 0
del block, array
assert free() == [64 * size] * 4
""",
        devices=4,
        memory="64M",
    )


def test_copies_between_devices(host):
    host(
        """
import numpy as np
source = np.arange(1000.0)
addresses = []
for device in range(2):
    PyGPU.cudaSetDevice(device)
    addresses.append(PyGPU.cudaMalloc(source.nbytes)[0])
PyGPU.cudaSetDevice(0)
assert PyGPU.cudaMemcpy(addresses[0], source, source.nbytes) == 0
assert PyGPU.cudaMemcpyPeer(addresses[1], 1, addresses[0], 0, source.nbytes) == 0
found = np.empty_like(source)
assert PyGPU.cudaMemcpy(found, addresses[1], found.nbytes) == 0
assert (found == source).all()
assert PyGPU.cudaMemset(addresses[1], 0, found.nbytes) == 0
assert PyGPU.cudaMemcpyPeerAsync(addresses[0], 0, addresses[1], 1, found.nbytes) == 0
assert PyGPU.cudaMemcpy(found, addresses[0], found.nbytes) == 0
assert not found.any()
for bad in (-1, 2):
    assert PyGPU.cudaMemcpyPeer(addresses[1], bad, addresses[0], 0, 8) == 101
    assert PyGPU.cudaMemcpyPeer(addresses[1], 1, addresses[0], bad, 8) == 101
""",
        devices=2,
    )


def test_peer_access(host):
    host(
        """
assert PyGPU.cudaDeviceCanAccessPeer(0, 1) == (1, 0)
assert PyGPU.cudaDeviceDisablePeerAccess(1) == 705
assert PyGPU.cudaDeviceEnablePeerAccess(1, 7) == 1
assert PyGPU.cudaDeviceEnablePeerAccess(1) == 0
assert PyGPU.cudaDeviceEnablePeerAccess(1) == 704
PyGPU.cudaSetDevice(1)  # access is one-way
assert PyGPU.cudaDeviceEnablePeerAccess(0) == 0
PyGPU.cudaSetDevice(0)
assert PyGPU.cudaDeviceDisablePeerAccess(1) == 0
assert PyGPU.cudaDeviceDisablePeerAccess(1) == 705
""",
        devices=2,
    )


def test_attributes_of_the_link_between_two_devices(host):
    host(
        """
names = ("PerformanceRank", "AccessSupported", "NativeAtomicSupported", "CudaArrayAccessSupported")
numbers = [getattr(PyGPU, f"cudaDevP2PAttr{name}") for name in names]
assert numbers == [1, 2, 3, 4]
found = [PyGPU.cudaDeviceGetP2PAttribute(number, 0, 1) for number in numbers]
assert found == [(0, 0), (1, 0), (1, 0), (1, 0)], found
for unknown in (-1, 0, 9999):
    assert PyGPU.cudaDeviceGetP2PAttribute(unknown, 0, 1)[1] == 1
""",
        devices=2,
    )


def test_streams_and_events_belong_to_a_device(host):
    host(
        """
stream, event = PyGPU.cudaStream_t(), PyGPU.cudaEvent_t()
PyGPU.cudaSetDevice(1)
assert PyGPU.cudaEventRecord(event, PyGPU.cudaStream_t()) == 400
assert PyGPU.cudaEventRecord(event, stream) == 0
assert PyGPU.cudaStreamWaitEvent(PyGPU.cudaStream_t(), event) == 0  # waiting crosses devices
""",
        devices=2,
    )


@pytest.mark.parametrize("size", [32, 64])
def test_the_warp_size(host, size):
    host(
        f"""
assert PyGPU.cudaDeviceProp(0).warpSize() == {size}
assert PyGPU.cudaDeviceGetAttribute(PyGPU.cudaDevAttrWarpSize, 0) == ({size}, 0)
""",
        warp=size,
    )


def test_memory_runs_out(host):
    host(
        """
size = 1 << 20
assert PyGPU.cudaMemGetInfo() == (16 * size, 16 * size, 0)
assert PyGPU.cudaDeviceProp(0).totalGlobalMem() == 16 * size
first, status = PyGPU.cudaMalloc(10 * size)
assert status == 0
assert PyGPU.cudaMalloc(6 * size + 1) == (0, 2)
assert PyGPU.cudaMallocPitch(size, 7) == (0, size, 2)
assert PyGPU.cudaMallocManaged(7 * size) == (0, 2)
assert PyGPU.cudaMallocAsync(7 * size) == (0, 2)
block = PyGPU.DeviceAllocator_uint8()
assert block.allocate(7 * size) == 2 and block.size() == 0
array = PyGPU.DeviceArray_uint8(7 * size)
assert array.allocate() == array.last_status() == 2 and not array.allocated()
assert str(7 * size) in array.last_status().detail
try:
    PyGPU.GPUArray(7 * size, "uint8")
    raise SystemExit("memory that is not there was handed out")
except MemoryError as error:
    assert str(6 * size) in str(error), error  # what is still free
assert PyGPU.cudaMemGetInfo()[0] == 6 * size  # the failures took nothing
assert PyGPU.cudaFree(first) == 0
assert array.allocate() == 0 and PyGPU.cudaMemGetInfo()[0] == 9 * size
""",
        memory="16M",
    )


@pytest.mark.parametrize(("strict", "outcome"), [(0, 0), (1, 1)])
def test_a_small_overrun_is_reported_on_request(host, strict, outcome):
    host(
        f"""
address, _ = PyGPU.cudaMalloc(100)
data = bytes(200)
assert PyGPU.cudaMemcpy(address, data, 100) == 0
assert PyGPU.cudaMemcpy(address, data, 101) == {outcome}
assert PyGPU.cudaMemset(address, 0, 101) == {outcome}
assert PyGPU.cudaMemcpy(bytearray(101), address, 101) == {outcome}
assert PyGPU.cudaMemset(address, 0, 513) == 1  # beyond the granularity on every machine
""",
        strict=strict,
    )


@pytest.mark.parametrize(
    ("value", "size"),
    [("16M", 16 << 20), ("16m", 16 << 20), ("1.5G", 3 << 29), ("2097152", 2 << 20)],
)
def test_memory_sizes_may_have_a_unit(host, value, size):
    done = host("print(PyGPU.cudaMemGetInfo()[1])", memory=value)
    assert int(done.stdout) == size and done.stderr == ""


def test_a_copy_past_the_end_moves_nothing(host):
    host("""
import numpy as np
size = 1 << 20
address, _ = PyGPU.cudaMalloc(size)
other, _ = PyGPU.cudaMalloc(2 * size)
data = np.full(2 * size, 7, np.uint8)
found = np.zeros(2 * size, np.uint8)
assert PyGPU.cudaMemset(address, 1, size) == 0
for kind in (1, 4):
    assert PyGPU.cudaMemcpy(address, data, size + 1, kind) == 1
    assert PyGPU.cudaMemcpy(address + size // 2, data, size, kind) == 1
for kind in (2, 4):
    assert PyGPU.cudaMemcpy(found, address, size + 1, kind) == 1
for kind in (3, 4):
    assert PyGPU.cudaMemcpy(other, address, size + 1, kind) == 1
    assert PyGPU.cudaMemcpy(address, other, size + 1, kind) == 1
assert PyGPU.cudaMemcpyPeer(other, 0, address, 0, size + 1) == 1
assert PyGPU.cudaMemset(address, 2, size + 1) == 1
assert PyGPU.cudaMemset2D(address, 1024, 2, 10, 1025) == 1
assert PyGPU.cudaMemcpy2D(address, 1024, data, 1024, 10, 1025) == 1
assert not found.any()
assert PyGPU.cudaMemcpy(found, address, size) == 0
assert (found[:size] == 1).all() and not found[size:].any()
""")


def test_freed_and_foreign_memory_is_no_device_memory(host):
    host("""
import numpy as np
size = 1 << 20
mine = np.zeros(size, np.uint8)
address, _ = PyGPU.cudaMalloc(size)
assert PyGPU.cudaFree(address) == 0
for bad in (address, mine.ctypes.data):
    assert PyGPU.cudaMemset(bad, 1, 8) == 1
    assert PyGPU.cudaMemcpy(bad, mine, 8, PyGPU.cudaMemcpyHostToDevice) == 1
    assert PyGPU.cudaMemcpy(mine, bad, 8, PyGPU.cudaMemcpyDeviceToHost) == 1
    assert PyGPU.cudaMemcpy(bad, bad, 8, PyGPU.cudaMemcpyDeviceToDevice) == 1
assert not mine.any()
""")


def test_sizes_that_wrap_around(host):
    host("""
address, _ = PyGPU.cudaMalloc(4096)
pitch = 2**60 + 8  # 16 pitches and a row are 136 bytes, modulo 2**64
assert PyGPU.cudaMemset2D(address, pitch, 0, 8, 17) == 1
assert PyGPU.cudaMemcpy2D(address, pitch, address, pitch, 8, 17) == 1
assert PyGPU.cudaMemcpy2D(address, 8, bytes(4096), pitch, 8, 17) == 1
assert PyGPU.cudaMallocPitch(2**63, 2)[::2] == (0, 2)
assert PyGPU.cudaMallocPitch(2**62, 4)[::2] == (0, 2)
assert PyGPU.cudaMalloc(2**64 - 1) == (0, 2)
""")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are x86's")
@pytest.mark.parametrize("cores", [1, 3])
def test_arithmetic_of_kernels_and_of_their_caller(host, cores):
    """Kernels round to the nearest number on every thread, and leave the caller's rounding and
    flags alone, faults or not: NumPy may warn of flags that it finds."""
    host(
        """
import ctypes
import numpy as np
from PyGPU import compiler
from PyGPU.gpuarray import to_gpu
libm = ctypes.CDLL("libm.so.6")
flags, downward = 13, 0x400  # invalid, division by zero, overflow
x = np.linspace(-9, 9, 1_000_003).astype("f4")
a, thirds = to_gpu(x), x / np.float32(3)
spoiled = to_gpu(np.array([np.nan, -1, 0, 1e38] * 9, "f4"))
module = compiler.SourceModule(
    "#include <cfenv>\\n"
    'extern "C" __global__ void change() { fesetround(0x800); }\\n'
    'extern "C" __global__ void nothing_by_nothing(float *a) {'
    '  volatile long double zero = 0; a[0] = zero / zero; }\\n'
    'extern "C" __global__ void fail() { *(volatile int *)8 = 1; }', no_extern_c=True)

libm.fesetround(downward)
long_third = np.longdouble(1) / 3
down = (a / np.float32(3)).get()  # the first launch with many blocks
module.get_function("change")(block=(1, 1, 1), grid=(64, 1))
for fails in (False, True):
    if fails:
        try:
            module.get_function("fail")(block=(1, 1, 1), grid=(1, 1))
        except PyGPU.errors.Error:
            pass
        else:
            raise AssertionError("no fault")
    assert (libm.fegetround(), np.longdouble(1) / 3) == (downward, long_third)
libm.fesetround(0)
for got in (down, (a / np.float32(3)).get()):
    np.testing.assert_array_equal(got, thirds)

for spoil in (
    lambda: np.sqrt(spoiled),
    lambda: 1 / spoiled,
    lambda: spoiled * spoiled,
    lambda: spoiled.max(),
    lambda: module.get_function("nothing_by_nothing")(spoiled, block=(1, 1, 1)),
):
    for before in (0, flags):
        libm.feclearexcept(flags)
        libm.feraiseexcept(before)
        spoil()
        assert libm.fetestexcept(flags) == before
""",
        threads=cores,
    )
