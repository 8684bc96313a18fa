"""Compilation ahead of time: python -m PyGPU compile, compile(arch=...), module_from_file."""

import os
import shutil
import subprocess
import sys

import needs
import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import compiler, errors, gpuarray
from PyGPU._compile.cache import image_files
from PyGPU._compile.compile_command import main
from PyGPU._compile.compilers import code_object, device_names

TEXT = """
#include "factor.h"
__global__ void scale(double *a, short n, double factor) {
  int i = threadIdx.x;
  if (i < n) a[i] *= factor * FACTOR;
}
"""
IMAGES = [
    ("nvrtc", "sm_90", "sm_90.cubin"),
    ("nvrtc", "compute_80", "compute_80.ptx"),
    ("hiprtc", "gfx908", "gfx908.hsaco"),
    ("hiprtc", "gfx90a:xnack+", "gfx90a_xnack+.hsaco"),
]


@pytest.fixture
def text(tmp_path):
    """Path of mine.cu, whose header factor.h is in the same folder."""
    (tmp_path / "factor.h").write_text("#ifndef FACTOR\n#define FACTOR 1\n#endif\n")
    path = tmp_path / "mine.cu"
    path.write_text(TEXT)
    return path


def scaled(module):
    """2, as the kernel scales it by 3: numbers of Python's go to parameters by their types."""
    a = gpuarray.to_gpu(np.array([2.0]))
    module.get_function("scale")(a, 1, 3, block=(1, 1, 1))
    return a.get()[0]


def test_the_device_at_hand(text, capsys):
    folder = text.parent / "images"
    assert main([str(text), "-o", str(folder), "-D", "FACTOR=5"]) == 0
    (path,) = folder.iterdir()
    assert capsys.readouterr().out == f"{path}\n"
    assert path.name.startswith("mine.")
    for one in (path, str(path), folder, folder / "mine", str(folder / "mine")):
        for load in (drv.module_from_file, compiler.module_from_file):
            assert scaled(load(one)) == 30
    assert scaled(drv.module_from_buffer(path.read_bytes())) == 30


def test_no_image_for_the_device(text):
    other = "sm_90" if PyGPU.target != "cuda" else "gfx90a"
    suffix = "cubin" if PyGPU.target != "cuda" else "hsaco"
    (text.parent / f"mine.{other}.{suffix}").write_bytes(b"\x7fELF")
    with pytest.raises(errors.RuntimeError) as caught:
        drv.module_from_file(text.parent / "mine")
    assert f"mine.{other}.{suffix}" in str(caught.value)
    assert device_names.device_image() in str(caught.value)


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "arch", "name"), IMAGES, ids=lambda value: value)
def test_devices_that_are_not_here(text, prefix, arch, name):
    needs.compiler(prefix)
    words = [str(text), "--arch", arch, "-o", str(text.parent), "--", "-use_fast_math"]
    assert main(words) == 0
    found = image_files.unpacked((text.parent / f"mine.{name}").read_bytes())
    kinds = [(kind, nbytes) for _, kind, nbytes in found.parameters["scale"]]
    assert kinds == [("Pf8w", 8), ("i", 2), ("f", 8)]
    if prefix == "hiprtc":
        assert [size for *_, size in code_object.parameters(found.image, "scale")] == [8, 2, 8]
    else:
        number = arch.split("_")[1]
        # A cubin has the number of its architecture in the flags of the ELF header.
        where = found.image[48:52] if name.endswith("cubin") else found.image
        assert bytes([int(number)]) in where or number.encode() in where
        assert b"scale" in found.image


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "arch", "name"), IMAGES, ids=lambda value: value)
def test_compile_asks_the_vendor_of_the_architecture(prefix, arch, name):
    needs.compiler(prefix)
    if (PyGPU.target, prefix) == ("host", "nvrtc"):
        pytest.skip("on the host machine, NVIDIA's names stand for the machine")
    image = compiler.compile("__global__ void f(int *a) { *a = 1; }", arch=arch, cache_dir=False)
    assert image.startswith(b"//" if name.endswith("ptx") else b"\x7fELF")
    if prefix == "hiprtc":
        assert [one[1:] for one in code_object.parameters(image, "f")] == [("P", 8)]


def test_nvidias_names_on_the_host_machine():
    if PyGPU.target != "host":
        pytest.skip("about the host machine")
    image = compiler.compile("__global__ void f(int *a) { *a = 1; }", arch="sm_75")
    out = gpuarray.zeros(1, np.int32)
    drv.module_from_buffer(image).get_function("f")(out, block=(1, 1, 1))
    assert out.get()[0] == 1


@pytest.mark.no_device
def test_the_host_machine_everywhere(text):
    """Whatever the target in use, the image is what another process on the host loads."""
    if shutil.which("g++") is None and PyGPU.target != "host":
        needs.program("g++")
    assert main([str(text), "--arch", "host", "-o", str(text.parent), "-DFACTOR=7"]) == 0
    found = image_files.unpacked((text.parent / "mine.host.so").read_bytes())
    assert found.image.startswith(b"\x7fELF") and "scale" in found.parameters


@pytest.mark.no_device
def test_what_does_not_compile(text, capsys):
    text.write_text("__global__ void f() {\n  nonsense();\n}\n")
    assert main([str(text), "--arch", "host", "-o", str(text.parent)]) == 1
    said = capsys.readouterr()
    assert "mine.cu:2" in said.err and "nonsense" in said.err and not said.out
    assert not list(text.parent.glob("mine.host.*"))


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "arch"), [("nvrtc", "sm_90"), ("hiprtc", "gfx908")])
def test_a_missing_compiler(text, python, prefix, arch):
    program = f"""
import contextlib, io
from PyGPU._compile.compile_command import main
said = io.StringIO()
with contextlib.redirect_stderr(said):
    assert main([{str(text)!r}, "--arch", "{arch},host", "-o", {str(text.parent)!r}]) == 1
assert "PYGPU_{prefix.upper()}" in said.getvalue() and "nstall" in said.getvalue(), said.getvalue()
"""
    python(program, **{f"PYGPU_{prefix.upper()}": "/none/such.so"})
    assert (text.parent / "mine.host.so").is_file(), "the other images are made"


@pytest.mark.no_device
def test_templates_and_standards(text):
    text.write_text(
        "template <class T> __global__ void f(T *a) { if constexpr (sizeof(T) == 4) *a = 1; }"
    )
    words = [str(text), "--arch", "host", "-o", str(text.parent), "--std", "c++17"]
    assert main([*words, "--no-extern-c", "--name-expression", "f<int>"]) == 0
    found = image_files.unpacked((text.parent / "mine.host.so").read_bytes())
    assert list(found.names) == ["f<int>"]


@pytest.mark.no_device
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--arch", "banana"], "banana"),
        (["--arch", ""], "expected names"),
        (["--nonsense"], "nonsense"),
        (["none.cu", "--arch", "host"], "none.cu"),
    ],
)
def test_arguments_that_make_no_sense(text, capsys, words, message):
    with pytest.raises(SystemExit) as caught:
        main([str(text), "-o", str(text.parent), *words])
    assert caught.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.no_device
def test_a_folder_that_cannot_be_made(text, capsys):
    words = ["--arch", "host", "-o", str(text / "below")]
    assert main([str(text), *words]) == 1
    assert f"cannot write {text / 'below'}" in capsys.readouterr().err


@pytest.mark.no_device
def test_from_a_command_line(text):
    done = subprocess.run(
        [sys.executable, "-m", "PyGPU", "compile", text, "--arch", "host", "-o", text.parent],
        env={**os.environ, "PYGPU_TARGET": PyGPU.target},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, f"{text.parent / 'mine.host.so'}\n"), done.stderr
