"""The twins of src/core: C++ tests by doctest under the sanitizers, which find what Python cannot
reach. Each file here tests the body of the same name."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import needs
import pytest

import PyGPU
from PyGPU._compile.compilers import rtc

ROOT = Path(__file__).resolve().parents[2]
TWINS = sorted(Path(__file__).parent.glob("*.cpp"))
BODIES = [*(path.name for path in TWINS), "device.cpp", "error.cpp", "graph.cpp"]
BODIES += ["kernel.cpp", "memory.cpp", "postponed.cpp", "stream.cpp"]
MAIN = "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n"
SANITIZED = ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
WORDS = ["-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-I", str(ROOT / "include")]

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(PyGPU.target != "host", reason="they run on the host machine"),
]


def compiles(text, folder, words):
    """Does a small text compile?"""
    path = folder / "text.cpp"
    path.write_text(text)
    command = [needs.program("g++"), *words, str(path), "-o", str(folder / "text")]
    return subprocess.run(command, capture_output=True).returncode == 0


def compiled(path, folder, words=()):
    made = str(folder / f"{path.parts[-3]}-{path.stem}.o")  # of tests or of src
    subprocess.run(["g++", *WORDS, *words, "-c", str(path), "-o", made], check=True)
    return made


@pytest.fixture(scope="module")
def doctest(tmp_path_factory):
    """doctest itself, which is not what the sanitizers look at."""
    folder = tmp_path_factory.mktemp("doctest")
    if not compiles("#include <doctest/doctest.h>\n", folder, ["-fsyntax-only"]):
        needs.missing("doctest", "doctest/doctest.h is not found (package doctest-dev)")
    (folder / "main.cpp").write_text(MAIN)
    return compiled(folder / "main.cpp", folder)


def build(folder, doctest, twins, bodies, words, links):
    """The path of the program with the tests of some files."""
    paths = [*twins, *(ROOT / "src" / "core" / name for name in bodies)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        objects = list(pool.map(lambda path: compiled(path, folder, words), paths))
    program = folder / "core"
    command = ["g++", *words, doctest, *objects, "-o", str(program), "-pthread", *links]
    subprocess.run(command, check=True)
    return program


def run(program, twin):
    done = subprocess.run(
        [program, f"--source-file=*/core/{twin}", "--no-colors"],
        env={**os.environ, "PYGPU_BLOCK_CACHE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"test cases: +(\d+) ", done.stdout).group(1)) > 0


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
    run(program, twin)


def test_loops_as_a_gpu_has_them(doctest, tmp_path):
    """Planned with CUDA's tuning: vectors and tiles. What would call a device is not linked."""
    options = rtc.toolkit_include_options("nvrtc")
    if not any(Path(option[2:], "cuda_runtime.h").exists() for option in options):
        needs.missing("cuda", f"there is no cuda_runtime.h in {options}")
    twins = [path for path in TWINS if path.name == "loop.cpp"]
    headers = [f"-isystem{option[2:]}" for option in options]
    words = ["-ffunction-sections", "-DPYGPU_TARGET_CUDA", *headers]
    bodies = ["loop.cpp", "layout.cpp"]
    run(build(tmp_path, doctest, twins, bodies, words, ["-Wl,--gc-sections"]), "loop.cpp")


def test_every_twin_has_its_body():
    assert {path.name for path in TWINS} >= {"layout.cpp", "copy_plan.cpp", "block_cache.cpp"}
    for path in TWINS:
        assert (ROOT / "src" / "core" / path.name).exists()
