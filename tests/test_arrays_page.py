"""docs/arrays.md: its lists are the code's, and what it says is so."""

import os
import re
import subprocess
import sys
from pathlib import Path

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import curandom, gpuarray
from PyGPU._arrays.functions import UFUNCS
from PyGPU._arrays.numpy_dispatch import FUNCTIONS
from PyGPU._arrays.numpy_reductions import UFUNC_REDUCTIONS
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "arrays.md").read_text("utf-8")


def between(start, end):
    return PAGE.partition(start)[2].partition(end)[0]


def named(text):
    return re.findall(r"`(\w+)`", text)


def functions(names):
    """The functions of these names, but for those that an older NumPy lacks or calls otherwise."""
    if not hasattr(np, "trapezoid"):
        names = [{"trapezoid": "trapz"}.get(name, name) for name in names]
    modules = (np, np.lib.stride_tricks)
    return {getattr(module, name) for name in names for module in modules if hasattr(module, name)}


@pytest.mark.no_device
@pytest.mark.parametrize(
    "start, end, table",
    [
        ("Ufuncs, with", ", and NumPy's other names", UFUNCS),
        ("Their method `reduce`, of:", ". The other methods", UFUNC_REDUCTIONS),
        ("Other functions:", "The first place counts", FUNCTIONS),
    ],
    ids=["ufuncs", "reduce", "functions"],
)
def test_its_lists_are_the_tables(start, end, table):
    names = named(between(start, end))
    assert len(names) == len(set(names)) and functions(names) == set(table)


@pytest.mark.no_device
def test_it_names_every_attribute_and_function():
    section = between("## Attributes and methods", "## NumPy's functions")
    members, module = section.split("which `PyGPU` has as well")
    public = {name for name in dir(gpuarray.GPUArray) if name[0] != "_"}
    flags = {"c_contiguous", "f_contiguous", "forc"}
    assert set(named(members)) - flags == public
    public = {name for name in gpuarray.__all__ if name != "GPUArray"}
    assert set(named(module)) == public and all(hasattr(PyGPU, name) for name in public)


ROWS = re.findall(r"^\| `(np\..+?)` \| `(.+?)`", PAGE, re.M)
ON_HOST = {
    "v": np.array([3.0, -1.0, 4.0, 0.0, 5.0]),
    "w": np.array([1.0, 2.0, 0.5, 1.0, 2.0]),
    "m": np.array([[1.0, 0.0, 2.0], [3.0, 4.0, 0.0], [0.0, 5.0, 6.0]]),
    "i": np.array([4, 0, 2]),
}


@pytest.mark.parametrize("left, right", ROWS, ids=[left for left, _ in ROWS])
def test_what_stands_in_place_of_others(left, right):
    names = {"np": np, "gpuarray": gpuarray, "Scan": InclusiveScanKernel}
    arrays = {name: gpuarray.to_gpu(value) for name, value in ON_HOST.items() if name != "i"}
    if "nan" in left:
        v = np.where(ON_HOST["v"] == 4, np.nan, ON_HOST["v"])
        expected = eval(left, {"np": np, **ON_HOST, "v": v})
        arrays["v"] = gpuarray.to_gpu(v)
    else:
        expected = eval(left, {"np": np, **ON_HOST})
    arrays["i"] = ON_HOST["i"]
    with pytest.raises(TypeError):
        eval(left, {**names, **arrays})
    found = eval(right, {**names, **arrays})
    found = found.get() if isinstance(found, gpuarray.GPUArray) else found
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_there_are_rows():
    assert len(ROWS) >= 8


def test_sums():
    a = gpuarray.to_gpu(np.full(2, 2**30, np.int32))
    assert int(a.sum()) == int(gpuarray.sum(a)) == -(2**31) and int(a.prod()) == 0
    assert int(np.sum(a)) == int(a.sum(dtype=np.int64)) == int(np.cumsum(a)[1]) == 2**31
    assert int(np.prod(a)) == 2**60
    small = gpuarray.to_gpu(np.array([100, 100], np.int8))
    assert int(small.sum()) == int(np.sum(small)) == 200 and int(small.prod()) == 10_000
    assert int((a > 0).sum()) == 2


def test_not_a_number():
    a = gpuarray.to_gpu(np.array([1, np.nan, 3]))
    assert float(a.max()) == float(gpuarray.max(a)) == 3 and float(a.min()) == 1
    assert gpuarray.maximum(a, 2).tolist() == np.fmax(a, 2).tolist() == [2, 2, 3]
    assert np.isnan(float(np.max(a))) and np.isnan(np.maximum(a, 2).get()[1])


def test_one_element():
    a = gpuarray.to_gpu(np.arange(6.0).reshape(2, 3))
    assert a.sum().shape == a[0, 1].shape == () and a[0, 1].item() == 1
    a[0, 1].fill(9)
    assert a.get()[0, 1] == 9


def test_dot():
    a = gpuarray.to_gpu(np.arange(4.0).reshape(2, 2))
    assert float(a.dot(a)) == 14
    for product in (np.dot, np.matmul):
        with pytest.raises(TypeError):
            product(a, a)
    with pytest.raises(TypeError):
        a @ a


def test_parts_of_complex_numbers():
    a = gpuarray.to_gpu(np.array([1 + 2j]))
    for part in (a.real, a.imag):
        part.fill(7)
    assert a.tolist() == [1 + 2j]
    real = gpuarray.to_gpu(np.ones(2))
    assert real.real is real


def test_assignment_and_work_in_place():
    a = gpuarray.zeros(2, np.int32)
    for value in (np.ones(2), gpuarray.ones(2, np.float64), [1, 2]):
        with pytest.raises(TypeError):
            a[...] = value
    a[...] = 1.5
    assert a.tolist() == [1, 1]
    with pytest.raises(PyGPU.errors.ArgumentError):
        a *= 2.5
    with pytest.raises(TypeError):
        a /= 2
    a += gpuarray.to_gpu(np.array([0.5, 1.5]))
    assert a.tolist() == [1, 2]
    with pytest.raises(TypeError):
        a + np.ones(2)
    assert a[np.array([1, 0])].tolist() == [2, 1] and a[np.array([False, True])].tolist() == [2]


def test_reshape():
    m = gpuarray.to_gpu(np.arange(6).reshape(2, 3))
    for method in (lambda a: a.reshape(-1), lambda a: a.ravel()):
        assert method(m[:, ::2]).tolist() == [0, 2, 3, 5]
        assert method(m.T).tolist() == [0, 3, 1, 4, 2, 5]
    assert m.T.reshape(-1, order="A").tolist() == m.T.ravel("K").tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(AttributeError):
        m.T.shape = 6
    assert np.ravel(m.T).tolist() == np.reshape(m.T, 6).tolist() == [0, 3, 1, 4, 2, 5]
    assert np.ravel(m[:, ::2]).tolist() == [0, 2, 3, 5]


def test_scans_and_ranges():
    a = gpuarray.to_gpu(np.ones(3))
    scan = InclusiveScanKernel(np.float64, "a + b")
    assert scan(a, output_ary="new").tolist() == [1, 2, 3] and a.tolist() == [1, 1, 1]
    assert scan(a) is a and a.tolist() == [1, 2, 3]
    with pytest.warns(UserWarning, match="guessed"):
        gpuarray.arange(3)


def test_kernels_by_expression():
    kernel = ElementwiseKernel("float *x, float *y", "if (x[i] == 3) continue; y[i] = x[i]")
    x = gpuarray.to_gpu(np.arange(100_000, dtype=np.float32))
    y = gpuarray.zeros_like(x)
    kernel(x, y)
    total = ReductionKernel(np.float32, "0", "a + b", "x[i]", "float *x")
    for call in (lambda: kernel(x[::2], y[::2]), lambda: total(x[::2])):
        with pytest.raises(RuntimeError):
            call()
    assert float(np.sum(np.not_equal(x, y))) == 1


def program_in(title):
    return re.search(r"```python\n(.*?)```", PAGE.partition(title)[2], re.S)[1]


def test_pickles():
    names = {}
    exec(program_in("## Copies, pickles and other processes"), names)
    assert len(names["buffers"]) == 1
    np.testing.assert_array_equal(names["b"].get(), names["a"].get())


def test_segmented_scans():
    exec(program_in("### Segmented scans"), {})


def test_several_processes(tmp_path):
    program = tmp_path / "program.py"  # processes that are spawned import it
    program.write_text(program_in("## Several processes"))
    environment = {**os.environ, "PYGPU_TARGET": PyGPU.target}
    subprocess.run([sys.executable, program], env=environment, check=True, timeout=120)


def test_random_numbers():
    block, names = program_in("## Random numbers"), {}
    try:
        exec(block, names)
    except NotImplementedError as error:
        needs.missing("curand", str(error))
    assert len(np.unique(names["numbers"].get())) == 1000
    assert len(np.unique(names["points"].get(), axis=0)) == 1000
    usual = curandom.Sobol32RandomNumberGenerator()
    assert usual.generators_per_block * usual.block_count <= 20_000


def test_seeds():
    def drawn():
        np.random.seed(7)
        generator = curandom.Philox4x32RandomNumberGenerator()
        return curandom.rand(3).tolist(), generator.gen_uniform(3, np.float32).tolist()

    assert drawn() == drawn()
    one, other = (curandom.Philox4x32RandomNumberGenerator(seed=7) for _ in range(2))
    assert one.gen_uniform(3, np.float32).tolist() == other.gen_uniform(3, np.float32).tolist()


@pytest.mark.no_device
def test_links_to_it():
    assert "docs/arrays.md" in (ROOT / "README.md").read_text("utf-8")
