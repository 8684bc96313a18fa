"""A wheel's modules for several versions of a vendor's library: which of them is loaded."""

import ctypes
import importlib
import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

import PyGPU
from PyGPU._runtime import targets, toolkits

NAMES = ["_hip7", "_hip6", "_hip5"]
ABSENT = "cannot open shared object file: No such file or directory"


@pytest.fixture
def loader(monkeypatch, tmp_path):
    """A loader and a computer without ROCm; `loader.finds` is what the loader finds by name."""
    this = SimpleNamespace(finds=set(), loaded=[], broken={}, folder=tmp_path)

    def load(library):
        name = os.path.basename(library)
        if name in this.broken:
            raise OSError(this.broken[name])
        this.loaded.append(library)

    def import_module(name):
        if not name.startswith("PyGPU._hip"):
            return importlib.import_module(name)
        needed = f"libamdhip64.so.{name[-1]}"
        if needed in this.broken:
            raise ImportError(this.broken[needed])
        if needed not in {*map(os.path.basename, this.loaded), *this.finds}:
            raise ImportError(f"{needed}: {ABSENT}")
        return ModuleType(name)

    monkeypatch.setattr(targets, "ctypes", SimpleNamespace(CDLL=load))
    monkeypatch.setattr(targets, "importlib", SimpleNamespace(import_module=import_module))
    monkeypatch.setattr(targets, "runtime_library", lambda target: None)
    for variable in toolkits.ROCM.variables:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(toolkits.ROCM, "usual", ())
    monkeypatch.setattr(toolkits.ROCM, "wheels", ())
    monkeypatch.setattr(toolkits.ROCM, "program", "no-such-compiler")
    return this


def installed(root, *versions):
    """Make a folder of ROCm with these versions of the library."""
    (root / "lib").mkdir(parents=True, exist_ok=True)
    for version in versions:
        (root / "lib" / f"libamdhip64.so.{version}").touch()
    return str(root)


def loaded():
    return targets._load_version("hip", NAMES).__name__


def test_the_newest_that_the_loader_finds(loader):
    loader.finds = {"libamdhip64.so.5", "libamdhip64.so.6"}
    assert loaded() == "PyGPU._hip6" and not loader.loaded


@pytest.mark.parametrize("variable", ["ROCM_PATH", "HIP_PATH"])
def test_a_named_folder_is_before_the_loader(loader, monkeypatch, variable):
    root = installed(loader.folder, 6)
    monkeypatch.setenv(variable, root)
    loader.finds = {"libamdhip64.so.7"}
    assert loaded() == "PyGPU._hip6"
    assert loader.loaded == [f"{root}/lib/libamdhip64.so.6"]


def test_a_named_folder_without_the_library_is_passed_over(loader, monkeypatch):
    for folder in (installed(loader.folder), "/typo"):
        monkeypatch.setenv("ROCM_PATH", folder)
        loader.finds = {"libamdhip64.so.5"}
        assert loaded() == "PyGPU._hip5"


def test_usual_folders_are_after_the_loader(loader, monkeypatch):
    root = installed(loader.folder, 5, 7)
    monkeypatch.setattr(toolkits.ROCM, "usual", (root,))
    assert loaded() == "PyGPU._hip7"
    assert loader.loaded == [f"{root}/lib/libamdhip64.so.7"]
    loader.loaded.clear()
    loader.finds = {"libamdhip64.so.6"}
    assert loaded() == "PyGPU._hip6" and not loader.loaded


def test_a_version_that_the_process_has_loaded_is_the_first(loader, monkeypatch):
    monkeypatch.setenv("ROCM_PATH", installed(loader.folder, 7))
    loader.finds = {"libamdhip64.so.5"}
    library = "/opt/rocm-5.7.1/lib/libamdhip64.so.5.7.50701"
    monkeypatch.setattr(targets, "runtime_library", lambda target: library)
    assert loaded() == "PyGPU._hip5" and not loader.loaded


def test_a_missing_library_is_a_reason_in_one_line(loader):
    with pytest.raises(ImportError) as caught:
        loaded()
    assert str(caught.value) == (
        "none of libamdhip64.so.7, libamdhip64.so.6, libamdhip64.so.5 is found; "
        "install ROCm, or name its folder in ROCM_PATH"
    )


def test_a_library_that_does_not_load_is_named_with_its_reason(loader, monkeypatch):
    monkeypatch.setenv("ROCM_PATH", installed(loader.folder, 6))
    loader.broken["libamdhip64.so.6"] = f"libhsa-runtime64.so.1: {ABSENT}"
    with pytest.raises(ImportError, match=rf"ROCM_PATH; libhsa-runtime64\.so\.1: {ABSENT}$"):
        loaded()


@pytest.mark.parametrize(
    ("present", "found"),
    [
        (["_hip"], ["_hip"]),
        (["_hip", "_hip6"], ["_hip"]),  # a build from source in an old checkout
        (["_hip5", "_hip7"], ["_hip7", "_hip5"]),
        (["_host"], []),
    ],
)
def test_modules_of_a_target(monkeypatch, present, found):
    names = {f"PyGPU.{name}" for name in present}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in names else None)
    assert targets.modules("hip") == found
    assert targets.is_built("hip") is bool(found)
    assert targets.modules("host") == [name for name in present if name == "_host"]


def test_importing_falls_back_to_host(tmp_path):
    """Modules without their library do not keep PyGPU from an import."""
    program = f"""
import warnings
warnings.simplefilter("ignore")
import importlib.util, sys
sys.meta_path.insert(0, type("Finder", (), {{"find_spec": staticmethod(
    lambda name, path=None, target=None: importlib.util.spec_from_file_location(
        name, {str(tmp_path)!r} + f"/{{name[6:]}}.py") if name[:-1] == "PyGPU._hip" else None)}}))
find = importlib.util.find_spec
hidden = ("PyGPU._cuda", "PyGPU._hip")
importlib.util.find_spec = lambda name: None if name in hidden else find(name)
import glob
glob.glob = lambda pattern, **_: [pattern]  # device nodes seem to exist
import PyGPU
from PyGPU._runtime import targets
print(PyGPU.target, targets.refused["hip"], sep="; ")
"""
    for name in NAMES:
        library = f"libamdhip64.so.{name[-1]}: {ABSENT}"
        (tmp_path / f"{name}.py").write_text(f"raise ImportError({library!r})")
    variables = {"PYGPU_TARGET", "CUDA_VISIBLE_DEVICES", *toolkits.ROCM.variables}
    variables |= {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}
    env = {name: value for name, value in os.environ.items() if name not in variables}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("host; its libraries do not load: none of libamdhip64.so.7, ")


def test_the_loaded_library_is_read_from_the_process():
    """The real functions, which the other tests replace."""
    assert targets.ctypes is ctypes
    assert targets.runtime_library("host") is None
    names = [f"PyGPU.{name}" for name in targets.modules(PyGPU.target)]
    assert targets.core.__name__ in names
