"""keep=True: the text and the image stay where a person can look at them."""

import re
import shutil
from pathlib import Path

import pytest
from writing_kernels import written

import PyGPU
import PyGPU.driver as drv
from PyGPU import compiler
from PyGPU.compiler import CompileError, SourceModule

FIVE = "__global__ void write(int *out) { *out = 5; } // \N{GREEK SMALL LETTER PI}"
SUFFIX = {"cuda": "cubin", "hip": "hsaco", "host": "so"}


@pytest.fixture
def kept(capsys):
    """kept() -> {name: path} of what the last compilation left; it is removed afterwards."""
    folders = []

    def of_last():
        said = capsys.readouterr().out
        folders.append(re.fullmatch(r"\*\*\* compiler output in (/\S+)\n", said).group(1))
        return {path.name: path for path in Path(folders[-1]).iterdir()}

    yield of_last
    for folder in folders:
        shutil.rmtree(folder)


def test_a_module(kept):
    for _ in range(2):  # from the compiler, from the cache
        assert written(SourceModule(FIVE, keep=True)) == 5
        files = kept()
        assert set(files) == {"kernel.cu", f"kernel.{SUFFIX[PyGPU.target]}"}
        assert files["kernel.cu"].read_text("utf-8") == FIVE
        image = drv.module_from_file(files[f"kernel.{SUFFIX[PyGPU.target]}"])
        assert written(image) == 5


def test_an_image(kept):
    image = compiler.compile(FIVE, keep=True)
    assert kept()[f"kernel.{SUFFIX[PyGPU.target]}"].read_bytes() == image


def test_ptx(kept):
    if PyGPU.target != "cuda":
        pytest.skip("PTX is NVIDIA's")
    text = compiler.compile(FIVE, target="ptx", keep=True)
    assert kept()["kernel.ptx"].read_bytes() == text


def test_a_text_that_does_not_compile(kept):
    with pytest.raises(CompileError):
        SourceModule("nonsense", keep=True)
    assert set(kept()) == {"kernel.cu"}


def test_nothing_is_said_or_left_unasked(capsys):
    SourceModule(FIVE)
    assert capsys.readouterr().out == ""
