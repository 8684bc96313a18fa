"""Lines on stderr about compilations that take long: when they are written, and when not."""

import builtins
import io
import pty
import re
import threading
import time

import needs
import pytest

import PyGPU
from PyGPU._runtime import announcements
from PyGPU.compiler import SourceModule

pytestmark = pytest.mark.no_device


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    monkeypatch.delenv("PYGPU_PROGRESS", raising=False)
    monkeypatch.delattr(builtins, "__IPYTHON__", raising=False)
    monkeypatch.setattr(announcements, "_PATIENCE", 0.02)


def work(seconds=0.3):
    with announcements.announced("making it", "made it"):
        time.sleep(seconds)


def test_long_work_is_announced(capsys, monkeypatch):
    monkeypatch.setenv("PYGPU_PROGRESS", "0.02")
    work()
    assert re.fullmatch(
        r"PyGPU: making it \.\.\.\nPyGPU: made it in \d+\.\d s\n", capsys.readouterr().err
    )


def test_short_work_is_not_announced_and_leaves_no_thread(capsys, monkeypatch):
    monkeypatch.setenv("PYGPU_PROGRESS", "60")
    before = threading.active_count()
    work(0)
    for _ in range(100):
        if threading.active_count() == before:
            break
        time.sleep(0.01)
    assert threading.active_count() == before and capsys.readouterr().err == ""


def test_a_file_has_no_line(capsys):
    work()
    assert capsys.readouterr().err == ""


def test_a_notebook_has_the_lines(capsys, monkeypatch):
    monkeypatch.setattr(builtins, "__IPYTHON__", True, raising=False)
    work()
    assert capsys.readouterr().err.count("PyGPU: ma") == 2


@pytest.mark.parametrize(("variable", "count"), [("", 2), ("0", 0)])
def test_a_terminal_has_the_lines(monkeypatch, variable, count):
    monkeypatch.setenv("PYGPU_PROGRESS", variable)
    ours, theirs = pty.openpty()
    with open(ours, "rb", 0) as reader, open(theirs, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        work()
        print("end", file=terminal, flush=True)
        text = b""
        while b"end" not in text:
            text += reader.read(1 << 10)
    assert text.count(b"PyGPU: ma") == count


def test_an_error_speaks_for_itself(capsys, monkeypatch):
    monkeypatch.setenv("PYGPU_PROGRESS", "0.01")
    with pytest.raises(ZeroDivisionError), announcements.announced("making it", "made it"):
        time.sleep(0.3)
        raise ZeroDivisionError
    assert capsys.readouterr().err == "PyGPU: making it ...\n"


@pytest.mark.parametrize("kind", ["none", "closed"])
def test_work_goes_on_without_stderr(monkeypatch, kind):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stderr", None if kind == "none" else closed)
    work()
    monkeypatch.setenv("PYGPU_PROGRESS", "0.01")
    work()


def test_work_goes_on_without_a_thread(capsys, monkeypatch):
    def refused(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setenv("PYGPU_PROGRESS", "0.01")
    monkeypatch.setattr(threading.Thread, "start", refused)
    work()
    assert capsys.readouterr().err == ""


def test_a_compilation_is_announced_once(capfd, monkeypatch, tmp_path):
    if not PyGPU.cudaGetDeviceCount()[0]:
        pytest.skip("there is no device to load the kernel")
    if PyGPU.target == "host":
        needs.program("g++")
    monkeypatch.setenv("PYGPU_PROGRESS", "0.000001")
    text = "__global__ void announced(int *x) {\n  *x = 1;\n}\n"
    for _ in range(2):  # the second is in the cache
        SourceModule(text, cache_dir=str(tmp_path))
    lines = [one for one in capfd.readouterr().err.splitlines() if "kernel.cu" in one]
    assert [re.sub(r"for .*", "", one) for one in lines] == [
        "PyGPU: compiling kernel.cu (4 lines) ",
        "PyGPU: compiled kernel.cu (4 lines) ",
    ]
