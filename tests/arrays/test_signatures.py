"""Parameters of NumPy's functions: those of every function that is there, in NumPy's order."""

import inspect

import numpy as np
import pytest

from PyGPU._arrays.numpy_dispatch import FUNCTIONS
from PyGPU.gpuarray import to_gpu

X = np.random.default_rng(5).normal(size=(3, 4))


def _has_signature(function):
    try:
        return bool(inspect.signature(function))
    except ValueError:  # NumPy 1 has some in C without one
        return False


# Names of parameters that are given by position only; NumPy 1 calls a shape newshape.
POSITIONAL = {"real": {"val"}, "imag": {"val"}, "clip": {"kwargs"}, "reshape": {"newshape"}}


@pytest.mark.parametrize(
    "function", [one for one in FUNCTIONS if _has_signature(one)], ids=lambda one: one.__name__
)
def test_every_parameter_of_numpy_is_there(function):
    ours = list(inspect.signature(FUNCTIONS[function]).parameters)
    positional = POSITIONAL.get(function.__name__, ())
    theirs = [one for one in inspect.signature(function).parameters if one not in positional]
    assert set(theirs) <= set(ours)
    common = [one for one in theirs if one in ours]
    assert [one for one in ours if one in theirs] == common


def same(call):
    expected = call(X)
    got = call(to_gpu(X)).get()
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert got.dtype == expected.dtype


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.clip(a, -0.5, 0.5, dtype="f4", casting="unsafe"),
        lambda a: np.clip(a, None, 0.5, dtype="f4", casting="unsafe"),
        lambda a: np.clip(a, -0.5, None, dtype="f8"),
    ],
)
def test_arguments_of_ufuncs_in_clip(call):
    same(call)


def test_clip_where():
    out = to_gpu(np.full(X.shape, 9.0))
    expected = np.full(X.shape, 9.0)
    mask = X > 0
    np.clip(to_gpu(X), -0.5, 0.5, out=out, where=to_gpu(mask))
    np.clip(X, -0.5, 0.5, out=expected, where=mask)
    np.testing.assert_array_equal(out.get(), expected)
    with pytest.raises(TypeError, match="clip: signature: not implemented"):
        np.clip(to_gpu(X), 0, 1, signature="ddd->d")


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="arguments of NumPy 2")
def test_a_known_mean():
    middle = X.mean(1, keepdims=True)
    for function in (np.var, np.std, np.nanvar):
        for more in ({}, {"ddof": 1}, {"keepdims": True}, {"dtype": "f4"}):
            expected = function(X, axis=1, mean=middle, **more)
            got = function(to_gpu(X), axis=1, mean=to_gpu(middle), **more).get()
            np.testing.assert_allclose(got, expected, rtol=1e-5)
            assert got.shape == expected.shape and got.dtype == expected.dtype
    with pytest.raises(TypeError, match="mean: expected a GPUArray"):
        np.var(to_gpu(X), axis=1, mean=middle)


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="an argument of NumPy 2.1"
)
def test_reshape_with_and_without_a_copy():
    a = to_gpu(X)
    assert np.reshape(a, 12).ptr == np.reshape(a, 12, copy=False).ptr == a.ptr
    copied = np.reshape(a, (4, 3), copy=True)
    assert copied.ptr != a.ptr
    np.testing.assert_array_equal(copied.get(), X.reshape(4, 3))
    with pytest.raises(ValueError, match="copy=False: shape"):
        np.reshape(a.T, 12, copy=False)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="an argument of NumPy 2")
def test_devices_of_arrays_like_others():
    a = to_gpu(X)
    for make in (np.zeros_like, np.empty_like, np.ones_like):
        assert make(a, device=a.device).shape == a.shape
        with pytest.raises(ValueError, match="device=99: expected None or 0, the array's device"):
            make(a, device=99)
