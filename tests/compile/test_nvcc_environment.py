"""NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS, which nvcc reads besides its options."""

import needs
import numpy as np
import pytest
from everywhere import by_backend
from writing_kernels import WRITE, written

import PyGPU
from PyGPU import gpuarray
from PyGPU._compile.compilers import build as _build
from PyGPU._compile.compilers import cuda
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel

PREPEND, APPEND = "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in (PREPEND, APPEND):
        monkeypatch.delenv(name, raising=False)


def test_they_stand_around_the_options(monkeypatch):
    """The last of two definitions counts; the same text and options give another image."""
    for prepended, options, appended, value in [
        ("-DVALUE=1", [], None, 1),
        ("-DVALUE=2", [], None, 2),
        (None, [], "-DVALUE=3 -O1", 3),
        ("-DVALUE=1", ["-UVALUE", "-DVALUE=4"], None, 4),
        (None, ["-DVALUE=4"], "-UVALUE -DVALUE=5", 5),
        ("-DONE=1", ["-DTWO=2"], '-DTHREE=3 "-DVALUE=(ONE + TWO + THREE)"', 6),
        ("", ["-DVALUE=7"], "", 7),
    ]:
        for name, text in ((PREPEND, prepended), (APPEND, appended)):
            monkeypatch.delenv(name, raising=False)
            if text is not None:
                monkeypatch.setenv(name, text)
        assert written(SourceModule(WRITE, options=options)) == value


def test_folders_of_headers(monkeypatch, tmp_path):
    folder = tmp_path / "two words"
    folder.mkdir()
    (folder / "own.h").write_text("#define VALUE 9\n")
    monkeypatch.setenv(APPEND, f"-I '{folder}' --pre-include own.h")
    assert written(SourceModule(WRITE)) == 9


def test_kernels_by_expression(monkeypatch):
    monkeypatch.setenv(PREPEND, "-DSTEP=3")
    x = gpuarray.zeros(4, np.int32)
    ElementwiseKernel("int *x", "x[i] = STEP * i")(x)
    assert x.get().tolist() == [0, 3, 6, 9]


def test_operators_of_arrays_are_ours(monkeypatch):
    monkeypatch.setenv(APPEND, "-Dfloat=double -DT=nonsense")
    x = gpuarray.zeros(5, np.float32)
    assert ((x + 1.25) * 3).get().tolist() == [3.75] * 5


def test_unbalanced_quotes(monkeypatch):
    monkeypatch.setenv(APPEND, "-DA='1")
    with pytest.raises(ValueError, match=r"NVCC_APPEND_FLAGS=.*No closing quotation"):
        SourceModule("__global__ void f() {}")


ARCHITECTURES = [
    ("sm_80", (9, 0), "compute_80"),
    ("sm_75", (12, 0), "compute_75"),
    ("sm_90", (9, 0), "sm_90"),
    ("sm_80", (8, 9), "sm_80"),
    ("sm_100", (12, 0), "compute_100"),
    ("sm_120", (12, 0), "sm_120"),
    ("sm_90", (8, 0), "sm_90"),  # for another machine
    ("sm_90a", (10, 0), "sm_90a"),  # of no use on any other device
    ("compute_80", (9, 0), "compute_80"),
    ("sm_80", None, "sm_80"),
]


@pytest.mark.no_device
@pytest.mark.parametrize("arch, device, expected", ARCHITECTURES)
def test_older_architectures(arch, device, expected):
    assert cuda.loadable(arch, device) == expected


@pytest.mark.no_device
def test_the_text_of_an_older_architecture(monkeypatch):
    """What is made for a device that could not load the image of its architecture."""
    needs.compiler("nvrtc")
    request = _build.Request("__global__ void f(int *x) { *x = 1; }", cache_dir=False, loads=True)
    images = {}
    for device in ((9, 0), (7, 5)):
        monkeypatch.setattr(_build, "_device", lambda *_, device=device: device)
        images[device] = by_backend("cuda", request, (), "sm_75").image
    assert b".target sm_75" in images[9, 0] and b".entry f" in images[9, 0]
    assert images[7, 5].startswith(b"\x7fELF")


def test_a_kernel_for_an_older_device_runs(monkeypatch):
    if PyGPU.target != "cuda":
        pytest.skip("the driver of NVIDIA translates PTX")
    assert written(SourceModule(WRITE, arch="sm_75", options=["-DVALUE=75"])) == 75
    assert written(SourceModule(WRITE, options=["-arch=sm_75", "-DVALUE=76"])) == 76
    monkeypatch.setenv(APPEND, "-arch=sm_75 -DVALUE=77")
    assert written(SourceModule(WRITE, arch=_build.device_architecture())) == 77
