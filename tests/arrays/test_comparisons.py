"""Comparisons: bools, as in NumPy; PyCUDA's dtypes under PYGPU_COMPARISONS=pycuda."""

import copy
import operator
import pickle

import numpy as np
import pytest

import PyGPU
from PyGPU import cumath, gpuarray
from PyGPU._runtime import core
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.errors import ArgumentError
from PyGPU.gpuarray import to_gpu
from PyGPU.reduction import ReductionKernel

X = np.array([-5, 3, 0, -1, 100, 7, -20, 2, 4, 1], np.int16)


def copied_to(v):
    target = v > 100
    target[...] = v > 0
    return target


# Programs that compute a mask from an array.
MASKS = {
    "compare": lambda v: v > 0,
    "compare with NumPy's scalar": lambda v: np.float32(0.5) < v,
    "compare two": lambda v: v == v[::-1],
    "invert": lambda v: ~(v > 0),
    "&": lambda v: (v > 0) & (v < 5),
    "| a ufunc's": lambda v: (v > 3) | np.less(v, -2),
    "^ True": lambda v: (v > 0) ^ True,
    "&=": lambda v: operator.iand(v > 0, v < 5),
    "+": lambda v: (v > 3) + (v < -2),
    "*": lambda v: (v > 0) * (v < 5),
    "==": lambda v: (v > 0) == (v < 5),
    "np.bitwise_and": lambda v: np.bitwise_and(v > 0, v < 5),
    "np.invert": lambda v: np.invert(v > 0),
    "np.add": lambda v: np.add(v > 3, v < -2),
    "np.logical_xor": lambda v: np.logical_xor(v > 0, v < 5),
    "np.maximum": lambda v: np.maximum(v > 3, v < -2),
    "np.where": lambda v: np.where(v > 0, v < 5, v > -4),
    "np.copy": lambda v: np.copy(v > 0),
    "copy.deepcopy": lambda v: copy.deepcopy(v > 0),
    "pickle": lambda v: pickle.loads(pickle.dumps(v > 0)),
    "np.concatenate": lambda v: np.concatenate([v[:3] > 0, v[3:] > 5]),
    "np.roll": lambda v: np.roll(v > 0, 1),
    "np.tile": lambda v: np.tile(v[:5] > 0, 2),
    "np.pad": lambda v: np.pad(v[1:] > 0, (1, 0)),
    "np.repeat": lambda v: np.repeat(v[:5] > 0, 2),
    "reshape": lambda v: (v.reshape(2, 5) > 0).T.reshape(10),
    "slice": lambda v: (v > 0)[::-1],
    "index": lambda v: (v > 0)[np.arange(10) % 4],
    "np.any": lambda v: np.any(v.reshape(10, 1) > 0, axis=1),
    "np.max": lambda v: np.max(v.reshape(10, 1) > 0, axis=1),
    "np.isfinite": lambda v: np.isfinite(v) & (v > 0),
    "out=": lambda v: np.greater(v, 0, out=v > 100),
    "assignment": copied_to,
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_stay_masks(name):
    make, a, x = MASKS[name], to_gpu(X), X.copy()
    mask, expected = make(a), make(x)
    assert mask.dtype == expected.dtype == bool
    np.testing.assert_array_equal(mask.get(), expected)
    np.testing.assert_array_equal(a[mask].get(), x[expected])
    count = np.count_nonzero(expected)
    for total in (mask.sum(), gpuarray.sum(mask), np.sum(mask), np.count_nonzero(mask)):
        assert total.dtype == np.int64 and int(total.get()) == count
    a[mask] = 9
    x[expected] = 9
    np.testing.assert_array_equal(a.get(), x)


@pytest.mark.parametrize("dtype", ["u1", "f2", "f4"])
def test_counts_are_exact(dtype):
    """The compared dtype would wrap, become infinite or round."""
    a = gpuarray.ones((1 << 24) + 1 if dtype == "f4" else 100_000, dtype)
    mask = a > 0
    for total in (mask.sum(), gpuarray.sum(mask), np.sum(mask), np.cumsum(mask)[-1]):
        assert int(total.get()) == a.size
    assert float(mask.mean().get()) == float(np.mean(mask).get()) == 1


def test_arithmetic_with_masks_is_numpys():
    for compute in (
        lambda v: (v > 0) * v,
        lambda v: (v > 0) * 2.5 - (v < 5) * np.float32(1),
        lambda v: v + (v > 0),
        lambda v: np.cumsum(v > 0),
        lambda v: abs(v > 0),
    ):
        expected, got = compute(X), compute(to_gpu(X)).get()
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
    for refused in (lambda v: -(v > 0), lambda v: (v > 0) - (v < 5)):
        with pytest.raises(TypeError):
            refused(X)
        with pytest.raises(TypeError, match="bool"):
            refused(to_gpu(X))


def test_pycudas_functions_accept_masks():
    a = to_gpu(X)
    expected = np.where(X > 0, X, 0)
    zeros = gpuarray.zeros_like(a)
    for got in (gpuarray.if_positive(a > 0, a, zeros), gpuarray.where(a > 0, a, zeros)):
        np.testing.assert_array_equal(got.get(), expected)
    assert gpuarray.maximum(a > 3, a < 0).dtype == bool
    assert int(gpuarray.dot(a > 0, a).get()) == expected.sum()
    assert cumath.sqrt(a > 0).get().tolist() == np.sqrt(X > 0).tolist()
    copy_bools = ElementwiseKernel("bool *x, unsigned char *z", "z[i] = x[i]")
    result = gpuarray.empty(X.shape, np.uint8)
    copy_bools(a > 0, result)
    np.testing.assert_array_equal(result.get(), X > 0)


def test_kernels_of_numbers_advise_a_conversion():
    mask = to_gpu(X) > 0
    double = ElementwiseKernel("float *x, float *z", "z[i] = 2 * x[i]")
    total = ReductionKernel(np.float32, "0", "a + b", "x[i]", "float *x")
    result = gpuarray.empty(X.shape, np.float32)
    with pytest.raises(ArgumentError, match=r"x: .* its dtype is bool.*\.astype\('float32'\)"):
        double(mask, result)
    with pytest.raises(ArgumentError, match=r"x: .* its dtype is bool.*\.astype\('float32'\)"):
        total(mask)
    double(mask.astype("float32"), result)
    np.testing.assert_array_equal(result.get(), 2 * (X > 0))
    assert total(mask.astype("float32")).get() == (X > 0).sum()


def test_index_arrays_of_floats_are_refused():
    a = to_gpu(X)
    for use in (lambda: a[a.astype("f4")], lambda: operator.setitem(a, a.astype("f4"), 1)):
        with pytest.raises(IndexError, match=r"integers or bools, got float32.*!= 0"):
            use()


class TestAsPyCUDA:
    """PYGPU_COMPARISONS=pycuda."""

    @pytest.fixture(autouse=True)
    def setting(self):
        core._compare_as_pycuda(True)

    OPERATORS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)

    @pytest.mark.parametrize("compare", OPERATORS)
    @pytest.mark.parametrize("code", "?bBhHiIqQefd")
    def test_comparisons_have_the_arrays_dtype(self, compare, code):
        x, y = np.array([0, 1, 1], code), np.array([1, 1, 0], code)
        a, b = to_gpu(x), to_gpu(y)
        for got, expected in (
            (compare(a, b), compare(x, y)),
            (compare(a, 1), compare(x, 1)),
            (compare(0.5, a), compare(0.5, x)),
        ):
            assert got.dtype == code
            np.testing.assert_array_equal(got.get(), expected)
        fused = PyGPU.fuse(compare)(a, b)
        assert fused.dtype == code
        np.testing.assert_array_equal(fused.get(), compare(x, y))

    @pytest.mark.parametrize("compare", OPERATORS)
    def test_of_two_dtypes_the_common_one(self, compare):
        for first, second in (("i4", "f4"), ("u1", "i2"), ("f4", "f8"), ("i8", "u8")):
            common = (np.ones(1, first) + np.ones(1, second)).dtype
            a, b = gpuarray.ones(3, first), gpuarray.zeros(3, second)
            assert compare(a, b).dtype == PyGPU.fuse(compare)(a, b).dtype == common
            scalar = np.ones(1, second)[0]
            assert compare(scalar, a).dtype == compare(a, scalar).dtype == common
            assert PyGPU.fuse(compare)(scalar, a).dtype == common

    def test_numpys_functions_return_bool(self):
        a = to_gpu(X)
        for function in (np.equal, np.not_equal, np.less, np.less_equal, np.greater):
            got = function(a, 3)
            assert got.dtype == bool
            np.testing.assert_array_equal(got.get(), function(X, 3))

    @pytest.mark.parametrize("code", "?bBhHifd")
    def test_totals_keep_the_dtype(self, code):
        x = np.full(1000, 1, code)
        a = to_gpu(x)
        totals = (gpuarray.sum(a), a.sum(), a.sum(axis=0), a.prod())
        assert {one.dtype for one in totals} == {np.dtype(code)}
        np.testing.assert_array_equal(totals[0].get(), x.sum(dtype=code))
        assert np.sum(a).dtype == np.sum(x).dtype

    @pytest.mark.parametrize("code", ["i4", "u1", "f4"])
    def test_only_bools_are_indices(self, code):
        a = to_gpu(X.astype(code).reshape(2, 5))
        texts = r"!= 0.*take|take.*!= 0"
        for key in (a > 0, (a[0] > 0, 1), (slice(None), a[0] > 0), a[1, 1] > 0, (a > 0) + 0):
            before = a.get()
            with pytest.raises(IndexError, match=texts) as caught:
                a[key]
            assert "PYGPU_COMPARISONS=pycuda" in str(caught.value)
            with pytest.raises(IndexError, match=texts):
                a[key] = 9
            np.testing.assert_array_equal(a.get(), before)

    def test_masks_and_indices_of_the_host(self):
        a = to_gpu(X)
        np.testing.assert_array_equal(a[(a > 0).astype(bool)].get(), X[X > 0])
        np.testing.assert_array_equal(a[np.greater(a, 0)].get(), X[X > 0])
        np.testing.assert_array_equal(a[np.array([2, 0])].get(), X[[2, 0]])
        np.testing.assert_array_equal(a.take(to_gpu(np.array([2, 0]))).get(), X[[2, 0]])


PRINT_DTYPE = """
import sys, numpy
if "install" in sys.argv:
    import PyGPU
    with PyGPU.install_as_pycuda():
        import pycuda.gpuarray as gpuarray
elif "worker" in sys.argv or "pycuda" in sys.argv:
    import pycuda.gpuarray as gpuarray
else:
    import PyGPU.gpuarray as gpuarray
print((gpuarray.zeros(3, numpy.float32) > 0).dtype)
"""


def test_the_process_chooses(python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PRINT_DTYPE)
    run = f"import sys, runpy; sys.argv[1:] = ['run', {str(program)!r}, 'pycuda']\n"
    run += "runpy.run_module('PyGPU', run_name='__main__')"
    install = "import sys; sys.argv.append('install')\n" + PRINT_DTYPE
    for code, setting, expected in (
        (PRINT_DTYPE, "", "bool"),
        (PRINT_DTYPE, "pycuda", "float32"),
        (install, "", "float32"),
        (install, "numpy", "bool"),
        (run, "", "float32"),
        (run, "numpy", "bool"),
    ):
        assert python(code, PYGPU_COMPARISONS=setting).stdout == expected + "\n", (code, setting)
