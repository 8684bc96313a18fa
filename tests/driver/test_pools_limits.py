"""Memory pools where it gets tight: no memory left, threads, garbage, reset, fork, the exit."""

import gc
import threading

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray, tools
from PyGPU._runtime import hooks

SMALL = {"PYGPU_TARGET": "host", "PYGPU_HOST_MEMORY": 64 << 20}
HEAD = """
import gc
import numpy as np
import PyGPU, PyGPU.driver as drv
from PyGPU import gpuarray, tools
MB = 1 << 20
pool = tools.DeviceMemoryPool()
"""


def test_the_largest_held_blocks_go_first(python):
    python(
        HEAD
        + """
for size in (2, 8, 30, 16):
    pool.allocate(size * MB)  # each of another bin
kept = [pool.allocate(size * MB) for size in (2, 8, 30, 16)]
del kept
assert pool.held_blocks == 4
big = pool.allocate(20 * MB)
assert pool.held_blocks == 3, "30 MB made room"
again = pool.allocate(16 * MB)
assert pool.held_blocks == 2, "taken as it was"
third = pool.allocate(18 * MB)
assert pool.held_blocks == 1, "8 MB made room"
""",
        **SMALL,
    )


def test_garbage_comes_back_before_other_blocks_are_freed(python):
    python(
        HEAD
        + """
gc.disable()
cycle = [pool.allocate(40 * MB)]
cycle.append(cycle)
small = pool.allocate(MB); small.free()
del cycle
block = pool.allocate(40 * MB)
assert pool.held_blocks == 1  # the small one; the garbage's was enough
""",
        **SMALL,
    )


def test_no_memory_left(python):
    python(
        HEAD
        + """
import builtins, re, needs
kept = pool.allocate(40 * MB)
for size in (3, 3, 2):
    pool.allocate(size * MB)
assert pool.held_blocks == 2
for _ in range(2):
    try:
        pool.allocate(30 * MB)
    except drv.MemoryError as error:
        assert isinstance(error, builtins.MemoryError)
        assert re.search(needs.NO_MEMORY, str(error)), error
        assert "bytes were requested" in str(error), error
    else:
        raise SystemExit("there was memory")
    assert (pool.held_blocks, pool.active_blocks, pool.active_bytes) == (0, 1, 40 * MB)
kept.free()
a = gpuarray.zeros(30 * MB, np.uint8, allocator=pool.allocate)
assert (a.get() == 0).all()
try:
    gpuarray.empty(60 * MB, np.uint8, allocator=pool.allocate)
except drv.MemoryError:
    pass
assert pool.active_blocks == 1 and PyGPU.cudaGetLastError().code == 0
""",
        **SMALL,
    )


WAYS = {
    "empty": "lambda: gpuarray.empty(20 * MB, np.uint8)",
    "mem_alloc": "lambda: drv.mem_alloc(20 * MB)",
    "mem_alloc_pitch": "lambda: drv.mem_alloc_pitch(2048, 10 << 10)",
    "a pool": "lambda: tools.DeviceMemoryPool().allocate(20 * MB)",
    "managed_empty": "lambda: drv.managed_empty(20 * MB, np.uint8)",
    "matrix_to_array": "lambda: drv.matrix_to_array(np.zeros((2048, 2560), np.float32), 'C')",
    "np_to_array": "lambda: drv.np_to_array(np.zeros((5, 1024, 1024), np.float32), 'F')",
    "DeviceArray": "lambda: device_array()",
    "DeviceAllocator": "lambda: allocator()",
}
RELEASED = {
    "garbage": "for _ in range(12): Cycle(take())",
    "cached blocks": "held = [gpuarray.empty(15 * MB, np.uint8) for _ in range(4)]; del held",
    "pools": "held = [pool.allocate(n * MB) for n in (9, 15, 17, 20)]; del held",
}


@pytest.mark.parametrize("held", RELEASED)
@pytest.mark.parametrize("way", WAYS)
def test_every_allocation_gets_what_is_held_before_it_fails(way, held, python):
    python(
        HEAD
        + f"""
class Cycle:
    def __init__(self, held):
        self.held, self.me = held, self
def device_array():
    array = PyGPU.DeviceArray_uint8((20 * MB,))
    assert not array.allocate(), array.last_status()
    return array
def allocator():
    memory = PyGPU.DeviceAllocator_uint8()
    status = memory.allocate(20 * MB)
    assert not status, status
    return memory
gc.disable()
take = {WAYS[way]}
{RELEASED[held]}
kept = [take() for _ in range(2)]
""",
        PYGPU_BLOCK_CACHE="1",
        **SMALL,
    )


@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("Device")])
def test_a_want_of_memory_has_the_sizes(way, python):
    python(
        HEAD
        + f"""
import re
kept = drv.mem_alloc(50 * MB)
try:
    ({WAYS[way]})()
except MemoryError as error:
    assert f"{{14 * MB}} of its {{64 * MB}} bytes are free" in str(error), error
    requested = int(re.search(r"([0-9]+) bytes were requested on device 0", str(error))[1])
    assert 20 * MB <= requested <= 21 * MB, error
else:
    raise SystemExit("there was memory")
assert PyGPU.cudaGetLastError().code == 0
""",
        **SMALL,
    )


def test_garbage_is_collected_before_page_locked_memory_fails(python):
    python(
        HEAD
        + """
import weakref
gc.disable()
class Cycle:
    def __init__(self, held):
        self.held, self.me = held, self
garbage = weakref.ref(Cycle(drv.pagelocked_empty(MB, np.uint8)))
assert garbage() is not None
assert drv.pagelocked_empty(MB, np.uint8).size == MB
assert garbage() is None
""",
        PYGPU_HOST_FAIL="2:cudaHostAlloc",
        PYGPU_TARGET="host",
    )


def test_page_locked_memory_runs_out_too():
    """The same order: garbage, then the largest held blocks one by one."""
    tried, budget = [], [200]

    class Memory(bytearray):
        def __int__(self):
            return 4096

        def __del__(self):
            budget[0] += len(self)

    class Scarce(tools.PageLockedAllocator):
        def allocate(self, size):
            tried.append(size)
            if size > budget[0]:
                raise drv.MemoryError("scarce")
            budget[0] -= size
            return Memory(size)

    pool, other = tools.PageLockedMemoryPool(Scarce()), tools.PageLockedMemoryPool()
    other.allocate(80, np.uint8)
    arrays = [pool.allocate(size, np.uint8) for size in (30, 60, 90)]
    assert tried == [30, 61, 91] and budget == [18]
    del arrays
    tried.clear()
    array = pool.allocate(110, np.uint8)
    # Four tries, and one for each larger block that pools of other tests hold.
    assert set(tried) == {111} and len(tried) >= 4
    assert pool.held_blocks == 1 and budget == [59]
    assert other.held_blocks == 0, "what other pools hold is released too"
    with pytest.raises(drv.MemoryError, match="scarce"):
        pool.allocate(200, np.uint8)
    assert pool.held_blocks == 0 and pool.active_bytes == len(array) == 110
    assert budget == [89]


@pytest.mark.parametrize(
    "allocate",
    [
        lambda: drv.mem_alloc(2**52),
        lambda: gpuarray.empty(2**52, np.uint8),
        lambda: drv.pagelocked_empty(2**52, np.uint8),
        lambda: drv.managed_empty(2**52, np.uint8),
        lambda: PyGPU.DeviceAllocator_uint8().allocate(2**52),
    ],
)
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_ends_the_release_of_memory(allocate, error, monkeypatch):
    def interrupted(device):
        raise error("in a hook")

    with monkeypatch.context() as patch:
        patch.setattr(hooks, "reclaimers", [interrupted])
        with pytest.raises(error, match="in a hook"):
            allocate()
    assert PyGPU.cudaGetLastError().code == 0
    assert gpuarray.zeros(3, np.float32).get().sum() == 0


@pytest.mark.parametrize("kind", [tools.DeviceMemoryPool, tools.PageLockedMemoryPool])
def test_threads_share_a_pool(kind):
    pool, failures = kind(), []
    take = {
        tools.DeviceMemoryPool: lambda n: gpuarray.empty(n, np.int32, allocator=pool.allocate),
        tools.PageLockedMemoryPool: lambda n: pool.allocate(n, np.int32),
    }[kind]
    lock, in_use = threading.Lock(), set()

    def work(number):
        rng = np.random.default_rng(number)
        mine = []
        for size in rng.integers(1, 60, 400).tolist():
            array = take(size)
            address = array.ptr if kind is tools.DeviceMemoryPool else array.ctypes.data
            with lock:
                if address in in_use:
                    failures.append(address)
                in_use.add(address)
            mine.append((address, array))
            del array
            while len(mine) > size % 7:
                with lock:
                    in_use.remove(mine[0][0])
                del mine[0]
            if size == 5:
                pool.free_held()
        with lock:
            in_use.difference_update(address for address, _ in mine)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert pool.active_blocks == pool.active_bytes == 0
    held = sum(pool.alloc_size(number) for number, held in pool._all_held() for _ in held)
    assert pool.managed_bytes == held
    pool.stop_holding()
    assert pool.managed_bytes == pool.held_blocks == 0


def test_finalizers_run_at_any_moment():
    """With a collection at each allocation of Python's, blocks come back while others are taken."""
    pool = tools.DeviceMemoryPool()

    class Cycle:
        def __init__(self, size):
            self.block, self.me = pool.allocate(size), self

        def __del__(self):
            pool.allocate(len(self.block)).free()

    before = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        for turn in range(300):
            Cycle(turn % 40)
            assert pool.held_blocks + pool.active_blocks > 0
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert pool.active_blocks == pool.active_bytes == 0


def test_stopping_while_blocks_come_back():
    pool = tools.DeviceMemoryPool()
    blocks = [pool.allocate(64) for _ in range(4000)]
    thread = threading.Thread(target=lambda: [block.free() for block in blocks])
    thread.start()
    pool.stop_holding()
    thread.join()
    assert pool.held_blocks == pool.active_blocks == pool.managed_bytes == 0


def test_blocks_belong_to_a_device(two_devices):
    two_devices(
        HEAD
        + """
contexts = [drv.Device(number).make_context() for number in (0, 1)]
block = pool.allocate(100); second = int(block)
contexts[1].pop()
del block
assert pool.held_blocks == 1
first = pool.allocate(100)
assert int(first) != second and pool.held_blocks == 1
assert PyGPU.cudaPointerGetAttributes(first)[0]["device"] == 0
contexts[1].push()
assert int(pool.allocate(100)) == second
""",
    )


def test_a_reset_takes_the_memory(python):
    done = python(
        HEAD
        + """
locked = tools.PageLockedMemoryPool()
for turn in range(3):
    a = gpuarray.zeros(1000, np.int32, allocator=pool.allocate)
    held = pool.allocate(4000); held.free()
    h = locked.allocate(1000, np.int32)
    assert pool.active_blocks == 1 and locked.active_blocks == 1
    assert PyGPU.cudaDeviceReset().code == 0
    del a, h
    assert pool.active_blocks == locked.active_blocks == 0
    fresh = [gpuarray.zeros(1000, np.int32, allocator=pool.allocate) for _ in range(4)]
    assert len({one.ptr for one in fresh}) == 4
    for number, one in enumerate(fresh):
        one.fill(number)
    assert [one.get().sum() for one in fresh] == [0, 1000, 2000, 3000]
    del fresh, one
    assert pool.held_blocks == 4
"""
    )
    assert done.stderr == ""


def test_a_forked_child(python):
    done = python(
        HEAD
        + """
import os, warnings
warnings.simplefilter("ignore")
a = gpuarray.zeros(1000, np.int32, allocator=pool.allocate)
held = pool.allocate(64); held.free()
locked = tools.PageLockedMemoryPool()
h = locked.allocate(10, np.int32)
child = os.fork()
if child == 0:
    try:
        pool.allocate(64)
    except drv.Error as error:
        assert "forked" in str(error), error
    else:
        raise SystemExit("the child got memory")
    del a, h
    pool.stop_holding()
    assert pool.active_blocks == 0
    raise SystemExit(7)
status = os.waitpid(child, 0)[1]
assert os.WEXITSTATUS(status) == 7, status
assert (a.get() == 0).all() and len(pool.allocate(64)) == 64
"""
    )
    assert done.stderr == ""


def test_the_exit_is_silent(python):
    done = python(
        HEAD
        + """
locked = tools.PageLockedMemoryPool()
arrays = [gpuarray.zeros(10, np.int32, allocator=pool.allocate) for _ in range(3)]
blocks, cycle = {n: pool.allocate(n) for n in range(5)}, [pool.allocate(8)]
cycle.append(cycle)
host = locked.allocate(10, np.int32)
import sys
sys.keep = [pool, pool.allocate(99), locked.allocate(9, "u1")]
del arrays[1]
"""
    )
    assert done.stderr == done.stdout == ""
