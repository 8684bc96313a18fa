"""Blocking copies of every size by every call: thresholds, order of streams, many threads."""

import functools

import numpy as np
import pytest
from campaign import rare_but
from threads_tools import at_once

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.gpuarray import to_gpu
from PyGPU.transfer import configure

SLOW = """
__global__ void copy_late(unsigned *to, const unsigned *from, long long ticks, int n) {
  const long long start = clock64();
  while (clock64() - start < ticks) {}
  for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}
"""


@pytest.mark.parametrize("size", [1000, 40_000, 100_000, 300_000, 3_000_000])
def test_transfers_wait_for_blocking_streams(size):
    """The kernel reads the elements of before the upload, and the download has its result."""
    from PyGPU.compiler import SourceModule

    copy_late = SourceModule(SLOW).get_function("copy_late")
    ticks = 20_000_000 if PyGPU.target != "host" else 1000
    first, second = np.arange(size, dtype=np.uint32), np.full(size, 7, np.uint32)
    source, result = to_gpu(first), gpuarray.zeros(size, np.uint32)
    stream = drv.Stream()
    for _ in range(3):
        source.set(first)
        copy_late(result, source, np.int64(ticks), np.int32(size), block=(256, 1, 1), stream=stream)
        source.set(second)
        assert (source.get() == second).all()
        assert (result.get() == first).all()
        result.fill(0)


def ends_of(nbytes, offset):
    """Host memory and an allocation of PyGPU's, both that far from their aligned starts."""
    host = np.random.default_rng(nbytes).integers(0, 256, nbytes + 64, np.uint8)
    return host[offset : offset + nbytes], drv.mem_alloc(nbytes + 64)


#: Kinds of a copy to the device and back: named, and found out by the runtime.
KINDS = (
    (PyGPU.cudaMemcpyHostToDevice, PyGPU.cudaMemcpyDeviceToHost),
    (PyGPU.cudaMemcpyDefault, PyGPU.cudaMemcpyDefault),
)
SIZES = sorted(
    size + more
    for size in (8, 4 << 10, 48 << 10, 80 << 10, 384 << 10, 512 << 10, 2 << 20, 6 << 20)
    for more in (-1, 0, 1)
)


@pytest.mark.parametrize("size", SIZES)
def test_every_call_around_every_threshold(size):
    """The thresholds of GPUs, on every target. Each call is made before and after its page-locked
    memory is there."""
    gap = 256
    with configure(threshold=512 << 10):
        for offset in (0, 1, 37):
            host, memory = ends_of(size, offset)
            address, back = (
                int(memory) + offset,
                np.zeros(size + 64, np.uint8)[offset : offset + size],
            )
            array = gpuarray.empty(size, np.uint8)

            def check(back=back, host=host):
                assert (back == host).all()
                back[:] = 0

            drv.memcpy_htod(address, host)
            drv.memcpy_dtoh(back, address)
            check()
            array.set(host)
            array.get(back)
            check()
            assert (array.get() == host).all()
            for up, down in KINDS:
                assert not PyGPU.cudaMemcpy(address, host, size, up)
                assert not PyGPU.cudaMemcpy(back, address, size, down)
                check()
            pair = PyGPU.DeviceArray_uint8(host)
            assert not pair.allocate() and not pair.to_device()
            host[:], kept = 0, host.copy()
            assert not pair.to_host()
            assert (host == kept).all()

            width = min(size, 1000)
            rows, pitch = size // width, width + gap
            wide = np.zeros((rows, width + 24), np.uint8)
            block = drv.mem_alloc(rows * pitch)
            wide[:, :width] = host[: rows * width].reshape(rows, width)
            for up, down in KINDS:
                arrived = np.zeros_like(wide)
                assert not PyGPU.cudaMemcpy2D(block, pitch, wide, width + 24, width, rows, up)
                assert not PyGPU.cudaMemcpy2D(arrived, width + 24, block, pitch, width, rows, down)
                assert (arrived == wide).all()


@pytest.mark.parametrize("megabytes", rare_but([17], [17, 33, 70, 97, 193]))
def test_large_copies_there_and_back(megabytes):
    """More bytes than page-locked memory, which is used again. Up and down, some pass the cache."""
    size = (megabytes << 20) + 7
    host = np.arange(size // 4 + 1, dtype=np.uint32).view(np.uint8)[:size]
    with configure(threshold=512 << 10, chunks=1):
        array = gpuarray.empty(size, np.uint8)
        for offset in (0, 1, 5):
            array[offset:].set(host[: size - offset])
            assert (array[offset:].get() == host[: size - offset]).all()
            back = np.zeros(2 * size, np.uint8)
            array[offset:].get(back[1 : size - offset + 1])
            assert (back[1 : size - offset + 1] == host[: size - offset]).all()
            assert not back[0] and not back[size - offset + 1 :].any()


def test_boxes_of_every_size():
    with configure(threshold=64 << 10):
        for shape in ((3, 5, 40), (4, 30, 1000), (2, 300, 4100)):
            depth, height, width = shape
            host = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
            for rows in (height, height + 2):  # rows between the planes, or none
                memory = drv.mem_alloc(depth * rows * (width + 100))
                copy = drv.Memcpy3D()
                copy.set_src_host(host)
                copy.set_dst_device(int(memory))
                copy.width_in_bytes = copy.src_pitch = width
                copy.dst_pitch, copy.src_height, copy.dst_height = width + 100, height, rows
                copy.height, copy.depth = height, depth
                copy()
                back = np.zeros_like(host)
                copy.set_src_device(int(memory))
                copy.set_dst_host(back)
                copy.src_pitch, copy.dst_pitch = width + 100, width
                copy.src_height, copy.dst_height = rows, height
                copy()
                assert (back == host).all()


def test_many_threads_at_once():
    """One of them uses the ring and one the block of short copies; the others copy plainly."""
    found = []

    def work(number):
        for size in (100, 5000, 70_000, 400_000, 900_000, 3_000_001):
            host = np.random.default_rng(number).integers(0, 256, size, np.uint8)
            array = to_gpu(host)
            found.append((array.get() == host).all())
            found.append((array.get(np.zeros_like(host)) == host).all())

    with configure(threshold=512 << 10):
        at_once([functools.partial(work, number) for number in range(16)])
    assert len(found) == 16 * 12 and all(found)


@pytest.mark.skipif(PyGPU.target != "host", reason="only the host machine leaves such an error")
def test_an_unread_error_stays():
    """A copy succeeds and leaves the error of an earlier call, like cudaMemcpy."""
    host = np.ones(1 << 20, np.uint8)
    with configure(threshold=1 << 16):
        memory = drv.mem_alloc(host.nbytes)
        for _ in range(3):
            assert PyGPU.cudaMemcpy(0, 0, 5, PyGPU.cudaMemcpyDeviceToDevice)
            left = PyGPU.cudaPeekAtLastError()
            assert left and not PyGPU.cudaMemcpy(memory, host, host.nbytes)
            assert not PyGPU.cudaMemcpy(host, memory, host.nbytes)
            assert PyGPU.cudaGetLastError() == left
