"""C expressions of elementwise operations, by the operations' names in NumPy.

- ``a``, ``b``, ``c``, ``d`` are the operands, converted to the loop dtypes ``A``, ``B``, ``C``,
  ``D``. ``T`` is ``A``.
- Functions with the prefix P_ are in text/device_functions.py.
- An operation with two results has two expressions. A statement before them computes the common
  part.
- In INDEXED operations, ``position``, of type ``A``, is the element's index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike

_EXPRESSIONS: dict[str, str | tuple[str, ...]] = {
    # Arithmetic
    "add": "a + b",
    "subtract": "a - b",
    "multiply": "a * b",
    "divide": "a / b",
    "floor_divide": "P_floor_divide(a, b)",
    "remainder": "P_remainder(a, b)",
    "divmod": ("P_both.quotient", "P_both.remainder"),
    "fmod": "P_fmod(a, b)",
    "power": "P_power(a, b)",
    "float_power": "P_power(a, b)",
    "mul_add": "a * b + c * d",
    "positive": "a",
    "negative": "P_negative(a)",
    "absolute": "P_absolute(a)",
    "fabs": "fabs(a)",
    "sign": "P_sign(a)",
    "square": "a * a",
    "cube": "P_cube(a)",
    "reciprocal": "P_reciprocal(a)",
    "gcd": "P_gcd(a, b)",
    "lcm": "P_lcm(a, b)",
    "heaviside": "P_heaviside(a, b)",
    # Bits
    "bitwise_and": "a & b",
    "bitwise_or": "a | b",
    "bitwise_xor": "a ^ b",
    "left_shift": "P_left_shift(a, b)",
    "right_shift": "P_right_shift(a, b)",
    "invert": "~a",
    "bitwise_count": "__popcll(P_magnitude(a))",
    # Comparison, choice and logic
    "equal": "a == b",
    "not_equal": "a != b",
    "less": "a < b",
    "less_equal": "a <= b",
    "greater": "a > b",
    "greater_equal": "a >= b",
    # True if a and b are equal, or if |a - b| <= d + c |b| and b is finite.
    "isclose": "a == b || (b - b == b - b && P_absolute(a - b) <= d + c * P_absolute(b))",
    "isclose_or_nan": "(a != a && b != b) || a == b ||"
    " (b - b == b - b && P_absolute(a - b) <= d + c * P_absolute(b))",
    "maximum": "P_maximum(a, b)",
    "minimum": "P_minimum(a, b)",
    "fmax": "P_fmax(a, b)",
    "fmin": "P_fmin(a, b)",
    "clip": "P_minimum(P_maximum(a, b), c)",
    "where": "a ? b : c",
    "if_positive": "a > A(0) ? b : c",
    "logical_and": "a && b",
    "logical_or": "a || b",
    "logical_xor": "a != b",
    "logical_not": "!a",
    "isnan": "a != a",
    "isinf": "P_isinf(a)",
    "isfinite": "a - a == a - a",
    "signbit": "copysign(A(1), a) < A(0)",
    # Ranges: a + position * b. At the last position, c, range_to returns exactly d. range_part
    # divides first, because a step b / c may be too small for the dtype. In `spaced`, the position
    # is the operand a, each element of c begins a range, and the step is b / d.
    "range": "a + position * b",
    "range_to": "position == c ? d : a + position * b",
    "range_floor": "floor(position == c ? d : a + position * b)",
    "range_part": "position == c ? d : a + position / c * b",
    "spaced": "b / d == B(0) ? a / d * b + c : a * (b / d) + c",
    # Parts
    "copy": "a",
    "real": "a.real()",
    "imag": "a.imag()",
    "conjugate": "a",
    "copysign": "copysign(a, b)",
    "nextafter": "nextafter(a, b)",
    "spacing": "P_spacing(a)",
    "floor": "floor(a)",
    "ceil": "ceil(a)",
    "trunc": "trunc(a)",
    "rint": "rint(a)",
    "round_decimals": "rint(a * b) / b",  # decimals after the point; b is a power of ten
    "round_tens": "rint(a / b) * b",
    "modf": ("P_rest(a)", "trunc(a)"),
    "frexp": ("P_fraction(a)", "P_power_of_two(a)"),
    "ldexp": "ldexp(a, P_exponent(b))",
    # Powers and logarithms
    **{name: f"P_{name}(a)" for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p")},
    "sqrt": "sqrt(a)",
    "cbrt": "P_cbrt(a)",
    "hypot": "P_hypot(a, b)",
    "logaddexp": "P_logaddexp(a, b)",
    "logaddexp2": "P_logaddexp2(a, b)",
    # Angles
    **{name: f"P_{name}(a)" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"arc{name}": f"P_a{name}(a)" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "arctan2": "P_atan2(a, b)",
    "sinc": "P_sinc(a)",
    "deg2rad": "a * A(0.017453292519943295769)",
    "rad2deg": "a * A(57.295779513082320877)",
}
_STATEMENTS = {"divmod": "const P_division<A> P_both = P_divmod(a, b);"}
#: Operations that use the element's index. Their operands are scalars, their result is contiguous.
INDEXED = frozenset(("range", "range_to", "range_floor", "range_part"))
_NEVER, _ALWAYS = "(void(a), false)", "(void(a), true)"  # void(a) uses the operand
# Signed overflow is undefined in C, also for the int to which short integers are promoted. So these
# expressions compute in an unsigned type.
_TO_UNSIGNED = "(unsigned long long)"
_INTEGER = {
    **{
        name: f"T({_TO_UNSIGNED}a {sign} {_TO_UNSIGNED}b)"
        for name, sign in (("add", "+"), ("subtract", "-"), ("multiply", "*"))
    },
    "square": f"T({_TO_UNSIGNED}a * {_TO_UNSIGNED}a)",
    "cube": f"T({_TO_UNSIGNED}a * {_TO_UNSIGNED}a * {_TO_UNSIGNED}a)",
    "sign": "T((a > T(0)) - (a < T(0)))",
    "mul_add": f"T({_TO_UNSIGNED}a * {_TO_UNSIGNED}b + {_TO_UNSIGNED}c * {_TO_UNSIGNED}d)",
    **dict.fromkeys(("floor", "ceil", "trunc", "rint"), "a"),
    "round_tens": "P_round_tens(a, b)",
    **{"isnan": _NEVER, "isinf": _NEVER, "isfinite": _ALWAYS, "signbit": "a < A(0)"},
}
_UNSIGNED = {**_INTEGER, "signbit": _NEVER, "absolute": "a", "sign": "T(a != T(0))"}
_BOOL = {
    **_UNSIGNED,
    **{"add": "a || b", "subtract": "a != b", "multiply": "a && b", "square": "a"},
    "mul_add": "(a && b) || (c && d)",
    **{"bitwise_and": "a && b", "bitwise_or": "a || b"},
    **{"bitwise_xor": "a != b", "power": "a || !b", "invert": "!a"},
    **dict.fromkeys(("maximum", "fmax"), "a || b"),
    **dict.fromkeys(("minimum", "fmin"), "a && b"),
    "bitwise_count": "a",
}
# Kernels compute float16 in float, which is precise enough for plain products. The other
# expressions depend on the precision of the elements: for example, the neighbors of a number do.
_HALF = {
    "cube": "a * a * a",
    **{name: f"P_half_{name}(a)" for name in ("sin", "cos")},
    "round_decimals": "rint(P_as_half(a * b)) / b",  # NumPy rounds after each step
    "round_tens": "rint(P_as_half(a / b)) * b",
    "nextafter": "P_half_nextafter(a, b)",
    "spacing": "P_half_spacing(a)",
}
_COMPLEX = {
    "cube": "a * (a * a)",
    "conjugate": "conj(a)",
    "exp2": "exp(P_times(a, 0.69314718055994530942))",
    "log2": "P_times(log(a), 1.4426950408889634074)",
    "rint": "P_rint(a)",
    "round_decimals": "A(rint(a.real() * b) / b, rint(a.imag() * b) / b)",
    "round_tens": "A(rint(a.real() / b) * b, rint(a.imag() / b) * b)",
}
# Comparisons of a signed with an unsigned integer. C's operators would convert both to unsigned.
_MIXED_SIGNS = {
    "equal": "P_same(a, b)",
    "not_equal": "!P_same(a, b)",
    "less": "P_less(a, b)",
    "less_equal": "!P_less(b, a)",
    "greater": "P_less(b, a)",
    "greater_equal": "!P_less(a, b)",
}
_OF_KIND = {"b": _BOOL, "i": _INTEGER, "u": _UNSIGNED, "f": {}, "c": _COMPLEX}
_OF_DTYPE: dict[DType, dict[str, str]] = {np.dtype(np.float16): _HALF}

#: The names of all operations.
NAMES = frozenset(_EXPRESSIONS)


def expressions(name: str, compute: DTypeLike, *others: DTypeLike) -> tuple[str, ...]:
    """Return the C expressions of an operation for loop dtypes, one expression for each result."""
    compute = np.dtype(compute)
    kinds = {compute.kind, *(np.dtype(other).kind for other in others)}
    if kinds == {"i", "u"} and name in _MIXED_SIGNS:
        return (_MIXED_SIGNS[name],)
    found = _OF_DTYPE.get(compute, _OF_KIND[compute.kind]).get(name, _EXPRESSIONS[name])
    return (found,) if isinstance(found, str) else found


def statement(name: str) -> str:
    """Return the statement before an operation's expressions, or an empty text."""
    return _STATEMENTS.get(name, "")
