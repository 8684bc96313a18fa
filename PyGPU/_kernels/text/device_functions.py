"""Device functions that the expressions of PyGPU._kernels.operations call: their texts, by name.

A kernel includes only the functions that it needs, because every line costs compile time. The texts
are in include/PyGPU/kernels/functions.h, and overloads for complex numbers in complex_functions.h.
"""

import functools
import re
from collections.abc import Iterable

from PyGPU._runtime import include_root

_OF_ONE = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"),
    *("tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
_BY_DOUBLE = ("sin", "cos")  # in double precision: PyCUDA's tests need every digit of float32
_OF_TWO = ("atan2", "hypot", "pow")
_LOOP_FUNCTIONS = frozenset(
    f"P_{name}"
    for name in (*_OF_ONE, *_BY_DOUBLE, *_OF_TWO, *(f"half_{name}" for name in _BY_DOUBLE))
)


def _of_c(name: str, loop: str, *operands: str, prefix: str = "P_") -> str:
    """Define a function of C's, and its vector versions of include/PyGPU/host/loop_math.h."""
    parameters, given = ", ".join(f"T {one}" for one in operands), ", ".join(operands)
    return f"""
template <class T> __device__ T {prefix}{name}({parameters}) {{ return {name}({given}); }}
#ifdef PYGPU_{loop}
PYGPU_{loop}({name})
#endif
"""


_OF_C = {
    **{f"P_{name}": _of_c(name, "LOOP_OF_ONE", "a") for name in _OF_ONE},
    **{f"P_{name}": _of_c(name, "LOOP_BY_DOUBLE", "a") for name in _BY_DOUBLE},
    **{f"P_half_{name}": _of_c(name, "LOOP_OF_HALF", "a", prefix="P_half_") for name in _BY_DOUBLE},
    **{f"P_{name}": _of_c(name, "LOOP_OF_TWO", "a", "b") for name in _OF_TWO},
}
_NAME = r"\bP_\w+"
_DEFINED = re.compile(rf"(?m)^\S.*?({_NAME})(?=\(| \{{)")


@functools.cache
def _functions(file: str) -> dict[str, str]:
    """Return the texts in a file of include/PyGPU/kernels, by the names that they define."""
    texts = (include_root() / "PyGPU" / "kernels" / file).read_text().split("\n\n")[1:]
    return {name: f"{text}\n" for text in texts for name in _DEFINED.findall(text)}


def _tables(is_complex: bool) -> list[dict[str, str]]:
    complex_functions = [_functions("complex_functions.h")] if is_complex else []
    return [_OF_C, _functions("functions.h"), *complex_functions]


def _needed(expressions: Iterable[str], is_complex: bool) -> set[str]:
    tables = _tables(is_complex)
    needed: set[str] = set()
    new = set(re.findall(_NAME, " ".join(expressions)))
    while new:
        name = new.pop()
        needed.add(name)
        text = "".join(table.get(name, "") for table in tables)
        new |= set(re.findall(_NAME, text)) - needed
    return needed


def helpers(expressions: Iterable[str], is_complex: bool) -> str:
    """Return the text of the functions that `expressions` call, directly or indirectly."""
    needed = _needed(expressions, is_complex)
    tables = _tables(is_complex)
    used = [text for table in tables for name, text in table.items() if name in needed]
    return "".join(dict.fromkeys(used))  # a text may define several names


def has_loop_functions(expressions: Iterable[str]) -> bool:
    """Test whether `expressions` call functions that have vector versions for loops."""
    return not _LOOP_FUNCTIONS.isdisjoint(_needed(expressions, is_complex=False))
