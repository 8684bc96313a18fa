"""python -m PyGPU build, cxx, --includes, --cflags, --ldflags."""

import ctypes
import os
import shlex
import subprocess
import sys

import needs
import numpy as np
import pytest
from campaign import rare_but

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


TWICE = "__global__ void k(int *a) { a[0] = 5; }\nvoid one(int *a) { k<<<1, 1>>>(a); }\n"
# Options, and the file that they write.
LISTS = {
    "-M": (["-M"], None),
    "-MM to a file": (["-MM", "-MF", "list.d"], "list.d"),
    "-M to an output": (["-M", "-o", "list.d"], "list.d"),
    "-MD": (["-MD", "-c", "-o", "mine.o"], "mine.d"),
    "-MD without an output": (["-MD", "-c"], "mine.d"),
    "-Wp": (["-Wp,-MMD,list.d", "-c", "-o", "mine.o"], "list.d"),
    "preprocessed": (["-E"], None),
    "assembly": (["-S", "-g", "-o", "mine.s"], "mine.s"),
    "debug information": (["-c", "-g", "-o", "mine.o"], "mine.o"),
}


@pytest.mark.parametrize("how", rare_but(["-M", "-MD", "debug information"], [*LISTS]))
def test_outputs_of_cxx_name_the_originals(how, tmp_path, monkeypatch):
    compiler = needs.program("g++")
    (tmp_path / "mine.cu").write_text(TWICE)
    cflags = shlex.split(command("--cflags", "--target", "host", folder=tmp_path).stdout)
    words, file = LISTS[how]
    done = command("cxx", compiler, *cflags, *words, "mine.cu", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / file).read_bytes() if file else done.stdout.encode()
    assert str(tmp_path / "mine.cu").encode() in text
    assert b"/copies" not in text
    assert not [*tmp_path.glob("*.PyGPU")]


@pytest.mark.parametrize("options", rare_but([["-g"]], [[], ["-g"], ["-g", "-O0"]]))
def test_cxx_makes_the_same_bytes_again(options, tmp_path):
    compiler = needs.program("g++")
    (tmp_path / "mine.cu").write_text(TWICE)
    words = [
        compiler,
        *shlex.split(command("--cflags", "--target", "host", folder=tmp_path).stdout),
    ]
    words += [*options, f"-ffile-prefix-map={tmp_path}=/src"]
    made = []
    for name in ("a.o", "b.o"):
        command("cxx", *words, "-c", "mine.cu", "-o", name, folder=tmp_path)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0]


def test_ccache_gets_the_same_command_again(tmp_path):
    compiler = needs.program("g++")
    (tmp_path / "mine.cu").write_text(TWICE)
    ccache = tmp_path / "ccache"
    ccache.write_text('#!/bin/sh\necho "$@" >> commands\nexec "$@"\n')
    ccache.chmod(0o755)
    cflags = shlex.split(command("--cflags", "--target", "host", folder=tmp_path).stdout)
    for _ in range(2):
        words = [ccache, compiler, *cflags, "-c", "mine.cu", "-o", "mine.o"]
        assert command("cxx", *words, folder=tmp_path).returncode == 0
    first, second = (tmp_path / "commands").read_text().splitlines()
    assert first == second


def test_response_files_of_cxx(tmp_path):
    compiler = needs.program("g++")
    (tmp_path / "mine.cu").write_text(TWICE)
    cflags = command("--cflags", "--target", "host", folder=tmp_path).stdout
    (tmp_path / "more words").write_text("-c mine.cu")
    (tmp_path / "words").write_text(f"{cflags}\n'@more words' -o mine.o")
    done = command("cxx", compiler, "@words", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "mine.o").is_file()
