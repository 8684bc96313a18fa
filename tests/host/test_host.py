"""The twins of src/host: C++ tests by doctest under the sanitizers. Each file tests the body of its
name."""

import subprocess
from pathlib import Path

import needs
import pytest
from twins import ROOT, SANITIZED, WORDS, compiled, compiles, doctest_in, run

import PyGPU

TWINS = sorted(Path(__file__).parent.glob("*.cpp"))
BODIES = sorted((ROOT / "src" / "host").glob("*.cpp"))

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(PyGPU.target != "host", reason="they test the host machine"),
]


@pytest.fixture(scope="module")
def doctest(tmp_path_factory):
    return doctest_in(tmp_path_factory.mktemp("doctest"))


@pytest.fixture(scope="module")
def program(doctest, tmp_path_factory):
    """All tests, with the machine as a library: some of its names are also the sanitizer's."""
    folder = tmp_path_factory.mktemp("twins")
    if not compiles("int main() {}\n", folder, SANITIZED):
        needs.missing("g++", f"g++ has no libraries for {SANITIZED}")
    # The sanitizers make g++ warn of variables that are set.
    words = [*SANITIZED, "-Wno-maybe-uninitialized", "-DPYGPU_TARGET_HOST", "-I", str(ROOT / "src")]
    unit, library = folder / "machine.cpp", folder / "libmachine.so"
    unit.write_text("".join(f'#include "{path}"\n' for path in BODIES))
    command = ["g++", *WORDS, *words, "-shared", "-fPIC", str(unit), "-o", str(library), "-pthread"]
    subprocess.run(command, check=True)
    objects = [compiled(path, folder, words) for path in TWINS]
    command = ["g++", *SANITIZED, doctest, *objects, str(library), "-o", str(folder / "host")]
    subprocess.run([*command, "-pthread"], check=True)
    return folder / "host"


@pytest.mark.parametrize("twin", [path.name for path in TWINS])
def test_twin(program, twin):
    run(program, f"host/{twin}", PYGPU_HOST_DEVICES="2", PYGPU_HOST_MEMORY="1G")


def test_every_twin_has_its_body():
    assert {path.name for path in TWINS} >= {"memory.cpp", "order.cpp", "rendezvous.cpp"}
    assert {path.name for path in TWINS} <= {path.name for path in BODIES}
