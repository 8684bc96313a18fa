"""Installations with PYGPU_PARTS: what a part has works, and what is missing names its part."""

import importlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU._runtime import parts, targets

ALL = ["runtime", "kernels", "arrays", "pycuda", "tools"]
is_partial = pytest.mark.skipif(
    not os.environ.get("PYGPU_PARTS"),
    reason="needs an installation with PYGPU_PARTS, and the variable set",
)
EXAMPLES = {
    "kernels": ["driver", "compiler", "library", "autoinit"],
    "arrays": ["gpuarray", "elementwise", "curandom", "tools"],
    "pycuda": ["compyte", "characterize", "sparse", "_as_pycuda"],
    "tools": ["_tools"],
}


@pytest.mark.no_device
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", ALL),
        ("runtime", ["runtime"]),
        ("kernels, runtime", ["runtime", "kernels"]),
        ("runtime,kernels,arrays,tools", ["runtime", "kernels", "arrays", "tools"]),
    ],
)
def test_the_parts_that_a_list_names(text, expected):
    assert parts.wanted(text) == expected


@pytest.mark.no_device
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernels", "kernels needs runtime as well"),
        ("runtime,arrays", "arrays needs kernels as well"),
        ("runtime,all", "'all': expected all, or some of runtime, kernels"),
        ("", "'': expected all"),
        ("runtime,Tools", "'Tools': expected"),
    ],
)
def test_a_wrong_list_names_what_is_wrong(text, message):
    with pytest.raises(ValueError, match=f"PYGPU_PARTS={text}: .*{message}"):
        parts.wanted(text)


@pytest.mark.no_device
def test_the_table_names_modules_that_exist():
    package = Path(PyGPU.__file__).parent
    found = {path.stem for path in package.iterdir()}
    present = {name for name in parts._PARTS if parts.part_of(name) in targets.installed}
    assert present <= found


@pytest.mark.no_device
def test_an_import_of_a_missing_part_says_what_installs_it(python):
    text = """
import sys
from PyGPU._runtime import parts
for name in [name for name in sys.modules if name.startswith("PyGPU._random")]:
    del sys.modules[name]
parts.explain_missing(["runtime", "kernels"])
try:
    import PyGPU.curandom
except ImportError as error:
    print(error.name, error)
"""
    assert python(text).stdout.startswith(
        "PyGPU.curandom PyGPU.curandom: this PyGPU was installed without the part `arrays`; "
        "install it again with `PYGPU_PARTS=runtime,kernels,arrays pip install .`"
    )


@is_partial
def test_this_installation_has_what_was_asked_for():
    assert targets.installed == parts.wanted(os.environ["PYGPU_PARTS"])


@is_partial
@pytest.mark.parametrize("part", [part for part in ALL if part != "runtime"])
def test_modules_are_those_of_the_parts(part):
    for name in EXAMPLES[part]:
        if part in targets.installed:
            importlib.import_module(f"PyGPU.{name}")
            continue
        sys.modules.pop(f"PyGPU.{name}", None)
        with pytest.raises(
            ImportError, match=f"PyGPU.{name}: .* the part `{part}`; install it again"
        ):
            importlib.import_module(f"PyGPU.{name}")


@is_partial
def test_the_low_level_works():
    values = np.arange(6.0).reshape(2, 3)
    array = PyGPU.DeviceArray_float64(values.copy())
    assert not array.allocate() and not array.to_device()
    assert not PyGPU.cudaMemset(array.device_data(), 0, 8)
    assert not array.to_host()
    values[0, 0] = 0
    assert np.array_equal(array.host_data().get().reshape(2, 3), values)


@is_partial
@pytest.mark.parametrize("name", ["gpuarray", "GPUArray", "zeros"])
def test_a_missing_name_is_explained(name):
    is_there = "arrays" in targets.installed
    assert hasattr(PyGPU, name) == is_there
    if is_there:
        return
    assert name not in PyGPU.__all__
    with pytest.raises(AttributeError, match="installed without the part"):
        getattr(PyGPU, name)


@is_partial
def test_a_kernel_is_compiled_and_launched():
    if "kernels" not in targets.installed:
        return
    from PyGPU import driver
    from PyGPU.compiler import SourceModule

    driver.init()
    context = driver.Device(0).retain_primary_context()
    context.push()
    kernel = SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
    values = np.arange(4, dtype=np.float32)
    kernel.get_function("twice")(driver.InOut(values), block=(4, 1, 1), grid=(1, 1))
    context.pop()
    assert values.tolist() == [0, 2, 4, 6]


def test_star_import_is_complete():
    names = {}
    exec("from PyGPU import *", names)
    assert {"cudaMalloc", "DeviceArray_float64", "cudaStream_t"} <= names.keys()
