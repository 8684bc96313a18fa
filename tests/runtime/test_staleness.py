"""The import warns if the compiled module is older than the sources beside it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU
from PyGPU._runtime import PACKAGE, core

NOW = 2e9


@pytest.fixture
def checkout(tmp_path):
    """A folder as a clone of the repository, with the compiled modules of this installation."""
    ignored = shutil.ignore_patterns("__pycache__", "include")
    shutil.copytree(PACKAGE, tmp_path / "PyGPU", ignore=ignored)
    (tmp_path / "include").symlink_to(PyGPU.get_include())
    (tmp_path / "src" / "python" / "array").mkdir(parents=True)
    (tmp_path / "src" / "python" / "array" / "a.cpp").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").touch()
    for path in tmp_path.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (NOW - 100, NOW - 100))
    os.utime(tmp_path / "PyGPU" / Path(core.__file__).name, (NOW, NOW))
    return tmp_path


def messages(checkout, *options):
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYGPU_TARGET": PyGPU.target}
    words = [sys.executable, *options, "-c", "import PyGPU; print(PyGPU.__file__)"]
    done = subprocess.run(words, env=environment, cwd="/", capture_output=True, text=True)
    if done.returncode == 0:
        assert done.stdout.startswith(str(checkout))
    return done.stderr


def test_sources_of_another_commit(checkout):
    assert messages(checkout) == ""
    later = (NOW + 1, NOW + 1)
    os.utime(checkout / "src" / "python" / "array" / "a.cpp", later)
    assert messages(checkout) == "", "git has changed nothing"
    os.utime(checkout / ".git" / "index", later)
    text = messages(checkout)
    assert "RuntimeWarning" in text
    assert "older than its sources" in text
    assert "pip install -e ." in text
    assert "older than its sources" in messages(checkout, "-W", "error")


@pytest.mark.campaign
def test_a_removed_file_and_a_folder_without_git(checkout):
    shutil.rmtree(checkout / ".git")  # a source archive, or a work tree
    assert messages(checkout) == ""
    (checkout / "src" / "python" / "array" / "a.cpp").unlink()
    os.utime(checkout / "src" / "python" / "array", (NOW + 1, NOW + 1))
    assert "older than its sources" in messages(checkout)
    shutil.rmtree(checkout / "src")  # a wheel
    assert messages(checkout) == ""
