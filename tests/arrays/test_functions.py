"""Calls of kernels: shapes, keywords, streams, threads, attributes."""

import gc
import threading

import kernel_sources
import numpy as np
import pytest
from stand_ins import Carrier

import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

Attribute = drv.function_attribute


@pytest.fixture(scope="module")
def module():
    return SourceModule(kernel_sources.SHAPES.source)


@pytest.fixture(scope="module")
def shapes(module):
    """Launch; give (grid, block, threads that ran)."""
    kernel = module.get_function("shapes")

    def launch(**keywords):
        out = gpuarray.zeros(7, np.int32)
        assert kernel(out, **keywords) is None
        found = out.get().tolist()
        return tuple(found[:3]), tuple(found[3:6]), found[6]

    return launch


# Shapes.

SHAPES = [
    ((1, 1, 1), (1, 1, 1)),
    ((4, 3, 2), (4, 3, 2)),
    ((5, 2), (5, 2, 1)),
    ((7,), (7, 1, 1)),
    ([4, 3, 2], (4, 3, 2)),
    ([6], (6, 1, 1)),
    (8, (8, 1, 1)),
    (np.int32(8), (8, 1, 1)),
    ((np.int32(4), np.int64(2), np.uint8(1)), (4, 2, 1)),
    ((True, 2, 3), (1, 2, 3)),
    (np.array([4, 3, 2]), (4, 3, 2)),
    (range(1, 4), (1, 2, 3)),
]


@pytest.mark.parametrize(("given", "meant"), SHAPES, ids=lambda value: repr(value))
def test_forms_of_shapes(shapes, given, meant):
    assert shapes(block=given) == ((1, 1, 1), meant, np.prod(meant))
    assert shapes(block=(2, 1, 1), grid=given) == (meant, (2, 1, 1), 2 * np.prod(meant))


def test_a_namedtuple_is_a_shape(shapes):
    class Shape(tuple):
        pass

    assert shapes(block=Shape((3, 2)), grid=Shape((2, 2))) == ((2, 2, 1), (3, 2, 1), 24)


def test_the_largest_blocks(shapes):
    device = drv.Device(0)
    most = device.get_attribute(drv.device_attribute.MAX_THREADS_PER_BLOCK)
    assert shapes(block=most)[2] == most
    assert shapes(block=(1, 1, 64)) == ((1, 1, 1), (1, 1, 64), 64)
    assert shapes(block=(1, most)) == ((1, 1, 1), (1, most, 1), most)


def test_long_grids(shapes):
    assert shapes(block=1, grid=70_000) == ((70_000, 1, 1), (1, 1, 1), 70_000)
    assert shapes(block=1, grid=(1, 65_535)) == ((1, 65_535, 1), (1, 1, 1), 65_535)
    assert shapes(block=1, grid=(1, 1, 65_535)) == ((1, 1, 65_535), (1, 1, 1), 65_535)


# Keywords.


def test_keywords_at_their_defaults(shapes):
    expected = ((1, 1, 1), (2, 1, 1), 2)
    assert shapes(block=2, stream=None, shared=0, texrefs=[], time_kernel=False) == expected
    assert shapes(block=2, texrefs=(), stream=0) == expected


def test_keywords_made_at_run_time(shapes):
    keywords = {"".join(["bl", "ock"]): 3, "".join(["gr", "id"]): 2, "".join(["sha", "red"]): 16}
    assert shapes(**keywords) == ((2, 1, 1), (3, 1, 1), 6)


def test_a_kernel_without_arguments(module):
    address, size = module.get_global("count")
    drv.memcpy_htod(address, np.zeros(1, np.int32))
    bump = module.get_function("bump")
    assert bump(block=(32, 1, 1), grid=(3, 1)) is None
    assert bump.prepare("").prepared_call((1, 1), (4, 1, 1)) is None
    assert drv.from_device(address, 1, np.int32)[0] == 100 and size == 4


def test_dynamic_shared_memory(module):
    x = np.arange(1000, dtype=np.int32)
    for shared in (4000, np.int64(4000), 40_000):
        a = gpuarray.to_gpu(x)
        module.get_function("reverse")(a, np.int32(1000), block=(128, 1, 1), shared=shared)
        np.testing.assert_array_equal(a.get(), x[::-1])


def test_time_kernel_gives_seconds(module):
    out = gpuarray.zeros(7, np.int32)
    seconds = module.get_function("shapes")(out, block=(1, 1, 1), time_kernel=True)
    assert type(seconds) is float and 0 < seconds < 60
    assert out.get()[6] == 1


@pytest.mark.parametrize(
    "form",
    [lambda s: s, lambda s: s.handle, lambda s: Carrier(handle=s.handle), lambda s: None],
    ids=["Stream", "int", ".handle", "None"],
)
def test_streams(shapes, module, form):
    stream = drv.Stream()
    assert shapes(block=2, stream=form(stream)) == ((1, 1, 1), (2, 1, 1), 2)
    out = gpuarray.zeros(7, np.int32)
    kernel = module.get_function("shapes").prepare("P")
    kernel.prepared_async_call((3, 1), (2, 1, 1), form(stream), out.gpudata)
    stream.synchronize()
    assert out.get()[6] == 6


def test_launches_on_one_stream_keep_their_order(module):
    x = np.arange(100, dtype=np.int32)
    a, stream = gpuarray.to_gpu(x), drv.Stream(1)
    drv.Context.synchronize()
    for _ in range(11):
        module.get_function("reverse")(a, 100, block=64, shared=400, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(a.get(), x[::-1])


# Life and threads.


def test_a_function_keeps_its_module():
    kernel = SourceModule(kernel_sources.SHAPES.source).get_function("shapes")
    gc.collect()
    out = gpuarray.zeros(7, np.int32)
    kernel(out, block=(5, 1, 1))
    assert out.get()[6] == 5
    assert kernel.name == "shapes" and "shapes" in repr(kernel)


def test_each_get_function_is_an_object_of_its_own(module):
    one, other = module.get_function("shapes"), module.get_function("shapes")
    assert one is not other
    one.prepare("P")
    with pytest.raises(AttributeError, match="prepare"):
        other.prepared_call((1, 1), (1, 1, 1), 0)


def test_equal_modules_have_globals_of_their_own():
    first, second = (SourceModule(kernel_sources.SHAPES.source) for _ in range(2))
    address = first.get_global("count")[0]
    assert address != second.get_global("count")[0]
    drv.memset_d32(address, 0, 1)
    drv.memset_d32(second.get_global("count")[0], 0, 1)
    first.get_function("bump")(block=(7, 1, 1))
    counts = [drv.from_device(m.get_global("count")[0], 1, np.int32)[0] for m in (first, second)]
    assert counts == [7, 0]


def in_threads(work, count=10):
    """Run work(i) in threads; what they raised."""
    failures = []

    def run(number):
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_ten_threads_each_with_a_context():
    results = {}

    def work(number):
        context = drv.Device(0).make_context()
        try:
            kernel = SourceModule(kernel_sources.SHAPES.source).get_function("shapes")
            out = gpuarray.zeros(7, np.int32)
            for _ in range(20):
                kernel(out, block=(number + 1, 1, 1), grid=(3, 1))
            results[number] = int(out.get()[6])
        finally:
            context.pop()

    assert in_threads(work) == []
    assert results == {number: 60 * (number + 1) for number in range(10)}


def test_ten_threads_share_a_function(module):
    kernel = module.get_function("reverse")
    kernel.prepare("Pi")

    def work(number):
        x = np.arange(64 + number, dtype=np.int32)
        a = gpuarray.to_gpu(x)
        for _ in range(10):
            kernel(a, np.int32(x.size), block=(32, 1, 1), shared=4 * x.size)
            kernel.prepared_call((1, 1), (32, 1, 1), a.gpudata, x.size, shared_size=4 * x.size)
        kernel(a, np.int32(x.size), block=(32, 1, 1), shared=4 * x.size)
        np.testing.assert_array_equal(a.get(), x[::-1])

    assert in_threads(work) == []


# Attributes.

NAMES = ["num_regs", "shared_size_bytes", "local_size_bytes", "const_size_bytes", "ptx_version"]
NAMES += ["binary_version", "max_threads_per_block", "cache_mode_ca"]


@pytest.mark.parametrize("name", NAMES)
def test_attributes_have_short_names(module, name):
    kernel = module.get_function("shapes")
    value = getattr(kernel, name)
    assert type(value) is int and value >= 0
    assert kernel.get_attribute(Attribute[name.upper()]) == value
    assert kernel.get_attribute(int(Attribute[name.upper()])) == value


def test_attributes_make_sense(module):
    kernel = module.get_function("tiled")
    device = drv.Device(0)
    most = device.get_attribute(drv.device_attribute.MAX_THREADS_PER_BLOCK)
    assert 32 <= kernel.max_threads_per_block <= most
    assert kernel.num_regs > 0
    assert kernel.shared_size_bytes == 1024


def test_static_shared_memory(module):
    x = np.arange(256, dtype=np.float32)
    a = gpuarray.to_gpu(x)
    module.get_function("tiled")(a, block=(256, 1, 1))
    np.testing.assert_array_equal(a.get(), x[::-1])


def test_more_than_48_KB_of_dynamic_shared_memory():
    device = drv.Device(0)
    usual = device.get_attribute(drv.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK)
    most = device.get_attribute(drv.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
    if most <= usual:
        pytest.skip(f"no block of this device may have more than {usual} bytes")
    kernel = SourceModule(kernel_sources.SHAPES.source).get_function("reverse")
    x = np.arange(most // 4, dtype=np.int32)
    a = gpuarray.to_gpu(x)
    with pytest.raises(drv.LogicError, match="MAX_DYNAMIC_SHARED_SIZE_BYTES"):
        kernel(a, np.int32(x.size), block=(256, 1, 1), shared=most)
    kernel.set_attribute(Attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, most)
    assert kernel.max_dynamic_shared_size_bytes == most
    kernel(a, np.int32(x.size), block=(256, 1, 1), shared=most)
    np.testing.assert_array_equal(a.get(), x[::-1])


@pytest.mark.parametrize("preference", list(drv.func_cache))
def test_cache_preferences_are_hints(module, preference):
    kernel = module.get_function("shapes")
    assert kernel.set_cache_config(preference) is None
    assert kernel.set_shared_config(drv.shared_config.FOUR_BYTE_BANK_SIZE) is None
    kernel.set_attribute(Attribute.PREFERRED_SHARED_MEMORY_CARVEOUT, 50)
    out = gpuarray.zeros(7, np.int32)
    kernel(out, block=(3, 1, 1))
    assert out.get()[6] == 3
