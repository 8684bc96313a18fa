"""Names that NumPy has dropped: there for programs that ask, and only for them."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import PyGPU
from PyGPU._as_pycuda import numpy_names

pytestmark = pytest.mark.no_device

# What an old program writes, and what it means.
USES = {
    "np.zeros(2, np.int).dtype": np.dtype(int),
    "np.zeros(2, np.float).dtype": np.dtype(float),
    "np.zeros(2, np.bool).dtype": np.dtype(bool),
    "np.zeros(2, np.complex).dtype": np.dtype(complex),
    "np.zeros(2, np.object).dtype": np.dtype(object),
    "np.str('x')": "x",
    "np.unicode('x')": "x",
    "np.long(3)": 3,
    "np.float_(1.5)": 1.5,
    "np.complex_(1j).dtype": np.dtype("c16"),
    "np.cfloat(1j).dtype": np.dtype("c16"),
    "np.singlecomplex(1j).dtype": np.dtype("c8"),
    "np.longfloat(1).dtype": np.dtype("g"),
    "np.dtype(np.unicode_).char": "U",
    "np.dtype(np.string_).char": "S",
    "np.dtype(np.int0)": np.dtype(np.intp),
    "np.bool8(1)": True,
    "np.typeDict['float32'](1.5)": 1.5,
    "[np.typeDict[c] for c in 'bfD']": [np.int8, np.float32, np.complex128],
    "[np.Inf, np.PINF, np.infty, np.Infinity, -np.NINF]": [np.inf] * 5,
    "np.isnan(np.NaN)": True,
    "str(np.NZERO) + str(np.PZERO)": "-0.00.0",
    "np.product([2, 3, 4])": 24,
    "np.cumproduct([2, 3, 4]).tolist()": [2, 6, 24],
    "np.sometrue([0, 1]), np.alltrue([0, 1])": (True, False),
    "np.in1d([[1, 2], [3, 4]], [2, 3]).tolist()": [False, True, True, False],
    "np.in1d([1, 2], [2], invert=True).tolist()": [True, False],
    "np.row_stack([[1, 2], [3, 4]]).tolist()": [[1, 2], [3, 4]],
    "np.trapz([1, 2, 3], dx=2)": 8.0,
    "np.asscalar(np.array([2.5]))": 2.5,
    "np.rank(np.zeros((2, 3)))": 2,
    "np.alen([1, 2, 3]), np.alen(5)": (3, 1),
    "np.round_(2.567, 1)": 2.6,
    "np.msort([[3, 1], [2, 4]]).tolist()": [[2, 1], [3, 4]],
    "np.asfarray([1, 2]).dtype, np.asfarray([1], 'f4').dtype": (np.dtype("f8"), np.dtype("f4")),
    "np.asfarray([1], 'i4').dtype": np.dtype("f8"),
    "np.mat('1 2; 3 4').tolist()": [[1, 2], [3, 4]],
    "np.cast['float32'](2).dtype": np.dtype("f4"),
    "np.cast[int](2.7).item()": 2,
    "np.fastCopyAndTranspose(np.array([[1, 2]])).tolist()": [[1], [2]],
    "np.issubsctype('i4', np.integer), np.issubclass_(int, float)": (True, False),
    "bytes(np.getbuffer(np.int32(5)))": np.int32(5).tobytes(),
    "bytes(np.getbuffer(np.arange(3, dtype='F'), 8, 8))": np.complex64(1).tobytes(),
    "len(np.newbuffer(5))": 5,
    "np.safe_eval('[1, 2]')": [1, 2],
    "[np.dtype('f8').type in np.sctypes[kind] for kind in ('float', 'complex')]": [True, False],
    "[len(np.sctypes[kind]) for kind in sorted(np.sctypes)]": [3, 4, 4, 5, 4],
    "[np.obj2sctype(one) for one in ('f4', np.ones(2), np.floating)]": [
        *(np.float32, np.float64, np.floating)
    ],
    "[np.obj2sctype(one) for one in (3, '?!')], np.obj2sctype(3, 'none')": ([None, None], "none"),
    "[np.issctype(t) for t in (np.int32, np.dtype('f8'), 'f8', list)]": [True, True, False, False],
    "np.sctype2char(np.int8) + np.sctype2char('c8')": "bF",
    "[np.maximum_sctype(one) for one in ('i2', 'u1', bool)]": [np.int64, np.uint64, np.bool_],
    "np.dtype(np.maximum_sctype('f2')).char + np.dtype(np.maximum_sctype('c8')).char": "gG",
    "np.find_common_type(['f4', 'i4'], []), np.find_common_type([], [])": (np.dtype("f8"), None),
    "np.find_common_type(['f4'], ['f8']), np.find_common_type(['i2'], ['f4'])": (
        *(np.dtype("f4"), np.dtype("f4")),
    ),
    "np.find_common_type(['i8'], ['f4']), np.find_common_type(['i4'], ['c8'])": (
        *(np.dtype("f8"), np.dtype("c16")),
    ),
    "np.find_common_type([], ['i4', 'f4'])": np.dtype("f8"),
    "np.nbytes['f4'], np.nbytes[np.complex128]": (4, 16),
    "issubclass(np.ComplexWarning, Warning)": True,
    "issubclass(np.AxisError, IndexError)": True,
    "issubclass(np.VisibleDeprecationWarning, UserWarning)": True,
}


@pytest.fixture(scope="module")
def old():
    """NumPy as an old program wants it, until these tests are over."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PyGPU.NumPyCompatWarning)
        added = numpy_names.restore()
    yield np
    numpy_names.remove(added)


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning",
    "ignore::PendingDeprecationWarning",
    "ignore::FutureWarning",
)
@pytest.mark.parametrize("use", USES)
def test_what_old_programs_write(old, use):
    assert eval(use, {"np": old}) == USES[use]


def test_a_buffer_is_the_arrays_own_memory(old):
    array = np.zeros((2, 3), np.int16, order="F")
    old.getbuffer(array)[2:4] = b"\1\2"
    assert array[1, 0] == 0x0201
    with pytest.raises(TypeError, match="contiguous"):
        old.getbuffer(array[:, ::2])


def run(text, *arguments):
    command = [sys.executable, *(arguments or ("-c", text))]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_one_warning_lists_them_and_a_block_takes_them_back(python):
    python("""
import warnings
import numpy as np
import PyGPU
before = dict(vars(np))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with PyGPU.install_as_pycuda(numpy_compat=True):
        added = {name for name in vars(np) if name not in before}
        with PyGPU.install_as_pycuda(numpy_compat=True):
            pass
        assert added == {name for name in vars(np) if name not in before}
        assert all(vars(np)[name] is value for name, value in before.items()), "replaced"
        assert [np.product([2, 3]), np.zeros(1, np.int).dtype.kind] == [6, "i"]
told = [one for one in caught if one.category is PyGPU.NumPyCompatWarning]
assert len(told) == (1 if added else 0), caught
if added:
    assert told[0].filename == "<string>", told[0].filename
    assert set(str(told[0].message).split(": ")[1].split(", ")) == added, told[0].message
assert vars(np).keys() == before.keys()
""")


def test_nobody_else_is_disturbed(python):
    python("""
import numpy as np
before = dict(vars(np))
import PyGPU, PyGPU.gpuarray
with PyGPU.install_as_pycuda():
    import pycuda.compyte.dtypes
assert {name for name in vars(np) if name not in before} <= {"exceptions", "lib", "matlib"}
""")


PROGRAM = """
import sys
import numpy
import pycuda.gpuarray
print(numpy.product([2, 3]), numpy.zeros(1, numpy.int).dtype.kind, sys.argv[1:])
"""


def test_the_command(tmp_path):
    (tmp_path / "old.py").write_text(PROGRAM)
    script = str(tmp_path / "old.py")
    done = run(None, "-m", "PyGPU", "run", "--numpy-compat", script, "--numpy-compat", "x")
    assert done.stdout == "6 i ['--numpy-compat', 'x']\n", done.stderr
    if not numpy_names._has("product"):
        assert done.stderr.count("NumPyCompatWarning") == 1 and "product" in done.stderr
        plain = run(None, "-m", "PyGPU", "run", script)
        assert plain.returncode == 1 and "AttributeError" in plain.stderr


SPAWNING = """
import multiprocessing
import pycuda.driver
import numpy
KIND = numpy.zeros(1, numpy.int).dtype.kind
def work():
    print(KIND, numpy.product([2, 3]))
if __name__ == "__main__":
    worker = multiprocessing.get_context("spawn").Process(target=work)
    worker.start()
    worker.join()
    raise SystemExit(worker.exitcode)
"""


def test_worker_processes_have_them_too(tmp_path):
    (tmp_path / "old.py").write_text(SPAWNING)
    done = run(None, "-m", "PyGPU", "run", "--numpy-compat", str(tmp_path / "old.py"))
    assert done.stdout == "i 6\n", done.stderr
    assert done.stderr.count("NumPyCompatWarning") <= 1
