"""docs/grow.md: its commands give one result, its programs run, what it counts is what is there."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import needs
import numpy as np
import pytest

import PyGPU

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "grow.md").read_text("utf-8")
SPECTRA = ROOT / "examples" / "grow" / "spectra.py"
(SHELL,) = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)
COMMANDS = SHELL.splitlines()
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


def run(command, folder):
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, **needs.MPI_AS_ROOT, "PYGPU_TARGET": PyGPU.target}
    environment["PATH"] = beside
    words = shlex.split(command)
    while "=" in words[0]:
        name, value = words.pop(0).split("=")
        environment[name] = value
    for k, word in enumerate(words):
        words[k] = {"python": sys.executable, "spectra.py": str(SPECTRA)}.get(word, word)
    program = shutil.which(words[0], path=beside) or words[0]
    done = subprocess.run(
        [program, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def command_of(way):
    found = [command for command in COMMANDS if f"spectra.py {way} " in command]
    assert found, way
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the data and the result of the way `one`."""
    needs.compiler_of_files()
    folder = tmp_path_factory.mktemp("grow")
    for way in ("make", "one"):
        (command,) = command_of(way)
        run(command, folder)
    return folder


def result(folder, way):
    return np.loadtxt(folder / f"{way}.csv")


def test_the_periods_are_those_of_the_data(folder):
    paths = sorted((folder / "data").glob("*.periods.npy"))
    expected = np.concatenate([np.load(path) for path in paths])
    np.testing.assert_allclose(result(folder, "one"), expected, rtol=0.02)


@pytest.mark.parametrize("way", ["threads", "mpi", "dask"])
def test_each_way_gives_the_same(folder, way):
    if way == "threads" and PyGPU.target != "host" and PyGPU.cudaGetDeviceCount()[0] < 2:
        needs.missing("devices", f"the target {PyGPU.target} has only one device here")
    if way == "mpi":
        needs.module("mpi4py.MPI")
    if way == "dask":
        needs.module("distributed")
    (command,) = command_of(way)
    run(command, folder)
    same = np.testing.assert_array_equal if PyGPU.target == "host" else np.testing.assert_allclose
    same(result(folder, way), result(folder, "one"))


def test_the_parts_of_an_array_job(folder):
    commands = command_of("part")
    parts = []
    for k, command in enumerate(commands):
        run(command, folder)
        parts.append(result(folder, f"part{k}").reshape(-1, 10))
    joined = np.stack(parts, axis=1).ravel()  # the parts take turns
    np.testing.assert_array_equal(joined, result(folder, "one"))


def test_every_command_is_run():
    ways = [command.split("spectra.py ")[1].split()[0] for command in COMMANDS]
    assert ways == ["make", "one", "threads", "mpi", "dask", "part", "part"]


@pytest.mark.parametrize("module, text", [("mpi4py.MPI", "mpi4py"), ("dask.array", "dask.array")])
def test_the_programs(module, text, python):
    needs.module(module)
    if module == "mpi4py.MPI" and not needs.ON_MACHINE:
        pytest.skip("GPU memory needs an MPI that was built for it")
    (program,) = [program for program in PROGRAMS if text in program]
    checks = {
        "mpi4py.MPI": "assert total.get().tolist() == a.get().tolist()",
        "dask.array": """
scaled = (x - x.mean(axis=0)) / x.std(axis=0)
expected = scaled[(scaled > 3).any(axis=1)].compute()
assert type(result) is np.ndarray and len(result) > 0
np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)
""",
    }
    python(program + checks[module])


def test_what_it_counts():
    needs.module("dask.array")
    operations = needs.importlib.import_module("dask_operations")
    right = len(operations.OPERATIONS) - len(operations.REFUSED)
    assert f"Of {len(operations.OPERATIONS)} operations" in PAGE and f", {right} give" in PAGE
    assert right >= 80


@pytest.mark.no_device
def test_its_programs_are_there_and_short():
    named = set(re.findall(r"^\| \w+ \| `(\w+\.py)`", PAGE, re.M))
    folder = ROOT / "examples" / "frameworks"
    assert named == {path.name for path in folder.glob("*.py")}
    assert all(len(path.read_text().splitlines()) < 80 for path in folder.glob("*.py"))


def test_sums_of_bfloat16_are_refused(python):
    """The trap: MPI adds the bits of a view."""
    needs.module("mpi4py.MPI")
    needs.module("ml_dtypes")
    if not needs.ON_MACHINE:
        pytest.skip("GPU memory needs an MPI that was built for it")
    python("""
import ml_dtypes
import numpy as np
from mpi4py import MPI
import PyGPU
a = PyGPU.to_gpu(np.ones(3, ml_dtypes.bfloat16))
b = PyGPU.gpuarray.empty_like(a)
try:
    MPI.COMM_SELF.Allreduce(a, b)
except MPI.Exception:
    pass
else:
    raise AssertionError("MPI added bfloat16")
""")


def test_the_current_device_after_unpickling(two_devices):
    two_devices("""
import pickle
import PyGPU
a = pickle.loads(pickle.dumps(PyGPU.zeros(3, "f4", device=1)))
assert a.device == 1 and PyGPU.zeros(3, "f4").device == 0
try:
    a + PyGPU.zeros(3, "f4")
except TypeError as error:
    assert "devices 1 and 0" in str(error)
else:
    raise AssertionError("added")
""")


@pytest.mark.no_device
def test_links_to_it():
    assert "docs/grow.md" in (ROOT / "README.md").read_text("utf-8")
