"""Scans on streams and threads at once, on warps of 64, beyond 2**32 elements, and their texts
through each compiler that is found."""

import threading

import everywhere
import needs
import numpy as np
import pytest
from kernel_sources import Text
from scan_tools import WARP, both, kernel

import PyGPU
from PyGPU import driver, gpuarray
from PyGPU._arrays import select
from PyGPU._kernels.text import compaction, scan_tiles
from PyGPU._kernels.text import scan as scan_text
from PyGPU.compiler import SourceModule
from PyGPU.scan import InclusiveScanKernel


@pytest.mark.parametrize("flags", [0, 1], ids=["blocking", "non-blocking"])
def test_streams_at_once(flags):
    inclusive, exclusive = both("small tiles", np.dtype("i4"))
    streams = [driver.Stream(flags) for _ in range(4)]
    inputs = [np.arange(i, 30_000 + 1000 * i, dtype=np.int32) for i in range(4)]
    arrays = [gpuarray.to_gpu(x) for x in inputs]
    driver.Context.synchronize()
    for _ in range(2):
        for array, stream in zip(arrays, streams):
            assert inclusive(array, stream=stream) is array
    for stream in streams:
        stream.synchronize()
    for x, array in zip(inputs, arrays):
        once = np.cumsum(x, dtype=np.int32)
        assert np.array_equal(array.get(), np.cumsum(once, dtype=np.int32))
    for array, stream in zip(arrays, streams):  # a copy comes first, in the stream's order
        exclusive(array[:-1], array[1:], stream=stream)
        stream.synchronize()
    for x, array in zip(inputs, arrays):
        twice = np.cumsum(np.cumsum(x, dtype=np.int32), dtype=np.int32)
        sums = np.cumsum(twice[:-2], dtype=np.int32)
        assert np.array_equal(array.get(), np.concatenate([twice[:1], [3], sums + np.int32(3)]))


def test_streams_by_number():
    inclusive, _ = both("small tiles", np.dtype("i4"))
    stream = driver.Stream()
    array = gpuarray.to_gpu(np.ones(5000, np.int32))
    for handle in (int(stream.handle), 0, None):
        inclusive(array, stream=handle)
    x = np.ones(5000, np.int32)
    for _ in range(3):
        x = np.cumsum(x, dtype=np.int32)
    assert np.array_equal(array.get(), x)


def test_threads_at_once():
    inclusive, _ = both("small tiles", np.dtype("i4"))
    failures = []

    def work(seed):
        x = np.random.default_rng(seed).integers(-100, 100, 20_000 + seed, np.int32)
        array = gpuarray.to_gpu(x)
        for _ in range(5):
            if not np.array_equal(inclusive(array, "new").get(), np.cumsum(x)):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


WARPS_OF_64 = """
import sys
sys.path.insert(0, {tests!r})
import numpy as np
import scan_tools
from PyGPU import gpuarray
from PyGPU._arrays import select
from PyGPU.scan import ExclusiveScanKernel, InclusiveScanKernel

x = np.arange(30_000) % 1000
array = gpuarray.to_gpu(x)
inclusive = scan_tools.kernel(InclusiveScanKernel, "small tiles", x.dtype)
assert np.array_equal(inclusive(array, "new").get(), np.cumsum(x))
select = select._Kernels(True, scan_tools.WARP, np.int64)
mask = gpuarray.to_gpu(x % 3 == 0)
offsets = select.offsets(mask)
indices = gpuarray.empty(10_020, np.int64)
select.write(mask, offsets, indices)
assert np.array_equal(indices.get(), np.flatnonzero(x % 3 == 0))
print(scan_tools.WARP)
"""


@pytest.mark.campaign
def test_warps_of_64(python):
    tests = everywhere.__file__.rpartition("/")[0]
    done = python(WARPS_OF_64.format(tests=tests), PYGPU_HOST_WARP=64)
    assert PyGPU.target != "host" or done.stdout == "64\n"


def test_the_last_tile_of_more_than_32_bits_count():
    """Launched alone, behind a tile that is said to know all before it."""
    tile = scan_tiles.Tile(WARP, 2 * WARP, 16, 1)
    text = scan_tiles.text(scan_text.Scan(np.dtype("b"), "a + b", None, "sums", ""), tile)
    function = SourceModule(text, no_extern_c=True).get_function("sums_tiles")
    number = (1 << 33) // tile.size
    start = number * tile.size
    x = (np.arange(tile.size - 3) % 3 - 1).astype(np.int8)
    array, out = gpuarray.to_gpu(x), gpuarray.zeros(x.shape, np.int8)
    state = gpuarray.zeros((2 + (number + 1) * tile.words,), np.uint64)
    state[:1] = number
    state[1 + number * tile.words : 2 + number * tile.words] = 2 << 32 | 7
    source, target = (one.ptr - start & (1 << 64) - 1 for one in (array, out))
    function.prepare("qPqPqPI").prepared_call(
        (1, 1), (tile.threads, 1, 1), start + x.size, source, 1, target, 1, state.ptr, 0
    )
    assert np.array_equal(out.get(), 7 + np.cumsum(x, dtype=np.int8))


def test_macros_of_options_may_have_any_name():
    names = "items warp warps lane lanes n i Scan Tile Value Stored part state words total pack"
    options = [f"-D{name}=(wrong)" for name in names.split()]
    scan = scan_text.Scan(np.dtype("i"), "a + b", None, "sums", "")
    text = scan_tiles.text(scan, scan_tiles.Tile(WARP, 2 * WARP, 16, 4))
    assert SourceModule(text, no_extern_c=True, options=options).get_function("sums_tiles")


@pytest.mark.skipif(needs.ON_MACHINE, reason="8 GB of memory and 10 seconds")
def test_more_than_32_bits_count():
    n = (1 << 32) + 11
    if driver.mem_get_info()[0] < 2.2 * n:
        pytest.skip("the device has too little memory free")
    inclusive = kernel(InclusiveScanKernel, "tiles", np.dtype("b"))
    array = gpuarray.zeros((n,), np.int8)
    array[:1] = 5
    array[n - 8 : n - 7] = 3
    result = inclusive(array, "new")
    assert result[-11:].get().tolist() == [5] * 3 + [8] * 8
    assert result[(1 << 31) - 1 : (1 << 31) + 1].get().tolist() == [5, 5]
    del result
    assert select.nonzero_flat(array.view(np.bool_)).get().tolist() == [0, n - 8]


def texts(warp):
    yield compaction.indices_by_warps(warp, np.int64)
    yield compaction.items_by_warps(warp, 16, 16 * warp)
    yield compaction.items_by_warps(warp, 1, compaction.CHUNK)
    for code, start in [("e", "0"), ("D", None)]:
        one = scan_text.Scan(np.dtype(code), "a + b", start, "sums", "")
        tile = scan_tiles.tile_for(one.dtype.itemsize, warp)
        yield scan_tiles.text(one, tile._replace(pause=40))


@pytest.mark.no_device
@pytest.mark.parametrize(
    ("prefix", "backend", "arch"), everywhere.COMPILERS[::3], ids=lambda value: value
)
def test_compiles(prefix, backend, arch):
    everywhere.require(prefix)
    for source in texts(64 if prefix == "hiprtc" else 32):
        entry = everywhere.build(Text(source, False), backend, arch)
        assert entry.image.startswith((b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__"))
        assert entry.log == "", "kernels compile without warnings"
