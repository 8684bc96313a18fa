"""python -m PyGPU report: a good run, and failures, crashes and hangs that it survives."""

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import everywhere
import kernel_sources
import needs
import numpy as np
import pytest

import PyGPU
from PyGPU._tools import checks, report_kernels, report_streams, runner
from PyGPU._tools import report as command

CHECKS = tuple(checks.CHECKS["report"])


def words(*arguments):
    return [sys.executable, "-m", "PyGPU", "report", *map(str, arguments)]


def report(*arguments, expect=0, **environment):
    """The text of a report, made by a process of its own."""
    done = subprocess.run(
        words(*arguments),
        env={**os.environ, "PYGPU_TARGET": PyGPU.target, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout


def states(text):
    """{check: how it ended}"""
    rows = (line.split() for line in text.splitlines())
    return {row[1]: row[0] for row in rows if row[:1] and row[0] in ("OK", "FAILED", "SKIPPED")}


# All checks.


@pytest.mark.campaign
def test_a_good_run(tmp_path):
    file = tmp_path / "report.txt"
    text = report("-o", file)
    assert file.read_text("utf-8") == text
    found = states(text)
    assert tuple(found) == CHECKS
    skipped = {name for name, state in found.items() if state == "SKIPPED"}
    assert skipped <= {"arrays.large_indices", "streams.two_devices", "kernels.textures"}
    assert f"{len(found) - len(skipped)} OK, 0 FAILED, {len(skipped)} SKIPPED" in text
    for part in (f"target {PyGPU.target}", "WARP_SIZE", "GB/s", "prepared launch", "Python 3."):
        assert part in text, part
    assert " | " not in text, "nothing is printed by the way"


@pytest.mark.no_device
def test_the_table_names_every_check():
    found = set()
    for name in {module for module, _ in checks.CHECKS["report"].values()}:
        module = importlib.import_module(name)
        own = (f for f in vars(module).values() if getattr(f, "__module__", "") == name)
        found |= {(name, f.__name__) for f in own if not f.__name__.startswith("_")}
    assert found == {*checks.CHECKS["report"].values()}


def test_two_devices():
    if PyGPU.target != "host":
        needs.missing("devices", "about the devices of the host machine")
    text = report("--only", "s.two_devices", PYGPU_HOST_DEVICES="2")
    assert states(text) == {"streams.two_devices": "OK"}


@pytest.mark.campaign
def test_wavefronts():
    if PyGPU.target != "host":
        pytest.skip("about the host machine's other width")
    assert "64 lanes" in report("--only", "kernels.warp", PYGPU_HOST_WARP="64")


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), everywhere.COMPILERS)
def test_texts_for_gpus(prefix, backend, arch):
    needs.compiler(prefix)
    for text in (report_kernels._SOURCE, report_kernels._TEXTURES, report_streams._ADD):
        assert everywhere.build(kernel_sources.Text(text, extern_c=True), backend, arch).image


# Checks that fail, crash or hang.


def test_a_check_that_fails():
    if PyGPU.target != "host":
        pytest.skip("about the compiler of the host machine")
    text = report("--only", "ma", expect=1, PYGPU_HOST_CXX="/none/g++")
    found = states(text)
    assert found["arrays.masks"] == found["streams.managed"] == "FAILED"
    assert found["machine.compilers"] == "OK", "what needs no compiler works"
    assert "CompilerMissing" in text and "PYGPU_HOST_CXX" in text and "in masks" in text
    assert set(found) == {name for name in CHECKS if "ma" in name}, "the others are tried"


def test_a_call_that_fails():
    if PyGPU.target != "host":
        pytest.skip("about the failures of the host machine")
    call = "cudaStreamSynchronize"
    text = report("--only", "streams.page_locked", expect=1, PYGPU_HOST_FAIL=f"1:{call}")
    assert states(text) == {"streams.page_locked": "FAILED"} and call in text


def test_a_wrong_result():
    with pytest.raises(AssertionError, match=r"x: 1 of 3 .* element \(1,\): .*5.*, expected .*2"):
        checks.expect("x", np.array([1, 5, 3], "i4").tolist(), [1, 2, 3])
    with pytest.raises(AssertionError, match="shape"):
        checks.expect("x", [1, 2], [1])
    with pytest.raises(AssertionError):
        checks.expect("x", [1.01], [1.0], 1e-3)
    checks.expect("x", [np.nan, 1.0], [np.nan, 1.0])
    checks.expect("x", [1.0001], [1.0], 1e-3)


def child_of(process):
    """The identifier of the process that runs the checks."""

    def children(of):
        return Path(f"/proc/{of}/task/{of}/children").read_text().split()

    end = time.monotonic() + 60
    while time.monotonic() < end:
        for shell in children(process.pid):
            with contextlib.suppress(FileNotFoundError):  # it has ended
                for one in children(shell):
                    if b"PyGPU._tools.runner" in Path(f"/proc/{one}/cmdline").read_bytes():
                        return int(one)
        time.sleep(0.01)
    raise AssertionError("no process runs the checks")


@pytest.mark.no_device
def test_a_check_whose_process_is_killed(tmp_path):
    file = tmp_path / "report.txt"
    process = subprocess.Popen(
        words("-o", file, "--only", "machine."),
        env={**os.environ, "PYGPU_TARGET": PyGPU.target},
        stdout=subprocess.PIPE,
        text=True,
    )
    os.kill(child_of(process), signal.SIGKILL)
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 1 and file.read_text("utf-8") == text
    found = states(text)
    assert "the process was ended by SIGKILL" in text and "FAILED" in found.values()
    assert "machine.compilers" in found, "the others follow"


@pytest.mark.no_device
def test_a_check_that_does_not_end():
    text = report("--only", "machine.", "--timeout", "0.001", expect=1)
    assert states(text)["machine.runtime"] == "FAILED" and "no end within 0.001 s" in text


@pytest.mark.no_device
def test_a_process_that_dies_at_its_start(monkeypatch):
    monkeypatch.setattr(runner.sys, "executable", "/bin/false")
    found = list(runner.run("report", CHECKS[:2], 60, {}))
    assert [(one.name, one.state) for one in found] == [(n, "FAILED") for n in CHECKS[:2]]
    assert all("status 1" in one.text for one in found)


@pytest.mark.no_device
def test_what_a_process_prints_is_in_the_report(monkeypatch, tmp_path):
    shell = tmp_path / "python"
    shell.write_text("#!/bin/sh\necho Memory access fault by GPU node-1\nkill -ABRT $$\n")
    shell.chmod(0o755)
    monkeypatch.setattr(runner.sys, "executable", str(shell))
    (one,) = runner.run("report", CHECKS[:1], 60, {})
    assert one.text == f"{runner.NOT_STARTED}the process was ended by SIGABRT"
    assert one.output == "Memory access fault by GPU node-1"


@pytest.mark.no_device
def test_without_a_device():
    count, _ = PyGPU.cudaGetDeviceCount()
    if count:
        pytest.skip("there is a device")
    text = report(expect=1)
    found = states(text)
    assert found["machine.runtime"] == "FAILED" and "no device is visible" in text
    assert set(found) <= {name for name in CHECKS if name.startswith("machine.")}
    assert "The other checks need a device." in text


# Arguments, and what is left out.


@pytest.mark.no_device
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "nonsense"], "machine.runtime"),
        (["--timeout", "0"], "--timeout 0"),
        (["-o", "/none/report.txt"], "cannot write '/none/report.txt'"),
        (["more"], "more"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        command.main(arguments)
    assert caught.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.no_device
def test_no_names_of_users(monkeypatch):
    monkeypatch.setenv("HOME", "/scratch/p1/ada")
    monkeypatch.setattr(command.getpass, "getuser", lambda: "ada")
    for text, expected in {
        "/scratch/p1/ada/x.py:3": "~/x.py:3",
        "PATH=/scratch/p1/ada:/usr": "PATH=~:/usr",
        "/scratch/p1/adam/x": "/scratch/p1/adam/x",
        "/work/p2/ada/x": "/work/p2/USER/x",
        "/home/grace/x": "~/x",
        "adamantine": "adamantine",
    }.items():
        assert command.anonymous(text) == expected


@pytest.mark.no_device
def test_variables_of_the_environment(monkeypatch):
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("AMD_API_KEY", "secret")
    monkeypatch.setenv("EDITOR", "ed")
    lines = command.facts()
    assert "HIP_VISIBLE_DEVICES=0" in lines
    assert not [line for line in lines if "secret" in line or "EDITOR" in line]
