"""Environment variables: the table, invalid values, and the documentation."""

import re
import subprocess
import warnings
from pathlib import Path

import needs
import pytest
import settings_page

import PyGPU
from PyGPU._runtime import settings, targets

ROOT = Path(__file__).resolve().parents[2]
BAD = {
    "PYGPU_DEVICE": ["two", "-1", "0.5"],
    "PYGPU_CHECK": ["foo", "Warn", "1"],
    "PYGPU_CHECK_CALLS": ["foo", "Warn", "1"],
    "PYGPU_STAGING": ["x", "-1", "1.5", "1 MB", "1e6", "9" * 30, "0x10", "+3"],
    "PYGPU_RESULT_CACHE": ["x", "-1", "1.5", "1 MB"],
    "PYGPU_BLOCK_CACHE": ["maybe", "2", "01"],
    "PYGPU_POOLS": ["off", "true"],
    "PYGPU_PEER_COPIES": ["on", "2"],
    "PYGPU_CACHE_MAXSIZE": ["many", "-1", "1e9", "G", "1 GB", "1GG"],
    "PYGPU_PROGRESS": ["-1", "soon", "1e3", "2s"],
    "PYGPU_STATED_CUDA_VERSION": ["11.8.0", "eleven"],
    "PYGPU_COMPARISONS": ["NumPy", "PyCUDA", "bool", "1"],
    "PYGPU_NUMPY_COMPAT": ["yes"],
    "PYGPU_HOST_DEVICES": ["two", "0", "65", "2 devices"],
    "PYGPU_HOST_MEMORY": ["lots", "10", "5X", "nan", "1025T"],
    "PYGPU_HOST_THREADS": ["0", "1025"],
    "PYGPU_HOST_WARP": ["48", "wide"],
    "PYGPU_HOST_STRICT": ["yes", "2"],
    "PYGPU_HOST_INTERFACE": ["yes"],
    "PYGPU_HOST_FAIL": ["x", "0", "-1", "3x", "1.5", "99999999999999999999"],
    "PYGPU_HOST_PROCESSOR": ["none"],
}
ANY_TEXT = {row.name for row in settings.ROWS if row.parser.expected == "any text"}


@pytest.fixture(autouse=True)
def unreported(monkeypatch):
    monkeypatch.setattr(settings, "_reported", set())


def message(name, value):
    row = settings.SETTINGS[name]
    default = row.default_text.replace("`", "")
    return f"{name}={value!r}: expected {row.parser.expected}; the default is in force: {default}"


def test_every_row_is_tried():
    assert {*BAD, *ANY_TEXT, "PYGPU_TARGET"} == settings.SETTINGS.keys()
    assert settings.SETTINGS["PYGPU_TARGET"].parser.expected.endswith(", ".join(targets.TARGETS))


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD.items() for v in values])
def test_an_invalid_value_draws_one_warning_and_the_default(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.warns(PyGPU.SettingWarning) as found:
        assert settings.value(name) == settings.SETTINGS[name].default
    assert [str(one.message) for one in found] == [message(name, value)]
    assert found[0].filename == __file__
    settings.check()  # reported once
    assert settings.value(name) == settings.SETTINGS[name].default


PROGRAM = """
import warnings
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    import PyGPU
from PyGPU._runtime import settings
from PyGPU._compile.compilers import host_compiler as host
assert {one.filename for one in found} <= {"<string>"}, found
count, (address, status) = PyGPU.cudaGetDeviceCount()[0], PyGPU.cudaMalloc(100)
nbytes = settings.value("PYGPU_CACHE_MAXSIZE")
print(count, nbytes, host.is_strict(), PyGPU.transfer.configure().threshold)
status = PyGPU.cudaMemset(address, 0, 101)
print(PyGPU.cudaDeviceProp(0).warpSize(), PyGPU.cudaMemGetInfo()[1], status)
print(*sorted(str(one.message) for one in found if one.category is PyGPU.SettingWarning), sep="\\n")
"""


def test_the_default_is_in_force_in_python_and_in_cpp(python):
    """Every variable at once, without one and with each sort of invalid value."""
    right = python(PROGRAM).stdout
    for turn in range(3):
        chosen = {name: values[turn % len(values)] for name, values in BAD.items()}
        if needs.STANDIN:  # it chooses the width of a wavefront where the variable is not set
            del chosen["PYGPU_HOST_WARP"]
        lines = python(PROGRAM, **chosen).stdout.splitlines(keepends=True)
        assert "".join(lines[:2]) == right.rstrip("\n") + "\n"
        assert "".join(lines[2:]).splitlines() == sorted(message(*one) for one in chosen.items())


def test_valid_values_are_silent(monkeypatch):
    words = {"PYGPU_CHECK": "off", "PYGPU_DEVICE": " 1 ", "PYGPU_HOST_FAIL": "3:cudaMalloc"}
    words |= {"PYGPU_CACHE_MAXSIZE": "1GB", "PYGPU_STATED_CUDA_VERSION": "11.8"}
    words |= {"PYGPU_HOST_MEMORY": "1.5g", "PYGPU_POOLS": "", "PYGPU_HOST_STRICT": " "}
    words |= {"PYGPU_PROGRESS": "0.25", "PYGPU_COMPARISONS": " pycuda "}
    for name, value in words.items():
        monkeypatch.setenv(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settings.check()
        found = [settings.value(name) for name in words]
    assert found == ["off", 1, "3:cudaMalloc", 1 << 30, 11080, 3 << 29, None, "0", 0.25, "pycuda"]


def test_pycudas_variable_is_the_second_choice(monkeypatch):
    monkeypatch.delenv("PYGPU_DEVICE", raising=False)
    monkeypatch.setenv("CUDA_DEVICE", "3")
    assert settings.value("PYGPU_DEVICE") == 3
    monkeypatch.setenv("PYGPU_DEVICE", "2")
    assert settings.value("PYGPU_DEVICE") == 2
    monkeypatch.setenv("PYGPU_DEVICE", "")
    monkeypatch.setenv("CUDA_DEVICE", "three")
    with pytest.warns(PyGPU.SettingWarning, match="^CUDA_DEVICE='three': expected the ordinal"):
        settings.check()


READER = """
#include <cstdio>
#include "PyGPU/runtime/settings.h"
int main(int count, char** texts) {
  for (int i = 1; i < count; ++i) {
    setenv("TEXT", texts[i], 1);
    const bool is_on = PyGPU::switch_setting("TEXT", false);
    const bool is_off = !PyGPU::switch_setting("TEXT", true);
    const auto number = (long long)PyGPU::number_setting("TEXT", -1, 0, INT64_MAX);
    std::printf("%lld %d\\n", number, is_on ? 1 : is_off ? 0 : -1);
  }
}
"""


def test_cpp_reads_the_same_numbers(tmp_path):
    wholes = ["", "0", "1", "007", "10", "1023", "8388607", "8388608", "9007199254740993"]
    wholes += [
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "-1",
        "+1",
        "x",
    ]
    fractions = ["", ".", ".0", ".5", ".25", ".3", ".000001", ".015625", ".9999999", ".5x"]
    units = ["", "k", "K", "M", "G", "T", "KB", "gB", "B", "BK", "KK", "P", " M", "KiB"]
    texts = [w + f + u for w in wholes for f in fractions for u in units]
    texts += [" 5", "5 ", "\t2G\n", "1e3", "0x10", "nan", "inf", "5\v", " 1", "0\n", "on", "2"]
    (tmp_path / "read.cpp").write_text(READER)
    compiler = [needs.program("g++"), "-std=c++17", "-Wall", "-Werror", "-I", ROOT / "include"]
    compiler += ["-fsanitize=undefined", "-fno-sanitize-recover"]
    subprocess.run([*compiler, "-o", tmp_path / "read", tmp_path / "read.cpp"], check=True)
    done = subprocess.run([tmp_path / "read", *texts], check=True, capture_output=True, text=True)
    number, switch = (
        settings.SETTINGS[name].parser.parse for name in ("PYGPU_STAGING", "PYGPU_POOLS")
    )

    def expected(text):
        value = number(text.strip())
        return f"{-1 if value is None else value} {switch(text.strip()) or -1}"

    pairs = zip(texts, done.stdout.splitlines(), map(expected, texts))
    assert [(text, line) for text, line, right in pairs if line != right] == []
    assert done.stdout.count("\n") == len(texts) and done.stdout.count("-1 -1") < len(texts) - 200


#: Calls by which Python and C++ read a variable.
READS = (
    r'(?:environ(?:\.get\(|\[)|settings\.value\(|getenv\(|_setting\(|setting_text\()f?"(PYGPU_\w+)'
)


def test_every_variable_that_the_code_reads_has_a_row():
    readers = {"Python": ("PyGPU", "py"), "C++": ("src", "cpp")}
    found = {
        reader: {
            name
            for path in (ROOT / folder).rglob(f"*.{suffix}")
            for name in re.findall(READS, path.read_text())
        }
        for reader, (folder, suffix) in readers.items()
    }
    assert found["Python"] | found["C++"] <= settings.SETTINGS.keys() | {"PYGPU_"}
    by_prefix = {"PYGPU_NVRTC", "PYGPU_HIPRTC", "PYGPU_NUMPY_COMPAT"}  # names that code composes
    for row in settings.ROWS:
        for reader in row.reader.split(", "):
            assert row.name in found[reader] | by_prefix, (row.name, reader)


def test_the_pages_show_the_table():
    page = ROOT / "docs" / "settings.md"
    command = "python tests/support/settings_page.py > docs/settings.md"
    assert page.read_text() == settings_page.page(), command
    assert settings.table("PYGPU_HOST_") in (ROOT / "docs" / "guide" / "devices.md").read_text()
