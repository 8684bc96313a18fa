"""Devices: choice, properties, attributes, limits, memory, versions, peers."""

import re
import threading

import needs
import pytest

import PyGPU

COUNT = PyGPU.cudaGetDeviceCount()[0]
NO_SUCH_DEVICES = [-1, COUNT, 10**6]
ATTRIBUTES = {k: v for k, v in vars(PyGPU).items() if k.startswith("cudaDevAttr")}


def attribute(number, device=0):
    value, status = PyGPU.cudaDeviceGetAttribute(number, device)
    assert status == 0
    return value


# The current device.


def test_there_is_a_device():
    count, status = PyGPU.cudaGetDeviceCount()
    assert status == 0 and count >= 1


@pytest.mark.parametrize("device", range(COUNT))
def test_the_device_that_is_set_is_the_one_that_is_got(device):
    before, _ = PyGPU.cudaGetDevice()
    assert PyGPU.cudaSetDevice(device) == 0
    assert PyGPU.cudaGetDevice() == (device, 0)
    assert PyGPU.cudaSetDevice(before) == 0


@pytest.mark.parametrize("device", NO_SUCH_DEVICES)
def test_a_device_that_is_not_there_cannot_be_set(device):
    before = PyGPU.cudaGetDevice()
    assert PyGPU.cudaSetDevice(device) == 101
    assert PyGPU.cudaGetDevice() == before


@pytest.mark.parametrize("bad", ["0", 0.5, None, [0], 2**40])
def test_an_ordinal_is_an_int(bad):
    for call in (PyGPU.cudaSetDevice, PyGPU.cudaDeviceProp, PyGPU.cudaDeviceGetPCIBusId):
        with pytest.raises(TypeError, match="device"):
            call(bad)


def test_a_new_thread_starts_on_device_0():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(PyGPU.cudaGetDevice()))
    thread.start()
    thread.join()
    assert seen == [(0, 0)]


def test_synchronize():
    assert PyGPU.cudaDeviceSynchronize() == 0


ELSEWHERE = """
import threading

import PyGPU
from PyGPU import driver, errors, gpuarray

def here():
    return errors.check(PyGPU.cudaGetDevice())

def raised(call, kind):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError("nothing raised")

with PyGPU.device(1):
    assert here() == 1
    with PyGPU.device(0):
        assert here() == 0
    assert here() == 1
assert here() == 0

def fail():
    with PyGPU.device(1):
        raise KeyError("of the work")

raised(fail, KeyError)
assert here() == 0
text = str(raised(PyGPU.device(70).__enter__, driver.LogicError))
assert f"device(70): the number of visible devices is {driver.Device.count()}" in text, text
assert here() == 0
raised(lambda: driver.Device(1).make_context("no flags"), (TypeError, ValueError))
assert here() == 0

one = PyGPU.device(1)
with one:
    assert "has not ended" in str(raised(one.__enter__, RuntimeError))
    assert here() == 1
with one:
    PyGPU.cudaSetDevice(0)
with one:
    pass
one.__exit__(None, None, None)
assert here() == 0
with PyGPU.device(driver.Device(1)), PyGPU.device(1):
    a = gpuarray.zeros(3, "f4")
    assert a.device == a[1:].device == (a + 1).device == 1
assert gpuarray.empty(0, "f4").device is None
assert a.device == 1 and gpuarray.zeros(3, "f4").device == 0

one.__enter__()
del one  # what an interrupt before __exit__ does
assert here() == 0
entered = PyGPU.device(1)
thread = threading.Thread(target=entered.__enter__)
thread.start(), thread.join()
del entered, thread  # another thread's device is not restored in this one
with PyGPU.device(0):
    assert here() == 0

raised(fail, KeyError)
assert not PyGPU.cudaGetLastError()
"""


def test_work_on_another_device(two_devices):
    two_devices(ELSEWHERE)


# Properties and attributes.


def test_properties():
    properties = PyGPU.cudaDeviceProp(0)
    assert properties.last_status() == 0
    assert properties.get() is properties
    assert properties.name() and properties.name() in repr(properties)
    assert properties.totalGlobalMem() >= PyGPU.cudaMemGetInfo()[0] > 0
    assert re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", properties.uuid())
    assert PyGPU.cudaDeviceGetPCIBusId(0)[0] in repr(properties)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("major", "ComputeCapabilityMajor"),
        ("minor", "ComputeCapabilityMinor"),
        ("warpSize", "WarpSize"),
        ("multiProcessorCount", "MultiProcessorCount"),
        ("pciBusID", "PciBusId"),
        ("pciDeviceID", "PciDeviceId"),
        ("pciDomainID", "PciDomainId"),
    ],
)
def test_properties_and_attributes_agree(method, name):
    value = getattr(PyGPU.cudaDeviceProp(0), method)()
    assert value == attribute(ATTRIBUTES[f"cudaDevAttr{name}"])


def test_the_architecture_is_what_a_compiler_calls_the_device():
    properties = PyGPU.cudaDeviceProp(0)
    expected = {
        "cuda": f"sm_{properties.major()}{properties.minor()}",
        "hip": properties.architecture() if properties.architecture()[:3] == "gfx" else "gfx...",
        "host": "host",
    }
    assert properties.architecture() == expected[PyGPU.target]
    if PyGPU.target != "hip":
        assert properties.features() == ""


@pytest.mark.parametrize("device", NO_SUCH_DEVICES)
def test_properties_of_a_device_that_is_not_there(device):
    properties = PyGPU.cudaDeviceProp(device)
    assert properties.last_status() == 101
    assert properties.name() == "" and properties.totalGlobalMem() == 0


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_attribute_has_an_answer(name):
    value, status = PyGPU.cudaDeviceGetAttribute(ATTRIBUTES[name], 0)
    assert isinstance(value, int)
    assert status in ({0, 801} if PyGPU.use_hip else {0})


@pytest.mark.parametrize(
    ("name", "number"),
    [("MaxThreadsPerBlock", 1), ("WarpSize", 10), ("MultiProcessorCount", 16)],
)
def test_attributes_have_cudas_numbers(name, number):
    assert ATTRIBUTES[f"cudaDevAttr{name}"] == number
    assert attribute(number) > 0


def test_attributes_that_a_kernel_author_relies_on():
    assert attribute(PyGPU.cudaDevAttrWarpSize) in (32, 64)
    assert attribute(PyGPU.cudaDevAttrMaxThreadsPerBlock) >= 1024
    assert attribute(PyGPU.cudaDevAttrMaxSharedMemoryPerBlock) >= 48 << 10
    assert attribute(PyGPU.cudaDevAttrMaxGridDimX) == 2**31 - 1


@pytest.mark.parametrize("number", [0, -1, 9999])
def test_an_unknown_attribute(number):
    assert PyGPU.cudaDeviceGetAttribute(number, 0)[1] == 1


@pytest.mark.parametrize("device", NO_SUCH_DEVICES)
def test_an_attribute_of_a_device_that_is_not_there(device):
    assert PyGPU.cudaDeviceGetAttribute(PyGPU.cudaDevAttrWarpSize, device)[1] == 101


def test_attribute_arguments_are_ints():
    with pytest.raises(TypeError, match="attribute"):
        PyGPU.cudaDeviceGetAttribute("WarpSize", 0)
    with pytest.raises(TypeError, match="device"):
        PyGPU.cudaDeviceGetAttribute(10, None)


# PCI.


@pytest.mark.parametrize("device", range(COUNT))
def test_the_pci_id_leads_back_to_the_device(device):
    name, status = PyGPU.cudaDeviceGetPCIBusId(device)
    assert status == 0
    assert re.fullmatch(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", name, re.IGNORECASE)
    assert PyGPU.cudaDeviceGetByPCIBusId(name) == (device, 0)


@pytest.mark.parametrize("device", NO_SUCH_DEVICES)
def test_the_pci_id_of_a_device_that_is_not_there(device):
    assert PyGPU.cudaDeviceGetPCIBusId(device) == ("", 101)


def test_a_pci_id_that_leads_nowhere():
    assert PyGPU.cudaDeviceGetByPCIBusId("no such id")[1] in (1, 101)
    assert PyGPU.cudaDeviceGetByPCIBusId("0fff:fe:1f.0")[1] in (1, 101)
    with pytest.raises(TypeError, match="id"):
        PyGPU.cudaDeviceGetByPCIBusId(0)


# Limits and settings.


@pytest.mark.parametrize("name", ["StackSize", "PrintfFifoSize", "MallocHeapSize"])
def test_limits_have_a_value(name):
    value, status = PyGPU.cudaDeviceGetLimit(getattr(PyGPU, f"cudaLimit{name}"))
    assert status == 0 and value > 0


@pytest.mark.skipif((0, 0) < needs.HIP < (5, 3), reason="HIP sets limits since 5.3")
def test_a_limit_can_be_set():
    before, _ = PyGPU.cudaDeviceGetLimit(PyGPU.cudaLimitStackSize)
    assert PyGPU.cudaDeviceSetLimit(PyGPU.cudaLimitStackSize, 4096) == 0
    assert PyGPU.cudaDeviceGetLimit(PyGPU.cudaLimitStackSize) == (4096, 0)
    assert PyGPU.cudaDeviceSetLimit(PyGPU.cudaLimitStackSize, before) == 0


def test_an_unknown_limit():
    assert PyGPU.cudaDeviceGetLimit(9999)[1] == 1
    assert PyGPU.cudaDeviceSetLimit(9999, 1) == 1


def test_cache_config():
    before, status = PyGPU.cudaDeviceGetCacheConfig()
    assert status == 0 and before in range(4)
    assert PyGPU.cudaDeviceSetCacheConfig(PyGPU.cudaFuncCachePreferL1) == 0
    assert PyGPU.cudaDeviceGetCacheConfig()[0] in range(4)  # a wish: the device may know no choice
    assert PyGPU.cudaDeviceSetCacheConfig(before) == 0
    assert PyGPU.cudaDeviceSetCacheConfig(99) == 1


def test_flags(python):
    flags, status = PyGPU.cudaGetDeviceFlags()
    assert status == 0 and flags & PyGPU.cudaDeviceMapHost
    assert PyGPU.cudaSetDeviceFlags(1 << 20) == 1
    python("""
import PyGPU
assert PyGPU.cudaSetDeviceFlags(PyGPU.cudaDeviceScheduleBlockingSync) == 0
flags, status = PyGPU.cudaGetDeviceFlags()
assert status == 0 and flags & 7 == PyGPU.cudaDeviceScheduleBlockingSync, flags
""")


def test_stream_priorities():
    least, greatest, status = PyGPU.cudaDeviceGetStreamPriorityRange()
    assert status == 0 and greatest <= 0 <= least


@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (PyGPU.cudaDeviceGetLimit, ("stack",), "limit"),
        (PyGPU.cudaDeviceSetLimit, (0, "big"), "value"),
        (PyGPU.cudaDeviceSetLimit, (0, -1), "value"),
        (PyGPU.cudaDeviceSetCacheConfig, ("L1",), "config"),
        (PyGPU.cudaSetDeviceFlags, (-1,), "flags"),
        (PyGPU.cudaDeviceCanAccessPeer, (0, "1"), "peer"),
        (PyGPU.cudaDeviceGetP2PAttribute, ("rank", 0, 1), "attribute"),
        (PyGPU.cudaDeviceGetP2PAttribute, (1, None, 1), "device"),
        (PyGPU.cudaDeviceGetP2PAttribute, (1, 0, "1"), "peer"),
        (PyGPU.cudaDeviceEnablePeerAccess, (None,), "peer"),
        (PyGPU.cudaDeviceDisablePeerAccess, (1.5,), "peer"),
    ],
)
def test_wrong_types_are_named(call, arguments, name):
    with pytest.raises(TypeError, match=name):
        call(*arguments)


# Memory, versions, peers.


@pytest.mark.alone
def test_memory_info_follows_an_allocation():
    free, total, status = PyGPU.cudaMemGetInfo()
    assert status == 0 and 0 < free <= total
    address, status = PyGPU.cudaMalloc(64 << 20)
    assert status == 0
    less, same, status = PyGPU.cudaMemGetInfo()
    assert status == 0 and less <= free - (64 << 20) and same == total
    assert PyGPU.cudaFree(address) == 0
    assert PyGPU.cudaMemGetInfo()[0] >= less + (64 << 20)


def test_versions():
    runtime, status = PyGPU.cudaRuntimeGetVersion()
    assert status == 0
    driver, status = PyGPU.cudaDriverGetVersion()
    assert status == 0
    if not PyGPU.use_hip:
        assert 11020 <= runtime < 100000 and runtime // 1000 <= driver // 1000


def test_a_device_is_not_its_own_peer():
    assert PyGPU.cudaDeviceCanAccessPeer(0, 0) == (0, 0)
    assert PyGPU.cudaDeviceGetP2PAttribute(PyGPU.cudaDevP2PAttrAccessSupported, 0, 0)[1] == 101
    assert PyGPU.cudaDeviceEnablePeerAccess(0) == 217


@pytest.mark.parametrize("device", NO_SUCH_DEVICES)
def test_peers_that_are_not_there(device):
    assert PyGPU.cudaDeviceCanAccessPeer(0, device)[1] == 101
    assert PyGPU.cudaDeviceCanAccessPeer(device, 0)[1] == 101
    for pair in ((0, device), (device, 0)):
        assert PyGPU.cudaDeviceGetP2PAttribute(PyGPU.cudaDevP2PAttrAccessSupported, *pair)[1] == 101
    assert PyGPU.cudaDeviceEnablePeerAccess(device) == 101
    assert PyGPU.cudaDeviceDisablePeerAccess(device) == 101
