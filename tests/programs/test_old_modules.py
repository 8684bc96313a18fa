"""Modules of PyCUDA's beside the well-known ones, as programs import them."""

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import compiler, gl, gpuarray, scan, sparse
from PyGPU._cluda import CLUDA_PREAMBLE
from PyGPU._pvt_struct import calcsize, pack
from PyGPU.sparse import cg, coordinate, inner, operator, packeted, pkt_build


def test_a_text_for_cuda_and_opencl():
    """The macros do for CUDA what the same names do for OpenCL."""
    source = (
        CLUDA_PREAMBLE
        + """
WITHIN_KERNEL int twice(int x) { return 2 * x; }
KERNEL REQD_WG_SIZE(4, 2, 1)
void places(GLOBAL_MEM int *out)
{
  LOCAL_MEM int memory[8];
  const int here = LID_0 + LDIM_0 * (LID_1 + LDIM_1 * LID_2);
  memory[here] = here;
  local_barrier();
  const int group = GID_0 + GDIM_0 * (GID_1 + GDIM_1 * GID_2);
  out[8 * group + here] = twice(memory[7 - here]) + 100 * group + 10000 * (GDIM_2 + LDIM_2);
}
"""
    )
    out = gpuarray.zeros(8 * 6, np.int32)
    kernel = compiler.SourceModule(source, no_extern_c=True).get_function("places")
    kernel(out, block=(4, 2, 1), grid=(3, 2, 1))
    expected = [2 * (7 - k) + 100 * group + 20000 for group in range(6) for k in range(8)]
    assert out.get().tolist() == expected


@pytest.mark.no_device
def test_values_as_bytes():
    assert pack("iF", 3, 1 - 2j) == struct.pack("iff", 3, 1, -2)
    assert pack("f2D?", 0.5, 1j, 2, True) == struct.pack("fdddd?", 0.5, 0, 1, 2, 0, True)
    assert pack("3sP", b"abc", np.uintp(4096)) == struct.pack("3sP", b"abc", 4096)
    assert calcsize("iD") == struct.calcsize("idd") == 24 and calcsize("2F") == 16
    for arguments in (("i",), ("i", 1, 2), ("i", 1.5), ("Q", -1)):
        with pytest.raises(struct.error):
            pack(*arguments)


def test_an_allocation_as_bytes():
    memory = drv.mem_alloc(64)
    assert pack("P", memory) == struct.pack("P", int(memory))


@pytest.mark.no_device
@pytest.mark.parametrize(
    "call",
    [
        *(gl.init, gl.make_context, gl.RegisteredBuffer, gl.RegisteredImage),
        *(gl.RegisteredMapping, gl.BufferObject, gl.BufferObjectMapping),
    ],
)
def test_opengl_is_not_there_and_says_why(call):
    with pytest.raises(NotImplementedError, match=rf"gl\.{call.__name__} .*OpenGL.*have_gl_ext"):
        call(1, flags=2)
    assert not isinstance(3, call)


@pytest.mark.no_device
def test_what_a_program_asks_first():
    assert drv.have_gl_ext() is False
    assert int(gl.graphics_map_flags.WRITE_DISCARD) == 2
    assert int(gl.graphics_map_flags.READ_ONLY) == 1 and int(gl.graphics_map_flags.NONE) == 0
    with pytest.raises(ImportError, match="OpenGL"):
        import PyGPU.gl.autoinit  # noqa: F401


@pytest.mark.no_device
@pytest.mark.parametrize(
    "call",
    [
        *(cg.CGStateContainer, cg.solve_pkt_with_cg, coordinate.CoordinateSpMV),
        *(inner.AsyncInnerProduct, inner.get_stream, operator.OperatorBase),
        *(operator.IdentityOperator, operator.DiagonalPreconditioner, packeted.PacketedSpMV),
        pkt_build.build_pkt_data_structure,
    ],
)
def test_sparse_matrices_are_not_there_and_say_why(call):
    with pytest.raises(NotImplementedError, match=rf"{call.__name__} is not in PyGPU: .*packages"):
        call(None, None)
    assert sparse.REASON in call.__doc__
    assert issubclass(cg.ConvergenceError, RuntimeError)


PROGRAM = """
import pycuda
assert pycuda.VERSION >= (2011, 1) and pycuda.VERSION > (0, 94)
assert tuple(int(part) for part in pycuda.VERSION_TEXT.split(".")[:2]) >= (2013, 1)
if pycuda.VERSION < (2012, 1):
    raise SystemExit("too old")
import pycuda.tools
assert pycuda.compyte.dtypes.DTYPE_TO_NAME and pycuda.compyte.array.ArrayFlags  # without an import
import pycuda._driver
from pycuda._driver import Stream, LogicError, device_attribute, bitlog2, have_gl_ext
import pycuda.driver
assert pycuda._driver is pycuda.driver and LogicError is pycuda.driver.LogicError
from pycuda._cluda import CLUDA_PREAMBLE
from pycuda._pvt_struct import pack
from pycuda.compyte.array import c_contiguous_strides
from pycuda.compyte.dtypes import TYPE_REGISTRY
from pycuda.sparse.packeted import PacketedSpMV
import pycuda.sparse.cg, pycuda.gl as gl, pycuda.debug
for use in (PacketedSpMV, gl.init, pycuda.sparse.cg.CGStateContainer):
    try:
        use()
    except NotImplementedError as error:
        assert "not in PyGPU" in str(error)
    else:
        raise AssertionError(use)
try:
    import pycuda.gl.autoinit
except ImportError as error:
    assert "OpenGL" in str(error)
else:
    raise AssertionError("gl.autoinit")
"""


@pytest.mark.no_device
def test_under_the_name_pycuda(python):
    python(f"import PyGPU\nPyGPU.install_as_pycuda()\n{PROGRAM}")


@pytest.mark.no_device
def test_mako_from_where_programs_fetch_it(python):
    python("""
import sys, types
import PyGPU
PyGPU.install_as_pycuda()
sys.modules["mako"] = None
try:
    import pycuda._mymako
except ImportError as error:
    assert "pip install Mako" in str(error), error
else:
    raise AssertionError("mako is None")
mako = sys.modules["mako"] = types.ModuleType("mako")
mako.__path__ = []
mako.template = sys.modules["mako.template"] = types.ModuleType("mako.template")
mako.template.Template = str
import pycuda._mymako as mymako
assert mymako.template.Template("x") == "x"
from pycuda._mymako import mako as same
assert same is mako
""")


DEBUGGED = """
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
out = np.zeros(1, np.int32)
SourceModule("__global__ void f(int *x) { *x = 5; }").get_function("f")(
    drv.Out(out), block=(1, 1, 1)
)
print(out[0], __name__ == "__main__", sys.argv[1:], drv.CUDA_DEBUGGING)
"""


def test_a_program_for_a_debugger(tmp_path):
    (tmp_path / "program.py").write_text(DEBUGGED)
    command = [sys.executable, "-m", "PyGPU.debug", str(tmp_path / "program.py"), "--flag", "x"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    kept, answer = done.stdout.splitlines()
    assert kept.startswith("*** compiler output in ")
    assert answer == "5 True ['--flag', 'x'] True", done.stderr


@pytest.mark.no_device
def test_the_debuggers_command_without_a_program(tmp_path):
    command = [sys.executable, "-m", "PyGPU.debug"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "python -m PyGPU.debug: error: expected a script" in done.stderr


@pytest.mark.no_device
def test_the_packages_own_version_is_its_own():
    assert PyGPU.VERSION == tuple(int(part) for part in PyGPU.VERSION_TEXT.split("."))


def test_operators_of_python_2():
    array = gpuarray.to_gpu(np.array([1.0, 2.0]))
    for name in ("__div__", "__rdiv__", "__idiv__"):
        assert not hasattr(array, name)
    assert (array / 2).get().tolist() == [0.5, 1.0]


TEXTS = (
    *("SHARED_PREAMBLE", "SCAN_INTERVALS_SOURCE"),
    *("INCLUSIVE_UPDATE_SOURCE", "EXCLUSIVE_UPDATE_SOURCE"),
)


@pytest.mark.no_device
def test_texts_of_pycudas_scans():
    assert not any(hasattr(scan, name) for name in TEXTS)


@pytest.mark.no_device
def test_contexts_for_opengl():
    """Its import is its use."""
    with pytest.raises(ImportError, match=r"gl\.autoinit is not in PyGPU: it does"):
        import PyGPU.gl.autoinit  # noqa: F401
    with pytest.raises(NotImplementedError, match="OpenGL"):
        gl.BufferObject(1)
    with pytest.raises(NotImplementedError, match="OpenGL"):
        gl.BufferObjectMapping(1)


@pytest.mark.no_device
def test_inner_names_that_programs_import():
    folder = Path(compiler._find_pycuda_include_path())
    assert (folder / "pycuda-complex.hpp").exists() and (folder / "pycuda-helpers.hpp").exists()


def test_the_dtype_of_a_sum():
    one, other = gpuarray.zeros(2, np.float32), gpuarray.zeros(2, np.float64)
    assert gpuarray._get_common_dtype(one, other) == np.float64
    assert gpuarray._get_common_dtype(one, 2) == np.float32
    assert gpuarray._get_common_dtype(one, 2j) == np.complex64
