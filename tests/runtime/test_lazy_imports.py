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


FACES = ("compiler", "cumath", "driver", "elementwise", "gpuarray", "reduction", "scan", "tools")


def test_the_faces_import_neither_kernels_nor_functions_of_arrays(python):
    source = f"import sys\nfrom PyGPU import {', '.join(FACES)}\nprint(*sys.modules, sep='\\n')"
    later = ("PyGPU._kernels", "PyGPU._arrays", "PyGPU._compile.compilers.rtc")
    assert [name for name in python(source).stdout.split() if name.startswith(later)] == []


@pytest.mark.parametrize("face", FACES)
def test_every_name_of_a_face_is_found_and_no_other(face):
    module = importlib.import_module(f"PyGPU.{face}")
    assert {*module.__all__} <= {*dir(module)}
    for name in module.__all__:
        assert getattr(module, name) is getattr(module, name)
    with pytest.raises(AttributeError, match=f"'PyGPU.{face}' has no attribute 'no_such'"):
        module.no_such  # noqa: B018
