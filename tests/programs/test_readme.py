"""What the README shows is run as it stands there."""

import os
import re
import subprocess
from pathlib import Path

import needs
import numpy as np

import PyGPU

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def block_with(language, text):
    (found,) = [block for block in blocks(language) if text in block]
    return found


def test_arrays(capsys):
    exec(block_with("python", "to_gpu(k)"), {})
    assert "[1 7 3 7 5 7]" in capsys.readouterr().out


def test_arithmetic_and_kernels_by_expression():
    names = {}
    exec(block_with("python", "ReductionKernel"), names)
    a, b = names["a"].get(), names["b"].get()
    expected = 2 * a + a[:, :1]
    expected[a > 0] = 0
    np.testing.assert_array_equal(b, expected)
    np.testing.assert_array_equal(names["c"].get(), np.concatenate([a, b[[2, 0]]]))
    np.testing.assert_allclose(names["out"].get(), 0.5 * a + b, rtol=1e-6)


def test_transfers(capsys):
    names = {}
    with PyGPU.transfer.configure() as before:
        exec(block_with("python", "transfer.configure"), names)
        assert PyGPU.transfer.configure() == before._replace(threads=4, chunk_bytes=2 << 20)
    assert capsys.readouterr().out == f"{before!r}\n"
    np.testing.assert_array_equal(names["a"].get(), np.ones((2000, 1500)))


def test_the_low_level(capsys):
    seen = []
    exec(block_with("python", "DeviceArray_int64(A)"), {"fn": seen.append})
    assert capsys.readouterr().out == "<cudaError: code=0>\n<cudaError: code=0>\n"
    assert type(seen[0]) is PyGPU.pointer_wrapper_int64


COMPILERS = {"host": "g++", "cuda": "nvcc", "hip": "hipcc"}


def test_your_own_kernels(tmp_path, monkeypatch):
    compiler = COMPILERS[PyGPU.target]
    needs.program(compiler)
    (tmp_path / "mine.cu").write_text(block_with("cpp", "scale_kernel"))
    lines = block_with("sh", "mine.cu").replace("\\\n", " ").splitlines()
    (command,) = [line for line in lines if line.startswith(compiler)]
    paths = {"INCLUDE": PyGPU.get_include(), "LIBRARY": PyGPU.get_library_dir()}
    subprocess.run(command, shell=True, check=True, cwd=tmp_path, env={**os.environ, **paths})
    monkeypatch.chdir(tmp_path)
    a = PyGPU.to_gpu(np.arange(1000.0))
    exec(block_with("python", "libmine.so"), {"a": a})
    np.testing.assert_array_equal(a.get(), 2 * np.arange(1000.0))


def test_kernels_from_source_text():
    names = {}
    exec(block_with("python", "SourceModule"), names)
    expected = 2 * np.arange(1000, dtype=np.float32)
    np.testing.assert_array_equal(names["host"], expected + 1)
    np.testing.assert_array_equal(names["y"].get(), 2 * expected)  # the prepared call adds again
