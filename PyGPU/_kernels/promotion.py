"""The types that NumPy gives an operation: asked of NumPy, never a table of ours."""

import functools
import warnings

import numpy as np

_BOOL, _F8 = np.dtype(np.bool_), np.dtype(np.float64)
_ORDER = frozenset(("less", "less_equal", "greater", "greater_equal"))
COMPARISONS = _ORDER | {"equal", "not_equal"}
_LOGICAL = frozenset(("logical_and", "logical_or", "logical_xor", "logical_not"))
# What is computed in the operand's own dtype, whatever the result's.
_OWN = frozenset(("isnan", "isinf", "isfinite", "signbit", "absolute", "bitwise_count"))
_NEED_ORDER = _ORDER | {"maximum", "minimum", "fmax", "fmin", "clip"}


def _stand_in(kind):
    return np.empty(0, kind) if isinstance(kind, np.dtype) else kind[0](kind[1])


def asked(function, kinds, **settings):
    """The dtypes that a function of NumPy's gives operands of these kinds."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = function(*map(_stand_in, kinds), **settings)
    return tuple([one.dtype for one in (answer if isinstance(answer, tuple) else (answer,))])


def dtype_of_kind(kind):
    return kind if isinstance(kind, np.dtype) else np.asarray(_stand_in(kind)).dtype


@functools.lru_cache(maxsize=4096)
def promoted(name, kinds, dtype=None, casting="same_kind"):
    """(compute, results): dtypes of the operands of an operation, and of what it gives.

    Parameters
    ----------
    name : str
        Of a ufunc of NumPy's, or clip, where, if_positive, mul_add.
    kinds : tuple
        Of each operand: a dtype; or, of a Python number, its type and a value. Values count for
        integers alone: NumPy refuses those that do not fit.
    dtype, casting
        As the ufunc takes them.

    Raises
    ------
    TypeError
        Where the operation is not defined for these types.
    OverflowError
        For integers that their partner's dtype does not hold (NumPy 2).
    """
    if name in ("where", "if_positive"):
        return _choice(name, *kinds)
    if name == "mul_add":  # whose factors fit
        results = asked(np.add, kinds[1::2])
        return results * 4, results
    settings = {} if dtype is None else {"dtype": dtype, "casting": casting}
    try:
        results = asked(getattr(np, name), kinds, **settings)
    except TypeError as error:
        known = ", ".join(str(dtype_of_kind(kind)) for kind in kinds)
        advice = ""
        if name.startswith("bitwise_") and any(dtype_of_kind(kind).kind in "fc" for kind in kinds):
            advice = (
                "; comparisons of GPUArrays by operators give numbers of their dtype: "
                "numpy.logical_and and logical_or take those, numpy.greater and its like give bools"
            )
        raise TypeError(f"{name} is not defined for {known}: {error}{advice}") from None
    own = tuple(map(dtype_of_kind, kinds))
    if name in _NEED_ORDER and any(one.kind == "c" for one in own):
        raise TypeError(f"{name} is not defined for complex numbers")
    if name in COMPARISONS:
        common = asked(np.add, kinds)
        if common[0].kind == "O":  # NumPy 1
            raise OverflowError(f"{name}: an integer of more than 64 bits")
        if common[0].kind == "f" and all(one.kind in "iu" for one in own):
            return own, results  # float64 does not tell large integers apart
        return common * 2, results
    if name in _LOGICAL:
        return (_BOOL,) * len(kinds), results
    if name in _OWN:
        return own, results
    if name == "ldexp":
        return (results[0], _F8), results
    return results[:1] * len(kinds), results


def _choice(name, criterion, then_, else_):
    results = asked(functools.partial(np.where, np.empty(0, bool)), (then_, else_))
    first = _BOOL if name == "where" else dtype_of_kind(criterion)
    if first.kind == "c":
        raise TypeError("if_positive: complex numbers have no order")
    return (first, *results, *results), results
