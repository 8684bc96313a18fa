"""Launches in destructors and exit functions: they run, or are errors in a forked child."""

import subprocess
from pathlib import Path

import needs
import pytest

import PyGPU

pytestmark = pytest.mark.skipif(PyGPU.target != "host", reason="launches of the host machine")
SOURCE = Path(__file__).with_name("host_exits.cu")
ROOT = Path(__file__).parents[2]
DONE = f"1 0 {int(PyGPU.cudaErrorIllegalAddress)}"
FORKED = " ".join(["1", *[str(int(PyGPU.cudaErrorInitializationError))] * 2])
END = ["thread_local", "global"]
WAYS = {
    "return": END,
    "thread": ["thread_local", *END],
    "key": ["key", *END],
    "atexit": ["thread_local", "atexit", "global"],
    "at_quick_exit": ["at_quick_exit"],
    "detached": END,
    "exit in a thread": ["global"],
}


def build(folder, compiler, *options, library=None):
    needs.program(compiler.split()[0])
    where = library or PyGPU.get_library_dir()
    words = [*compiler.split(), "-O1", "-std=c++17", *options, "-I", PyGPU.get_include()]
    words += ["-x", "c++", str(SOURCE), "-o", str(folder / "exits"), "-L", str(where)]
    subprocess.run([*words, "-lPyGPU_host", f"-Wl,-rpath,{where}", "-pthread"], check=True)
    return folder / "exits"


def lines(program, way):
    done = subprocess.run([program, way], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("exits"), "g++")


@pytest.mark.parametrize("way", WAYS)
def test_launches_at_the_end(program, way):
    assert lines(program, way) == [f"{name} {DONE}" for name in ["main", *WAYS[way]]]


def test_launches_at_the_end_of_a_forked_child(program):
    found = lines(program, "fork")
    expected = [f"{name} {status}" for name in END for status in (DONE, FORKED)]
    assert sorted(found) == sorted([f"main {DONE}", *expected])


@pytest.mark.campaign
@pytest.mark.parametrize(
    "compiler",
    ["g++ -flto=auto", "g++ -flto=auto -flto-partition=max", "clang++ -flto=thin -fuse-ld=lld"],
)
def test_link_time_optimization(tmp_path, compiler):
    """The machine's library and a program, as distributions build packages."""
    if "lld" in compiler:
        needs.program("ld.lld")
    needs.program(compiler.split()[0])
    unit, library = tmp_path / "machine.cpp", tmp_path / "libPyGPU_host.so"
    bodies = sorted((ROOT / "src" / "host").glob("*.cpp"))
    unit.write_text("".join(f'#include "{body}"\n' for body in bodies))
    flags = ["-O2", "-std=c++17", "-fPIC", "-fvisibility=hidden", "-fno-plt", "-fcf-protection"]
    words = [*compiler.split(), *flags, "-I", str(ROOT / "include"), "-shared", str(unit)]
    link = ["-Wl,-z,now", "-Wl,--no-undefined", "-Wl,--gc-sections", "-pthread"]
    subprocess.run([*words, "-o", str(library), *link], check=True)
    for options in [], ["-DPYGPU_NAMED_INDICES"]:
        program = build(tmp_path, compiler, *options, library=tmp_path)
        assert lines(program, "atexit")[1:] == [f"{name} {DONE}" for name in WAYS["atexit"]]


def test_a_launch_at_the_end_of_the_interpreter(python, tmp_path):
    """In the destructor of a global object of a library, and in a function of std::atexit."""
    source = tmp_path / "ends.cu"
    source.write_text("""
#include <PyGPU/export.h>
#include <cstdlib>
__global__ void set(int *a) { a[0] = 42; }
static int *p;
struct Owner { ~Owner() { set<<<1, 1>>>(p); cudaFree(p); } };
static Owner owner;
void begin() {
  cudaMalloc(&p, 4);
  std::atexit([] { set<<<1, 1>>>(p); if (cudaDeviceSynchronize() || *p != 42) std::_Exit(3); });
}
PYGPU_EXPORT(begin);
""")
    python(f"""
import PyGPU
PyGPU.load({str(source)!r}, cache_dir=False).begin()
(PyGPU.zeros(3, "f4") + 1).get()
""")
