"""docs/inside/tried.md, which .ci/tried writes: each row says what was built, what ran and when."""

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_device

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "inside" / "tried.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text().splitlines()
    if re.match(r"\| (?!what |--)", line)
]


def test_each_row_has_a_date_or_a_reason():
    assert ROWS
    for name, built, ran, date in ROWS:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", date):
            assert "passed" in ran or "not run: " in ran or "failed" in ran, name
            assert built
        else:
            assert (built, ran, date) == ("-", "not yet", "-"), name


def test_every_python_that_is_supported_has_a_row():
    text = (ROOT / "pyproject.toml").read_text()
    versions = re.findall(r"Programming Language :: Python :: (3\.\d+)", text)
    assert versions and {f"Python {one}" for one in versions} <= {row[0] for row in ROWS}


def test_the_script_names_every_row():
    """A row that the script does not write would stay as it is for ever."""
    text = (ROOT / ".ci" / "tried").read_text()
    written = {f"CUDA {one}" for one in re.findall(r"try_cuda (\d\S*)", text)}
    written |= {f"HIP {one}" for one in re.findall(r"try_hip (\d\S*)", text)}
    written |= {f"Python {one}" for one in re.findall(r"try_python (\d\S*)", text)}
    for line in re.findall(r"try_compilers \w+ (.+) \|\|", text):
        written |= {one.replace("-", " ") for one in line.split()}
    assert written | {"aarch64"} == {row[0] for row in ROWS}


def test_an_unknown_part():
    done = subprocess.run([ROOT / ".ci" / "tried", "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2 and "unknown part: nonsense" in done.stderr
