"""Reductions into `out` of another dtype: NumPy's loop dtype, and its casting "same_kind"."""

import numpy as np
import pytest
from campaign import each_once, rare_but
from reduction_tools import SMALL, assert_close, numbers

from PyGPU._runtime import core
from PyGPU.gpuarray import to_gpu

CODES = "?bBhHiIlLefdFD"
NAMES = ("sum", "prod", "mean", "nansum", "nanprod", "max", "min", "nanmax", "nanmin", "any", "all")
USUAL = ["if", "?i", "eF", "Dd"]
# Each usual pair with some of the functions; in the campaign, each pair with all of them.
SOME = [(codes, NAMES[first::4]) for first, codes in enumerate(USUAL)]
EACH = [(own + out, NAMES) for own in CODES for out in CODES]


def natural_dtype(name, dtype):
    """Return the dtype of the results that must be cast to `out`."""
    if name in ("any", "all"):
        return np.dtype("?")
    return np.dtype("d") if name == "mean" and dtype.kind in "biu" else dtype


def has_order(name, dtype):
    return dtype.kind != "c" or name.removeprefix("nan") not in ("max", "min")


@pytest.mark.parametrize(("codes", "names"), rare_but(SOME, SOME + EACH))
def test_every_pair_of_dtypes(codes, names):
    own, kind = map(np.dtype, codes)
    x = numbers((3, 4), own)
    for name in names:
        function, axis = getattr(np, name), 0
        expected, out = np.zeros(4, kind), to_gpu(np.zeros(4, kind))
        if not has_order(name, own) or not np.can_cast(natural_dtype(name, own), kind, "same_kind"):
            with pytest.raises(TypeError, match=r"out: results of|complex"):
                function(to_gpu(x), axis=axis, out=out)
            continue
        if (name == "mean" and own.kind in "biu") or own == np.float16:
            # NumPy rounds each step to `out`; here the total is rounded once.
            wide = x.astype(np.promote_types("d" if own.kind in "biu" else "f", kind))
            expected[...] = function(wide, axis=axis)
        else:
            function(x, axis=axis, out=expected)
        assert function(to_gpu(x), axis=axis, out=out) is out
        assert_close(out.get(), expected)


@pytest.mark.parametrize(("axis", "properties"), each_once([None, 0, 1], [SMALL, None]))
def test_the_computation_has_the_dtype_that_both_promote_to(axis, properties):
    x = np.full((300, 40), 0.1, "f4")
    x[0, 0] = 1e8
    expected = np.sum(x, axis=axis, out=np.zeros(np.sum(x, axis=axis).shape))
    out = to_gpu(np.zeros_like(expected))
    core._override_device_properties(properties)
    try:
        np.sum(to_gpu(x), axis=axis, out=out)
    finally:
        core._override_device_properties(None)
    np.testing.assert_allclose(out.get(), expected, rtol=1e-12)


def test_a_given_dtype_decides_the_computation():
    x = np.full(3, 100, "i1")
    for dtype in ("i1", "i4"):
        expected = np.sum(x, dtype=dtype, out=np.zeros((), "f8"))
        assert np.sum(to_gpu(x), dtype=dtype, out=to_gpu(np.zeros(()))).get() == expected
    with pytest.raises(TypeError, match="out: results of float64 do not fit into int32"):
        np.sum(to_gpu(x), dtype="f8", out=to_gpu(np.zeros((), "i4")))


def test_out_with_steps_and_as_a_part_of_the_operand():
    x = numbers((6, 40), "f4")
    room = to_gpu(np.zeros((40, 2), "F"))
    np.sum(to_gpu(x), axis=0, out=room[::-1, 1])
    assert_close(room.get()[::-1, 1], x.sum(axis=0).astype("F"))
    assert not room.get()[:, 0].any()
    y = numbers((4, 4), "i4")
    a = to_gpu(y)
    np.any(a, axis=1, out=a[0])
    np.testing.assert_array_equal(a.get()[0], y.any(axis=1))


def test_dtypes_without_arithmetic():
    for dtype in ("M8[s]", "S4"):
        with pytest.raises(TypeError, match="out: results of float32 do not fit"):
            np.sum(to_gpu(np.ones(3, "f4")), out=to_gpu(np.zeros((), dtype)))


@pytest.mark.parametrize("codes", rare_but(["HF"], [own + to for own in "?bBhH" for to in "FD"]))
def test_sums_of_short_integers_in_complex_numbers(codes):
    x = numbers((5, 400), codes[0])
    for axis in (None, 0, 1):
        got = np.sum(to_gpu(x), axis=axis, dtype=codes[1])
        assert_close(np.asarray(got.get()), np.sum(x, axis=axis, dtype=codes[1]))
