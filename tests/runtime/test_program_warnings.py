"""Warnings point at the program's line, however many of PyGPU's own frames are between."""

import ast
import functools
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU import compiler, cumath, gpuarray, tools
from PyGPU._runtime import settings
from PyGPU.compyte import dtypes
from PyGPU.elementwise import ElementwiseKernel

PACKAGE = Path(PyGPU.__file__).parent
KERNEL = "__global__ void f(float *x) {}\n"
WARNING = '#warning "seen"\n' + KERNEL


def python_files():
    return [path for path in PACKAGE.rglob("*.py") if "include" not in path.parts]


def launch_with_another_dtype():
    kernel = ElementwiseKernel("float *x", "x[i] = 1", name="launched")
    kernel(gpuarray.zeros(4, np.int32))


def set_from_another_shape():
    gpuarray.zeros((2, 3), np.float32).set(np.zeros((3, 2), np.float32))


def wrong_setting():
    os.environ["PYGPU_CACHE_MAXSIZE"] = "many"
    try:
        settings.value("PYGPU_CACHE_MAXSIZE")
    finally:
        del os.environ["PYGPU_CACHE_MAXSIZE"]
        settings._reported.clear()


@pytest.mark.parametrize(
    "call",
    [
        lambda: compiler.compile(WARNING, cache_dir=False),
        lambda: compiler.SourceModule(WARNING, cache_dir=False),
        lambda: ElementwiseKernel("float *x", "x[i] = 1", preamble=WARNING)(
            gpuarray.zeros(1, np.float32)
        ),
        lambda: compiler.DynamicSourceModule(WARNING, cache_dir=False),
        lambda: compiler.DynamicModule().add_source(WARNING).link(),
        lambda: compiler.SourceModule(KERNEL).get_function("f").set_shared_size(0),
        lambda: gpuarray.arange(3.0),
        lambda: cumath.sin(gpuarray.zeros(1, np.float32), gpuarray.zeros(1, np.float32)),
        lambda: dtypes.register_dtype(np.dtype(np.float32), "float", alias_ok=True),
        tools.get_default_device,
        launch_with_another_dtype,
        set_from_another_shape,
        wrong_setting,
    ],
)
def test_the_line_of_the_program(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert [Path(one.filename).name for one in caught] == [Path(__file__).name] * len(caught)
    assert caught


def test_a_warning_at_import(tmp_path):
    """The import system's frames, and those of the modules that import each other, are skipped."""
    program = tmp_path / "program.py"
    program.write_text("\nimport PyGPU.gpuarray\n")
    environment = {**os.environ, "PYGPU_CACHE_MAXSIZE": "many", "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, check=True
    )
    assert f"{program}:2: SettingWarning: PYGPU_CACHE_MAXSIZE='many'" in done.stderr


def test_a_warning_is_shown_once_for_each_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            gpuarray.arange(3.0)
        gpuarray.arange(3.0)
    assert len(caught) == 2


@functools.cache
def nodes(path):
    return [*ast.walk(ast.parse(path.read_text("utf-8")))]


def test_nothing_else_warns():
    """Only one function finds the program's line, so all warnings are its."""
    for path in python_files():
        calls = [
            node.lineno
            for node in nodes(path)
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("warnings.warn")
        ]
        assert not calls, f"{path}: {calls}"


def test_nothing_depends_on_assert():
    """`python -O` removes assert statements."""
    for path in python_files():
        found = [node.lineno for node in nodes(path) if isinstance(node, ast.Assert)]
        assert not found, f"{path}: {found}"


def test_tables_of_ufuncs_agree():
    """Modules once asserted this when they were imported."""
    from PyGPU._arrays import functions, symbols
    from PyGPU._kernels import COMPARISONS

    assert {ufunc.__name__ for ufunc in functions.REFLECTED} == COMPARISONS
    assert set(functions.UFUNCS) >= symbols._UNARY.keys()
