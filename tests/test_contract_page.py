"""docs/pycuda.md says, of every name of PyCUDA's, what the package shows."""

from collections import Counter
from pathlib import Path

import contract_page
import pytest
from contract_names import MODULES
from contract_page import Name, parameters, refuses, status

import PyGPU.driver as drv
from PyGPU import gl
from PyGPU.gpuarray import GPUArray

pytestmark = pytest.mark.no_device

ROWS = [row for module in MODULES for row in contract_page.rows(module)]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "pycuda.md"


def called(row):
    return f"{row.names[0].module}.{row.names[0].path}"


each_row = pytest.mark.parametrize("row", ROWS, ids=called)


@each_row
def test_names_are_what_the_table_claims(row):
    """absent: not there, or a NotImplementedError; else: there."""
    assert {name.path: status(name, row.claim) for name in row.names} == {
        name.path: row.claim for name in row.names
    }
    assert row.note or row.claim == "same", "a claim without a reason"


@each_row
def test_parameters_are_there(row):
    """PyCUDA's, which programs name, and those that a note promises."""
    promised = set(contract_page.PROMISED.findall(row.note))
    for name in row.names:
        wanted = promised | set(name.parameters)
        if wanted and row.claim != "absent":
            assert wanted <= parameters(contract_page.found(name)), name.path


def test_no_name_comes_twice():
    count = Counter((name.module, name.path) for row in ROWS for name in row.names)
    assert [name for name, times in count.items() if times > 1] == []


def test_the_page_is_that_of_the_package():
    text = contract_page.page()
    assert PAGE.read_text() == text, "python tests/support/contract_page.py > docs/pycuda.md"
    assert len(text.splitlines()) <= 600


@pytest.mark.parametrize(
    ("path", "claim", "shown"),
    [
        ("Device.count", "same", "same"),
        ("Device.count", "better", "better"),
        ("Device.count", "absent", "same"),
        ("Device.counts", "same", "absent"),
        ("Device.counts", "absent", "absent"),
        ("Device.__len__", "same", "absent"),
        ("Stream.__lt__", "same", "absent"),
        ("Linker", "differs", "differs"),
        ("CompileError.msg", "same", "same"),
        ("CompileError.message", "same", "absent"),
        ("Memcpy2D.src_lod", "same", "absent"),
    ],
)
def test_false_claims_are_seen(path, claim, shown):
    assert status(Name("driver", path, path, ()), claim) == shown


def test_a_module_that_is_not_there():
    assert status(Name("opengl", "init", "init", ()), "same") == "absent"
    assert status(Name("pycuda-complex.hpp", "cosine", "cosine", ()), "same") == "absent"
    assert status(Name("autoinit", "devices", "devices", ()), "same") == "absent"


def test_what_refuses():
    assert refuses(gl.init)
    assert not refuses(drv.have_gl_ext) and not refuses(drv.mem_alloc)


def test_parameters_of_python_and_of_cpp():
    assert parameters(drv.mem_alloc) == {"bytes"}
    assert {"ary", "async_", "stream"} <= parameters(GPUArray.set)
    assert {"shape", "dtype", "order"} <= parameters(GPUArray)
    assert "axis" not in parameters(GPUArray.set)
