"""The choice of a target, the package's face, and `python -m PyGPU`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from campaign import rare_but

import PyGPU
from PyGPU._runtime import configuration, errors, targets
from PyGPU._runtime.capabilities import Capabilities


def run(*arguments, cwd=None, **environment):
    env = {k: v for k, v in os.environ.items() if k != "PYGPU_TARGET"}
    env.update(environment)
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=120
    )


def test_a_target_asked_for_is_the_one():
    done = run("-W", "error", "-c", "import PyGPU; print(PyGPU.target)", PYGPU_TARGET="host")
    assert done.stdout.strip() == "host", done.stderr


def test_an_unknown_target_is_refused():
    done = run("-c", "import PyGPU", PYGPU_TARGET="metal")
    assert "PYGPU_TARGET='metal': expected one of cuda, hip, host" in done.stderr


def test_a_target_that_is_not_built_is_refused_with_the_remedy():
    missing = [target for target in targets.TARGETS if not targets.is_built(target)]
    if not missing:
        pytest.skip("every target is built in this installation")
    done = run("-c", "import PyGPU", PYGPU_TARGET=missing[0])
    assert "ImportError" in done.stderr
    assert "install with PYBIND_GPU_TARGET=" in done.stderr


def explained(done):
    """What the command said instead of a report; Pythons before 3.10 have a traceback above it."""
    if sys.version_info >= (3, 10):
        assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def test_the_command_explains_what_keeps_it_from_a_target(tmp_path):
    assert "expected one of cuda, hip, host" in explained(run("-m", "PyGPU", PYGPU_TARGET="metal"))
    for missing in [target for target in targets.TARGETS if not targets.is_built(target)]:
        said = explained(run("-m", "PyGPU", "--json", PYGPU_TARGET=missing))
        assert f"PYGPU_TARGET={missing}: this installation has only" in said


@pytest.mark.parametrize("asked", ["", "host"])
def test_a_source_folder_that_hides_the_installed_package(tmp_path, asked):
    package = Path(PyGPU.__file__).parent
    shutil.copytree(package, tmp_path / "PyGPU", ignore=shutil.ignore_patterns("*.so", "include"))
    where = {"cwd": tmp_path, "PYTHONPATH": "", "PYGPU_TARGET": asked}
    said = explained(
        run("-S", "-m", "PyGPU", **where)
    )  # without site, where PyGPU may be installed
    assert "pip install ." in said and "source folder" in said
    (tmp_path / "setup.py").write_text("")
    said = explained(run("-S", "-m", "PyGPU", **where))
    assert f"{tmp_path.resolve()} is the source folder, which hides" in said
    assert "pip install -e ." in said


def test_without_a_gpu_the_host_is_chosen_and_announced_once():
    source = """
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import PyGPU
    import PyGPU.gpuarray
assert PyGPU.target == "host"
assert [w.category for w in seen] == [PyGPU.HostFallbackWarning]
assert "PYGPU_TARGET=host" in str(seen[0].message)
assert seen[0].filename == "<string>", "the warning points to the program's own import"
"""
    hidden = {"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}
    done = run("-c", source, **hidden)
    assert done.returncode == 0, done.stderr


def test_hidden_devices_are_given_as_the_reason(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert targets.why_no_device("cuda") == "CUDA_VISIBLE_DEVICES='' hides every device"
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "-1")
    assert targets.why_no_device("hip") == "ROCR_VISIBLE_DEVICES='-1' hides every device"
    assert targets.why_no_device("host") is None


@pytest.mark.parametrize(
    ("value", "count", "hides"),
    [
        ("0", 2, None),
        ("1,0", 2, None),
        (" 1 , 0", 2, None),
        ("0,-1", 2, None),
        ("0,99", 2, None),
        ("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", 2, None),
        ("MIG-GPU-8932f937/1/2", 2, None),
        ("", 2, "hides every device"),
        (" ", 2, "hides every device"),
        ("-1", 2, "hides every device"),
        ("-1,0", 2, "hides every device"),
        ("none", 2, "hides every device"),
        ("NoDevFiles", 2, "hides every device"),
        (",0", 2, "hides every device"),
        ("2", 2, "hides every device, as there are at most 2 devices to choose from"),
        ("99,0", 1, "hides every device, as there is 1 device to choose from"),
        ("99", 0, None),  # a machine without device nodes, such as WSL
    ],
)
def test_what_hides_devices_from_cuda(monkeypatch, value, count, hides):
    """By NVIDIA's manual: an invalid entry hides itself and all entries after it."""
    found = {"/dev/nvidia[0-9]*": ["/dev/nvidia0"][:count], "/dev/dxg": ["/dev/dxg"]}
    found["/proc/driver/nvidia/gpus/*"] = ["gpu"] * count
    monkeypatch.setattr(targets.glob, "glob", lambda pattern: found.get(pattern, []))
    monkeypatch.setattr(targets, "_loads", lambda library: True)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    message = hides and f"CUDA_VISIBLE_DEVICES={value!r} {hides}"
    assert targets.why_no_device("cuda") == message
    assert targets.hiding("cuda") == (
        message or f"CUDA_VISIBLE_DEVICES={value!r} may hide the devices"
    )


def test_variables_that_may_hide_devices(monkeypatch):
    for name in ("CUDA", "HIP", "ROCR"):
        monkeypatch.delenv(f"{name}_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(targets.glob, "glob", lambda pattern: [])
    monkeypatch.setenv("GPU_DEVICE_ORDINAL", "-1")  # HIP does not read it
    assert targets.hiding("hip") is targets.hiding("cuda") is None
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert targets.hiding("hip") == "CUDA_VISIBLE_DEVICES='1' may hide the devices"
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "2")
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "3")
    values = "ROCR_VISIBLE_DEVICES='3', HIP_VISIBLE_DEVICES='2'"
    assert targets.hiding("hip") == f"{values} may hide the devices"
    assert targets.hiding("cuda") == "CUDA_VISIBLE_DEVICES='1' may hide the devices"
    assert targets.hiding("host") is None


def test_the_error_without_a_device_names_the_variable(monkeypatch):
    no_device = PyGPU.cudaError_t(100)
    monkeypatch.setattr(errors, "hiding", lambda: "HIP_VISIBLE_DEVICES='99' hides every device")
    said = str(errors.exception_of("cudaMalloc", no_device))
    assert said.endswith("without one; HIP_VISIBLE_DEVICES='99' hides every device")
    assert "VISIBLE" not in str(errors.exception_of("cudaMalloc", PyGPU.cudaError_t(2)))


# (ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES), and the variable that hides all
@pytest.mark.parametrize(
    ("values", "hides"),
    [
        ((None, None, None), None),
        ((None, "0", None), None),
        ((None, "2,0", None), None),
        ((None, "1,", None), None),
        ((None, "0,-1", None), None),
        ((None, "GPU-0123456789abcdef", None), None),
        ((None, '"1"', None), None),
        ((None, "", None), "HIP"),
        ((None, " ", None), "HIP"),
        ((None, "-1", None), "HIP"),
        ((None, "-1,0", None), "HIP"),
        ((None, "NoDevFiles", None), "HIP"),
        ((None, " 1", None), "HIP"),
        ((None, "01", None), "HIP"),
        ((None, ",1", None), "HIP"),
        ((None, '1"', None), "HIP"),
        ((None, "0", "-1"), None),
        ((None, "0", ""), None),
        ((None, "-1", "0"), "HIP"),
        ((None, None, "0"), None),
        ((None, None, "-1"), "CUDA"),
        ((None, None, ""), "CUDA"),
        (("0", None, None), None),
        ((" 1 ,0", None, None), None),
        (("0x1", None, None), None),
        (("gpu-DEADBEEF", None, None), None),
        (("", None, None), "ROCR"),
        (("GPU-XX", None, None), "ROCR"),
        (("none", None, None), "ROCR"),
        (("-1", "0", "0"), "ROCR"),
        (("0", "-1", "0"), "HIP"),
        ((None, "3", None), "HIP"),
        ((None, "99", "0"), "HIP"),
        ((None, None, "99,0"), "CUDA"),
        (("0x3", None, None), "ROCR"),
        (("2", None, None), None),
        (("1", "1", None), "HIP"),  # which counts from 0 what the first left
        (("2,1", "1", None), None),
    ],
)
def test_what_hides_devices_from_rocm(monkeypatch, values, hides):
    """The answers are of libamdhip64 5.2 to 7.2, three devices; 5.2 ignores an empty value."""
    monkeypatch.setattr(targets.os.path, "exists", lambda path: path == "/dev/kfd")
    monkeypatch.setattr(targets.glob, "glob", lambda pattern: ["/dev/dri/renderD128"] * 3)
    monkeypatch.setenv("GPU_DEVICE_ORDINAL", "-1")  # OpenCL's
    for name, value in zip(("ROCR", "HIP", "CUDA"), values):
        if value is None:
            monkeypatch.delenv(f"{name}_VISIBLE_DEVICES", raising=False)
        else:
            monkeypatch.setenv(f"{name}_VISIBLE_DEVICES", value)
    why = targets.why_no_device("hip")
    assert why is None if hides is None else why.startswith(f"{hides}_VISIBLE_DEVICES=")


@pytest.mark.parametrize(
    ("asked", "is_known"),
    rare_but(
        [("gfx90a:sramecc+:xnack-", True), ("gfx9-4-generic,gfx1250", True), ("gfx90a:", False)],
        [
            ("gfx908,gfx90a", True),
            ("gfx90a:sramecc+:xnack-", True),
            ("gfx9-4-generic,gfx1250", True),
            ("gfx90a:", False),
            ("gfx", False),
            ("sm_90", False),
        ],
    ),
)
def test_what_setup_takes_for_architectures_of_amd(asked, is_known):
    """Names may have the features that rocminfo prints."""
    pytest.importorskip("pybind11")
    setup = Path(__file__).parents[2] / "setup.py"
    done = run(str(setup), "--version", cwd=setup.parent, PYBIND_GPU_TARGET=asked)
    assert ("expected host, cuda, all, wheel, or AMD" in done.stderr) is not is_known


def test_the_module_explains_itself():
    facts = json.loads(run("-m", "PyGPU", "--json", PYGPU_TARGET=PyGPU.target).stdout)
    assert facts["version"] == PyGPU.__version__
    assert facts["target"] == PyGPU.target
    assert facts["target"] in facts["built"]
    assert set(facts["refused"]) == set(targets.TARGETS) - {PyGPU.target}
    assert len(facts["devices"]) == PyGPU.cudaGetDeviceCount()[0]
    for device in facts["devices"]:
        assert device["name"]
        assert device["memory"] > 0
        assert device["architecture"]
    text = run("-m", "PyGPU", PYGPU_TARGET=PyGPU.target).stdout
    assert f"target in use: {PyGPU.target} (PYGPU_TARGET={PyGPU.target})" in text
    for device in facts["devices"]:
        assert device["name"] in text


def test_the_module_names_the_variable_that_hides_the_devices(monkeypatch, capsys):
    facts = {**configuration.facts(), "devices": [], "status": {"code": 100, "name": "none"}}
    configuration.show({**facts, "hiding": "CUDA_VISIBLE_DEVICES='99' may hide the devices"})
    assert "no devices: none (100)\n  CUDA_VISIBLE_DEVICES='99' may" in capsys.readouterr().out
    if facts["hiding"] is None:
        configuration.show(facts)
        assert "VISIBLE_DEVICES" not in capsys.readouterr().out


def test_importing_creates_no_context():
    """The runtime is not touched: a child forked after the import is free to use it."""
    source = """
import os, PyGPU
child = os.fork()
if child == 0:
    os._exit(PyGPU.cudaGetDeviceCount()[1].code)
print(os.WEXITSTATUS(os.waitpid(child, 0)[1]))
"""
    done = run("-c", source, PYGPU_TARGET=PyGPU.target)
    assert done.stdout.strip() == "0", done.stderr


def test_the_face_of_the_package():
    assert PyGPU.target in targets.TARGETS
    assert PyGPU.cuda_enabled is (PyGPU.target != "host")
    assert PyGPU.use_hip is (PyGPU.target == "hip")
    assert PyGPU.VERSION == (PyGPU.major_version, PyGPU.minor_version, PyGPU.release_version)
    text, status = PyGPU.VERSION_TEXT, PyGPU.VERSION_STATUS
    assert text == PyGPU.__version__ == ".".join(map(str, PyGPU.VERSION)) + status
    assert os.path.isfile(os.path.join(PyGPU.get_include(), "PyGPU", "gpu.h"))
    assert os.path.isfile(os.path.join(PyGPU.get_library_dir(), "libPyGPU_host.so"))


def test_hip_names_stand_beside_cuda_names_on_hip():
    assert hasattr(PyGPU, "hipGetDeviceCount") is (PyGPU.target == "hip")


def test_the_names_that_come_by_a_star():
    """The low level and the package's own names, without imports and without Python's names."""
    source = """
import builtins, sys
before = {*globals(), "before"}
from PyGPU import *
names = globals().keys() - before
import PyGPU
assert sorted(names) == sorted(PyGPU.__all__), names ^ {*PyGPU.__all__}
assert len({*PyGPU.__all__}) == len(PyGPU.__all__)
assert not names & {"annotations", "transfer", *dir(builtins)}
assert "PyGPU.transfer" not in sys.modules
public = {name for name in vars(PyGPU) if not name.startswith("_")}
assert public - names == {"annotations"}, public - names
for dtype in SUPPORTED_DTYPES:
    for kind in ("DeviceArray", "pointer_wrapper", "DeviceAllocator", "HostAllocator"):
        assert f"{kind}_{dtype}" in names
assert {name for name in dir(PyGPU._core) if name[0] != "_"} <= names
array = DeviceArray_int64([2, 3])
assert array.allocate() == cudaMemset(array.device_data(), 1, 48) == array.to_host() == 0
assert isinstance(cudaStream_t(), PyGPU.cudaStream_t) and empty(3, "f4").size == 3
assert target == PyGPU.target and errors.check(cudaGetDeviceCount(), "") >= 1
"""
    done = run("-W", "error", "-c", source, PYGPU_TARGET=PyGPU.target)
    assert done.returncode == 0, done.stderr


def test_every_target_has_all_capabilities():
    for target in Capabilities.__subclasses__():
        assert {*Capabilities.__annotations__} <= {*vars(target)}, target
