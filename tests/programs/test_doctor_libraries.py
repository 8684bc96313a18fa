"""python -m PyGPU doctor: toolkits, compilers, the driver and MPI, in made-up folders."""

from types import SimpleNamespace

import needs
import pytest
from doctor_tools import doctor, made, the_fault

from PyGPU._compile.compilers import host_compiler
from PyGPU._tools import doctor_devices as devices
from PyGPU._tools import doctor_toolkits as toolkits
from PyGPU._tools.findings import VENDORS, Finding, of_error

pytestmark = pytest.mark.no_device

NVIDIA, AMD = VENDORS


# Toolkits, libraries, compilers.


@pytest.mark.parametrize("name", ["CUDA_HOME", "ROCM_PATH"])
def test_a_toolkit_that_is_not_there(name):
    unset = "unset CUDA_PATH CUDA_HOME ROCM_PATH HIP_PATH;"
    rows = doctor("--only", "libraries.variables", before=f"{unset} export {name}=/none;")
    row = the_fault(rows)
    assert f"{name}='/none': there is no such folder" in row["found"]
    assert row["remedy"].startswith("Correct the variable, or unset it")


@pytest.mark.parametrize(("name", "toolkit"), [("CUDA_HOME", "CUDA"), ("ROCM_PATH", "ROCm")])
def test_a_folder_that_is_no_toolkit(name, toolkit, tmp_path):
    unset = "unset CUDA_PATH CUDA_HOME ROCM_PATH HIP_PATH;"
    before = f"{unset} export {name}={tmp_path};"
    row = the_fault(doctor("--only", "libraries.variables", before=before))
    assert f"{name}='{tmp_path}': there is no lib" in row["found"]
    assert toolkit in row["remedy"] and "unset it" in row["remedy"]


def test_two_toolkits(tmp_path, monkeypatch):
    made(tmp_path, "12/bin/nvcc", "13/lib64/libnvrtc.so.13")
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "12"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "13"))
    found = next(one for one in toolkits.variables() if one.state == "WARN")
    assert "CUDA_PATH counts" in found.found and "CUDA_HOME" in found.remedy
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "12"))
    assert not [one for one in toolkits.variables() if "counts" in one.found]


def test_several_versions_of_a_library(tmp_path, monkeypatch):
    made(tmp_path / "a", "libamdhip64.so.6.4.43484", "libamdhip64.so.txt")
    made(tmp_path / "b", "libamdhip64.so.7.2.1")
    (tmp_path / "a" / "libamdhip64.so").symlink_to("libamdhip64.so.6.4.43484")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/a:{tmp_path}/b:")
    found = next(one for one in toolkits.duplicates() if str(tmp_path) in one.found)
    assert found.state == "WARN" and "ROCM_PATH" in found.remedy
    assert found.found.count(f"{tmp_path}/a") == 1, "a link is no copy"
    one_version = toolkits.copies("libx", [made(tmp_path, "libx.so.12") + "/libx.so.12"] * 2)
    (found,) = toolkits.duplicate(NVIDIA, one_version)
    assert found == Finding("OK", f"{tmp_path}/libx.so.12")
    same = ["/pip/libnvrtc.so.12", "/usr/libnvrtc.so.12.4.127"]
    assert [one.state for one in toolkits.duplicate(NVIDIA, same)] == ["OK"]
    assert not [*toolkits.duplicate(NVIDIA, [])]


def test_stubs(tmp_path, monkeypatch):
    folder = made(tmp_path / "stubs", "libcuda.so")
    monkeypatch.setenv("LD_LIBRARY_PATH", folder)
    (found,) = toolkits.stubs()
    assert found.state == "WARN" and folder in found.found and "LIBRARY_PATH" in found.remedy
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert [one.state for one in toolkits.stubs()] == ["OK"]


@pytest.mark.parametrize(
    ("environment", "cause"),
    [
        ({"PATH": "", "PYGPU_HOST_CXX": ""}, "is on PATH, which is empty"),
        ({"PYGPU_HOST_CXX": "/none/g++"}, "PYGPU_HOST_CXX=/none/g++ is not found"),
    ],
)
def test_no_compiler(environment, cause):
    for name in ("compilers.versions", "devices.kernel"):
        row = the_fault(doctor("--only", name, expect=1, **environment))
        assert cause in row["found"] and row["state"] == "FAIL"
        assert row["remedy"] == host_compiler.REMEDY


def test_a_compiler_that_does_not_work(tmp_path):
    compiler = tmp_path / "g++"
    compiler.write_text("#!/bin/sh\necho no cc1plus >&2\nexit 1\n")
    compiler.chmod(0o755)
    rows = doctor("--only", "devices.kernel", expect=1, PYGPU_HOST_CXX=str(compiler))
    row = the_fault(rows)
    assert "does not compile" in row["found"] and "no cc1plus" in row["found"]
    compiler.write_text("#!/bin/sh\nkill -9 $$\n")
    row = the_fault(doctor("--only", "devices.kernel", expect=1, PYGPU_HOST_CXX=str(compiler)))
    assert row["found"].count("killed by signal 9") == 1 and "`limits`" in row["remedy"]


def test_the_age_of_a_compiler():
    assert toolkits.age(NVIDIA, "/x", (12, 4)).state == "OK"
    found = toolkits.age(AMD, "/x", (5, 1))
    assert "hiprtc 5.1: /x is too old" in found.found and "PYGPU_HIPRTC" in found.remedy
    assert not [*devices.compiler(NVIDIA, (12, 8), (12, 4))]
    assert not [*devices.compiler(AMD, (9, 0), (6, 4))], "HIPRTC reports no version"
    (found,) = devices.compiler(NVIDIA, (13, 0), (12, 4))
    assert "newer than the driver" in found.found and "PYGPU_NVRTC" in found.remedy


def test_errors_end_with_their_remedies():
    text = "X='/y' names no x.so. It is not found. Install x.y, or z"
    assert of_error(True, OSError(text)) == (
        "FAIL",
        "X='/y' names no x.so. It is not found",
        "Install x.y, or z.",
    )
    assert "report" in of_error(False, OSError("plain")).remedy


# The runtime and its devices.


def test_a_driver_that_is_too_old():
    found = devices.judged(13000, 12040, 35, "/usr/lib/libcuda.so.1")
    assert "runtime 13.0, driver for 12.4, /usr/lib/libcuda.so.1" in found.found
    assert found.state == "FAIL" and "driver for version 13.0" in found.remedy
    assert devices.judged(12080, 12040, 0, None).state == "WARN"
    assert devices.judged(12080, 13000, 0, None).state == "OK"
    found = devices.judged(60443484, 60443484, 0, None)
    assert found == Finding("OK", "runtime 6.4, driver for 6.4")


@pytest.mark.parametrize(
    "module", ["Kernel Module  550.54.15", "Kernel Module for x86_64  550.54.15"]
)
def test_a_driver_that_was_updated(tmp_path, module):
    made(tmp_path, "libcuda.so.555.42.02", "libcuda.so.550.54.15", "/proc/driver/nvidia/version")
    text = f"NVRM version: NVIDIA UNIX Open {module}  Release Build\nGCC version: gcc 12\n"
    (tmp_path / "proc/driver/nvidia/version").write_text(text)
    (tmp_path / "libcuda.so.1").symlink_to("libcuda.so.555.42.02")
    message = devices.driver_mismatch(str(tmp_path), str(tmp_path / "libcuda.so.1"))
    assert "of driver 555.42.02, the loaded kernel module of 550.54.15" in message
    same = str(tmp_path / "libcuda.so.550.54.15")
    assert devices.driver_mismatch(str(tmp_path), same) is None
    assert devices.driver_mismatch(str(tmp_path / "none"), same) is None


def test_a_slow_link():
    assert devices.speed(0, [25.0, 25.0], [9.0, 0.5]).state == "OK"
    found = devices.speed(3, [0.8, 25.0], [0.7, 9.0])
    assert found.state == "WARN" and "device 3: page-locked 0.8 GB/s" in found.found


def test_several_devices():
    rows = doctor("--only", "devices", PYGPU_HOST_DEVICES="2")
    for name in ("memory", "bandwidth", "kernel"):
        own = [row["found"][:8] for row in rows if row["check"] == f"devices.{name}"]
        assert own == ["device 0", "device 1"]


# MPI.


def test_an_mpi_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(toolkits.importlib.util, "find_spec", lambda name: None)
    assert not [*toolkits.device_memory()]


def test_an_mpi_whose_library_is_missing(monkeypatch):
    def refused(name):
        raise RuntimeError("cannot load MPI library\nlibmpi.so: no such file")

    monkeypatch.setattr(toolkits, "OWN", AMD)
    monkeypatch.setattr(toolkits.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(toolkits.importlib, "import_module", refused)
    (found,) = toolkits.device_memory()
    assert found.state == "WARN" and found.found.endswith("cannot load MPI library")


def test_what_an_mpi_reports(monkeypatch):
    for name in toolkits._MPI_SWITCHES:
        monkeypatch.delenv(name, raising=False)
    yes = SimpleNamespace(MPIX_Query_cuda_support=lambda: 1, MPIX_Query_rocm_support=lambda: 0)
    assert (
        toolkits.mpi_support(NVIDIA, yes, "") is True
        and toolkits.mpi_support(AMD, yes, "") is False
    )
    assert toolkits.mpi_support(AMD, yes, "mca:accelerator:rocm:version:5.0") is True
    assert toolkits.mpi_support(AMD, None, "") is None
    monkeypatch.setenv("MPICH_GPU_SUPPORT_ENABLED", "1")
    assert toolkits.mpi_support(AMD, None, "") is True
    states = [toolkits.judged("MPI", one).state for one in (True, False, None)]
    assert states == ["OK", "WARN", "WARN"]
    assert toolkits.judged("MPI", False).found == "MPI: it does not accept device memory"
    assert "unknown whether it accepts" in toolkits.judged("MPI", None).found


def test_an_mpi_that_is_installed():
    needs.module("mpi4py.MPI")
    rows = doctor("--only", "mpi.")
    assert [row["state"] for row in rows] == ["OK"]
