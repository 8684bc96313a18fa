"""Where the vendors' libraries and headers are looked for: every part of PyGPU finds the same."""

import os

import pytest

from PyGPU._compile.compilers import libraries
from PyGPU._random import curand

pytestmark = pytest.mark.no_device

TOOLKITS = {
    "nvrtc": ("nvcc", ("CUDA_PATH", "CUDA_HOME")),
    "hiprtc": ("hipcc", ("ROCM_PATH", "HIP_PATH")),
}


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """Nothing says where a toolkit is."""
    for _, variables in TOOLKITS.values():
        for name in variables:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr("sys.path", [])
    return tmp_path


def toolkit(root, program):
    """A folder that looks like a toolkit's."""
    for sub in ("bin", "lib64", "include"):
        (root / sub).mkdir(parents=True)
    (root / "bin" / program).touch(0o755)
    return root


@pytest.mark.parametrize("prefix", TOOLKITS)
def test_a_toolkit_on_the_path(prefix, bare, monkeypatch):
    program, _ = TOOLKITS[prefix]
    root = toolkit(bare / "own", program)
    assert not any(str(root) in folder for folder in libraries.folders(prefix))
    monkeypatch.setenv("PATH", os.pathsep.join([str(bare / "nothing"), str(root / "bin")]))
    assert libraries.folders(prefix)[0] == str(root / "lib64")
    assert libraries.include_folders(prefix)[0] == str(root / "include")


@pytest.mark.parametrize("prefix", TOOLKITS)
def test_variables_come_first(prefix, bare, monkeypatch):
    program, variables = TOOLKITS[prefix]
    monkeypatch.setenv("PATH", str(toolkit(bare / "own", program) / "bin"))
    for name in variables[::-1]:
        monkeypatch.setenv(name, str(bare / name))
        assert libraries.folders(prefix)[0] == str(bare / name / "lib64")
        assert libraries.include_folders(prefix)[0] == str(bare / name / "include")


def test_wheels_of_nvidia_come_last(bare, monkeypatch):
    monkeypatch.setattr("sys.path", ["", str(bare)])
    for sub in ("lib", "include"):
        (bare / "nvidia" / "curand" / sub).mkdir(parents=True)
    assert libraries.folders("nvrtc")[-1] == str(bare / "nvidia" / "curand" / "lib")
    assert libraries.include_folders("nvrtc")[-1] == str(bare / "nvidia" / "curand" / "include")
    assert not any("nvidia" in folder for folder in libraries.folders("hiprtc"))


@pytest.mark.parametrize(
    ("vendor", "program", "name"),
    [("curand", "nvcc", "libcurand.so.10"), ("rocrand", "hipcc", "librocrand.so.1")],
)
def test_random_numbers_are_those_of_the_toolkit_on_the_path(
    vendor, program, name, bare, monkeypatch
):
    root = toolkit(bare / "own", program)
    (root / "lib64" / name).touch()
    monkeypatch.setenv("PATH", str(root / "bin"))
    tried = []

    def load(path):
        tried.append(path)
        raise OSError(path)

    monkeypatch.setattr(curand.ctypes, "CDLL", load)
    assert curand.library.__wrapped__(vendor) is None
    assert tried[0] == str(root / "lib64" / name)
    assert tried[-2:] == [name, name.rpartition(".")[0]]  # where the system looks
