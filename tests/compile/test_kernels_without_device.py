"""Kernels on a machine without a GPU: images for a named architecture, and errors for the rest."""

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import driver as drv
from PyGPU import errors
from PyGPU._compile.compilers import device_names
from PyGPU.compiler import DynamicModule, SourceModule, compile
from PyGPU.elementwise import get_axpbyz_kernel

pytestmark = pytest.mark.no_device

without_device = pytest.mark.skipif(
    PyGPU.cudaGetDeviceCount()[0] > 0, reason="this machine has a device for the target in use"
)

# No device (100), or a driver that is missing or too old (35).
CODES = {"cuda": (35, 100), "hip": (100, 101), "host": ()}[PyGPU.target]


@pytest.fixture
def has_compiler():
    """Require the run-time compiler of the target."""
    if PyGPU.target != "host":
        needs.compiler({"cuda": "nvrtc", "hip": "hiprtc"}[PyGPU.target])


KERNEL = "__global__ void f(int *x) { *x = 1; }"
NEED_A_DEVICE = {
    "SourceModule": lambda: SourceModule(KERNEL),
    "compile": lambda: compile(KERNEL),
    "DynamicModule": lambda: DynamicModule().add_source(KERNEL).link(),
    "module_from_buffer": lambda: drv.module_from_buffer(compile(KERNEL, arch=ARCHITECTURE)),
    "a getter of kernels": lambda: get_axpbyz_kernel(np.float32, np.float32, np.float32),
}
ARCHITECTURE = {"cuda": "sm_90", "hip": "gfx90a", "host": "sm_90"}[PyGPU.target]


@without_device
@pytest.mark.parametrize("call", NEED_A_DEVICE)
def test_kernels_fail_with_the_environments_error(call, has_compiler):
    with pytest.raises(errors.RuntimeError) as caught:
        NEED_A_DEVICE[call]()
    assert caught.value.status.code in CODES


@without_device
def test_images_for_named_architectures_need_no_device(has_compiler):
    assert compile(KERNEL, arch=ARCHITECTURE)
    DynamicModule(arch=ARCHITECTURE).add_source(KERNEL)


@pytest.mark.parametrize("name", ["nothing", "nothing.sm_90.cubin", "no/folder"])
def test_a_missing_file_is_missing_without_a_device_too(monkeypatch, tmp_path, name):
    def fail():
        raise AssertionError("the device is asked")

    monkeypatch.setattr(device_names, "device_image", fail)
    with pytest.raises(errors.RuntimeError, match=r"module_from_file failed: .*No such file"):
        drv.module_from_file(tmp_path / name)
