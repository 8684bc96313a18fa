"""Names of files and folders in every locale, and disks that are full."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import needs
import pytest
from campaign import each_once

import PyGPU
from PyGPU import compiler, errors
from PyGPU._compile.cache import files

KERNEL = "__global__ void f(float *x) { x[0] = 1; }"

# Compile twice with the headers of a folder, and show the number of entries in the cache.
PROGRAM = """
import os, sys
from PyGPU.compiler import SourceModule, compile
folder, cache = sys.argv[1:]
text = '#include "one.h"\\n__global__ void f(float *x) { x[0] = ONE; }'
for _ in range(2):
    made = compile(text, include_dirs=[folder], cache_dir=cache)
name = os.fsencode(folder).decode("utf-8", "surrogateescape")
before = ["-include", os.path.join(folder, "one.h")]
made = compile("__global__ void f(float *x) { x[0] = ONE; }", options=before, cache_dir=cache)
text = f'#include "{name}/one.h"\\n__global__ void f(float *x) {{ x[0] = ONE; }}'
made = compile(text, cache_dir=cache)
entries = [name for _, _, names in os.walk(cache) for name in names if len(name) == 64]
print(sys.getfilesystemencoding(), len(entries))
"""


@pytest.fixture(scope="module")
def latin_1(tmp_path_factory):
    """Return the environment of a locale whose encoding is ISO 8859-1."""
    folder = tmp_path_factory.mktemp("locales")
    command = [needs.program("localedef"), "-i", "C", "-f", "ISO-8859-1", folder / "xx_XX"]
    done = subprocess.run(command, capture_output=True, text=True)  # it warns, with status 1
    if not (folder / "xx_XX").exists():
        needs.missing("localedef", f"localedef makes no locale: {done.stderr}")
    return {"LOCPATH": str(folder), "LC_ALL": "xx_XX"}


@pytest.mark.parametrize(
    ("name", "encoding"),
    each_once([b"\xc3\xbcber", b"\xfcber"], ["utf-8", "ascii", "iso8859-1"]),
)
def test_a_folder_of_any_name(tmp_path, cache, request, name, encoding):
    variables = {"utf-8": {"LC_ALL": "C.UTF-8"}, "ascii": {"LC_ALL": "C"}}.get(encoding)
    variables = variables or request.getfixturevalue("latin_1")
    folder = os.path.join(os.fsencode(tmp_path), name)
    os.mkdir(folder)
    header = os.path.join(folder, b"one.h")
    with open(header, "w") as file:
        file.write("#define ONE 1\n")
    os.utime(header, (time.time() - 60,) * 2)
    root = str(Path(PyGPU.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": root, "PYTHONUTF8": "0", **variables}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, folder, cache],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{encoding} 4\n", done.stderr


def test_bytes_of_a_text_that_are_not_utf_8(tmp_path):
    """The command `compile` reads such files."""
    (tmp_path / "\udcfcber.h").write_text("#define ONE 1\n")
    text = tmp_path / "text.cu"
    text.write_bytes(
        b'\xef\xbb\xbf#include "\xfcber.h" // \xfc\n__global__ void f(float *x) { *x = ONE; }'
    )
    command = [sys.executable, "-m", "PyGPU", "compile", text, "-o", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_error_of_writing_names_the_file_and_the_variable():
    with pytest.raises(OSError, match=r"No space left on device \(TMPDIR .*'/dev/full'"):
        files.write_text(Path("/dev/full"), KERNEL)


def test_a_full_disk(tmp_path, monkeypatch):
    """Of the folder for temporary files, at each place where one is written."""

    def full(prefix):
        folder = Path(original(prefix=prefix, dir=tmp_path))
        for name in ("kernel.cu", "kernel.cpp"):
            (folder / name).symlink_to("/dev/full")
        return str(folder)

    original = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(OSError, match=r"No space left on device \(TMPDIR .*/kernel\.cu'"):
        compiler.compile(KERNEL, keep=True, cache_dir=False)
    if PyGPU.target == "host":
        with pytest.raises(OSError, match=r"No space left on device \(TMPDIR .*/kernel\.cpp'"):
            compiler.compile(KERNEL, cache_dir=False)


@pytest.mark.skipif(PyGPU.target != "host", reason="vendors' compilers write no files of ours")
def test_a_full_disk_of_the_compiler(tmp_path, monkeypatch):
    def full(prefix):
        folder = Path(original(prefix=prefix, dir=tmp_path))
        (folder / "kernel.d").symlink_to("/dev/full")
        return str(folder)

    original = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(errors.CompileError, match=r"No space left on device \(TMPDIR names"):
        compiler.compile(KERNEL, cache_dir=False)


LOCALE = """
import locale
from PyGPU._compile.compilers import rtc
before = locale.nl_langinfo(locale.CODESET)
options = ["--gpu-architecture=sm_75"]
rtc.library("nvrtc").compile("__global__ void f() {}", "kernel.cu", options, (), "CUBIN")
print(before, locale.nl_langinfo(locale.CODESET))
"""


@pytest.mark.no_device
def test_the_locale_stays_after_a_compilation(python):
    """NVRTC before CUDA 12.6 changes the locale of the thread."""
    needs.compiler("nvrtc")
    assert python(LOCALE, LC_ALL="C.UTF-8").stdout == "UTF-8 UTF-8\n"
