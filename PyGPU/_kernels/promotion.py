"""Result types of operations, found by calling NumPy on empty arrays instead of in a table."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike, DTypes, Kind

_BOOL, _F8 = np.dtype(np.bool_), np.dtype(np.float64)
_ORDER = frozenset(("less", "less_equal", "greater", "greater_equal"))
COMPARISONS = _ORDER | {"equal", "not_equal"}
_LOGICAL = frozenset(("logical_and", "logical_or", "logical_xor", "logical_not"))
# Operations that are computed in the operand's dtype, whatever the result's dtype.
_OWN = frozenset(("isnan", "isinf", "isfinite", "signbit", "absolute", "bitwise_count"))
_NEED_ORDER = _ORDER | {"maximum", "minimum", "fmax", "fmin", "clip"}


def _stand_in(kind: Kind) -> Any:
    return np.empty(0, kind) if isinstance(kind, np.dtype) else kind[0](kind[1])


def result_dtypes(function: Callable[..., Any], kinds: tuple[Kind, ...], **settings: Any) -> DTypes:
    """Return the dtypes of the results that a NumPy function gives for operands of these kinds."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = function(*map(_stand_in, kinds), **settings)
    return tuple([one.dtype for one in (answer if isinstance(answer, tuple) else (answer,))])


@functools.lru_cache(maxsize=1024)
def reduced_dtype(function: Callable[..., Any], own: DType, dtype: DType | None) -> DType:
    """Return the dtype that a reduction of NumPy, such as numpy.sum, gives for a dtype of arrays.

    ValueError if the dtype has no arithmetic.
    """
    try:
        found: DType = function(np.zeros(1, own), dtype=dtype).dtype
    except TypeError:
        core._dtype_code(own)  # raises ValueError for a dtype without arithmetic
        raise
    return found


def dtype_of_kind(kind: Kind) -> DType:
    return kind if isinstance(kind, np.dtype) else np.asarray(_stand_in(kind)).dtype


@functools.lru_cache(maxsize=4096)
def promoted(
    name: str, kinds: tuple[Kind, ...], dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> tuple[DTypes, DTypes]:
    """Return the dtypes that an operation computes each operand in, and those of its results.

    `name` is a NumPy ufunc, clip, where, if_positive or mul_add; `dtype` and `casting` are the
    ufunc's arguments. The kind of an operand is a dtype, or the type and value of a Python number:
    NumPy 2 raises OverflowError for integers that do not fit. TypeError if the operation is not
    defined.
    """
    if name in ("where", "if_positive"):
        return _choice(name, *kinds)
    if name == "mul_add":  # the factors fit the result's dtype
        results = result_dtypes(np.add, kinds[1::2])
        return results * 4, results
    settings = {} if dtype is None else {"dtype": dtype, "casting": casting}
    try:
        results = result_dtypes(getattr(np, name), kinds, **settings)
    except TypeError as error:
        known = ", ".join(str(dtype_of_kind(kind)) for kind in kinds)
        raise TypeError(f"{name} is not defined for {known}: {error}") from None
    own = tuple(map(dtype_of_kind, kinds))
    if name in _NEED_ORDER and any(one.kind == "c" for one in (*own, *results)):
        raise TypeError(f"{name} is not defined for complex numbers")
    if name in COMPARISONS:
        common = result_dtypes(np.add, kinds)
        if common[0].kind == "O":  # NumPy 1
            raise OverflowError(f"{name}: an integer of more than 64 bits")
        if common[0].kind == "f" and all(one.kind in "iu" for one in own):
            return own, results  # float64 would not distinguish large integers
        return common * 2, results
    if name in _LOGICAL:
        return (_BOOL,) * len(kinds), results
    if name in _OWN:
        return own, results
    if name == "ldexp":
        return (results[0], _F8), results
    return results[:1] * len(kinds), results


def _choice(name: str, criterion: Kind, then_: Kind, else_: Kind) -> tuple[DTypes, DTypes]:
    results = result_dtypes(functools.partial(np.where, np.empty(0, bool)), (then_, else_))
    first = _BOOL if name == "where" else dtype_of_kind(criterion)
    if first.kind == "c":
        raise TypeError(
            "if_positive: criterion: expected real numbers; complex numbers have no order"
        )
    return (first, *results, *results), results
