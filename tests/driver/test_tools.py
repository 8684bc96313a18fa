"""PyGPU.tools: memoizing by device, tests in a context, occupancy of devices; characterize."""

import numpy as np
import pytest
from contexts import own_stack  # noqa: F401

import PyGPU.driver as drv
from PyGPU import characterize, tools

# Memoizing.


@pytest.fixture
def counted():
    calls = []

    @tools.context_dependent_memoize
    def add(*args, **kwargs):
        """The sum."""
        calls.append((args, kwargs))
        return sum(args) + sum(kwargs.values())

    yield add, calls
    tools.context_dependent_memoized_functions.remove(add)


def test_results_are_kept(counted):
    add, calls = counted
    assert add(1, 2) == add(1, 2) == 3 and len(calls) == 1
    assert add(1, 3) == 4 and len(calls) == 2
    assert add(1, b=2, c=3) == add(1, c=3, b=2) == 6 and len(calls) == 3
    assert add(1, b=3, c=2) == 6 and len(calls) == 4
    assert add() == add() == 0 and len(calls) == 5
    assert add.__name__ == "add" and add.__doc__ == "The sum."
    assert add in tools.context_dependent_memoized_functions


def test_results_are_forgotten(counted):
    add, calls = counted
    assert add(1) == 1
    assert tools.clear_context_caches() is None
    assert add(1) == add(1) == 1 and len(calls) == 2


def test_none_is_a_result_and_an_error_is_not():
    calls = []

    @tools.context_dependent_memoize
    def work(argument):
        calls.append(argument)
        if argument == "bad":
            raise KeyError(argument)

    assert work(1) is None and work(1) is None and calls == [1]
    for _ in range(2):
        with pytest.raises(KeyError, match="bad"):
            work("bad")
    assert calls == [1, "bad", "bad"]
    with pytest.raises(TypeError, match="unhashable"):
        work([1])
    tools.context_dependent_memoized_functions.remove(work)


def test_results_belong_to_a_device(two_devices):
    two_devices(
        """
import PyGPU.driver as drv
from PyGPU.tools import context_dependent_memoize
calls = []
@context_dependent_memoize
def where():
    calls.append(1)
    return drv.Context.get_device()
for _ in range(2):
    for number in (0, 1):
        context = drv.Device(number).make_context()
        assert where() == drv.Device(number)
        context.pop()
assert len(calls) == 2
""",
    )


# Tests in a context.


def test_mark_cuda_test(counted):
    add, calls = counted

    @tools.mark_cuda_test
    def inside(number, keyword):
        """What it does."""
        assert drv.Context.get_current() is not None
        add(number, keyword)
        return number + keyword

    assert drv.Context.get_current() is None
    for turn in (1, 2):
        assert inside(1, keyword=2) == 3
        assert drv.Context.get_current() is None and len(calls) == turn
    assert inside.__name__ == "inside" and inside.__doc__ == "What it does."


def test_mark_cuda_test_leaves_no_context_after_an_error():
    @tools.mark_cuda_test
    def fail():
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        fail()
    assert drv.Context.get_current() is None


@pytest.fixture(name="cuda_context")
def cuda_context_fixture():
    yield from tools.init_cuda_context_fixture()


def test_a_fixture_gives_a_context(cuda_context):
    assert drv.Context.get_current() is not None


def test_no_fixture_leaves_a_context():
    body = tools.init_cuda_context_fixture()
    next(body)
    assert drv.Context.get_current() is not None
    with pytest.raises(StopIteration):
        next(body)
    assert drv.Context.get_current() is None
    body = tools.init_cuda_context_fixture()
    next(body)
    body.close()
    assert drv.Context.get_current() is None


# Numbers.


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, 0), (1, 0), (2, 1), (3, 1), (17, 4), (0xAFFE, 15), (0x3AFFE, 17), (0xCC3AFFE, 27)]
    + [(2**40, 40), (2**80 - 1, 79), (np.int64(17), 4), (np.uint64(2**63), 63)],
)
def test_bitlog2(number, expected):
    assert tools.bitlog2(number) == expected


def test_bitlog2_is_of_integers():
    for bad in (1.5, "8", None):
        with pytest.raises(TypeError):
            tools.bitlog2(bad)


def test_data_of_a_device():
    device = drv.Device(0)
    for data in (tools.DeviceData(), tools.DeviceData(device), tools.DeviceData(dev=device)):
        assert data.max_threads == device.max_threads_per_block
        assert data.warp_size == device.warp_size
        assert data.warps_per_mp == device.max_threads_per_multiprocessor // device.warp_size
        assert data.thread_blocks_per_mp == device.max_blocks_per_multiprocessor
        assert data.registers == device.max_registers_per_block
        assert data.shared_memory == device.max_shared_memory_per_block
        assert data.smem_alloc_granularity == 128 and data.smem_granularity == 32
        assert data.register_allocation_unit == "warp"


def test_alignments():
    data = tools.DeviceData()
    assert [data.align_bytes(size) for size in (4, 8, 16)] == [64, 128, 128]
    assert data.align_bytes() == 64
    assert [data.align(size) for size in (0, 1, 64, 65, 100)] == [0, 64, 64, 128, 128]
    assert data.align(100, word_size=8) == 128 and data.align(129, 16) == 256
    assert [data.align_words(size) for size in (4, 8, 16)] == [16, 16, 8]
    assert data.align_dtype(100, 8) == 112 and data.align_dtype(elements=16, dtype_size=4) == 16
    assert data.align_dtype(17, 4) == 32 and data.align_dtype(9, 16) == 16
    assert [data.coalesce(count) for count in (0, 1, 16, 17)] == [0, 16, 16, 32]
    assert [data.make_valid_tex_channel_count(size) for size in (1, 2, 3, 4)] == [1, 2, 4, 4]
    for use in (data.align_bytes, data.align_words):
        with pytest.raises(ValueError, match="5"):
            use(5)
    with pytest.raises(ValueError, match="5"):
        tools.DeviceData.make_valid_tex_channel_count(5)


@pytest.fixture
def machine():
    """A device of round numbers."""
    data = tools.DeviceData()
    data.max_threads, data.warp_size, data.warps_per_mp = 1024, 32, 64
    data.thread_blocks_per_mp, data.registers, data.shared_memory = 16, 65536, 49152
    return data


@pytest.mark.parametrize(
    ("threads", "shared_mem", "registers", "blocks", "limited_by", "warps"),
    [
        (32, 0, 0, 16, "device", 16),
        (256, 0, 0, 8, "warps", 64),
        (1024, 0, 0, 2, "warps", 64),
        (33, 0, 0, 16, "device", 32),
        (256, 0, 64, 4, "regs", 32),
        (256, 12288, 0, 4, "smem", 32),
        (256, 49152, 16, 1, "smem", 8),
        (256, 12289, 0, 3, "smem", 24),
    ],
)
def test_occupancy(machine, threads, shared_mem, registers, blocks, limited_by, warps):
    record = tools.OccupancyRecord(machine, threads, shared_mem, registers)
    assert (record.tb_per_mp, record.limited_by) == (blocks, limited_by)
    assert record.warps_per_mp == warps and record.occupancy == warps / 64
    assert (blocks, limited_by) in record.tb_per_mp_limits
    assert min(count for count, _ in record.tb_per_mp_limits) == blocks


def test_occupancy_of_the_device():
    data = tools.DeviceData()
    record = tools.OccupancyRecord(devdata=data, threads=data.max_threads)
    assert 0 < record.occupancy <= 1 and record.tb_per_mp >= 1


def test_blocks_that_do_not_fit(machine):
    with pytest.raises(ValueError, match="threads=1025"):
        tools.OccupancyRecord(machine, 1025)
    with pytest.raises(ValueError, match="shared_mem=49153"):
        tools.OccupancyRecord(machine, 32, shared_mem=49153)
    with pytest.raises(ValueError, match="registers=255"):
        tools.OccupancyRecord(machine, 1024, registers=255)
    for threads in (0, -32):
        with pytest.raises(ValueError, match="threads"):
            tools.OccupancyRecord(machine, threads)


# characterize.


def test_what_devices_are_like():
    assert characterize.platform_bits() == 64
    assert characterize.has_stack() is True and characterize.has_double_support() is True


def test_sizes_of_types():
    for name, size in {"int": 4, "double": 8, "char": 1, "void *": 8, "float4": 16}.items():
        assert characterize.sizeof(name) == size and type(characterize.sizeof(name)) is int
    preamble = "struct pair { char c; double d; };"
    assert characterize.sizeof("pair", preamble) == 16
    assert characterize.sizeof(type_name="pair[3]", preamble=preamble) == 48
    with pytest.raises(drv.CompileError):
        characterize.sizeof("no_such_type")
