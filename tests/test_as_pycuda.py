"""PyGPU under the name pycuda: in this process, for a block of code, and for whole programs."""

import json
import os
import subprocess
import sys

import pytest

import PyGPU

NAMES = ["driver", "autoinit", "autoprimaryctx", "compiler", "gpuarray", "tools", "characterize"]

PROGRAM = '''
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
import numpy
a = numpy.random.randn(4, 4).astype(numpy.float32)
a_gpu = cuda.mem_alloc(a.nbytes)
cuda.memcpy_htod(a_gpu, a)
mod = SourceModule("""
__global__ void doublify(float *a)
{
  int idx = threadIdx.x + threadIdx.y*4;
  a[idx] *= 2;
}
""")
func = mod.get_function("doublify")
func(a_gpu, block=(4, 4, 1))
a_doubled = numpy.empty_like(a)
cuda.memcpy_dtoh(a_doubled, a_gpu)
assert (gpuarray.to_gpu(a_doubled).get() == 2 * a).all()
try:
    func(a_gpu, numpy.int32(1), block=(4, 4, 1))
except (cuda.Error, TypeError) as error:
    print(type(error).__name__)
print("doubled", __name__)
'''


def launcher(folder, *arguments, expect=0, **environment):
    """python -m PyGPU with arguments, run in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "PyGPU", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYGPU_TARGET": PyGPU.target, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def test_every_module_is_ours_and_the_same_object(python):
    python(f"""
import importlib, PyGPU
PyGPU.install_as_pycuda()
for name in {NAMES}:
    theirs = importlib.import_module("pycuda." + name)
    ours = importlib.import_module("PyGPU." + name)
    assert theirs is ours, name
    assert ours.__name__ == ours.__spec__.name == "PyGPU." + name, ours.__spec__
    assert importlib.import_module("pycuda." + name) is ours
import pycuda, pycuda.driver as drv, pycuda.gpuarray
from pycuda import driver, tools as t
from pycuda.compiler import SourceModule
from pycuda.driver import In, Out, mem_alloc
assert pycuda is PyGPU and drv is driver is PyGPU.driver and t is PyGPU.tools
assert SourceModule is PyGPU.compiler.SourceModule and pycuda.gpuarray is PyGPU.gpuarray
assert PyGPU.__spec__.name == PyGPU.__name__ == "PyGPU"
assert isinstance(pycuda.VERSION, tuple)
importlib.reload(PyGPU.characterize)
""")


def test_pycuda_first_and_ours_afterwards(python):
    python("""
import sys, PyGPU
PyGPU.install_as_pycuda()
PyGPU.install_as_pycuda()  # again: no harm
assert sum(type(finder).__module__ == "PyGPU._as_pycuda" for finder in sys.meta_path) == 1
import pycuda.characterize
import PyGPU.characterize
assert PyGPU.characterize is sys.modules["pycuda.characterize"]
""")


def test_modules_that_do_not_exist(python):
    python("""
import importlib, importlib.util, PyGPU
PyGPU.install_as_pycuda()
for name in ("pycuda.nonexistent", "pycuda.nonexistent.deeper"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert "pycuda.nonexistent" in str(error) and error.name == "pycuda.nonexistent", error
    else:
        raise AssertionError(name)
assert importlib.util.find_spec("pycuda.nonexistent") is None
assert importlib.util.find_spec("pycudas") is None
""")


def test_a_block_of_code_and_nothing_afterwards(python):
    python("""
import sys, PyGPU, PyGPU.driver
finders = list(sys.meta_path)
with PyGPU.install_as_pycuda():
    import pycuda.autoinit, pycuda.driver
    assert pycuda.driver is PyGPU.driver
    with PyGPU.install_as_pycuda():
        import pycuda.tools
    import pycuda.characterize  # the inner block leaves the outer one alone
assert sys.meta_path == finders
assert not [name for name in sys.modules if name.split(".")[0] == "pycuda"]
try:
    import pycuda.compiler
except ModuleNotFoundError:
    pass
else:
    raise AssertionError("still installed")
assert sys.modules["PyGPU.driver"] is PyGPU.driver
try:
    with PyGPU.install_as_pycuda():
        raise KeyError("passes through")
except KeyError:
    assert sys.meta_path == finders
""")


@pytest.mark.parametrize("name", ["pycuda", "pycuda.driver"])
def test_the_real_pycuda_is_not_replaced(python, name):
    python(f"""
import sys, types, PyGPU
real = sys.modules[{name!r}] = types.ModuleType({name!r})
finders = list(sys.meta_path)
try:
    PyGPU.install_as_pycuda()
except ImportError as error:
    assert "real pycuda" in str(error) and "before" in str(error), error
else:
    raise AssertionError("the real pycuda was replaced")
assert sys.modules[{name!r}] is real and sys.meta_path == finders
""")


def test_a_program_runs_as_it_is(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    lines = launcher(tmp_path, "run", "program.py").stdout.splitlines()
    assert lines == ["ArgumentError", "doubled __main__"]
