"""driver.Context: each thread's stack of them, limits, caches, peers, the driver's handle."""

import ctypes
import threading

import needs
import numpy as np
import pytest
from contexts import own_stack  # noqa: F401

import PyGPU
import PyGPU.driver as drv
from PyGPU.driver import Context, Device


@pytest.fixture
def context(device):
    """A context that is current; afterwards the thread's stack is as it was."""
    made = device.make_context()
    yield made
    while Context.get_current() is not None:
        Context.pop()


def test_contexts_come_from_devices():
    with pytest.raises(RuntimeError, match="make_context"):
        Context()


def test_a_context_is_current_until_it_is_popped(device):
    assert Context.get_current() is None
    made = device.make_context()
    assert Context.get_current() == made and Context.attach() == made
    assert Context.get_device() == made.get_device() == device
    made.pop()
    assert Context.get_current() is None


def test_a_context_can_be_pushed_repeatedly(context):
    context.push()
    context.push()
    for _ in range(2):
        context.pop()
        assert Context.get_current() == context
    context.pop()
    assert Context.get_current() is None


@pytest.mark.parametrize("use", [Context.pop, Context.get_device, Context.attach])
def test_without_a_context(use):
    with pytest.raises(drv.LogicError, match="no context is current"):
        use()


def test_a_context_is_detached_once(device):
    made = device.make_context()
    made.detach()
    assert Context.get_current() is None
    for use in (made.detach, made.push):
        with pytest.raises(drv.LogicError, match="detached"):
            use()


def test_what_lives_beyond_its_context(device):
    made = device.make_context()
    memory, stream, event = drv.mem_alloc(100), drv.Stream(), drv.Event()
    made.detach()
    stream.synchronize()
    event.record()
    memory.free()


def test_the_primary_context_is_not_made_current(device):
    primary = device.retain_primary_context()
    assert Context.get_current() is None
    primary.push()
    assert Context.get_current() == primary and Context.get_device() == device
    primary.pop()
    primary.detach()


def test_contexts_are_values(device, context):
    other = device.retain_primary_context()
    assert other == context and not other != context and hash(other) == hash(context)
    assert {context: 1}[Context.get_current()] == 1
    assert context != device and context != 0


@pytest.mark.parametrize("flags", [0, drv.ctx_flags.SCHED_YIELD, drv.ctx_flags.MAP_HOST | 4])
def test_flags_of_contexts(device, flags):
    device.make_context(flags=flags).pop()
    device.make_context(drv.ctx_flags.SCHED_AUTO).pop()
    assert Context.get_current() is None


def test_synchronize(context):
    assert context.synchronize() is None and Context.synchronize() is None


@pytest.mark.skipif(PyGPU.target == "hip", reason="HIP's contexts have no handles of use")
def test_the_handle_is_the_drivers(context):
    assert type(context.handle) is int and context.handle != 0
    assert ctypes.c_void_p(context.handle).value == Context.get_current().handle
    assert type(context.get_api_version()) is int and context.get_api_version() > 3000


def test_limits(context):
    before = Context.get_limit(drv.limit.STACK_SIZE)
    assert type(before) is int and before > 0
    if (0, 0) < needs.HIP < (5, 3):
        with pytest.raises(drv.LogicError, match=needs.NOT_SUPPORTED):
            context.set_limit(drv.limit.STACK_SIZE, 4096)
        return
    try:
        assert context.set_limit(drv.limit.STACK_SIZE, 4096) is None
        assert context.get_limit(drv.limit.STACK_SIZE) >= 4096
    finally:
        context.set_limit(drv.limit.STACK_SIZE, before)
    assert Context.get_limit(drv.limit.PRINTF_FIFO_SIZE) > 0
    assert Context.get_limit(drv.limit.MALLOC_HEAP_SIZE) > 0


@pytest.mark.skipif(PyGPU.target == "hip", reason="HIP has none of these limits")
def test_limits_of_kernels_that_launch_kernels(context):
    count = Context.get_limit(drv.limit.DEV_RUNTIME_PENDING_LAUNCH_COUNT)
    assert count == 2048
    try:
        context.set_limit(drv.limit.DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4096)
        assert context.get_limit(drv.limit.DEV_RUNTIME_PENDING_LAUNCH_COUNT) >= 4096
    finally:
        context.set_limit(drv.limit.DEV_RUNTIME_PENDING_LAUNCH_COUNT, count)
    if context.get_device().compute_capability() < (9, 0):
        assert Context.get_limit(drv.limit.DEV_RUNTIME_SYNC_DEPTH) >= 2
        return
    # Kernels cannot wait for those that they launch: nothing to set.
    for call in (lambda: Context.get_limit(3), lambda: Context.set_limit(3, 4)):
        with pytest.raises(drv.LogicError, match=r"_limit\(3.*failed: .*limit"):
            call()
    assert PyGPU.cudaDeviceGetLimit(3)[1] == PyGPU.cudaErrorUnsupportedLimit


def test_bad_limits(context):
    with pytest.raises(drv.LogicError, match="99"):
        Context.get_limit(99)
    with pytest.raises(drv.LogicError, match="99"):
        Context.set_limit(99, 4096)
    with pytest.raises((OverflowError, TypeError)):
        Context.set_limit(drv.limit.STACK_SIZE, -1)
    with pytest.raises(TypeError):
        Context.set_limit(drv.limit.STACK_SIZE, 1.5)


def test_cache_configuration(context):
    assert isinstance(Context.get_cache_config(), drv.func_cache)
    for config in (drv.func_cache.PREFER_SHARED, drv.func_cache.PREFER_NONE):
        assert context.set_cache_config(config) is None
    assert isinstance(context.get_cache_config(), drv.func_cache)
    with pytest.raises(drv.LogicError):
        context.set_cache_config(77)


def test_shared_memory_has_one_configuration(context):
    assert context.set_shared_config(drv.shared_config.EIGHT_BYTE_BANK_SIZE) is None
    assert isinstance(Context.get_shared_config(), drv.shared_config)
    with pytest.raises((ValueError, drv.LogicError)):
        context.set_shared_config(77)


def test_a_context_is_not_its_own_peer(context):
    for use in (
        Context.enable_peer_access,
        context.enable_peer_access,
        Context.disable_peer_access,
    ):
        with pytest.raises(drv.LogicError):
            use(context)
    with pytest.raises(drv.LogicError):
        context.enable_peer_access(context, 5)
    with pytest.raises(TypeError):
        Context.enable_peer_access(None)


# Threads and devices.


def test_contexts_in_ten_threads_at_once():
    start, failures, found = threading.Barrier(10), [], {}

    def work(number):
        try:
            start.wait(60)
            assert Context.get_current() is None
            made = Device(0).make_context()
            assert Context.get_current() == made
            for round_ in range(20):
                data = np.full(1000, 100 * number + round_, np.int32)
                memory = drv.to_device(data)
                found[number] = drv.from_device_like(memory, data)
                assert (found[number] == data).all()
            made.push()
            made.pop()
            made.detach()
            assert Context.get_current() is None
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == [] and sorted(found) == list(range(10))


def test_a_context_crosses_threads(context):
    found = []

    def work():
        context.push()
        found.append((Context.get_current() == context, Context.get_device()))
        context.pop()
        found.append(Context.get_current())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert found == [(True, Device(0)), None] and Context.get_current() == context


TWO_DEVICES = """
import numpy as np, PyGPU, PyGPU.driver as drv
from PyGPU.driver import Context, Device

def place(pointer):
    attributes, status = PyGPU.cudaPointerGetAttributes(int(pointer))
    assert not status
    return attributes["device"]

assert Device.count() >= 2 and Device(0) != Device(1) and hash(Device(1)) == 1
assert Device(Device(1).pci_bus_id()) == Device(1)
first = Device(0).make_context()
a = drv.mem_alloc(1000)
second = Device(1).make_context()
b = drv.mem_alloc(1000)
assert first != second and Context.get_device() == Device(1)
first.push()
c = drv.mem_alloc(1000)
assert Context.get_current() == first
Context.pop()
assert Context.get_current() == second
d = drv.mem_alloc(1000)
assert [place(p) for p in (a, b, c, d)] == [0, 1, 0, 1]
assert first.handle != second.handle and PyGPU.cudaGetDevice() == (1, 0)

# Copies name the devices by their contexts.
data = np.arange(1000).astype(np.uint8)
drv.memcpy_htod(a, data)
drv.memcpy_peer(b, a, 1000, dest_context=second, src_context=first)
assert (drv.from_device_like(b, data) == data).all()
stream = drv.Stream()
drv.memcpy_peer_async(d, b, 1000, second, second, stream)
stream.synchronize()
assert (drv.from_device_like(d, data) == data).all()

# What is detached in the middle of the stack never becomes current again.
third = Device(0).make_context()
second.detach()
assert Context.get_current() == third
Context.pop()
assert Context.get_current() == first and PyGPU.cudaGetDevice() == (0, 0), Context.get_current()
Context.pop()
assert Context.get_current() is None
for p in (a, b, c, d):
    p.free()

# Device.can_access_peer and the calls agree.
first, second = (Device(n).retain_primary_context() for n in (0, 1))
first.push()
if Device(0).can_access_peer(Device(1)):
    Context.enable_peer_access(second)
    Context.disable_peer_access(second)
try:
    Context.disable_peer_access(second)
    raise SystemExit("peer access was not on")
except drv.LogicError:
    pass
Context.pop()
"""


def test_a_stack_over_two_devices(two_devices):
    two_devices(TWO_DEVICES)
