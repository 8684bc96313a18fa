"""Libraries in the cache are found again only if nothing that made them changed."""

import os
import subprocess
import sys

import needs
import pytest
from campaign import rare_but

import PyGPU

pytestmark = pytest.mark.skipif(PyGPU.target != "host", reason="options of g++ and its linker")

USES_LIBRARY = 'extern "C" int from_lib(); extern "C" int value() { return from_lib(); }'
USES_HEADER = """
#if __has_include(<number_of_mine.h>)
#include <number_of_mine.h>
#else
#define NUMBER 0
#endif
extern "C" int value() { return NUMBER; }
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        number = {"one": 1, "two": 2}[name]
        (tmp_path / name / "number_of_mine.h").write_text(f"#define NUMBER {number}\n")
    return tmp_path


def loaded(text, suffix=".cpp", **how):
    with open(f"source{suffix}", "w") as file:
        file.write(text)
    return PyGPU.load(f"source{suffix}", "int value();", cache_dir="cache", **how)


def make_library(number, folder="."):
    """Make an object, a static and a shared library whose function returns the number."""
    compiler = needs.program("gcc")
    with open("from_lib.c", "w") as file:
        file.write(f"int from_lib(void) {{ return {number}; }}")
    run = {"check": True, "cwd": os.getcwd()}
    subprocess.run([compiler, "-fPIC", "-c", "from_lib.c", "-o", f"{folder}/from_lib.o"], **run)
    subprocess.run(["ar", "rcs", f"{folder}/libmine.a", f"{folder}/from_lib.o"], **run)
    for path in ("from_lib.o", "libmine.a"):  # neither size nor time differ
        os.utime(f"{folder}/{path}", (1e9, 1e9))


USES = {
    "a path": {"libraries": ["./libmine.a"]},
    "-l and -L": {"libraries": ["mine"], "options": ["-L."]},
    "-l in options": {"options": ["-L", ".", "-l", "mine"]},
    "an object": {"libraries": ["./from_lib.o"]},
    "an option": {"options": ["libmine.a"]},
    "between options of the linker": {
        "options": ["-Wl,--whole-archive", "./libmine.a", "-Wl,--no-whole-archive"]
    },
    "-Xlinker": {"options": ["-Xlinker", "libmine.a"]},
    "a file with its whole name": {"options": ["-L."], "libraries": ["-l:libmine.a"]},
    "a response file": {"options": ["@words"]},
    "a response file of the linker": {"options": ["-Wl,@words"]},
    "a script of the linker": {"options": ["-L."], "libraries": ["by_script"]},
}


@pytest.mark.parametrize("how", rare_but(["-l and -L", "an object"], [*USES]))
def test_inputs_of_the_linker(how, place):
    (place / "words").write_text("./libmine.a")
    (place / "libby_script.so").write_text(f"INPUT({place}/libmine.a)")
    for number in (1, 2, 1):
        make_library(number)
        if "script" in how or "response" in how:
            os.utime("libmine.a", (1e9 + number, 1e9 + number))
        first = loaded(USES_LIBRARY, **USES[how])
        made = first.path.stat().st_mtime_ns
        again = loaded(USES_LIBRARY, **USES[how])
        assert (first.value(), again.value()) == (number, number)
        assert again.path.stat().st_mtime_ns == made


def test_a_library_in_an_earlier_folder_appears(place):
    make_library(2, "two")
    how = {"options": ["-Lone", "-Ltwo"], "libraries": ["mine"]}
    assert loaded(USES_LIBRARY, **how).value() == 2
    make_library(1, "one")
    assert loaded(USES_LIBRARY, **how).value() == 1


def test_a_script_of_versions(place):
    text = 'extern "C" int value() { return 1; } extern "C" int other() { return 2; }'
    paths = set()
    for names in ("value;", "value; other;"):
        (place / "names.map").write_text(f"{{ global: {names} local: *; }};")
        paths.add(loaded(text, options=["-Wl,--version-script=names.map"]).path)
    assert len(paths) == 2


@pytest.mark.parametrize(
    ("variable", "suffix"),
    rare_but(
        [("CPATH", ".cpp")],
        [("CPATH", ".cpp"), ("CPLUS_INCLUDE_PATH", ".cpp"), ("C_INCLUDE_PATH", ".c")],
    ),
)
def test_variables_with_folders_of_headers(variable, suffix, place, monkeypatch):
    text = USES_HEADER.replace('extern "C" ', "") if suffix == ".c" else USES_HEADER
    assert loaded(text, suffix).value() == 0
    for folders, number in (("one", 1), ("two", 2), ("nothing:one", 1), ("nothing:two:one", 2)):
        monkeypatch.setenv(variable, folders)
        assert loaded(text, suffix).value() == number
    (place / "nothing").mkdir()
    (place / "nothing" / "number_of_mine.h").write_text("#define NUMBER 3\n")
    assert loaded(text, suffix).value() == 3


@pytest.mark.parametrize("option", rare_but(["-I"], ["-I", "-iquote", "-isystem", "-idirafter"]))
def test_a_header_in_an_earlier_folder_appears(option, place):
    (place / "none").mkdir()
    text = USES_HEADER.replace("<number_of_mine.h>", '"number_of_mine.h"')
    how = {"options": [option, "none", option, "two"]}
    assert loaded(text, **how).value() == 2
    (place / "none" / "number_of_mine.h").write_text("#define NUMBER 3\n")
    assert loaded(text, **how).value() == 3
    (place / "none" / "number_of_mine.h").write_text("#define NUMBER 4\n")
    assert loaded(text, **how).value() == 4


def test_variables_of_the_linker(place, monkeypatch):
    for number, folder in ((1, "one"), (2, "two")):
        make_library(number, folder)
        monkeypatch.setenv("LIBRARY_PATH", folder)
        assert loaded(USES_LIBRARY, libraries=["mine"]).value() == number
    before = loaded(USES_LIBRARY, libraries=["mine"]).path
    for number in (1, 2):
        monkeypatch.setenv("COMPILER_PATH", str(place / "two"))
        (place / "two" / "ld").write_text(
            f'#!/bin/sh\nexec ld "$@" --build-id=0x{number}{number}\n'
        )
        (place / "two" / "ld").chmod(0o755)
        path = loaded(USES_LIBRARY, libraries=["mine"]).path
        assert path != before
        before = path


def test_other_variables_do_not_count(place, monkeypatch):
    path = loaded(USES_HEADER).path
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "3")
    assert loaded(USES_HEADER).path == path


@pytest.mark.parametrize("is_link", [False, True], ids=["a script", "a link to ccache"])
def test_another_compiler_under_the_same_name(is_link, place, monkeypatch):
    def program(path, text):
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    real, own = needs.program("g++"), place / "one" / "g++"
    program(place / "two" / "g++", f'exec {real} -DNUMBER=1 "$@"')
    if is_link:
        program(place / "ccache", f'exec {place}/two/$(basename "$0") "$@"')
        own.symlink_to(place / "ccache")
        monkeypatch.setenv("PATH", f"{place}/two:{os.environ['PATH']}")
    else:
        own.symlink_to(place / "two" / "g++")
    monkeypatch.setenv("PYGPU_HOST_CXX", str(own))
    text = 'extern "C" int value() { return NUMBER; }'
    assert loaded(text).value() == 1
    program(place / "two" / "g++", f'exec {real} -DNUMBER=20 "$@"')
    assert loaded(text).value() == 20


DAMAGES = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),
    "random bytes": lambda data: os.urandom(len(data)),
}


@pytest.mark.parametrize("damage", rare_but(["cut", "zeros"], DAMAGES))
def test_damaged_libraries_are_built_again(damage, place):
    source = place / "damaged.cpp"
    source.write_text('extern "C" int value() { return 7; }')
    path = PyGPU.build(source, cache_dir="cache")
    good = path.read_bytes()
    path.write_bytes(DAMAGES[damage](good))
    assert PyGPU.load(source, "int value();", cache_dir="cache").value() == 7
    assert path.read_bytes() == good


def test_two_builds_are_the_same_bytes(place):
    (place / "one.cu").write_text(
        '__global__ void k(int *a) { a[0] = 5; }\nextern "C" void one(int *a) { k<<<1, 1>>>(a); }\n'
    )
    made = [
        PyGPU.build("one.cu", out=f"{name}.so", options=["-g"], cache_dir=False).read_bytes()
        for name in "ab"
    ]
    assert made[0] == made[1]
    assert b"/copies" not in made[0]


def test_the_cache_cannot_be_written(place, monkeypatch):
    """A full disk has this effect."""
    from PyGPU._compile.cache import files

    def full(path, data, mode=0o644):
        return False

    monkeypatch.setattr(files, "place", full)
    library = loaded('extern "C" int value() { return 3; }')
    assert library.value() == 3
    assert not [*(place / "cache").rglob("*.so")]


@pytest.mark.campaign
def test_a_limit_of_the_size_of_files(place):
    text = 'extern "C" int value() { return 3; } extern "C" const char big[1 << 20] = {1};'
    (place / "big.cpp").write_text(text)
    code = (
        "import resource, sys, PyGPU\n"
        "if len(sys.argv) > 1:\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19,) * 2)\n"
        "try:\n"
        "    print(PyGPU.load('big.cpp', 'int value();', cache_dir='cache').value())\n"
        "except PyGPU.errors.CompileError:\n"
        "    print('refused')\n"
    )
    (place / "run.py").write_text(code)
    words = [sys.executable, "run.py"]
    run = {"capture_output": True, "text": True, "env": {**os.environ, "PYGPU_TARGET": "host"}}
    assert subprocess.run([*words, "limit"], **run).stdout == "refused\n"
    assert not [*(place / "cache").rglob("*.so")]
    assert subprocess.run(words, **run).stdout == "3\n"


OPENMP = """
extern "C" int value() {
  int n = 0;
#pragma omp parallel num_threads(5) reduction(+:n)
  n += 1;
  return n;
}
"""
LINKED = {
    "-L and -l": (USES_LIBRARY, {"options": ["-L.", "-lmine"]}),
    "two words": (USES_LIBRARY, {"options": ["-L", "."], "libraries": ["mine"]}),
    "long names": (USES_LIBRARY, {"options": ["--library-path=.", "--library", "mine"]}),
    "-Xlinker": (USES_LIBRARY, {"options": ["-Xlinker", "-L.,-lmine"]}),
    "--linker-options": (USES_LIBRARY, {"options": ["--linker-options=-L.", "-lmine"]}),
    "-Xcompiler": (OPENMP, {"options": ["-Xcompiler", "-fopenmp"]}),
    "-Xcompiler=": (OPENMP, {"options": ["-Xcompiler=-O1,-fopenmp"]}),
    "an escaped comma": (USES_LIBRARY, {"options": ["-Xcompiler", r"-Wl\,-L.\,-lmine"]}),
    "of the host compiler itself": (OPENMP, {"options": ["-fopenmp"]}),
    "not for the linker": (OPENMP.replace("omp", "nothing"), {"options": ["-lineinfo"]}),
    "of the machine": (
        USES_LIBRARY,
        {"options": ["-lcudart", "-L."], "libraries": ["mine", "cuda"]},
    ),
}


@pytest.mark.parametrize("how", rare_but(["-L and -l", "-Xcompiler"], [*LINKED]))
def test_options_of_nvcc_for_the_linker(how, place):
    make_library(5)
    text, words = LINKED[how]
    assert loaded(text, **words).value() == (1 if "nothing" in text else 5)


@pytest.mark.parametrize(
    "name", rare_but(["a,b 'c$d"], ["a,b 'c$d", 'a"b', "a;b#c", "a=b@c", "ä(b)"])
)
def test_odd_names_of_folders(name, place, monkeypatch):
    """Folders of sources, headers, libraries, copies and the cache."""
    folder = place / name
    (folder / "headers").mkdir(parents=True)
    monkeypatch.chdir(folder)
    make_library(5)
    (folder / "headers" / "add.h").write_text("__global__ void add(int *a) { a[0] += 1; }\n")
    text = (
        '#include <add.h>\nextern "C" int from_lib();\n'
        "int value() { int a = from_lib(); add<<<1, 1>>>(&a); return a; }\n"
        "#include <PyGPU/export.h>\nPYGPU_EXPORT(value);\n"
    )
    how = {"include_dirs": [folder / "headers"], "libraries": ["mine"]}
    library = loaded(text, ".cu", options=["-g", f"-L{folder}"], **how)
    made = library.path.stat().st_mtime_ns
    assert library.value() == 6
    again = loaded(text, ".cu", options=["-g", f"-L{folder}"], **how)
    assert again.path.stat().st_mtime_ns == made
