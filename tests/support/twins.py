"""C++ tests by doctest under the sanitizers: what their Python tests share."""

import os
import re
import subprocess
from pathlib import Path

import needs

MAIN = "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n"
SANITIZED = ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
ROOT = Path(__file__).resolve().parents[2]
WORDS = ["-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-I", str(ROOT / "include")]


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


def doctest_in(folder):
    """Compile doctest itself, without the sanitizers. Return the object's path."""
    if not compiles("#include <doctest/doctest.h>\n", folder, ["-fsyntax-only"]):
        needs.missing("doctest", "doctest/doctest.h is not found (package doctest-dev)")
    (folder / "main.cpp").write_text(MAIN)
    return compiled(folder / "main.cpp", folder)


def run(program, twin, **settings):
    """Run the tests of one file: 'core/layout.cpp'."""
    done = subprocess.run(
        [program, f"--source-file=*/{twin}", "--no-colors"],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"test cases: +(\d+) ", done.stdout).group(1)) > 0
