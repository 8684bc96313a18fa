"""The memory of the host machine: what is stated, what may be registered, what may be freed."""

import os
import subprocess
import sys
from pathlib import Path

import needs
import pytest

ROOT = Path(__file__).resolve().parents[2]
MAIN = """
#include <cstdio>
#include "src/host/available.h"
int main(int, char** arguments) {
  const auto memory = PyGPU::host::computer_memory(arguments[1]);
  std::printf("%zu %zu\\n", memory.total, memory.available);
}
"""
MEMINFO = "MemTotal:       16000 kB\nMemFree:         100 kB\nMemAvailable:    9000 kB\n"
V1, V2 = "sys/fs/cgroup/memory", "sys/fs/cgroup"


@pytest.fixture(scope="module")
def look(tmp_path_factory):
    """What the machine finds in the files of a system that a test makes up."""
    folder = tmp_path_factory.mktemp("available")
    (folder / "main.cpp").write_text(MAIN)
    words = [needs.program("g++"), "-std=c++17", "-I", str(ROOT), "-o", str(folder / "look")]
    source = str(ROOT / "src" / "host" / "available.cpp")
    subprocess.run([*words, str(folder / "main.cpp"), source], check=True)

    def run(root, files):
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        done = subprocess.run([folder / "look", root], capture_output=True, text=True, check=True)
        return [int(word) for word in done.stdout.split()]

    return run


@pytest.mark.parametrize(
    ("files", "total", "available"),
    [
        ({}, 16000, 9000),
        ({"proc/self/cgroup": "0::/\n"}, 16000, 9000),
        (  # which tells of nothing
            {
                "proc/self/cgroup": "4:memory:/\n0::/\n",
                "proc/meminfo": MEMINFO.replace("9000", "0"),
                f"{V1}/memory.limit_in_bytes": "0\n",
                f"{V2}/memory.max": "0\n",
            },
            16000,
            16000,
        ),
        ({"proc/self/cgroup": "0::/a/b\n", f"{V2}/a/b/memory.max": "max\n"}, 16000, 9000),
        (  # the group itself
            {
                "proc/self/cgroup": "0::/a/b\n",
                f"{V2}/a/b/memory.max": str(4000 << 10),
                f"{V2}/a/b/memory.current": str(3000 << 10),
                f"{V2}/a/b/memory.stat": f"anon 5\ninactive_file {500 << 10}\n",
            },
            4000,
            1500,
        ),
        (  # the one around it
            {
                "proc/self/cgroup": "0::/a/b\n",
                f"{V2}/a/b/memory.max": "max",
                f"{V2}/a/b/memory.current": str(100 << 10),
                f"{V2}/a/memory.max": str(4000 << 10),
                f"{V2}/a/memory.current": str(5000 << 10),
            },
            4000,
            0,
        ),
        (  # a container, whose own group is at the top
            {
                "proc/self/cgroup": "5:cpu:/\n4:hugetlb,memory:/docker/1\n0::/\n",
                f"{V1}/memory.limit_in_bytes": str(8000 << 10),
                f"{V1}/memory.usage_in_bytes": str(1000 << 10),
                f"{V1}/memory.stat": f"total_inactive_file {200 << 10}\n",
            },
            8000,
            7200,
        ),
        (  # version 1 without a limit
            {
                "proc/self/cgroup": "4:memory:/a\n",
                f"{V1}/a/memory.limit_in_bytes": "9223372036854771712",
                f"{V1}/a/memory.usage_in_bytes": str(1000 << 10),
            },
            16000,
            9000,
        ),
    ],
)
def test_limits_of_control_groups_count(look, tmp_path, files, total, available):
    found = look(tmp_path, {"proc/meminfo": MEMINFO, **files})
    assert found == [total << 10, available << 10]


def test_what_others_use_is_not_stated_as_free(python):
    """How much it is, the test above shows; here other programs come and go."""
    python(
        """
import PyGPU

free, total, status = PyGPU.cudaMemGetInfo()
assert status == 0 and 0 < free < total
assert PyGPU.cudaMalloc(total) == (0, 2)
assert PyGPU.cudaMallocManaged(total) == (0, 2)
""",
        PYGPU_TARGET="host",
        PYGPU_HOST_MEMORY="",
    )


def test_only_memory_of_the_process_is_registered(python):
    python(
        """
import mmap
import numpy as np
import PyGPU

top = 2**64
for address, nbytes in ((4096, top - 1), (4096, 4096), (top - 4096, 4096), (top - 1, top - 1)):
    assert PyGPU.cudaHostRegister(address, nbytes) == PyGPU.cudaErrorInvalidValue, address
data = np.zeros(3 * mmap.PAGESIZE, np.uint8)
for nbytes in (2**64 - 1, 2**64 - data.ctypes.data, 2**47):
    assert PyGPU.cudaHostRegister(data.ctypes.data, nbytes) == PyGPU.cudaErrorInvalidValue, nbytes
assert PyGPU.cudaHostRegister(data.ctypes.data + 1, data.nbytes - 1) == 0
assert PyGPU.cudaHostUnregister(data.ctypes.data + 1) == 0
PyGPU.cudaGetLastError()
""",
        PYGPU_TARGET="host",
    )


def test_a_global_of_a_module_is_not_freed(python):
    python(
        """
import numpy as np
import PyGPU
import PyGPU.autoinit
from PyGPU.compiler import SourceModule

module = SourceModule('''__device__ int values[4] = {1, 2, 3, 4}; __constant__ int more[2];
__global__ void f(int *a) { a[threadIdx.x] = values[threadIdx.x]; }''')
for name in ("values", "more"):
    address = int(module.get_global(name)[0])
    for call in (PyGPU.cudaFree, PyGPU.cudaFreeAsync, PyGPU.cudaFreeHost):
        assert call(address) == PyGPU.cudaErrorInvalidValue
    assert PyGPU.cudaPointerGetAttributes(address)[0]["type"] == PyGPU.cudaMemoryTypeDevice
    assert PyGPU.cudaHostGetFlags(address)[-1] == PyGPU.cudaErrorInvalidValue
PyGPU.cudaGetLastError()
a = PyGPU.zeros(4, np.int32)
module.get_function("f")(a, block=(4, 1, 1))
assert a.get().tolist() == [1, 2, 3, 4]
""",
        PYGPU_TARGET="host",
    )


OVERRUN = """
import ctypes, os
import numpy as np
import PyGPU
import PyGPU.autoinit
from PyGPU.compiler import SourceModule

# One element past the 512 bytes that the allocation spans.
f = SourceModule("__global__ void f(int *a, int n) { for (int i = 0; i < n; ++i) a[i] = i; }")
a = PyGPU.zeros(100, np.int32)
address = a.ptr
f.get_function("f")(a, np.int32(129), block=(1, 1, 1))
"""
REPORT = "allocation of 512 bytes at {} was written to past its end; PYGPU_HOST_STRICT=1 names"


@pytest.mark.parametrize(
    ("ending", "status"),
    [("del a", 0), ("os.abort()", -6), ("ctypes.string_at(8)", -11)],
)
def test_an_overrun_that_nobody_checked_is_reported_when_it_is_freed_or_kills(
    python, ending, status
):
    done = python(
        OVERRUN + f"print(hex(address), flush=True)\n{ending}\n", status, PYGPU_TARGET="host"
    )
    assert REPORT.format(done.stdout.strip()) in done.stderr
    assert done.stderr.count("PYGPU_HOST_STRICT") == 1


def test_an_overrun_of_the_c_librarys_own_records_ends_the_process():
    """It faults in the midst of an allocation, whose lock is then held for ever."""
    text = OVERRUN.replace("np.int32(129)", "np.int32(256)")
    text += "b = [PyGPU.zeros(3, np.float64) * k for k in range(20)]\nprint(a.get())\ndel a, b\n"
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", text],
            env={**os.environ, "PYGPU_TARGET": "host"},
            capture_output=True,
            timeout=60,
        )
        assert b"Traceback" not in done.stderr


def test_without_an_overrun_nothing_is_reported(python):
    text = OVERRUN.replace("129", "128")
    assert python(text + "del a", PYGPU_TARGET="host").stderr == ""
    assert "STRICT" not in python(text + "os.abort()", -6, PYGPU_TARGET="host").stderr


def test_strict_mode_checks_copies_fills_and_what_new_gave(python):
    python(
        """
import numpy as np
import PyGPU
import PyGPU.autoinit
from PyGPU.compiler import SourceModule

module = SourceModule('''
struct Pair { double first, second; };
__global__ void fill(char *a, int n) { memset(a, 1, n); }
__global__ void copy(char *a, char *b, int n) { memcpy(a, b, n); }
__global__ void shift(char *a, int n) { memmove(a + 1, a, n - 1); }
__global__ void heap(char *a, int n) {
    __shared__ char tile[64];
    char local[64];
    Pair *one = new Pair{1, 2};
    char *many = new char[n];
    memset(many, 5, n); memcpy(local, many, n); memcpy(tile, local, n); memcpy(a, tile, n);
    a[0] = one->second;
    delete one;
    delete[] many;
}''')
a, b = PyGPU.zeros(100, np.int8), PyGPU.to_gpu(np.ones(200, np.int8))

def run(name, *arguments):
    try:
        module.get_function(name)(*arguments, block=(1, 1, 1))
    except PyGPU.errors.LogicError as error:
        return str(error)

assert run("heap", a, np.int32(64)) is None
assert a.get().tolist() == [2] + 63 * [5] + 36 * [0]
for name, arguments in (("fill", [a]), ("copy", [a, b]), ("copy", [b, a]), ("shift", [a])):
    assert run(name, *arguments, np.int32(100)) is None, name
    kind = "a read of 101 bytes" if arguments[0] is b else "a write of "
    text = run(name, *arguments, np.int32(101))
    assert kind in text and "1 bytes past the end of an allocation of 100 bytes" in text, text
assert a.get().tolist() == 100 * [1]
""",
        PYGPU_TARGET="host",
        PYGPU_HOST_STRICT=1,
    )


def test_large_blocks_are_kept_for_the_next_and_out_of_reach(python):
    python(
        """
import numpy as np
import PyGPU
from PyGPU import errors
from PyGPU.compiler import SourceModule

MB = 1 << 20

def resident():
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * 4096

def taken(nbytes):
    address, status = PyGPU.cudaMalloc(nbytes)
    assert status == 0 and PyGPU.cudaMemset(address, 5, nbytes) == 0
    return address

read = SourceModule("__global__ void read(int *a, int *out) { *out = *a; }").get_function("read")
out = PyGPU.gpuarray.zeros(1, np.int32)
first, second = taken(8 * MB), taken(8 * MB)
assert PyGPU.cudaFree(first) == 0
try:
    read(np.uintp(first), out, block=(1, 1, 1))
    raise SystemExit("freed memory was read")
except errors.LogicError as error:
    assert f"illegal address {first:#x}" in str(error)
assert PyGPU.cudaFree(first) == PyGPU.cudaErrorInvalidValue
PyGPU.cudaGetLastError()
other = taken(8 * MB + 4096)
assert other != first and taken(8 * MB) == first
read(np.uintp(first), out, block=(1, 1, 1))
assert out.get()[0] == 0x05050505
assert all(PyGPU.cudaFree(one) == 0 for one in (first, second, other))
before = resident()
blocks = [taken(16 * MB) for _ in range(40)]
assert resident() - before > 600 * MB
assert all(PyGPU.cudaFree(block) == 0 for block in blocks)
assert resident() - before < 260 * MB
""",
        PYGPU_TARGET="host",
        PYGPU_HOST_MEMORY="",
    )


def test_a_saved_image_without_checks_in_strict_mode(python, tmp_path):
    image = tmp_path / "f.image"
    make = """
import pathlib, PyGPU.autoinit
from PyGPU import compiler
text = "__global__ void f(int *a) {{ a[threadIdx.x] = 1; }} __global__ void nothing() {{}}"
pathlib.Path({!r}).write_bytes(compiler.compile(text))
"""
    use = """
import warnings, PyGPU.autoinit
from PyGPU import driver
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    driver.module_from_file({!r}).get_function("f")
print(*[one.message for one in found], sep="")
"""
    for made, used in [("0", "1"), ("0", "0"), ("1", "1")]:
        python(make.format(str(image)), PYGPU_TARGET="host", PYGPU_HOST_STRICT=made)
        text = python(use.format(str(image)), PYGPU_TARGET="host", PYGPU_HOST_STRICT=used).stdout
        assert ("PYGPU_HOST_STRICT=1: the accesses of this image are not" in text) == (made < used)
