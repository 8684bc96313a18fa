"""Compilations through the cache: hits and misses, folders that fail, many processes."""

import os
import subprocess
import sys

import pytest
from cache_tools import SETTINGS, entries
from threads_tools import at_once
from writing_kernels import written

import PyGPU
from PyGPU import compiler
from PyGPU._compile.cache import entries as _cache
from PyGPU._compile.cache import own_files
from PyGPU._compile.compilers import build as _build
from PyGPU._compile.compilers import cuda
from PyGPU.compiler import DynamicModule, SourceModule

SOURCE = "__global__ void write(int *out) { *out = %s; }"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Only a test's own settings count."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def compilations(monkeypatch):
    """compilations() -> how many times a compiler has run since the last call."""
    count = [0]
    store = _cache.store

    def counted(*arguments):
        count[0] += 1
        return store(*arguments)

    monkeypatch.setattr(_cache, "store", counted)

    def since():
        count[0], found = 0, count[0]
        return found

    return since


# Compilations.


def test_a_hit_and_what_makes_a_miss(cache, compilations):
    def build(value="5", **settings):
        return written(SourceModule(SOURCE % value, cache_dir=cache, **settings))

    assert build() == 5 and compilations() == 1
    assert build() == 5 and compilations() == 0
    assert build("6") == 6 and compilations() == 1
    assert build("6 ") == 6 and compilations() == 1
    assert build(options=["-DN"]) == 5 and compilations() == 1
    assert build(options=["-DN"]) == 5 and compilations() == 0
    assert build(options=["-DM"]) == 5 and compilations() == 1
    assert build(options=["-O1"]) == 5
    compilations()
    assert build(options=["-DM", "-g", "-Xcompiler", "-fPIC"]) == 5
    assert compilations() == 0, "options that are left out change nothing"
    assert build(no_extern_c=False) == 5 and compilations() == 0
    assert build("5; }\ntemplate <class T> void t() {", no_extern_c=True) == 5
    assert compilations() == 1
    assert len(entries(cache)) <= 7


def test_the_architecture_belongs_to_the_key(cache, compilations):
    if PyGPU.target != "cuda":
        pytest.skip(f"{PyGPU.target} compiles one image for the device at hand")
    own = _build.device_architecture()
    # What no newer device loads is text, as of compute_75.
    another = int(cuda.loadable("sm_75", _build.capability()) == "sm_75" != own)
    for arch, expected in ((None, 1), (own, 0), ("compute_75", 1), ("sm_75", another), (None, 0)):
        compiler.compile(SOURCE % 5, arch=arch, cache_dir=cache)
        assert compilations() == expected, arch


def test_the_contents_of_headers_belong_to_the_key(cache, tmp_path, compilations):
    include = tmp_path / "include"
    (include / "inner").mkdir(parents=True)
    (include / "outer.h").write_text('#include "inner/deep.h"\n')
    deep = include / "inner" / "deep.h"
    source = '#include "outer.h"\n' + SOURCE % "VALUE"
    for value in (1, 2, 1, 3):
        deep.write_text(f"#define VALUE {value}\n")
        for settings in ({"include_dirs": [include]}, {"options": [f"-I{include}"]}):
            assert written(SourceModule(source, cache_dir=cache, **settings)) == value
    assert compilations() in (3, 6)
    with_header = ["-include", str(deep)]
    for value in (7, 8):
        deep.write_text(f"#define VALUE {value}\n")
        module = SourceModule(SOURCE % "VALUE", options=with_header, cache_dir=cache)
        assert written(module) == value


def test_a_header_that_appears_in_an_earlier_folder(cache, tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    (folders[1] / "v.h").write_text("#define VALUE 1\n")
    source = '#include "v.h"\n' + SOURCE % "VALUE"
    assert written(SourceModule(source, include_dirs=folders, cache_dir=cache)) == 1
    (folders[0] / "v.h").write_text("#define VALUE 2\n")
    assert written(SourceModule(source, include_dirs=folders, cache_dir=cache)) == 2


def test_a_damaged_entry_is_compiled_anew(cache, compilations):
    for damage in (lambda data: data[: len(data) // 2], lambda data: b"", lambda data: None):
        assert written(SourceModule(SOURCE % 5, cache_dir=cache)) == 5
        (path,) = entries(cache)
        data = damage(path.read_bytes())
        compilations()
        if data is None:
            path.unlink()
            path.mkdir()  # what cannot even be replaced
        else:
            path.write_bytes(data)
        assert written(SourceModule(SOURCE % 5, cache_dir=cache)) == 5
        assert compilations() == 1


def test_threads_compile_a_text_once(cache, compilations):
    modules = at_once([lambda: SourceModule(SOURCE % 8, cache_dir=cache)] * 6)
    assert compilations() == 1
    assert [written(module) for module in modules] == [8] * 6
    assert not _cache._making


@pytest.mark.skipif(PyGPU.target == "hip", reason="HIPRTC's code is not linked")
def test_threads_link_texts_once(cache, compilations):
    called, caller = "__device__ int f() { return 3; }", "__device__ int f();" + SOURCE % "f()"

    def link():
        return DynamicModule(cache_dir=cache).add_source(called).add_source(caller).link()

    modules = at_once([link] * 6)
    assert compilations() == 3
    assert [written(module) for module in modules] == [3] * 6


def test_a_child_compiles_what_another_thread_of_its_parent_compiles(python, tmp_path):
    python(
        """
import os, signal, threading
from PyGPU import compiler
from PyGPU._compile.compilers import build

compiles, go_on = threading.Event(), threading.Event()
announced = build.announcements.announced

def wait(*texts):
    compiles.set()
    go_on.wait()
    return announced(*texts)

build.announcements.announced = wait
work = lambda: compiler.compile("__global__ void f() {}", arch="sm_90")
thread = threading.Thread(target=work, daemon=True)
thread.start()
assert compiles.wait(60)
build.announcements.announced = announced
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if work() else 1)
assert os.waitpid(child, 0)[1] == 0
go_on.set()
thread.join()
""",
        PYGPU_TARGET="host",
        PYGPU_CACHE_DIR=tmp_path,
    )


def test_failures_and_disabled_caches_leave_nothing(cache, monkeypatch):
    with pytest.raises(compiler.CompileError):
        SourceModule("nonsense here", cache_dir=cache)
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(cache))
    assert written(SourceModule(SOURCE % 5, cache_dir=False)) == 5
    with monkeypatch.context() as patch:
        patch.setenv("PYCUDA_DISABLE_CACHE", "1")
        assert written(SourceModule(SOURCE % 5)) == 5
    assert entries(cache) == []
    assert written(SourceModule(SOURCE % 5)) == 5
    assert len(entries(cache)) == 1


def test_a_folder_that_cannot_be_used_costs_a_compilation_alone(tmp_path):
    (tmp_path / "file").write_text("no folder")
    module = SourceModule(SOURCE % 5, cache_dir=tmp_path / "file" / "below")
    assert written(module) == 5
    assert (tmp_path / "file").read_text() == "no folder"


def test_a_folder_that_cannot_be_written_can_be_read(cache, compilations):
    if os.geteuid() == 0:
        pytest.skip("root can write everywhere")
    assert written(SourceModule(SOURCE % 5, cache_dir=cache)) == 5
    (path,) = entries(cache)
    path.parent.chmod(0o500)
    cache.chmod(0o500)
    try:
        compilations()
        assert written(SourceModule(SOURCE % 5, cache_dir=cache)) == 5 and compilations() == 0
        assert written(SourceModule(SOURCE % 6, cache_dir=cache)) == 6
        assert entries(cache) == [path]
    finally:
        cache.chmod(0o700)
        path.parent.chmod(0o700)


# Processes.

PROGRAM = """
import sys
import numpy as np
from PyGPU import compiler, gpuarray
from PyGPU._compile.cache import entries as _cache
count, store = [0], _cache.store
def counted(*arguments):
    count[0] += 1
    store(*arguments)
_cache.store = counted
for value in sys.argv[1].split(","):
    source = "__global__ void write(int *out) { *out = %s; }" % value
    out = gpuarray.zeros(1, np.int32)
    compiler.SourceModule(source).get_function("write")(out, block=(1, 1, 1))
    assert out.get()[0] == int(value), (value, out.get())
print(count[0])
"""


def start(folder, values):
    environment = {**os.environ, "PYGPU_TARGET": PyGPU.target, "PYGPU_CACHE_DIR": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, values],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_all(folder, values):
    running = [start(folder, one) for one in values]
    outcomes = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * len(values), outcomes
    assert {error for _, error in outcomes} == {""}
    return [int(output) for output, _ in outcomes]


@pytest.mark.campaign
def test_sixteen_processes_on_one_cold_cache(tmp_path):
    folder = tmp_path / "cold"
    run_all(folder, [str(10 + number % 4) for number in range(16)])
    assert len(entries(folder)) == 4
    headers = list(folder.rglob("*.gch"))
    assert len(headers) == (1 if PyGPU.target == "host" else 0), "made by one of them"
    assert run_all(folder, ["10,11,12,13"]) == [0], "nothing is left to compile"


def test_a_folder_that_does_not_exist_is_made_by_whoever_comes_first(tmp_path):
    folder = tmp_path / "made" / "by" / "them"
    run_all(folder, ["1,2", "2,1"])
    assert len(entries(folder)) == 3  # two images, and the digest of PyGPU's files


def test_own_kernels_and_a_program_s_with_one_text(cache):
    """PyGPU's own kernels have no parameters for Python: C++ launches them."""
    text = 'extern "C" __global__ void __launch_bounds__(64) f(int *a, float b) { *a = b; }'
    request = _build.Request(text, extern_c=False)
    own = _build.build(request._replace(own=True))
    assert (own.names, own.parameters) == ({}, {}) and b"f\0" in own.image
    kinds = [one[1] for one in _build.build(request).parameters["f"]]
    assert kinds == ["Pi4w", "f"] and _build.build(request._replace(own=True)) == own


def test_the_digest_of_a_built_package(tmp_path, monkeypatch):
    """A package brings the digest of its files; in a checkout, their states are looked up."""
    monkeypatch.setattr(own_files, "_known", [])
    monkeypatch.setattr(own_files, "BUILT", tmp_path / "digest")
    before = own_files.digest(None)
    (tmp_path / "digest").write_bytes(b"built")
    assert own_files.digest(None) == before  # once a process
    own_files._known.clear()
    assert own_files.digest(None) == b"built"
