"""The import warns if the compiled module was built from other sources than the checkout's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU
from PyGPU._runtime import PACKAGE, core

NOW = 4e9  # after the times of all other files
HERE = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path):
    """A folder as a clone of the repository, with the compiled modules of this installation."""
    if not (HERE / "src" / "python").is_dir():
        pytest.skip("these tests are not in a checkout")
    shutil.copytree(PACKAGE, tmp_path / "PyGPU", ignore=shutil.ignore_patterns("include"))
    (tmp_path / "include").symlink_to(PyGPU.get_include())
    shutil.copytree(HERE / "src" / "python", tmp_path / "src" / "python")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").touch()
    os.utime(tmp_path / "PyGPU" / Path(core.__file__).name, (NOW, NOW))
    return tmp_path


def edited(checkout):
    """The file of the sources that is another than in the build."""
    return checkout / "src" / "python" / "binders.h"


def messages(checkout, *options):
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYGPU_TARGET": PyGPU.target}
    words = [sys.executable, *options, "-c", "import PyGPU; print(PyGPU.__file__)"]
    done = subprocess.run(words, env=environment, cwd="/", capture_output=True, text=True)
    if done.returncode == 0:
        assert done.stdout.startswith(str(checkout))
    return done.stderr


def test_python_files_of_an_older_commit(checkout):
    """They have no check of their own, and fail at what the module has no more."""
    edited(checkout).write_text(edited(checkout).read_text() + "\n")
    os.utime(checkout / ".git" / "index", (NOW + 1, NOW + 1))
    core_of = f"import PyGPU.{Path(core.__file__).name.split('.')[0]}"
    (checkout / "PyGPU" / "__init__.py").write_text(f"{core_of}\nraise KeyError('restored')")
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    words = [sys.executable, "-c", "import PyGPU"]
    text = subprocess.run(words, env=environment, cwd="/", capture_output=True, text=True).stderr
    assert "KeyError: 'restored'" in text
    assert "built from other sources" in text


def test_sources_of_another_commit(checkout):
    later = (NOW + 1, NOW + 1)
    os.utime(edited(checkout), later)
    os.utime(checkout / ".git" / "index", later)
    assert messages(checkout) == "", "the contents are the same"
    edited(checkout).write_text(edited(checkout).read_text() + "\n")
    text = messages(checkout)
    assert "RuntimeWarning" in text
    assert "built from other sources" in text
    assert "pip install -e ." in text
    assert "built from other sources" in messages(checkout, "-W", "error")
    os.utime(checkout / ".git" / "index", (NOW - 1, NOW - 1))
    assert messages(checkout) == "", "git has changed nothing"


@pytest.mark.campaign
def test_a_removed_file_in_a_work_tree(checkout):
    (checkout / ".git").rename(checkout / "git folder")
    (checkout / ".git").write_text(f"gitdir: {checkout}/git folder\n")
    os.utime(checkout / "git folder" / "index", (NOW + 1, NOW + 1))
    assert messages(checkout) == ""
    edited(checkout).unlink()
    assert "built from other sources" in messages(checkout)
    (checkout / ".git").unlink()  # a source archive
    assert messages(checkout) == ""
