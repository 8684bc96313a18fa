"""The twins of src/core: C++ tests by doctest, plain and under the sanitizers, where they find what
Python cannot reach. Each file here tests the body of the same name."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import needs
import pytest

import PyGPU

ROOT = Path(__file__).resolve().parents[2]
TWINS = sorted(Path(__file__).parent.glob("*.cpp"))
BODIES = [*(path.name for path in TWINS), "device.cpp", "error.cpp"]
MAIN = "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n"
BUILDS = {
    "plain": ["-O1"],
    "sanitized": ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
}
WORDS = ["-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-DPYGPU_TARGET_HOST"]

pytestmark = pytest.mark.skipif(PyGPU.target != "host", reason="they run on the host machine")


def compiled(text, folder, words):
    """A compiler's outcome for a small text."""
    path = folder / "text.cpp"
    path.write_text(text)
    command = [needs.program("g++"), *words, str(path), "-o", str(folder / "text")]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module", params=BUILDS)
def program(request, tmp_path_factory):
    """The path of the program with all tests."""
    folder = tmp_path_factory.mktemp(request.param)
    words = [*WORDS, *BUILDS[request.param], "-I", str(ROOT / "include")]
    if compiled("#include <doctest/doctest.h>\n", folder, ["-fsyntax-only"]).returncode:
        needs.missing("doctest", "doctest/doctest.h is not found (package doctest-dev)")
    if compiled("int main() {}\n", folder, BUILDS[request.param]).returncode:
        needs.missing("g++", f"g++ has no libraries for {BUILDS[request.param]}")
    (folder / "main.cpp").write_text(MAIN)
    bodies = [ROOT / "src" / "core" / name for name in BODIES]

    def build(number, path):
        made = folder / f"{number}.o"
        subprocess.run(["g++", *words, "-c", str(path), "-o", str(made)], check=True)
        return str(made)

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        paths = [folder / "main.cpp", *TWINS, *bodies]
        objects = list(pool.map(build, range(len(paths)), paths))
    libraries = PyGPU.get_library_dir()
    command = ["g++", *BUILDS[request.param], *objects, "-o", str(folder / "core"), "-pthread"]
    command += ["-L", libraries, "-lPyGPU_host", f"-Wl,-rpath,{libraries}"]
    subprocess.run(command, check=True)
    return folder / "core"


@pytest.mark.parametrize("twin", [path.name for path in TWINS])
def test_twin(program, twin):
    done = subprocess.run(
        [program, f"--source-file=*/core/{twin}", "--no-colors"],
        env={**os.environ, "PYGPU_SMALL_BLOCKS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"test cases: +(\d+) ", done.stdout).group(1)) > 0


def test_every_twin_has_its_body():
    assert {path.name for path in TWINS} >= {"layout.cpp", "copy_plan.cpp", "small_blocks.cpp"}
    for path in TWINS:
        assert (ROOT / "src" / "core" / path.name).exists()
