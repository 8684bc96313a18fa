"""python -m PyGPU build, cxx, --includes, --cflags, --ldflags."""

import ctypes
import os
import shlex
import subprocess
import sys

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import __main__, gpuarray
from PyGPU._library import build_command, cxx_command

SOURCE = """
#include "add.h"
#include <PyGPU/export.h>

void twice(double *a, int n) {
#ifdef TWICE
  add<<<1, n>>>(a);
#endif
  add<<<1, n>>>(a);
}
PYGPU_EXPORT(twice);
"""
HEADER = """
__global__ void add_one(double *a) { a[threadIdx.x] += 1; }
inline void add_all(double *a, int n) { add_one<<<1, n>>>(a); }
__global__ void add(double *a) { a[threadIdx.x] += 1; }
"""


@pytest.fixture
def source(tmp_path):
    headers = tmp_path / "some headers"
    headers.mkdir()
    (headers / "add.h").write_text(HEADER)
    path = tmp_path / "mine.cu"
    path.write_text(SOURCE)
    return path


def command(*words, folder):
    return subprocess.run(
        [sys.executable, "-m", "PyGPU", *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYGPU_TARGET": "host"},
        capture_output=True,
        text=True,
    )


def values_of(library):
    a = gpuarray.zeros(3, np.float64)
    PyGPU.load(library).twice(a, 3)
    return a.get().tolist()


needs_host = pytest.mark.skipif(PyGPU.target != "host", reason="builds and loads for the host")


@needs_host
def test_build(source, tmp_path):
    words = ("build", source, "-I", tmp_path / "some headers", "-o", "libmine.so")
    done = command(*words, "--target", "host", "-D", "TWICE", "-l", "m", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'libmine.so'}\n"), done.stderr
    assert values_of(tmp_path / "libmine.so") == [2, 2, 2]


@needs_host
def test_a_header_by_its_absolute_path_may_have_launches(source, tmp_path):
    header = tmp_path / "some headers" / "add.h"
    source.write_text(SOURCE.replace("add.h", str(header)))
    out = PyGPU.build(source, target="host", out=tmp_path / "mine.so")
    assert values_of(out) == [1, 1, 1]


@needs_host
def test_build_passes_on_options_after_two_dashes(source, tmp_path, capsys):
    include = f"-I{tmp_path / 'some headers'}"
    out = tmp_path / "one.so"
    assert build_command.main([str(source), "-o", str(out), "--", include], PyGPU.build) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert values_of(out) == [1, 1, 1]


def test_a_failed_build_shows_the_compiler_s_messages(tmp_path, capsys):
    (tmp_path / "bad.cu").write_text("int f() { return missing_name; }\n")
    words = [str(tmp_path / "bad.cu"), "--target", "host", "-o", str(tmp_path)]
    assert build_command.main(words, PyGPU.build) == 1
    error = capsys.readouterr().err
    assert "missing_name" in error
    assert f"{tmp_path / 'bad.cu'}:1:" in error
    assert [one.name for one in tmp_path.iterdir()] == ["bad.cu"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mine.cu", "--target", "gpu"], "target='gpu': expected one of cuda, hip, host"),
        (["mine.cu", "--target", "cuda", "--arch", "gfx942"], "arch='gfx942'"),
        (["mine.txt"], "mine.txt: expected a file that ends with one of .cu"),
        ([], "SOURCE"),
    ],
)
def test_invalid_words_of_build(words, message, source, monkeypatch, capsys):
    monkeypatch.chdir(source.parent)
    with pytest.raises(SystemExit) as stopped:
        build_command.main(words, PyGPU.build)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_missing_files_of_build(source, tmp_path, capsys):
    assert build_command.main([str(tmp_path / "none.cu")], PyGPU.build) == 1
    assert "there is no file" in capsys.readouterr().err
    words = [str(source), "-o", str(tmp_path / "none" / "x.so"), "--target", "host"]
    assert build_command.main(words, PyGPU.build) == 1
    assert f"there is no folder {tmp_path / 'none'}" in capsys.readouterr().err


def test_flags_of_each_target(tmp_path, capsys):
    def flags(*words):
        assert not __main__.overview(list(words))
        return capsys.readouterr().out

    include = f"-I{PyGPU.get_include()}"
    for target in ("cuda", "hip", "host"):
        words = shlex.split(flags("--includes", "--target", target))
        assert words[-1] == include
        cflags = shlex.split(flags("--cflags", "--target", target))
        assert cflags[: len(words)] == words
        assert f"-DPYGPU_TARGET_{target.upper()}" in cflags
    done = command("--cflags", "--target", "cuda", "--arch", "sm_80,sm_90", folder=tmp_path)
    assert "-gencode=arch=compute_90,code=sm_90" in done.stdout  # by a process of its own
    assert "--offload-arch=gfx90a" in flags("--ldflags", "--target", "hip", "--arch", "gfx90a")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cflags", "--target", "gpu"], "target='gpu': expected one of"),
        (["--cflags", "--target", "hip", "--arch", "sm_90"], "arch='sm_90'"),
        (["--target", "host"], "--target and --arch go with"),
    ],
)
def test_invalid_words_of_flags(words, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        __main__.overview(words)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@needs_host
def test_cxx_compiles_launches_in_sources_and_headers(source, tmp_path):
    compiler = needs.program("g++")
    cflags = shlex.split(command("--cflags", "--target", "host", folder=tmp_path).stdout)
    ldflags = shlex.split(command("--ldflags", "--target", "host", folder=tmp_path).stdout)
    folder = tmp_path / "some headers"
    words = [compiler, "-I", folder, *cflags, "-DTWICE", "-MD", "-MF", "mine.d"]
    done = command("cxx", *words, "-c", "mine.cu", "-o", "mine.o", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    # The list for make has the originals, so that a changed header builds the object anew.
    listed = (tmp_path / "mine.d").read_text()
    assert f"{folder}/add.h".replace(" ", "\\ ") in listed
    assert f" {source} " in listed
    assert "copies" not in listed
    done = command("cxx", compiler, "mine.o", *ldflags, "-o", "libmine.so", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert values_of(tmp_path / "libmine.so") == [2, 2, 2]


def test_cxx_leaves_other_sources_alone(tmp_path):
    compiler = needs.program("g++")
    (tmp_path / "plain.cpp").write_text('extern "C" int f() { return 40 + 2; }\n')
    words = ("cxx", compiler, "-shared", "-fPIC", "plain.cpp", "-MMD", "-o", "plain.so")
    assert command(*words, folder=tmp_path).returncode == 0
    assert ctypes.CDLL(str(tmp_path / "plain.so")).f() == 42


def test_messages_of_cxx_name_the_originals(source, tmp_path, capfd):
    compiler = needs.program("g++")
    source.write_text("#include <add.h>\nvoid f() { missing<<<1, 1>>>(); }\n")
    cflags = shlex.split(command("--cflags", "--target", "host", folder=tmp_path).stdout)
    words = [compiler, *cflags, f"-I{tmp_path / 'some headers'}", "-c", str(source)]
    assert cxx_command.main([*words, "-o", str(tmp_path / "x.o")]) == 1
    error = capfd.readouterr().err
    assert f"{source}:2:" in error
    assert "copies" not in error


def test_words_of_cxx(tmp_path, capsys):
    assert cxx_command.main([]) == 2
    assert cxx_command.main(["--help"]) == 0
    assert "--cflags" in capsys.readouterr().out
    assert cxx_command.main([str(tmp_path / "no-compiler")]) == 127
    assert "no-compiler does not run" in capsys.readouterr().err
    assert cxx_command.main(["sh", "-c", "kill -9 $$"]) == 137
