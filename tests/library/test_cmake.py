"""CMake's package PyGPU: find_package(PyGPU), pygpu_add_library, PyGPU::host."""

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import needs
import pytest

import PyGPU
from PyGPU._runtime import PACKAGE

FOLDER = PACKAGE / "cmake"
PROJECT = """
cmake_minimum_required(VERSION 3.20...3.31)
project(mine LANGUAGES CXX)
find_package(PyGPU REQUIRED)
pygpu_add_library(mine mine.cu other.cu)
target_include_directories(mine PRIVATE "some headers")
target_compile_definitions(mine PRIVATE FACTOR=3)
pygpu_add_library(again STATIC mine.cu other.cu TARGET host)
target_include_directories(again PRIVATE "some headers")
target_compile_definitions(again PRIVATE FACTOR=4)
add_executable(check check.cpp)
target_link_libraries(check PRIVATE again)
"""
MINE = """
#include "other.h"
#include <PyGPU/export.h>
__global__ void scale(double *a) { a[threadIdx.x] *= FACTOR; }
void scale_and_add(double *a, int n, cudaStream_t stream) {
  scale<<<1, n, 0, stream>>>(a);
  add(a, n, stream);
}
PYGPU_EXPORT(scale_and_add);
"""
OTHER = """
#include "other.h"
void add(double *a, int n, cudaStream_t stream) { add_all(a, n, stream); }
"""
HEADER = """
static __global__ void add_number(double *a) { a[threadIdx.x] += NUMBER; }
inline void add_all(double *a, int n, cudaStream_t s) { add_number<<<1, n, 0, s>>>(a); }
void add(double *a, int n, cudaStream_t stream);
"""
CHECK = """
#include <PyGPU/gpu.h>
void scale_and_add(double *a, int n, cudaStream_t stream);
int main() {
  double *a, value = 2;
  cudaMalloc(&a, sizeof value);
  cudaMemcpy(a, &value, sizeof value, cudaMemcpyHostToDevice);
  scale_and_add(a, 1, nullptr);
  cudaMemcpy(&value, a, sizeof value, cudaMemcpyDeviceToHost);
  return int(value);
}
"""


def cmake(*words, expected=0, **variables):
    done = subprocess.run(
        [needs.program("cmake"), *map(str, words)],
        env={**os.environ, "PYGPU_TARGET": "host", **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def project(tmp_path):
    headers = tmp_path / "some headers"
    headers.mkdir()
    (headers / "other.h").write_text(HEADER.replace("NUMBER", "1"))
    for name, text in (
        ("CMakeLists.txt", PROJECT),
        ("mine.cu", MINE),
        ("other.cu", OTHER),
        ("check.cpp", CHECK),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


def configure(project, *words, **others):
    given = [f"-DPyGPU_DIR={FOLDER}", f"-DPyGPU_PYTHON={sys.executable}", *words]
    return cmake("-S", project, "-B", project / "build", *given, **others)


def scaled(project):
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import numpy as np, PyGPU, sys\n"
            "a = PyGPU.to_gpu(np.ones(3))\n"
            "PyGPU.load(sys.argv[1]).scale_and_add(a, 3)\nprint(a.get().tolist())",
            project / "build" / "libmine.so",
        ],
        env={**os.environ, "PYGPU_TARGET": "host"},
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() or done.stderr


@pytest.mark.campaign
def test_libraries_for_host(project):
    configure(project)
    cmake("--build", project / "build", "-j2")
    assert scaled(project) == "[4.0, 4.0, 4.0]"
    assert subprocess.run([project / "build" / "check"]).returncode == 2 * 4 + 1

    # A changed header, also one with launches, builds its libraries again.
    header = project / "some headers" / "other.h"
    header.write_text(HEADER.replace("NUMBER", "10"))
    cmake("--build", project / "build", "-j2")
    assert scaled(project) == "[13.0, 13.0, 13.0]"

    (project / "other.cu").write_text(OTHER.replace("add_all(", "missing("))
    text = cmake("--build", project / "build", expected=2 if is_make(project) else 1)
    assert re.search(rf"{re.escape(str(project))}/other\.cu:3:.*error", text)


def is_make(project):
    return (project / "build" / "Makefile").exists()


@pytest.mark.campaign
def test_an_unknown_target_is_an_error(project):
    text = configure(project, "-DPYGPU_TARGET=gpu", expected=1)
    assert "TARGET gpu: expected cuda, hip or host" in " ".join(text.split())
    text = configure(project, "-UPYGPU_TARGET", expected=1, PYGPU_TARGET="tpu")
    assert "TARGET tpu: expected cuda, hip or host" in " ".join(text.split())


def test_the_version_of_the_package():
    text = (FOLDER / "PyGPUConfigVersion.cmake").read_text()
    assert f'set(PACKAGE_VERSION "{PyGPU.__version__}")' in text


def test_the_folder_is_printed_and_an_entry_point():
    done = subprocess.run(
        [sys.executable, "-m", "PyGPU", "--cmakedir"], capture_output=True, text=True
    )
    assert done.stdout == f"{FOLDER}\n"
    assert (FOLDER / "PyGPUConfig.cmake").is_file()
    found = (
        [e for e in metadata.entry_points()["cmake.root"] if e.name == "PyGPU"]
        if (sys.version_info < (3, 10))
        else list(metadata.entry_points(group="cmake.root", name="PyGPU"))
    )
    assert {Path(e.load().__file__).parent for e in found} == {FOLDER}


NUMBERS = {
    "one.cu": '#ifndef FACTOR\n#define FACTOR 1\n#endif\nextern "C" int one() { return FACTOR; }',
    "two.cu": 'extern "C" int two() { return 2; }',
    "three.cu": 'extern "C" int three() { return 3; }',
}
COPY = "COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/two.cu"
# The end of the project's text, that of its subfolder, and the results of the library's functions.
SOURCES = {
    "several": ("pygpu_add_library(mine one.cu two.cu)", "", {"one": 1, "two": 2}),
    "generated": (
        f"add_custom_command(OUTPUT gen.cu {COPY} gen.cu)\npygpu_add_library(mine one.cu gen.cu)",
        "",
        {"one": 1, "two": 2},
    ),
    "generated, by its path": (
        "set(G ${CMAKE_CURRENT_BINARY_DIR}/gen.cu)\n"
        f"add_custom_command(OUTPUT ${{G}} {COPY} ${{G}})\n"
        "pygpu_add_library(mine ${G})",
        "",
        {"two": 2},
    ),
    "target_sources": (
        "pygpu_add_library(mine one.cu)\n"
        "target_sources(mine PRIVATE two.cu)\nadd_subdirectory(sub)",
        "target_sources(mine PRIVATE ../three.cu)",
        {"one": 1, "two": 2, "three": 3},
    ),
    "target_sources above": (
        "add_subdirectory(sub)\ntarget_sources(mine PRIVATE one.cu)",
        "pygpu_add_library(mine ../two.cu)",
        {"one": 1, "two": 2},
    ),
    "definitions": (
        "pygpu_add_library(mine one.cu)\n"
        'set_source_files_properties(one.cu PROPERTIES COMPILE_DEFINITIONS "A;FACTOR=$<IF:1,6,7>")',
        "",
        {"one": 6},
    ),
    "options": (
        "set_source_files_properties(one.cu PROPERTIES COMPILE_OPTIONS -DFACTOR=7)\n"
        "pygpu_add_library(mine one.cu)",
        "",
        {"one": 7},
    ),
    "a header": (
        "set_source_files_properties(two.cu PROPERTIES HEADER_FILE_ONLY ON)\n"
        "pygpu_add_library(mine one.cu two.cu)",
        "",
        {"one": 1},
    ),
    "generator expressions": (
        "pygpu_add_library(mine $<1:one.cu> $<0:nothing.cu>)\n"
        'target_sources(mine PRIVATE "$<$<NOT:$<CONFIG:None>>:two.cu;three.cu>")',
        "",
        {"one": 1, "two": 2, "three": 3},
    ),
    "found twice": (
        "find_package(PyGPU REQUIRED)\nadd_subdirectory(sub)\npygpu_add_library(mine one.cu)",
        "find_package(PyGPU REQUIRED)\npygpu_add_library(other STATIC ../two.cu)",
        {"one": 1},
    ),
}


def library_of(folder, text, below, build="build"):
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "sub" / "CMakeLists.txt").write_text(below)
    head = "cmake_minimum_required(VERSION 3.20)\nproject(mine LANGUAGES CXX)\n"
    (folder / "CMakeLists.txt").write_text(f"{head}find_package(PyGPU REQUIRED)\n{text}\n")
    for name, source in NUMBERS.items():
        (folder / name).write_text(f"__global__ void k_{name[:-3]}() {{}}\n{source}\n")
    given = [f"-DPyGPU_DIR={FOLDER}", f"-DPyGPU_PYTHON={sys.executable}"]
    cmake("-S", folder, "-B", folder / build, *given)
    cmake("--build", folder / build)
    (found,) = (folder / build).rglob("libmine.so")
    return found


@pytest.mark.campaign
@pytest.mark.skipif(PyGPU.target != "host", reason="loads libraries of the target host")
@pytest.mark.parametrize("kind", SOURCES)
def test_sources_of_libraries_for_host(kind, tmp_path):
    text, below, expected = SOURCES[kind]
    path = library_of(tmp_path, text, below)
    declared = "".join(f"int {name}();" for name in expected)
    library = PyGPU.load(path, declared)
    assert {name: getattr(library, name)() for name in expected} == expected


@pytest.mark.campaign
@pytest.mark.skipif(PyGPU.target != "host", reason="loads libraries of the target host")
@pytest.mark.parametrize("build", ["b,c", "b c", "b'c", "b$c", "b@c@"])
def test_odd_names_of_the_build_folder(build, tmp_path):
    path = library_of(tmp_path, "pygpu_add_library(mine one.cu)", "", build)
    assert PyGPU.load(path, "int one();").one() == 1


def test_a_missing_python_is_named_with_its_remedy(project):
    given = [f"-DPyGPU_DIR={FOLDER}", "-D_pygpu_on_path=false", "-DPYTHON_EXECUTABLE=false"]
    text = " ".join(cmake("-S", project, "-B", project / "build", *given, expected=1).split())
    assert "pass -DPyGPU_PYTHON=<path> and -DPyGPU_DIR=$(<path> -m PyGPU --cmakedir)" in text
