"""A GPU target on a machine without its GPU: the right codes and exceptions, at once."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import PyGPU
from PyGPU import errors

pytestmark = pytest.mark.no_device

without_device = pytest.mark.skipif(
    PyGPU.cudaGetDeviceCount()[0] > 0, reason="this machine has a device for the target in use"
)

# No device (100), or a driver that is missing or too old (35).
CODES = {"cuda": (35, 100), "hip": (100, 101), "host": ()}[PyGPU.target]


@without_device
def test_counting_devices_finds_none():
    count, status = PyGPU.cudaGetDeviceCount()
    assert count == 0
    assert status.code in CODES
    assert status


@without_device
def test_low_level_calls_answer_with_the_code_of_that_fact():
    assert PyGPU.cudaMalloc(64)[1].code in CODES
    assert PyGPU.cudaSetDevice(0).code in CODES
    assert PyGPU.cudaDeviceSynchronize().code in CODES
    assert PyGPU.cudaStream_t().last_status().code in CODES
    assert PyGPU.cudaEvent_t().last_status().code in CODES
    assert PyGPU.cudaMemGetInfo()[-1].code in CODES
    assert PyGPU.cudaDeviceProp(0).last_status().code in CODES


@without_device
def test_device_arrays_fail_with_a_status():
    values = np.arange(4)
    array = PyGPU.DeviceArray_int64(values)
    assert array.allocate().code in CODES
    assert array.to_device()
    assert array.to_host()
    assert not array.allocated()
    np.testing.assert_array_equal(values, np.arange(4))


@without_device
@pytest.mark.parametrize("make", [lambda: PyGPU.zeros(3), lambda: PyGPU.to_gpu(np.ones(3))])
def test_arrays_fail_with_the_environments_error(make):
    with pytest.raises(errors.RuntimeError) as caught:
        make()
    assert caught.value.status.code in CODES
    assert "PYGPU_TARGET=host" in str(caught.value)


@without_device
def test_the_error_names_the_variable_that_hides_the_devices(python):
    variable = "HIP_VISIBLE_DEVICES" if PyGPU.use_hip else "CUDA_VISIBLE_DEVICES"
    said = python("import PyGPU; PyGPU.zeros(3)", expect=1, **{variable: "none"}).stderr
    is_hidden = f"{variable}='none' hides every device" in said
    assert is_hidden is ("no GPU is visible" in said)  # the driver may be missing


@without_device
def test_host_memory_needs_no_device():
    allocator = PyGPU.HostAllocator_float64()
    assert not allocator.allocate(5)
    np.testing.assert_array_equal(np.asarray(allocator), np.zeros(5))


IMPORT = """
import sys, numpy
before, seen = set(sys.modules), []
sys.addaudithook(lambda event, arguments: seen.append((event, *map(str, arguments))))
import PyGPU
new = {name for name in sys.modules if name not in before}
packages = sorted({".".join(name.split(".")[:2]) for name in new if name.startswith("PyGPU")})
maps = open("/proc/self/maps").read() if sys.platform == "linux" else ""
print(json.dumps([packages, len(new), seen, maps]))
"""


def test_importing_does_little(python):
    """No process, no driver's or compiler's library, few modules: what makes an import slow."""
    packages, modules, seen, maps = json.loads(python("import json" + IMPORT).stdout)
    events = {event for event, *_ in seen}
    assert "import" in events, "the hook has seen nothing"
    assert not events & {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork", "os.system"}
    loaded = {arguments[0] for event, *arguments in seen if event == "ctypes.dlopen"}
    assert loaded <= {"None"}, "PYGPU_TARGET is set: nothing has to be looked for"
    assert "libnvrtc" not in maps and "libcuda.so" not in maps, "the runtime loads it when called"
    faces = {"PyGPU", "PyGPU.errors", f"PyGPU._{PyGPU.target}"}
    assert set(packages) <= faces | {"PyGPU._arrays", "PyGPU._runtime", "PyGPU._as_pycuda"}
    assert modules <= 80


def test_python_m_works_without_a_device():
    done = subprocess.run(
        [sys.executable, "-m", "PyGPU"],
        env={**os.environ, "PYGPU_TARGET": PyGPU.target},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert f"target in use: {PyGPU.target}" in done.stdout
