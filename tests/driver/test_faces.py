"""The modules that programs import by name: what they offer, and what they load."""

import importlib

import pytest

FACES = ("compiler", "cumath", "driver", "elementwise", "gpuarray", "reduction", "scan", "tools")


def test_the_faces_import_no_compiler(python):
    source = f"import sys\nfrom PyGPU import {', '.join(FACES)}\nprint(*sys.modules, sep='\\n')"
    later = ("PyGPU._compile.compilers.build", "PyGPU._compile.compilers.rtc", "subprocess")
    assert [name for name in python(source).stdout.split() if name.startswith(later)] == []


@pytest.mark.parametrize("face", FACES)
def test_every_name_of_a_face_is_found_and_no_other(face):
    module = importlib.import_module(f"PyGPU.{face}")
    assert {*module.__all__} <= {*dir(module)}
    for name in module.__all__:
        assert getattr(module, name) is getattr(module, name)
    with pytest.raises(AttributeError, match=f"'PyGPU.{face}' has no attribute 'no_such'"):
        module.no_such  # noqa: B018
