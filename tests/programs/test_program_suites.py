"""benchmarks/programs.py: the suite of a program for PyCUDA, counted."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "programs.py"

LIBRARY = """
import pycuda.autoinit
from pycuda import gpuarray
def doubled(values):
    return (2 * gpuarray.to_gpu(values)).get()
"""

SUITE = """
import numpy, pytest, library
@pytest.mark.parametrize("size", [1, 1000])
def test_doubled(size):
    x = numpy.arange(size, dtype=numpy.float32)
    assert (library.doubled(x) == 2 * x).all()
def test_wrong():
    raise ValueError("three is expected here")
def test_elsewhere():
    pytest.skip("needs a display")
@pytest.mark.xfail(reason="known")
def test_known():
    assert False
"""

# pytest was interrupted in the second test.
REPORT = """<testsuites><testsuite time="1.5"><testcase classname="t" name="test_short"/>
<testcase classname="t" name="test_long"/></testsuite></testsuites>"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "library.py").write_text(LIBRARY)
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "test_library.py").write_text(SUITE)
    return tmp_path


def programs(*arguments):
    return subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)],
        env={**os.environ, "PYGPU_TARGET": PyGPU.target},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_what_passed_and_what_did_not(folder):
    done = programs(folder, "--tests", "checks", "--json", folder / "figures.json")
    assert done.returncode == 1 and "2 passed, 1 failed, 1 skipped, 1 xfailed" in done.stdout
    assert f"PyGPU on {PyGPU.target}" in done.stdout and folder.name in done.stdout
    figures = json.loads((folder / "figures.json").read_text())
    assert [figures[name] for name in ("passed", "failed", "skipped", "xfailed")] == [2, 1, 1, 1]
    reasons = {
        why: [name.split("::")[1] for name in names] for why, names in figures["tests"].items()
    }
    assert reasons == {
        "failed: ValueError: three is expected here": ["test_wrong"],
        "skipped: needs a display": ["test_elsewhere"],
        "xfailed: known": ["test_known"],
    }


def test_options_of_pytest(folder):
    done = programs(folder, "--tests", "checks", "-k", "doubled")
    assert done.returncode == 0 and "2 passed, 0 failed" in done.stdout, done.stderr


def test_a_suite_that_cannot_be_read(folder):
    (folder / "checks" / "test_broken.py").write_text("import nothing_of_this_name")
    done = programs(folder, "--tests", "checks/test_broken.py")
    assert done.returncode == 1 and "1 failed" in done.stdout
    assert "No module named 'nothing_of_this_name'" in done.stdout


@pytest.mark.campaign
def test_a_suite_that_does_not_end(folder):
    (folder / "checks" / "test_long.py").write_text("import time; time.sleep(1000)")
    done = programs(folder, "--tests", "checks/test_long.py", "--limit", "1")
    assert done.returncode == 1 and "stopped after 1 s" in done.stdout + done.stderr


def test_what_was_done_until_it_was_stopped():
    counted = runpy.run_path(str(SCRIPT))["counted"]
    assert counted(REPORT, True)[0] == {"passed": 1, "failed": 0, "skipped": 0, "xfailed": 0}
    assert counted(REPORT, False)[0]["passed"] == 2


def test_a_folder_that_is_not_there(tmp_path):
    done = programs(tmp_path / "nowhere")
    assert done.returncode == 2 and "nowhere" in done.stderr and "Traceback" not in done.stderr
