"""Disks and compilers that fail: a clear error or a slower compilation, and then all is well."""

import errno
import functools
import os
import shutil
import tempfile
import weakref
from pathlib import Path

import needs
import pytest
from cache_tools import entries
from campaign import each_once, rare_but
from everywhere import by_backend

import PyGPU
from PyGPU._compile.cache import files
from PyGPU._compile.compilers import build as _build
from PyGPU._compile.compilers import host, host_compiler, host_prelude
from PyGPU._compile.compilers import options as _options
from PyGPU.compiler import CompileError, SourceModule

pytestmark = pytest.mark.no_device

SOURCE = "__global__ void write(int *out) { *out = 5; }"


@pytest.fixture(autouse=True)
def gcc(monkeypatch):
    monkeypatch.delenv("PYGPU_HOST_CXX", raising=False)
    host_prelude._bad.clear()
    return needs.program("g++")


def build(folder):
    """An image of the host target."""
    request = _build.Request(SOURCE, cache_dir=folder)
    return by_backend("host", request).image


def compiler_that(tmp_path, monkeypatch, script):
    """Put a script in the compiler's place."""
    path = tmp_path / "compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PYGPU_HOST_CXX", str(path))


# Disks.


class Failing:
    """os, of which one function fails."""

    def __init__(self, name, number):
        self._name, self._number = name, number

    def __getattr__(self, name):
        if name == self._name:
            return self._fail
        return getattr(os, name)

    def _fail(self, *arguments, **keywords):
        if self._name == "open" and not arguments[1] & os.O_CREAT:
            return os.open(*arguments, **keywords)
        if self._name == "fdopen":  # a file that fails when it is closed, as on a full disk
            os.close(arguments[0])
        raise OSError(self._number, os.strerror(self._number))


@pytest.mark.parametrize(
    ("call", "number"),
    each_once(
        ["mkdir", "open", "fdopen", "replace", "utime", "unlink"], [errno.ENOSPC, errno.EROFS]
    ),
)
def test_a_cache_that_cannot_be_written_costs_a_compilation_alone(cache, monkeypatch, call, number):
    with monkeypatch.context() as patch:
        patch.setattr(files, "os", Failing(call, number))
        assert build(cache).startswith(b"\x7fELF")
        kept = len(entries(cache))
    assert kept == (1 if call in ("utime", "unlink") else 0)
    assert build(cache).startswith(b"\x7fELF") and len(entries(cache)) == 1


def test_a_folder_of_mode_775_is_used_and_stays_as_it_is(tmp_path):
    folder = tmp_path / "ours"
    folder.mkdir()
    folder.chmod(0o775)
    assert build(folder) == build(folder)
    assert len(entries(folder)) == 1 and len(list(folder.rglob("*.gch"))) == 1
    assert folder.stat().st_mode & 0o7777 == 0o775


def test_a_cache_that_cannot_be_read(cache, monkeypatch):
    image = build(cache)
    with monkeypatch.context() as patch:
        patch.setattr(files, "os", Failing("fstat", errno.EIO))
        assert build(cache).startswith(b"\x7fELF")
    assert build(cache) and image


def test_no_folder_for_temporary_files(cache, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
        with pytest.raises(OSError, match="gone"):
            build(cache)
    assert not entries(cache) and build(cache)


# Compilers.


def test_a_compiler_that_is_missing(cache, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setenv("PYGPU_HOST_CXX", str(tmp_path / "nothing"))
        with pytest.raises(CompileError, match=r"PYGPU_HOST_CXX=.*nothing is not found"):
            build(cache)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(CompileError, match="Install g\\+\\+"):
            build(cache)
    assert build(cache)


FAULTS = {
    "killed": ("kill -9 $$", "killed by signal 9"),
    "out of memory": ('ulimit -v 60000; exec g++ "$@"', "compilation of kernel.cu failed"),
    "silent": ("exit 3", "compilation of kernel.cu failed"),
    "without an image": ("exit 0", "made no image"),
    "no program": (None, "does not run"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_compiler_that_fails(cache, monkeypatch, tmp_path, kind):
    script, message = FAULTS[kind]
    with monkeypatch.context() as patch:
        compiler_that(tmp_path, patch, script)
        if script is None:
            (tmp_path / "compiler").write_bytes(b"\x7fELF, but no more")
        with pytest.raises(CompileError, match=message):
            build(cache)
    assert not entries(cache) and build(cache)


def test_a_compiler_that_is_removed(cache, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        compiler_that(tmp_path, patch, 'exec g++ "$@"')
        assert build(False)
        (tmp_path / "compiler").unlink()
        with pytest.raises(CompileError, match="compiler is not found"):
            build(False)
    assert build(cache)


def test_another_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PYGPU_HOST_CXX", needs.program("clang++"))
    assert build(False).startswith(b"\x7fELF")
    for _ in range(2):  # makes its own precompiled header, uses it
        assert build(tmp_path / "cache").startswith(b"\x7fELF")
        for entry in entries(tmp_path / "cache"):
            entry.unlink()
    assert len(list(tmp_path.rglob("*.gch"))) == 1


@pytest.mark.campaign
def test_two_installations_with_another_compiler(tmp_path, monkeypatch):
    """clang++ identifies a header by its path, so a precompiled header serves one installation."""
    monkeypatch.setenv("PYGPU_HOST_CXX", needs.program("clang++"))
    request = _build.Request("#include <cuda_fp16.h>\n" + SOURCE, cache_dir=tmp_path / "cache")
    ours = host.include_root()
    moved = shutil.copytree(ours, tmp_path / "include")
    for root in (ours, moved):
        folders = {name: str(Path(root, "PyGPU", name)) for name in ("device", "host/cuda")}
        for module in (host, host_prelude):
            monkeypatch.setattr(module, "include_root", functools.partial(str, root))
        monkeypatch.setattr(host.headers, "folder", folders.__getitem__)
        assert by_backend("host", request).image.startswith(b"\x7fELF")
        for entry in entries(tmp_path / "cache"):
            entry.unlink()


def test_a_compiler_that_is_killed_at_the_precompiled_header_alone(tmp_path, monkeypatch):
    compiler_that(tmp_path, monkeypatch, 'case "$*" in *c++-header*) kill -9 $$;; esac; g++ "$@"')
    assert build(tmp_path / "cache").startswith(b"\x7fELF")
    assert not list(tmp_path.rglob("*.gch")) and len(entries(tmp_path / "cache")) == 1


# A precompiled header that is no good: g++ itself says nothing, an error, or crashes.

DAMAGE = {
    "zeros after the head": lambda path: zero(path, 1_000_000),
    "zeros": lambda path: zero(path, 0),
    "cut short": lambda path: os.truncate(path, 1_000_000),
    "not to be read": lambda path: path.chmod(0),
}


def zero(path, start):
    size = path.stat().st_size
    os.truncate(path, start)
    os.truncate(path, size)


@pytest.mark.parametrize("kind", rare_but(["cut short", "not to be read"], DAMAGE))
def test_a_bad_precompiled_header_does_not_break_kernels(tmp_path, prelude, kind):
    flags = host_compiler.flags(_options.parse(()))
    used = Path(host_prelude.options(prelude.parent, flags)[1]).parent
    place = shutil.copytree(used, tmp_path / "cache" / "prelude" / used.name)
    made = place / "prelude.h.gch"
    before = made.stat().st_ino
    DAMAGE[kind](made)
    assert build(tmp_path / "cache").startswith(b"\x7fELF")
    if kind != "not to be read" or os.geteuid():
        left = [path.stat().st_ino for path in (tmp_path / "cache").rglob("*.gch")]
        assert before not in left, "it is removed, or made anew"


@pytest.mark.filterwarnings("ignore:os.fork")  # JAX's, if another test has imported it
def test_a_process_that_another_thread_forks_leaves_the_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with files.scratch() as scratch:
        child = os.fork()
        if child == 0:
            weakref.finalize._exitfunc()  # as at the end of the interpreter
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert Path(scratch).is_dir()
    assert not Path(scratch).exists()


@pytest.mark.skipif(PyGPU.target != "host", reason="what the host machine lacks")
@pytest.mark.parametrize("header", ["cuda_fp8.h", "mma.h", "cooperative_groups/scan.h"])
def test_headers_for_what_the_host_machine_lacks(header):
    with pytest.raises(CompileError, match="the host machine has no"):
        SourceModule(f"#include <{header}>\n__global__ void f() {{}}")


@pytest.mark.parametrize("mends", [True, False])
def test_a_compiler_that_fails_itself_runs_again_without_its_scheduler(
    cache, tmp_path, monkeypatch, mends
):
    works = f'case "$*" in *-fno-schedule-insns2*) exec {needs.program("g++")} "$@";; esac\n'
    fails = "echo 'internal compiler error: in move_insn' >&2; exit 1"
    compiler_that(tmp_path, monkeypatch, (works if mends else "") + fails)
    if mends:
        assert build(cache)
    else:
        with pytest.raises(CompileError, match="in move_insn"):
            build(cache)
