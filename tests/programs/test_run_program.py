"""python -m PyGPU run: a program sees the interpreter as if python itself had started it."""

import json
import os
import subprocess
import sys

import pytest

import PyGPU

PROGRAM = '''
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
import numpy
a = numpy.random.randn(4, 4).astype(numpy.float32)
a_gpu = cuda.mem_alloc(a.nbytes)
cuda.memcpy_htod(a_gpu, a)
mod = SourceModule("""
__global__ void doublify(float *a) { a[threadIdx.x + threadIdx.y*4] *= 2; }
""")
mod.get_function("doublify")(a_gpu, block=(4, 4, 1))
a_doubled = numpy.empty_like(a)
cuda.memcpy_dtoh(a_doubled, a_gpu)
assert (a_doubled == 2 * a).all()
print("doubled", __name__)
'''

PROBE = """
import helper, json, os, pickle, sys
class Mine: pass
print(json.dumps({
    "argv": sys.argv, "path": sys.path[0], "name": __name__, "file": __file__,
    "spec": __spec__, "helper": helper.__file__, "stdin": sys.stdin.read(), "cwd": os.getcwd(),
    "main": vars(sys.modules["__main__"]) is globals(),
    "pickle": type(pickle.loads(pickle.dumps(Mine()))) is Mine,
}))
"""

SPAWNING = """
import multiprocessing, numpy
import pycuda.driver as cuda
def double(number):
    import pycuda.autoinit
    print(2 * cuda.from_device(cuda.to_device(numpy.int32([number])), 1, numpy.int32))
if __name__ == "__main__":
    worker = multiprocessing.get_context("spawn").Process(target=double, args=(21,))
    worker.start()
    worker.join()
    raise SystemExit(worker.exitcode)
"""


def run(*arguments, folder, expect=0, stdin=""):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYGPU_TARGET": PyGPU.target},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def test_a_program_for_pycuda_runs_as_it_is(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run("-m", "PyGPU", "run", "program.py", folder=tmp_path)
    assert (done.stdout, done.stderr) == ("doubled __main__\n", "")


@pytest.mark.no_device
@pytest.mark.parametrize(
    "arguments", [[], ["1", "two words"], ["--json", "-h", "--help"], ["run"], ["a", "--", "b"]]
)
def test_a_program_sees_what_python_shows_it(tmp_path, arguments):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "probe.py").write_text(PROBE)
    (folder / "helper.py").write_text("")
    script = os.path.join("elsewhere", "probe.py")
    ours = run("-m", "PyGPU", "run", script, *arguments, folder=tmp_path, stdin="typed")
    seen = json.loads(ours.stdout)
    assert seen["argv"] == [script, *arguments]
    assert seen["path"] == str(folder)
    assert seen["stdin"] == "typed"
    assert seen["main"] and seen["pickle"]
    theirs = json.loads(run(script, *arguments, folder=tmp_path, stdin="typed").stdout)
    for facts in (seen, theirs):  # relative or not, by the version of Python
        facts["file"] = os.path.join(tmp_path, facts["file"])
    assert seen == theirs


@pytest.mark.no_device
@pytest.mark.parametrize(
    "line, code, said",
    [
        ("sys.exit(3)", 3, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit('that is all')", 1, "that is all\n"),
        ("raise SystemExit(True)", 1, ""),
    ],
)
def test_exit_codes(tmp_path, line, code, said):
    (tmp_path / "program.py").write_text(f"import sys\nprint('before')\n{line}\n")
    done = run("-m", "PyGPU", "run", "program.py", folder=tmp_path, expect=code)
    assert (done.stdout, done.stderr) == ("before\n", said)


@pytest.mark.no_device
@pytest.mark.parametrize(
    "program",
    [
        "def fail():\n    raise KeyError('oops')\n\nfail()\n",
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise OSError('x') from error\n",
        "import nothing_of_that_name\n",
        "x = (\n",
        "import sys\nsys.excepthook = lambda *of: print('own', of[0].__name__)\n1 / 0\n",
    ],
)
def test_tracebacks_are_those_of_python_itself(tmp_path, program):
    (tmp_path / "program.py").write_text(program)
    script = tmp_path / "program.py"
    ours = run("-m", "PyGPU", "run", script, folder=tmp_path, expect=1)
    theirs = run(script, folder=tmp_path, expect=1)
    assert (ours.stdout, ours.stderr) == (theirs.stdout, theirs.stderr)


@pytest.mark.no_device
def test_a_traceback_of_a_module(tmp_path):
    (tmp_path / "program.py").write_text("raise KeyError('oops')\n")
    ours = run("-m", "PyGPU", "run", "-m", "program", folder=tmp_path, expect=1)
    assert "PyGPU" not in ours.stderr
    assert ours.stderr.splitlines()[-1] == "KeyError: 'oops'"


@pytest.mark.no_device
@pytest.mark.parametrize("module", ["probe", "package", "package.inner"])
def test_a_module_sees_what_python_shows_it(tmp_path, module):
    (tmp_path / "package").mkdir()
    probe = PROBE.replace("__spec__,", "__spec__.name,")
    for name in ("probe", "package/__main__", "package/inner"):
        (tmp_path / f"{name}.py").write_text(probe)
    (tmp_path / "helper.py").write_text("")
    (tmp_path / "package" / "__init__.py").write_text("")
    words = (module, "1", "--help", "-m")
    ours = json.loads(run("-m", "PyGPU", "run", "-m", *words, folder=tmp_path).stdout)
    theirs = json.loads(run("-m", *words, folder=tmp_path).stdout)
    assert ours == theirs


@pytest.mark.no_device
@pytest.mark.parametrize("name", ["nothing_of_that_name", "json.nothing", "nothing.deeper"])
def test_a_module_that_is_not_there(tmp_path, name):
    done = run("-m", "PyGPU", "run", "-m", name, folder=tmp_path, expect=1)
    assert f"no module named {name}" in done.stderr and "Traceback" not in done.stderr


def test_a_module_for_pycuda_runs_as_it_is(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run("-m", "PyGPU", "run", "-m", "program", folder=tmp_path)
    assert (done.stdout, done.stderr) == ("doubled __main__\n", "")


@pytest.mark.no_device
def test_what_the_command_says_of_itself(tmp_path):
    assert run("-m", "PyGPU", "--version", folder=tmp_path).stdout == f"PyGPU {PyGPU.__version__}\n"
    assert "run -m module" in run("-m", "PyGPU", "--help", folder=tmp_path).stdout
    said = run("-m", "PyGPU", "run", "-h", folder=tmp_path).stdout
    assert "run [--numpy-compat] script.py args..." in said
    assert "run [--numpy-compat] -m module args..." in said
    for words in ([], ["-m"], ["--numpy-compat", "-x"]):
        done = run("-m", "PyGPU", "run", *words, folder=tmp_path, expect=2)
        assert "expected a script, or -m and a module" in done.stderr


@pytest.mark.no_device
def test_an_argument_of_two_dashes_reaches_the_program(tmp_path):
    (tmp_path / "program.py").write_text("import sys\nprint(sys.argv[1:])\n")
    done = run("-m", "PyGPU", "run", "program.py", "--", "a", folder=tmp_path)
    assert done.stdout == "['--', 'a']\n"


@pytest.mark.no_device
def test_a_program_that_is_not_there(tmp_path):
    done = run("-m", "PyGPU", "run", "nope.py", folder=tmp_path, expect=2)
    assert "nope.py" in done.stderr and "Traceback" not in done.stderr


def test_a_spawned_worker_finds_pycuda_too(tmp_path):
    (tmp_path / "spawning.py").write_text(SPAWNING)
    done = run("-m", "PyGPU", "run", "spawning.py", folder=tmp_path)
    assert done.stdout == "[42]\n"


def test_the_report_is_still_there(tmp_path):
    assert json.loads(run("-m", "PyGPU", "--json", folder=tmp_path).stdout)["built"]
    assert f"target in use: {PyGPU.target}" in run("-m", "PyGPU", folder=tmp_path).stdout
    usage = run("-m", "PyGPU", "run", folder=tmp_path, expect=2).stderr
    assert "script" in usage and "Traceback" not in usage
