"""linspace, logspace and geomspace, against NumPy."""

from itertools import product

import numpy as np
import pytest
from campaign import each_once, rare_but
from hypothesis import given
from hypothesis import strategies as st
from strategies import arrays, assert_same, examples, shapes, usual_or_any

from PyGPU.gpuarray import GPUArray, geomspace, linspace, logspace, to_gpu

REALS = [np.dtype(code) for code in "efd"]
# NumPy computes in the dtype of the ends, PyGPU in double precision.
TOLERANCES = {"e": 1e-2, "f": 1e-6, "F": 1e-6}


def close(got, expected):
    got = got.get() if isinstance(got, GPUArray) else np.asarray(got)
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    tolerance = TOLERANCES.get(expected.dtype.char, 1e-12)
    if expected.dtype.kind in "biu":
        assert_same(got, expected)
    else:
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=1e-9)


@pytest.mark.parametrize("dtype", REALS, ids=str)
def test_linspace(dtype):
    for args in [(0, 1, 5), (-3.5, 2, 7), (5, 1, 9), (2, 3, 1), (0, 1, 0), (0, 0, 3)]:
        for endpoint in (True, False):
            got = linspace(*args, endpoint=endpoint, dtype=dtype).get()
            np.testing.assert_allclose(got, np.linspace(*args, endpoint, dtype=dtype), rtol=1e-3)
            assert got.dtype == dtype and got.shape == (args[2],)
            if endpoint and args[2] > 1:
                assert got[-1] == args[1]


@pytest.mark.parametrize("dtype", ["i1", "u1", "f2", "f4"])
def test_linspace_between_numpys_numbers(dtype):
    for start, stop in [(100, 3), (3, 100), (-100, 100)]:
        if start < 0 and dtype == "u1":
            continue
        ends = np.dtype(dtype).type(start), np.dtype(dtype).type(stop)
        got = linspace(*ends, 1001, dtype="f8").get()
        np.testing.assert_allclose(got, np.linspace(start, stop, 1001), rtol=1e-12, atol=1e-12)
        assert linspace(*ends).dtype == np.linspace(*ends).dtype


ENDS = [
    *(0, 1, -3.5, 2 + 1j, True, np.float32(2), np.int8(5)),
    *([1, 2], [[1.5], [2]], np.array([1, 2j]), np.array([3, 4], "f")),
]


# Each end meets an end of another kind in each run.
@pytest.mark.parametrize(("start", "stop"), each_once(ENDS, ENDS[4:] + ENDS[:4]), ids=str)
def test_numbers_and_arrays_as_ends(start, stop):
    for num in (0, 1, 2, 7):
        for endpoint in (True, False):
            expected, step = np.linspace(start, stop, num, endpoint, True)
            got, got_step = linspace(start, stop, num, endpoint, True)
            close(got, expected)
            close(got_step, step)


REAL_ENDS = [end for end in ENDS if not np.iscomplexobj(end)]
ASKED = ["i4", "?", "F"]
NEXT = each_once(zip(REAL_ENDS[::2], (REAL_ENDS[4:] + REAL_ENDS[:4])[::2]), ASKED)
ANY = rare_but([], product(REAL_ENDS, REAL_ENDS, ASKED))


@pytest.mark.parametrize(("start", "stop", "dtype"), NEXT + ANY, ids=str)
def test_numbers_and_arrays_as_ends_in_another_dtype(start, stop, dtype):
    for num in (0, 1, 2, 7):
        for endpoint in (True, False):
            expected = np.linspace(start, stop, num, endpoint, dtype=dtype)
            close(linspace(start, stop, num, endpoint, dtype=dtype), expected)


@examples(60)
@given(st.data())
def test_linspace_between_arrays(data):
    dtype = np.dtype(data.draw(usual_or_any("Hf", "bHifdD")))
    start = data.draw(arrays(shape=data.draw(shapes(max_dims=3)), dtype=dtype))
    ends = [start, data.draw(st.integers(-5, 5))]
    if not np.isfinite(start).all() or (np.abs(start.astype("D")) > 1e30).any():
        return
    axis = data.draw(st.integers(-start.ndim - 1, start.ndim))
    num, endpoint = data.draw(st.integers(0, 5)), data.draw(st.booleans())
    order = data.draw(st.sampled_from([1, -1]))
    expected = np.linspace(*ends[::order], num, endpoint, axis=axis)
    on_device = [to_gpu(one) if one is start else one for one in ends[::order]]
    got = np.linspace(*on_device, num, endpoint, axis=axis).get()
    size = np.abs(start).max(initial=5)
    bound = np.finfo(expected.dtype).eps * 8 * float(size)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=0, atol=bound)


STARTS = [1, -2.0, 3j, np.float32(4), [1, 2], [[1.5], [2]]]


def name_of(value):
    return getattr(value, "__name__", None) or str(value)


PROGRESSIONS = [logspace, geomspace]
USUAL = each_once(zip(STARTS, STARTS[2:] + STARTS[:2]), PROGRESSIONS)
OTHERS = rare_but([], product(STARTS, STARTS, PROGRESSIONS))


@pytest.mark.parametrize(("start", "stop", "function"), USUAL + OTHERS, ids=name_of)
def test_progressions(start, stop, function):
    for num in (0, 1, 2, 7):
        for endpoint in (True, False):
            for axis in (0, -1):
                if axis and np.ndim(start) == np.ndim(stop) == 0:
                    continue
                with np.errstate(invalid="ignore"):
                    numpys = getattr(np, function.__name__)
                    expected = numpys(start, stop, num, endpoint, axis=axis)
                close(function(start, stop, num, endpoint, axis=axis), expected)


def test_bases_of_logspace():
    for base in (2, 2j, 0.5):
        close(logspace([1, 2], 3, 5, base=base), np.logspace([1, 2], 3, 5, base=base))
        close(logspace(1, 3, 5, base=base, dtype="D"), np.logspace(1, 3, 5, base=base, dtype="D"))
    assert_same(logspace(0, 5, 6, base=2, dtype="i4").get(), np.array([1, 2, 4, 8, 16, 32], "i4"))
    if np.lib.NumpyVersion(np.__version__) >= "1.25.0":  # which accepts arrays of bases
        for base in ([2, 3], [[2.0], [3]]):
            close(logspace(1, [2, 3], 5, base=base), np.logspace(1, [2, 3], 5, base=base))
            got = np.logspace(1, 3, 5, base=to_gpu(np.array(base, "d")), axis=-1)
            close(got, np.logspace(1, 3, 5, base=base, axis=-1))


def test_ends_of_geomspace_are_exact():
    assert geomspace(3, 7, 9).get()[[0, -1]].tolist() == [3, 7]
    assert geomspace(-3, -7, 9).get()[[0, -1]].tolist() == [-3, -7]
    assert geomspace(1j, 7j, 9).get()[[0, -1]].tolist() == [1j, 7j]
    # Powers that differ in the last bit may be truncated to neighboring integers.
    whole = geomspace(1, 256, 9, dtype=int).get()
    assert whole.dtype == int and np.abs(whole - np.geomspace(1, 256, 9, dtype=int)).max() <= 1
    assert whole[[0, -1]].tolist() == [1, 256]


def test_arguments():
    for function in (linspace, logspace, geomspace):
        for wrong in ("b", None, ["a"], object()):
            with pytest.raises(
                TypeError, match=f"{function.__name__}: stop: expected numbers, got"
            ):
                function(1, wrong)
        with pytest.raises(OverflowError, match="num"):
            function(1, 2, -1)
        with pytest.raises(TypeError, match="num"):
            function(1, 2, 2.5)
        with pytest.raises(TypeError, match=r"dtype=\|S3: expected a numeric dtype"):
            function(1, 2, dtype="S3")
        with pytest.raises(TypeError, match="dtype=float32: expected a complex dtype"):
            function(1, 2j, dtype="f")
        with pytest.raises(ValueError, match="axis"):
            function([1, 2], 3, axis=2)
    for ends in [(0, 1), (1, 0), ([1, 0], 1)]:
        with pytest.raises(ValueError, match=r"geomspace: st.*expected nonzero numbers"):
            geomspace(*ends)


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize(
    "start, stop, num",
    [(0, 1e-323, 5), (0, 2e-320, 7), (0, 5e-324, 3), (1e-320, 5e-320, 9), (5e-324, -5e-324, 9)],
)
def test_linspace_with_subnormal_steps(start, stop, num, endpoint):
    got = linspace(start, stop, num, endpoint).get()
    np.testing.assert_array_equal(got, np.linspace(start, stop, num, endpoint))
