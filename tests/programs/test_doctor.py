"""python -m PyGPU doctor: each fault of a machine is found, with its cause and its remedy."""

import grp
import importlib
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from doctor_tools import doctor, faults, made, mounted, the_fault

import PyGPU
from PyGPU._runtime import settings
from PyGPU._tools import checks, doctor_machine, runner
from PyGPU._tools import doctor as command
from PyGPU._tools.findings import VENDORS, Finding, size

pytestmark = pytest.mark.no_device

AMD = VENDORS[1]
HIDING = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


# The command.


def test_a_machine_without_a_gpu():
    rows = doctor()
    assert {row["check"] for row in rows} >= {*checks.CHECKS["doctor"]} - {"mpi.device_memory"}
    assert not [row for row in rows if row["state"] == "FAIL"]
    assert all(list(row) == ["check", "state", "found", "remedy"] for row in rows)
    found = {row["check"]: row["found"] for row in rows}
    assert "in use: host" in found["target.choice"]
    assert "a kernel compiled and ran" in found["devices.kernel"]
    assert "GB/s" in found["devices.bandwidth"]


@pytest.mark.skipif(PyGPU.target == "host", reason="about the devices of a GPU target")
def test_a_machine_with_a_gpu():
    count = PyGPU.cudaGetDeviceCount()[0]
    rows = doctor(PYGPU_TARGET=PyGPU.target, expect=0 if count else 1)
    kernels = [row for row in rows if row["check"] == "devices.kernel"]
    assert [row["state"] for row in kernels] == ["OK"] * count


def test_the_table_names_every_check():
    for module, function in checks.CHECKS["doctor"].values():
        assert callable(getattr(importlib.import_module(module), function)), function


def test_the_text(capsys):
    assert command.main(["--only", "target.choice"]) == 0
    *_, first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("OK   target.choice") and last == "1 OK, 0 WARN, 0 FAIL"


def test_a_remedy_stands_below_its_fault():
    text = command._line("a.b", Finding("WARN", "found\nthis", "Do that."))
    first, second = text.splitlines()
    assert first.startswith("WARN a.b ") and first.endswith(" found this")
    assert second.strip() == "remedy:  Do that."


@pytest.mark.parametrize("words", [["--only", "nonsense"], ["--timeout", "0"], ["more"]])
def test_arguments_that_make_no_sense(words, capsys):
    with pytest.raises(SystemExit) as caught:
        command.main(words)
    assert caught.value.code == 2 and words[-1] in capsys.readouterr().err


def test_a_check_that_raises_ends_only_itself():
    rows = doctor("--only", "devices", expect=1, PYGPU_HOST_FAIL="1:cudaMemGetInfo")
    found = {row["check"]: row for row in rows}
    memory = found["devices.memory"]
    assert memory["state"] == "FAIL" and "cudaMemGetInfo failed" in memory["found"]
    assert found["devices.kernel"]["state"] == "OK"


def test_a_reader_that_ends_early():
    """No traceback, as of ``doctor | head -1``."""
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "PyGPU", "doctor", "--only", "cache"]
    environment = {**os.environ, "PYGPU_TARGET": "host"}
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(words, stdout=pipe, stderr=subprocess.PIPE, env=environment)
    assert done.returncode == 141 and done.stderr == b""


def test_a_check_for_which_no_process_starts(monkeypatch):
    def refused(*arguments, **options):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(runner.programs, "Program", refused)
    ((name, found),) = command.examine(["cache.folder", "devices.kernel"], 9.0)
    assert (name, found.state) == ("cache.folder", "FAIL")
    assert "Resource temporarily" in found.found and "ulimit -a" in found.remedy


def test_a_process_that_does_not_start(monkeypatch, tmp_path):
    """One line says so, not one for each check."""
    shell = tmp_path / "python"
    shell.write_text("#!/bin/sh\necho no thread >&2\nexit 3\n")
    shell.chmod(0o755)
    monkeypatch.setattr(runner.sys, "executable", str(shell))
    ((name, found),) = command.examine(["cache.folder", "devices.kernel"], 9.0)
    assert (name, found.state) == ("cache.folder", "FAIL") and "ulimit -a" in found.remedy
    assert "did not start: the process ended with status 3 no thread" in found.found


def test_a_device_that_hangs(monkeypatch, tmp_path):
    shell = tmp_path / "python"
    begin = """printf '{"begin": "%s"}\\n' "$5" > /proc/self/fd/$3"""
    shell.write_text(f"#!/bin/sh\n{begin}\nexec sleep 60\n")
    shell.chmod(0o755)
    monkeypatch.setattr(runner.sys, "executable", str(shell))
    names = ["cache.folder", "devices.memory", "devices.kernel"]
    found = list(command.examine(names, 0.1))
    assert [name for name, _ in found] == names[:2], "the second device's check would hang as well"
    assert all(one.state == "FAIL" and "no end within 0.1 s" in one.found for _, one in found)
    assert "dmesg" in found[1][1].remedy


# Targets and settings.


def test_settings_that_are_wrong():
    rows = doctor("--only", "target", PYGPU_STAGING="much", PYGPU_CACHEDIR="/x")
    invalid, misspelt = faults(rows)
    assert "PYGPU_STAGING='much'" in invalid["found"] and "default" in invalid["remedy"]
    assert "PYGPU_CACHEDIR" in misspelt["found"] and "PYGPU_CACHE_DIR" in misspelt["remedy"]


def test_variables_of_the_build_and_the_tests_are_no_mistakes(monkeypatch):
    for name in (*doctor_machine._OTHERS, *settings.SETTINGS):
        if name not in os.environ:
            monkeypatch.setenv(name, "")
    assert not [one for one in doctor_machine.variables() if "no setting" in one.found]


@pytest.mark.parametrize(
    ("why", "remedy"),
    [
        ("its libraries do not load: libamdhip64.so.6", "LD_LIBRARY_PATH"),
        ("the driver's library is not found", "--device /dev/kfd"),
    ],
)
def test_a_target_that_cannot_be_used(why, remedy, monkeypatch):
    for name in HIDING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(doctor_machine.targets, "reason", doctor_machine.targets.NO_GPU)
    monkeypatch.setattr(doctor_machine.targets, "refused", {"cuda": why, "hip": why})
    monkeypatch.setattr(doctor_machine.targets, "is_built", lambda name: name == AMD.target)
    monkeypatch.setattr(doctor_machine.targets, "missing_node", lambda name: None)
    _, other, found = doctor_machine.choice()
    assert "NVIDIA GPUs are here" in other.found and "PYBIND_GPU_TARGET=cuda" in other.remedy
    assert found.state == "WARN" and why in found.found and remedy in found.remedy


# Devices that are hidden or closed.


@pytest.mark.parametrize(
    ("name", "value"),
    [("CUDA_VISIBLE_DEVICES", ""), ("HIP_VISIBLE_DEVICES", "-1"), ("ROCR_VISIBLE_DEVICES", "x")],
)
def test_hidden_devices(name, value):
    clean = "".join(f"unset {one};" for one in HIDING if one != name)
    row = the_fault(doctor("--only", "visibility", before=clean, **{name: value}))
    assert f"{name}={value!r} hides every device" in row["found"]
    assert row["remedy"].startswith(f"Unset {name}")


def test_device_nodes(tmp_path, monkeypatch):
    root = made(tmp_path, "/dev/nvidia0", "/dev/nvidiactl", "/dev/kfd")
    text = "\n".join(map(str, doctor_machine.nodes(root)))
    assert "/dev/nvidia-uvm is missing" in text and "nvidia-modprobe" in text
    assert "no AMD device node (/dev/dri/renderD*)" in text
    made(tmp_path, "/dev/nvidia-uvm", "/dev/dri/renderD128")
    assert {one.state for one in doctor_machine.nodes(root)} == {"OK"}
    monkeypatch.setattr(doctor_machine.os, "access", lambda path, mode: not path.endswith("kfd"))
    bad = [one for one in doctor_machine.nodes(root) if one.state != "OK"]
    assert len(bad) == 1 and f"{root}/dev/kfd: no permission" in bad[0].found


def test_a_chroot_without_proc(tmp_path):
    (found,) = doctor_machine.system_files(str(tmp_path))
    assert found.state == "FAIL" and "mount -t proc" in found.remedy
    assert [one.state for one in doctor_machine.system_files()] == ["OK"]


def test_a_machine_whose_proc_is_not_mounted():
    rows = faults(doctor(before=mounted("tmpfs", "/proc"), expect=1))
    found = {row["check"]: row for row in rows}
    assert "/proc is not mounted" in found["machine.system_files"]["found"]
    assert "other lines' remedies first" in found["devices.kernel"]["remedy"]
    # Drivers are looked for below /proc, where a target for GPUs is built.
    others = {"machine.nodes", "devices.kernel", "devices.bandwidth"}
    assert not found.keys() - {"machine.system_files"} - others


def test_the_group_of_a_closed_node():
    group = next(one for one in grp.getgrall() if one.gr_gid)
    for gid, name in ((group.gr_gid, group.gr_name), (2**31 - 7, str(2**31 - 7))):
        state = SimpleNamespace(st_uid=0, st_gid=gid, st_mode=0o20660)
        found, remedy = doctor_machine.closed_node("/dev/kfd", state)
        assert f"group {name}, mode 660" in found
        assert f"usermod -aG {name}" in remedy and f"--group-add {gid}" in remedy
    state = SimpleNamespace(st_uid=0, st_gid=group.gr_gid, st_mode=0o20600)
    assert "administrator" in doctor_machine.closed_node("/dev/kfd", state)[1]


def test_sizes():
    assert [size(n) for n in (0, 1536, 1 << 30, 5 << 50)] == [
        "0 bytes",
        "1.5 KiB",
        "1 GiB",
        "5120 TiB",
    ]


# The cache.


def test_a_cache_that_is_still_to_be_made(tmp_path):
    (row,) = doctor("--only", "cache", PYGPU_CACHE_DIR=str(tmp_path / "a" / "b"))
    assert row["state"] == "OK" and not [*tmp_path.iterdir()], "the check leaves nothing behind"


def test_a_file_in_the_place_of_the_cache(tmp_path):
    file = made(tmp_path, "cache") + "/cache"
    for folder in (file, f"{file}/below"):
        row = the_fault(doctor("--only", "cache", PYGPU_CACHE_DIR=folder))
        assert f"{file} is a file" in row["found"] and f"Remove the file {file}" in row["remedy"]


def test_a_home_folder_that_cannot_be_written(tmp_path):
    before = "unset PYGPU_CACHE_DIR PYCUDA_CACHE_DIR XDG_CACHE_HOME;"
    row = the_fault(doctor("--only", "cache", before=before, HOME="/proc"))  # root too is refused
    assert "the folder cannot be made" in row["found"] and "/proc/.cache" in row["found"]
    assert row["remedy"] == "Make /proc writable, or set PYGPU_CACHE_DIR to a folder of your own."
    row = the_fault(doctor("--only", "cache", before=before, HOME="relative"))
    assert "no home folder" in row["found"] and "Set HOME" in row["remedy"]


def test_a_cache_that_is_off():
    row = the_fault(doctor("--only", "cache", PYGPU_DISABLE_CACHE="1"))
    assert row["remedy"] == "Unset PYGPU_DISABLE_CACHE."


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(30, "writable, or set PYGPU_CACHE_DIR"), (28, "Free space"), (27, "ulimit -f")],
)  # EROFS, ENOSPC, EFBIG
def test_a_cache_that_cannot_be_written(number, remedy, tmp_path, monkeypatch):
    def refused(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(doctor_machine, "open", refused, raising=False)
    found = doctor_machine.judged(tmp_path)
    assert os.strerror(number) in found.found and remedy in found.remedy


def test_a_cache_on_a_full_file_system(tmp_path):
    full = f"head -c 12k /dev/zero > {tmp_path}/x;"
    before = mounted("tmpfs -o size=16k", tmp_path) + full
    row = the_fault(doctor("--only", "cache", before=before, PYGPU_CACHE_DIR=f"{tmp_path}/c"))
    assert "No space left on device" in row["found"] and "Free space" in row["remedy"]


def test_a_cache_with_little_space(tmp_path):
    before = mounted("tmpfs -o size=1M,mode=755", tmp_path)
    row = the_fault(doctor("--only", "cache", before=before, PYGPU_CACHE_DIR=str(tmp_path)))
    assert "1 MiB free on the disk" in row["found"]
    assert "--clear" not in row["remedy"], "the cache is empty"


def test_a_cache_whose_libraries_cannot_be_loaded(tmp_path):
    before = mounted("tmpfs -o noexec,mode=755", tmp_path)
    row = the_fault(doctor("--only", "cache", before=before, PYGPU_CACHE_DIR=f"{tmp_path}/c"))
    assert "noexec" in row["found"] and "another file system" in row["remedy"]


def test_a_home_folder_on_a_file_system_that_is_read_only(tmp_path):
    before = mounted("tmpfs -o ro", tmp_path)
    before += "unset PYGPU_CACHE_DIR PYCUDA_CACHE_DIR XDG_CACHE_HOME;"
    row = the_fault(doctor("--only", "cache", before=before, HOME=str(tmp_path)))
    assert f"Read-only file system: {tmp_path}/.cache" in row["found"]
    assert row["remedy"].startswith(f"Make {tmp_path} writable, or set PYGPU_CACHE_DIR")


def test_folders_whose_names_are_not_ascii(tmp_path):
    folder = tmp_path / "größer als \N{SNOWMAN}"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    folder.mkdir()
    rows = doctor("--only", "cache", PYGPU_CACHE_DIR=f"{folder}/cache", **plain)
    rows += doctor("--only", "kernel", TMPDIR=str(folder), **plain)
    rows += doctor("--only", "temporary", TMPDIR=str(folder), **plain)
    assert not faults(rows)


def test_a_cache_that_others_may_write(tmp_path):
    tmp_path.chmod(0o777)
    found = doctor_machine.judged(tmp_path)
    assert "others could put code there" in found.found and "mode 777" in found.found
    assert f"chmod go-w {tmp_path}" in found.remedy
