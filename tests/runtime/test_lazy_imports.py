"""What is loaded when it is first used may be used first by several threads at once."""

import importlib
import sys
import threading

import pytest

from PyGPU._runtime import hooks


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Its import waits until another thread is at its part, before Python knows of either."""
    folder = tmp_path / "slow_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("from slow_package import part\n")
    (folder / "part.py").write_text("value = 5\n")
    began = threading.Event()

    class Slow:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "slow_package":
                began.set()
                threading.Event().wait(0.5)

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [Slow, *sys.meta_path])
    yield began
    for name in ("slow_package", "slow_package.part"):
        sys.modules.pop(name, None)


def test_a_part_while_another_thread_imports_its_package(package):
    failed = []

    def first():
        try:
            importlib.import_module("slow_package")
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=first)
    thread.start()
    assert package.wait(10)
    assert hooks.loaded("slow_package.part").value == 5
    thread.join()
    assert not failed
