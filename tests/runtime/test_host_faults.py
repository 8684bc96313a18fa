"""Faults of kernels on the host target: a status and a report, never a crash or a hang."""

import ctypes
import mmap
import os
import subprocess
import sys
import threading
from pathlib import Path

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU._compile.compilers.host_compiler import STRICT_FLAGS, STRICT_LINK

pytestmark = pytest.mark.skipif(PyGPU.target != "host", reason="reports are the host target's")

SOURCE = Path(__file__).with_name("host_faults.cu")
STRICT = [*STRICT_FLAGS, *STRICT_LINK]


def build(folder, *options):
    needs.program("g++")
    built, libraries = folder / "faults.so", PyGPU.get_library_dir()
    command = ["g++", "-O2", "-fPIC", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Wshadow"]
    command += ["-shared", "-I", PyGPU.get_include(), str(SOURCE), *options, "-o", str(built)]
    command += ["-L", libraries, "-lPyGPU_host", f"-Wl,-rpath,{libraries}"]
    subprocess.run(command, check=True)
    return built


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return build(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def library(path):
    return load(path)


def load(path):
    library = ctypes.CDLL(str(path))
    library.last_report.restype = ctypes.c_char_p
    return library


def report(library):
    return library.last_report().decode()


def line(mark):
    """The number of the line of the kernels that a comment marks."""
    lines = SOURCE.read_text().splitlines()
    return next(n for n, text in enumerate(lines, 1) if text.endswith(f"// {mark}"))


def pointer(array):
    return ctypes.c_void_p(array.ptr)


@pytest.fixture(autouse=True)
def sound_afterwards(request):
    """Whatever a kernel did, the next one finds the machine whole."""
    yield
    if "library" in request.fixturenames:
        library = request.getfixturevalue("library")
        out = PyGPU.zeros(256, np.int32)
        assert library.sound(pointer(out)) == 0
        np.testing.assert_array_equal(out.get(), np.arange(256) + 10)


def test_barriers_in_two_branches(library):
    assert library.branches() == PyGPU.cudaErrorLaunchFailure
    text = report(library)
    assert "kernel branches_kernel, block (" in text
    assert f"__syncthreads at line {line('the one branch')}: thread (0, 0, 0) and 39 more" in text
    assert (
        f"__syncthreads at line {line('the other branch')}: thread (40, 0, 0) and 23 more" in text
    )


def test_a_warps_barrier_against_the_blocks(library):
    assert library.scopes() == PyGPU.cudaErrorLaunchFailure
    text = report(library)
    assert f"__syncwarp at line {line('the warp')}" in text
    assert f"__syncthreads at line {line('the block')}: thread (3, 0, 0) and 57 more" in text


def test_a_mask_that_does_not_name_its_caller(library, path):
    """GPUs let it be; strict mode refuses it."""
    assert library.not_named() == PyGPU.cudaSuccess
    program = f"import ctypes; print(ctypes.CDLL({str(path)!r}).not_named())"
    done = subprocess.run(
        [sys.executable, "-c", f"import PyGPU; PyGPU.cudaGetDeviceCount(); {program}"],
        env={**os.environ, "PYGPU_HOST_STRICT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == PyGPU.cudaErrorLaunchFailure


def test_an_illegal_address(library):
    a = PyGPU.zeros(10, np.int32)
    offset = (0x123450 - a.ptr) // 4
    assert library.address(pointer(a), ctypes.c_longlong(offset)) == 700
    assert report(library) == (
        "kernel address_kernel, block (7, 0, 0), thread (5, 0, 0): "
        f"access to the illegal address {a.ptr + 4 * offset:#x}"
    )
    assert library.address(pointer(a), ctypes.c_longlong(1 << 60)) == 700
    assert library.address(pointer(a), ctypes.c_longlong(9)) == 0
    assert a.get()[9] == 1


def test_an_overrun_of_a_large_block_is_an_illegal_address(library):
    """Its pages are followed by one that nothing can reach; the zone of 64 bytes has a page."""
    a = PyGPU.zeros(1 << 20, np.int32)
    offset = a.size + mmap.PAGESIZE // 4
    assert library.address(pointer(a), ctypes.c_longlong(offset)) == 700
    assert f"illegal address {a.ptr + 4 * offset:#x}" in report(library)


def test_faults_after_a_barrier(library):
    a = PyGPU.zeros(64, np.int32)
    for _ in range(30):
        assert library.after_a_barrier(pointer(a), None) == PyGPU.cudaErrorIllegalAddress
        assert "thread (33, 0, 0)" in report(library)


def test_division_trap_assertion_and_exception(library, capfd):
    a = PyGPU.zeros(4, np.int32)
    assert library.divide(pointer(a)) == PyGPU.cudaErrorLaunchFailure
    assert report(library).endswith(
        "thread (0, 0, 0): integer division by zero, or of the smallest integer by -1"
    )
    assert library.trap() == PyGPU.cudaErrorLaunchFailure
    assert "thread (0, 2, 0)" in report(library)
    assert library.assertion(pointer(a)) == PyGPU.cudaErrorAssert
    assert "a == nullptr" in capfd.readouterr().err
    assert library.exception() == PyGPU.cudaErrorLaunchFailure
    assert "thrown text" in report(library)


def test_endless_recursion(library):
    a = PyGPU.to_gpu(np.full(2, -1, np.int32))
    assert library.recursion(pointer(a)) == PyGPU.cudaErrorIllegalAddress
    assert "stack overflow" in report(library)
    a = PyGPU.to_gpu(np.array([1000, 0], np.int32))
    assert library.recursion(pointer(a)) == 0
    assert a.get()[1] == sum(range(1000))


def test_faults_in_many_threads(library):
    found = []

    def work(function, *arguments):
        for _ in range(20):
            found.append((function(*arguments), report(library).split(",")[0]))

    a = PyGPU.zeros(4, np.int32)
    jobs = [(library.divide, pointer(a)), (library.branches,), (library.scopes,)]
    threads = [threading.Thread(target=work, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {"divide", "branches", "scopes"}
    assert {code for code, _ in found} == {719}
    assert {name for _, name in found} == {f"kernel {name}_kernel" for name in names}


def test_the_rest_of_the_language(library, capfd):
    a = PyGPU.zeros(64, np.int32)
    assert library.language(pointer(a)) == 0
    assert library.language(pointer(a)) == 0
    t = np.arange(64)
    np.testing.assert_array_equal(a.get(), 3 * (63 - t) + 3 * t)
    assert capfd.readouterr().out == "thread 63, launch 1\nthread 63, launch 2\n"


def test_a_thread_that_sleeps_lets_others_go_on(library):
    a = PyGPU.zeros(1, np.int32)
    assert library.spin(pointer(a)) == 0
    assert a.get()[0] == 63


def test_shared_memory_up_to_the_opt_in(library):
    a = PyGPU.to_gpu(np.ones(2, np.int32))
    assert library.shared_limit(pointer(a), 227 << 10) == 0
    assert library.shared_limit(pointer(a), (227 << 10) + 1) == PyGPU.cudaErrorInvalidValue


def program(text, path, **environment):
    head = (
        "import ctypes, faulthandler, numpy as np, PyGPU\n"
        f"library = ctypes.CDLL({str(path)!r})\n"
        "library.last_report.restype = ctypes.c_char_p\n"
        "report = lambda: library.last_report().decode()\n"
        "pointer = lambda array: ctypes.c_void_p(array.ptr)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", head + text],
        env={**os.environ, "PYGPU_TARGET": "host", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("order", ["before", "after"])
def test_other_crashes_still_reach_the_handler_that_was_there(path, order):
    enable = "faulthandler.enable()\n"
    launch = "assert library.trap() == 719\n"
    steps = enable + launch if order == "before" else launch + enable
    done = program(steps + "print('alive', flush=True)\nctypes.string_at(8)", path)
    assert done.stdout == "alive\n"
    assert done.returncode == -11
    assert "Fatal Python error: Segmentation fault" in done.stderr


def test_without_a_handler_a_crash_is_a_crash(path):
    done = program("assert library.trap() == 719\nctypes.string_at(8)", path)
    assert done.returncode == -11
    done = program("assert library.trap() == 719\nimport os\nos.abort()", path)
    assert done.returncode == -6


STRICT_PROGRAM = """
a = PyGPU.zeros(20, np.int32)
assert library.strict(pointer(a), 20) == 0, report()
assert a.get().tolist()[:2] == [2 + 31, 30 + 30]
assert library.strict(pointer(a), 21) == 700
print(report())
b = np.zeros(32, np.int32)
assert library.strict(b.ctypes.data_as(ctypes.c_void_p), 32) == 700
print(report())
assert library.strict(ctypes.c_void_p(a.ptr - 8), 20) == 700
print(report())
a.gpudata.free()
"""


def test_strict_mode_finds_an_overrun_of_one_element(tmp_path):
    done = program(STRICT_PROGRAM, build(tmp_path, *STRICT), PYGPU_HOST_STRICT="1")
    assert done.returncode == 0, done.stderr
    first, second, before = done.stdout.splitlines()
    assert "thread (20, 0, 0): a write of 4 bytes" in first
    assert "not allocated: it ends 4 bytes past the end of an allocation of 80 bytes" in first
    assert "which is not allocated" in second
    assert "not allocated: it begins 8 bytes before an allocation of 80 bytes" in before


WARP_PROGRAM = """
out = PyGPU.zeros(2, np.uint64)
code = library.ballot(pointer(out))
print(code, *(hex(v) for v in out.get()), report())
"""


def test_a_warp_of_64_lanes(path, tmp_path):
    assert program(WARP_PROGRAM, path).stdout.split() == ["0", "0xffff0000", "0x3f"]
    done = program(WARP_PROGRAM, path, PYGPU_HOST_WARP="64")
    assert "-DPYGPU_HOST_WARP=64" in done.stdout
    wide = build(tmp_path, "-DPYGPU_HOST_WARP=64")
    done = program(WARP_PROGRAM, wide, PYGPU_HOST_WARP="64")
    assert done.stdout.split() == ["0", "0xffffffff00000000", "0x3f"]
