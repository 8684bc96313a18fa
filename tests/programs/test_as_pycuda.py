"""PyGPU under the name pycuda: for a program, or for a block of it."""

from importlib.util import find_spec

import pytest

NAMES = ["driver", "autoinit", "autoprimaryctx", "compiler", "gpuarray", "tools", "characterize"]


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
assert drv is driver is PyGPU.driver and t is PyGPU.tools
assert pycuda.cudaError_t is PyGPU.cudaError_t and "characterize" in dir(pycuda)
assert SourceModule is PyGPU.compiler.SourceModule and pycuda.gpuarray is PyGPU.gpuarray
assert PyGPU.__spec__.name == PyGPU.__name__ == "PyGPU"
importlib.reload(PyGPU.characterize)
""")


def test_pycuda_first_and_ours_afterwards(python):
    python("""
import sys, PyGPU
PyGPU.install_as_pycuda()
PyGPU.install_as_pycuda()  # again: no harm
assert sum(type(finder).__module__ == "PyGPU._as_pycuda.install" for finder in sys.meta_path) == 1
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


def test_the_version_is_one_of_pycudas(python):
    """So that programs which ask for a new PyCUDA go on. PyGPU's own stays what it is."""
    python("""
import importlib, PyGPU
ours = PyGPU.VERSION, PyGPU.__version__
with PyGPU.install_as_pycuda():
    import pycuda
    from pycuda import VERSION, VERSION_TEXT
    assert pycuda.VERSION == VERSION >= (2026, 1) and pycuda.VERSION_STATUS == ""
    assert VERSION_TEXT == pycuda.__version__ == "2026.1"
    assert importlib.import_module("pycuda") is pycuda and pycuda.__name__ == "pycuda"
    try:
        pycuda.nothing
    except AttributeError:
        pass
    else:
        raise AssertionError("pycuda.nothing")
assert ours == (PyGPU.VERSION, PyGPU.__version__)
""")


def test_the_version_is_in_the_packages_metadata(python):
    """Libraries ask it before they import PyCUDA, old ones by pkg_resources."""
    python("""
import importlib.metadata, PyGPU
with PyGPU.install_as_pycuda():
    import pycuda
    assert importlib.metadata.version("pycuda") == pycuda.VERSION_TEXT
    found = importlib.metadata.distribution("pycuda")
    assert "PyGPU" in found.metadata["Summary"]
""")


@pytest.mark.skipif(not find_spec("pkg_resources"), reason="setuptools has no pkg_resources")
def test_old_libraries_may_require_pycuda(python):
    python("""
import warnings, PyGPU
warnings.simplefilter("ignore")  # of pkg_resources itself
PyGPU.install_as_pycuda()
import pkg_resources
assert pkg_resources.require("pycuda>=2016.1")[0].version == "2026.1"
""")


def test_a_block_of_code_and_nothing_afterwards(python):
    python("""
import sys, PyGPU, PyGPU.driver
finders, folders = list(sys.meta_path), list(sys.path)
with PyGPU.install_as_pycuda():
    import pycuda.autoinit, pycuda.driver
    assert pycuda.driver is PyGPU.driver
    with PyGPU.install_as_pycuda():
        import pycuda.tools
    import pycuda.characterize  # the inner block leaves the outer one alone
assert sys.meta_path == finders and sys.path == folders
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
