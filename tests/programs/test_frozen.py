"""Programs that PyInstaller freezes, and imports from an archive."""

import os
import pkgutil
import runpy
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import needs
import pytest

import PyGPU
from PyGPU import _pyinstaller
from PyGPU._compile.compilers import rtc
from PyGPU._runtime import programs

pytestmark = pytest.mark.no_device

PACKAGE = Path(PyGPU.__file__).parent
HOOK = PACKAGE / "_pyinstaller" / "hook-PyGPU.py"

PROGRAM = """
import numpy as np
import PyGPU
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

a = gpuarray.to_gpu(np.arange(8, dtype=np.float32))
double = SourceModule("__global__ void f(float *x) { x[threadIdx.x] *= 2; }").get_function("f")
double(a, block=(8, 1, 1), grid=(1, 1))
PyGPU.install_as_pycuda()
import pycuda.cumath
print(float(gpuarray.sum(a + a).get()), pycuda.cumath.sqrt(a)[2].get())
"""


@pytest.fixture
def hook(monkeypatch):
    """Return the variables of PyGPU's hook, which PyInstaller reads."""

    def collect_submodules(name, filter):
        found = pkgutil.walk_packages(sys.modules[name].__path__, f"{name}.")
        return [one.name for one in found if filter(one.name)]

    utilities = types.ModuleType("PyInstaller.utils.hooks")
    utilities.collect_submodules = collect_submodules
    for name in ("PyInstaller", "PyInstaller.utils"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, utilities.__name__, utilities)
    return runpy.run_path(str(HOOK))


def test_the_hook_names_the_modules_that_are_imported_late(hook):
    late = {"PyGPU._kernels.specializations", "PyGPU._arrays.numpy_dispatch", "PyGPU.curandom"}
    assert late <= {*hook["hiddenimports"]}
    assert "PyGPU.dask" not in hook["hiddenimports"]  # it would bring dask along
    assert not any("_tools" in name for name in hook["hiddenimports"])


def test_the_hook_names_the_files_that_kernels_need(hook):
    places = {place: Path(path) for path, place in [*hook["datas"], *hook["binaries"]]}
    assert (places["PyGPU/include"] / "PyGPU" / "gpu.h").is_file()
    assert (places["PyGPU/_as_pycuda/shim"] / "pycuda").is_dir()
    assert places["PyGPU"].name == "libPyGPU_host.so" and places["PyGPU"].is_file()


def test_pyinstaller_finds_the_hook():
    assert [Path(folder) for folder in _pyinstaller.hook_folders()] == [HOOK.parent]
    project = PACKAGE.parent / "pyproject.toml"
    if project.is_file():
        assert (
            'pyinstaller40]\nhook-dirs = "PyGPU._pyinstaller:hook_folders"' in project.read_text()
        )


@pytest.mark.campaign
@pytest.mark.skipif(PyGPU.target != "host", reason="kernels of the program are compiled by g++")
def test_a_frozen_program(tmp_path):
    needs.module("PyInstaller")
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "PyInstaller", "--log-level", "ERROR", "program.py"]
    command += ["--paths", str(PACKAGE.parent), "--additional-hooks-dir", str(HOOK.parent)]
    env = {**os.environ, "PYINSTALLER_CONFIG_DIR": str(tmp_path / "config")}
    subprocess.run(command, cwd=tmp_path, env=env, check=True, timeout=300)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env.update(PYGPU_TARGET="host", PYGPU_CACHE_DIR=str(tmp_path / "cache"))
    program = tmp_path / "dist" / "program" / "program"
    done = subprocess.run([program], cwd="/", env=env, capture_output=True, text=True, timeout=300)
    assert done.stdout == "112.0 2.0\n", done.stdout + done.stderr


@pytest.mark.parametrize(
    ("before", "after"),
    [("/app", None), ("/app:/own", "/own"), ("/own:/app/:/other", "/own:/other"), ("", None)],
)
def test_compilers_of_a_frozen_program_use_the_systems_libraries(monkeypatch, before, after):
    monkeypatch.setenv("LD_LIBRARY_PATH", before)
    assert programs.environment()["LD_LIBRARY_PATH"] == before
    monkeypatch.setattr(sys, "_MEIPASS", "/app", raising=False)
    assert programs.environment().get("LD_LIBRARY_PATH") == (after if before else before)
    assert programs.run(["/bin/sh", "-c", "echo $LD_LIBRARY_PATH"]).stdout == f"{after or ''}\n"


def test_a_frozen_program_does_not_start_itself(monkeypatch):
    """sys.executable of a frozen program is the program, not an interpreter."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(programs, "run", pytest.fail)
    assert rtc.compiles_for.__wrapped__("/nowhere/libhiprtc.so", "gfx90a")


@pytest.mark.parametrize("asked", ["", "host"])
def test_an_import_from_an_archive_says_the_reason(tmp_path, asked):
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in [*PACKAGE.rglob("*.py"), *PACKAGE.glob("*.so")]:
            file.write(path, path.relative_to(PACKAGE.parent))
    numpy = str(Path(sys.modules["numpy"].__file__).parents[1])
    program = f"import sys; sys.path = [{str(archive)!r}, *sys.path, {numpy!r}]; import PyGPU"
    env = {**os.environ, "PYTHONPATH": "", "PYGPU_TARGET": asked}
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert f"{archive} is an archive, and Python cannot load compiled modules from one" in last
