"""The twins of src/core: C++ tests by doctest under the sanitizers, which find what Python cannot
reach. Each file here tests the body of the same name."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import needs
import pytest
from twins import SANITIZED, compiled, compiles, doctest_in, run

import PyGPU
from PyGPU._compile.compilers import rtc

ROOT = Path(__file__).resolve().parents[2]
TWINS = sorted(Path(__file__).parent.glob("*.cpp"))
BODIES = [*(path.name for path in TWINS), "device.cpp", "error.cpp", "capture.cpp"]
BODIES += ["axes.cpp", "graph.cpp", "host_function.cpp", "kernel.cpp", "memory.cpp"]
BODIES += ["memory_pool.cpp", "memory_stats.cpp", "stream.cpp"]
#: Each body by its name, in the folders of src/core.
SOURCES = {path.name: path for path in (ROOT / "src" / "core").glob("*/*.cpp")}

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(PyGPU.target != "host", reason="they run on the host machine"),
]


@pytest.fixture(scope="module")
def doctest(tmp_path_factory):
    return doctest_in(tmp_path_factory.mktemp("doctest"))


def build(folder, doctest, twins, bodies, words, links):
    """The path of the program with the tests of some files."""
    paths = [*twins, *(SOURCES[name] for name in bodies)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        objects = list(pool.map(lambda path: compiled(path, folder, words), paths))
    program = folder / "core"
    command = ["g++", *words, doctest, *objects, "-o", str(program), "-pthread", *links]
    subprocess.run(command, check=True)
    return program


@pytest.fixture(scope="module")
def program(doctest, tmp_path_factory):
    """All tests on the host machine."""
    folder = tmp_path_factory.mktemp("twins")
    if not compiles("int main() {}\n", folder, SANITIZED):
        needs.missing("g++", f"g++ has no libraries for {SANITIZED}")
    libraries = PyGPU.get_library_dir()
    links = ["-L", libraries, "-lPyGPU_host", f"-Wl,-rpath,{libraries}"]
    return build(folder, doctest, TWINS, BODIES, [*SANITIZED, "-DPYGPU_TARGET_HOST"], links)


@pytest.mark.parametrize("twin", [path.name for path in TWINS])
def test_twin(program, twin):
    run(program, f"core/{twin}", PYGPU_BLOCK_CACHE="1")


def test_loops_as_a_gpu_has_them(doctest, tmp_path):
    """Planned with CUDA's tuning: vectors and tiles. What would call a device is not linked."""
    options = rtc.toolkit_include_options("nvrtc")
    if not any(Path(option[2:], "cuda_runtime.h").exists() for option in options):
        needs.missing("cuda", f"there is no cuda_runtime.h in {options}")
    twins = [path for path in TWINS if path.name == "loop.cpp"]
    headers = [f"-isystem{option[2:]}" for option in options]
    words = ["-ffunction-sections", "-DPYGPU_TARGET_CUDA", *headers]
    bodies = ["loop.cpp", "layout.cpp", "axes.cpp"]
    run(build(tmp_path, doctest, twins, bodies, words, ["-Wl,--gc-sections"]), "core/loop.cpp")


def test_every_twin_has_its_body():
    assert {path.name for path in TWINS} >= {"layout.cpp", "copy_plan.cpp", "block_cache.cpp"}
    for path in TWINS:
        assert path.name in SOURCES
