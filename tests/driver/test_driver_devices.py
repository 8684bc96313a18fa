"""driver.Device: how devices are named, compared, subclassed, asked for attributes; versions."""

import re
import warnings

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU._runtime import settings
from PyGPU.driver import Context, Device

# The module.


def test_init_may_come_again():
    for _ in range(3):
        assert drv.init() is None
    assert drv.init(flags=0) is None


def test_init_knows_no_flags():
    with pytest.raises(drv.LogicError, match="flags=1"):
        drv.init(1)


def test_versions():
    version = drv.get_version()
    assert len(version) == 3 and all(type(part) is int for part in version) and version[0] >= 5
    assert type(drv.get_driver_version()) is int
    assert drv.get_driver_version() >= 1000 * version[0]
    assert drv.have_gl_ext() is False


@pytest.mark.parametrize(
    ("stated", "version"), [("11.8", (11, 8, 0)), ("11", (11, 0, 0)), (" 9.2 ", (9, 2, 0))]
)
def test_a_stated_version(monkeypatch, stated, version):
    monkeypatch.setenv("PYGPU_STATED_CUDA_VERSION", stated)
    assert drv.get_version() == version
    assert drv.get_driver_version() == 1000 * version[0] + 10 * version[1]


def test_a_stated_version_that_is_none(monkeypatch):
    monkeypatch.setattr(settings, "_reported", set())
    right = drv.get_version(), drv.get_driver_version()
    for wrong in ("eleven", "11.8.1", "-11", "11."):
        monkeypatch.setenv("PYGPU_STATED_CUDA_VERSION", wrong)
        with pytest.warns(PyGPU.SettingWarning, match=f"PYGPU_STATED_CUDA_VERSION='{wrong}'"):
            assert (drv.get_version(), drv.get_driver_version()) == right


def test_debugging_is_a_switch():
    assert drv.CUDA_DEBUGGING is False
    try:
        drv.set_debugging()
        assert drv.CUDA_DEBUGGING is True
        drv.set_debugging(False)
        assert drv.CUDA_DEBUGGING is False
        drv.set_debugging(flag=True)
        assert drv.CUDA_DEBUGGING is True
    finally:
        drv.set_debugging(False)


# Devices.


def test_devices_are_counted():
    assert Device.count() == PyGPU.cudaGetDeviceCount()[0] >= 1


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
def test_a_device_by_its_number(kind, device):
    assert Device(kind(0)) == device


@pytest.mark.parametrize("number", [-1, 4096, 2**31, 2**70])
def test_there_is_no_such_device(number):
    with pytest.raises(drv.LogicError, match=str(number)):
        Device(number)


def test_what_names_no_device():
    for number in (1.5, None, [0], b"0"):
        with pytest.raises(TypeError):
            Device(number)


def test_a_device_by_its_bus_id(device):
    bus_id = device.pci_bus_id()
    assert re.fullmatch(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9]", bus_id)
    assert Device(bus_id) == device
    number = device.get_attribute(drv.device_attribute.PCI_BUS_ID)
    assert int(bus_id.split(":")[1], 16) == number


@pytest.mark.parametrize("bus_id", ["", "junk", "ffff:ff:1f.7"])
def test_there_is_no_such_bus_id(bus_id):
    with pytest.raises(drv.LogicError, match=re.escape(repr(bus_id))):
        Device(bus_id)


def test_what_a_device_says_of_itself(device):
    assert isinstance(device.name(), str) and device.name() != ""
    major, minor = device.compute_capability()
    assert device.get_attribute(drv.device_attribute.COMPUTE_CAPABILITY_MAJOR) == major
    assert device.get_attribute(drv.device_attribute.COMPUTE_CAPABILITY_MINOR) == minor
    assert type(device.total_memory()) is int
    assert device.total_memory() >= drv.mem_get_info()[0] > 0


def test_devices_are_values(device):
    same = Device(0)
    assert device == same and not device != same
    assert hash(device) == hash(same) == 0
    assert device != 0 and device != "0" and device is not None
    assert {device: "first"}[same] == "first"
    assert repr(device) == f"<Device 0: {device.name()}>"


def test_devices_can_be_subclassed(device):
    class Named(Device):
        def __init__(self, number, label):
            super().__init__(number)
            self.label = label

        def compute_capability(self):
            return 99, 0

    mine = Named(0, "mine")
    assert mine == device and hash(mine) == hash(device) and mine.label == "mine"
    assert mine.compute_capability() == (99, 0)
    assert mine.name() == device.name() and mine.WARP_SIZE == device.warp_size
    made = mine.make_context()
    assert Context.get_device().label == "mine"
    made.pop()


# Attributes.


def test_attributes_by_member_number_and_name(device):
    warp = device.get_attribute(drv.device_attribute.WARP_SIZE)
    assert type(warp) is int and warp in (32, 64)
    assert warp == device.get_attribute(10) == device.warp_size == device.WARP_SIZE
    assert device.max_threads_per_block == device.get_attribute(1) >= warp
    assert device.SHARED_MEMORY_PER_BLOCK == device.MAX_SHARED_MEMORY_PER_BLOCK > 0
    assert device.max_grid_dim_x >= 65535 and device.multiprocessor_count >= 1


@pytest.mark.parametrize("name", ["no_such_thing", "_warp_size", "WARPSIZE"])
def test_unknown_shortcuts(device, name):
    with pytest.raises(AttributeError, match=name):
        getattr(device, name)


def test_unknown_attributes(device):
    with pytest.raises(drv.LogicError, match="99999"):
        device.get_attribute(99999)
    for bad in (None, 1.5, [10]):
        with pytest.raises(TypeError):
            device.get_attribute(bad)


def test_the_compute_mode_is_a_member(device):
    mode = device.get_attribute(drv.device_attribute.COMPUTE_MODE)
    assert isinstance(mode, drv.compute_mode) and device.compute_mode is mode


def test_all_attributes_at_once(device):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = device.get_attributes()
    missing = set(drv.device_attribute) - set(found)
    is_hip = PyGPU.target == "hip"  # which has about half of them, and says nothing of the others
    told = set() if is_hip else missing
    assert len(caught) == len(told) and len(found) > (60 if is_hip else 80)
    for attribute in told:
        assert any(attribute.name in str(warning.message) for warning in caught)
    assert all(isinstance(member, drv.device_attribute) for member in found)
    assert all(isinstance(value, int) for value in found.values())
    assert found[drv.device_attribute.WARP_SIZE] == device.warp_size


# Peers.


def test_a_device_is_not_its_own_peer(device):
    assert device.can_access_peer(device) is False
    assert device.can_access_peer(dev=Device(0)) is False
    for bad in (None, 0, "0"):
        with pytest.raises(TypeError):
            device.can_access_peer(bad)
