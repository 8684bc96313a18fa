"""Programs that PyGPU runs: their status and messages, whatever the process does with SIGCHLD."""

import os
import signal
import sys
import threading
from pathlib import Path

import needs
import pytest

from PyGPU import driver
from PyGPU._compile.compilers import rtc
from PyGPU._runtime import programs
from PyGPU._tools import findings, runner
from PyGPU.compiler import CompileError, DynamicModule, SourceModule


def reap(number, frame):
    """Fetch the status of every child, as servers do."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


@pytest.fixture(
    params=[signal.SIG_DFL, signal.SIG_IGN, reap], ids=["default", "ignored", "fetched"]
)
def sigchld(request):
    before = signal.signal(signal.SIGCHLD, request.param)
    yield request.param
    signal.signal(signal.SIGCHLD, before)


def run(script, **how):
    return programs.run(["/bin/sh", "-c", script], **how)


@pytest.mark.parametrize("status", [0, 1, 3, 125, 255])
def test_status_and_messages(sigchld, status):
    assert run(f"echo out; echo err >&2; exit {status}") == (status, "out\n", "err\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_death_by_a_signal(sigchld, number):
    assert run(f"echo err >&2; kill -{int(number)} $$") == (-number, "", "err\n")


def test_a_program_that_is_not_there(sigchld, tmp_path):
    (tmp_path / "text").write_text("#!/nothing/here\n")
    (tmp_path / "text").chmod(0o755)
    for name in ("gone", "text"):
        done = programs.run([str(tmp_path / name)])
        assert done.status in programs.CANNOT_RUN and name in done.stderr


def test_arguments_arrive_as_they_are(sigchld):
    words = ["", "a b", "$HOME", "'\"", "*", "-n", "ü\udcff"]
    code = "import os, sys; sys.stdout.buffer.write(b'|'.join(map(os.fsencode, sys.argv[1:])))"
    done = programs.run([sys.executable, "-c", code, *words])
    assert done.stdout == "|".join(words).replace("\udcff", "\N{REPLACEMENT CHARACTER}")


def test_more_than_a_pipe_holds_on_both_sides(sigchld):
    code = "import sys; sys.stderr.write('e' * 10**6); sys.stdout.write('o' * 10**6)"
    done = programs.run([sys.executable, "-c", code])
    assert (done.status, len(done.stdout), len(done.stderr)) == (0, 10**6, 10**6)


def test_the_program_can_wait_for_its_own_children(sigchld):
    code = "import subprocess, sys; sys.exit(subprocess.call(['/bin/sh', '-c', 'exit 7']))"
    assert programs.run([sys.executable, "-c", code]).status == 7


def test_a_program_without_end_is_killed_with_its_children(sigchld, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(TimeoutError):
        run(f"exec 9>{tmp_path}/pipe; sleep 1000 & wait", timeout=0.3)
    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b"", "the last child that could write has ended"
    os.close(reader)


def test_standard_files_that_are_closed(sigchld):
    code = """
import os
for number in range(3):
    os.close(number)
from PyGPU._runtime import programs
done = programs.run(["/bin/sh", "-c", "echo out; echo err >&2; exit 4"])
os._exit(40 + done.status if done[1:] == ("out\\n", "err\\n") else 1)
"""
    assert programs.run([sys.executable, "-c", code]).status == 44


def test_from_several_threads(sigchld):
    found = [None] * 8

    def work(i):
        found[i] = [run(f"echo {i}; exit {i}")[:2] for _ in range(5)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(i, f"{i}\n")] * 5 for i in range(8)]


def children():
    """Return the numbers of this process's children, those of other libraries included."""
    lists = [f"/proc/self/task/{task}/children" for task in os.listdir("/proc/self/task")]
    return sorted(" ".join(Path(one).read_text() for one in lists).split())


def test_no_descriptor_and_no_child_stays(sigchld):
    run("true")
    before = sorted(os.listdir("/proc/self/fd")), children()
    for _ in range(3):
        run("exit 1")
    assert (sorted(os.listdir("/proc/self/fd")), children()) == before


def test_more_open_files_than_select_takes(tmp_path):
    code = """
import os, resource, signal
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
from PyGPU.compiler import SourceModule
from PyGPU._runtime import programs
SourceModule("__global__ void f(int *p) { *p = 1; }")
try:
    programs.run(["/bin/sh", "-c", "sleep 1000"], timeout=0.05)
except TimeoutError:
    os._exit(3)
"""
    done = programs.run(["/usr/bin/env", f"PYGPU_CACHE_DIR={tmp_path}", sys.executable, "-c", code])
    assert done.status == 3, done.stderr


# The callers.


def test_a_compilation_that_fails(sigchld):
    with pytest.raises(CompileError, match="undeclared_name"):
        SourceModule("__global__ void f() { undeclared_name = 1; }", cache_dir=False)


def test_a_link_that_fails(sigchld):
    module = DynamicModule(cache_dir=False)
    module.add_source('__device__ int g(); extern "C" __global__ void f(int *p) { *p = g(); }')
    with pytest.raises((CompileError, driver.Error), match="g"):
        module.link()


def test_an_architecture_that_the_probe_refuses(sigchld, monkeypatch):
    monkeypatch.setattr(
        rtc, "_PROBE", "import sys; sys.exit(sys.argv[2] != '--offload-arch=known')"
    )
    rtc.compiles_for.cache_clear()
    try:
        assert rtc.compiles_for("library", "known") and not rtc.compiles_for("library", "other")
    finally:
        rtc.compiles_for.cache_clear()


def test_a_check_of_the_report_that_crashes(sigchld, tmp_path, monkeypatch):
    child = "import os; os.kill(os.getpid(), 11)"
    (tmp_path / "sitecustomize.py").write_text(child)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    results = list(runner.run("report", ["arrays"], 60, {}))
    assert [one.state for one in results] == ["FAILED"] and "SIGSEGV" in results[0].text


def test_the_version_of_a_compiler(sigchld, tmp_path):
    assert "does not run" in findings.program_version(str(tmp_path / "gone"))
    assert findings.program_version(needs.program("g++")).count("g++") >= 1
