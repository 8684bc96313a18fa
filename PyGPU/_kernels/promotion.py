"""The types that NumPy gives an operation: asked of NumPy, never a table of ours."""

import warnings

import numpy as np


def _probe(name, a, b):
    """The dtype that NumPy gives an operation of arrays, or of an array and a number."""
    one = np.ones(1, a)
    other = np.ones(1, b) if isinstance(b, np.dtype) else b
    if name == "divide":
        return np.true_divide(one, other).dtype
    if name in ("floor_divide", "remainder", "power"):
        (one + other).dtype  # NumPy 2 refuses numbers that the dtype cannot hold  # noqa: B018
        if not isinstance(b, np.dtype):
            other = type(b)(1)  # NumPy's types do not depend on the value; its errors do
        return getattr(np, name)(one, other).dtype
    if name in (
        "subtract",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "left_shift",
        "right_shift",
    ):
        return getattr(np, name)(one, other).dtype
    return (one + other).dtype


def binary_types(name, a, b):
    """(compute, result) dtypes of ``a <name> b``.

    Parameters
    ----------
    name : str
    a : numpy.dtype
    b : numpy.dtype or a Python number
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _types(name, a, b)


def _types(name, a, b):
    comparison = name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    if not comparison:
        compute = _probe(name, a, b)
        return compute, compute
    try:
        compute = _probe("add", a, b)
    except OverflowError:  # NumPy 2: the number is out of the array's range, which is an answer
        compute = np.dtype(np.int64 if b < 0 else np.uint64)
    if compute.kind == "c" and name not in ("equal", "not_equal"):
        raise TypeError(f"{name} is not defined for complex numbers")
    return compute, (compute if isinstance(b, np.dtype) else a)
