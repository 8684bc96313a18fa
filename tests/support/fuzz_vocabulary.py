"""Vocabulary of the programs of tests/fuzz.py: dtypes, operations and their error bounds."""

import numpy as np

DTYPES = [np.dtype(code) for code in "?bBhHiIqQefdFD"]

# {operation: (kinds of dtypes, largest error in ulps)}
_ALL, _REAL, _FLOAT, _WHOLE = "biufc", "biuf", "f", "iu"
OPERATORS = {
    **dict.fromkeys(("+", "-", "*"), (_ALL, 0)),
    "/": (_ALL, 0),
    **dict.fromkeys(("//", "%"), (_REAL, 0)),
    "**": (_REAL, 16),
    **dict.fromkeys(("&", "|", "^"), ("biu", 0)),
    **dict.fromkeys(("<<", ">>"), ("biu", 0)),
    **dict.fromkeys(("==", "!="), (_ALL, 0)),
    **dict.fromkeys(("<", "<=", ">", ">="), (_REAL, 0)),
}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
BINARY = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide"), (_ALL, 0)),
    **dict.fromkeys(("floor_divide", "remainder", "fmod"), (_REAL, 0)),
    "power": (_REAL, 16),
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), (_REAL, 0.5)),
    **dict.fromkeys(("equal", "not_equal", "logical_and", "logical_or", "logical_xor"), (_ALL, 0)),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal"), (_REAL, 0)),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), ("biu", 0)),
    **dict.fromkeys(("left_shift", "right_shift", "gcd", "lcm"), (_WHOLE, 0)),
    **dict.fromkeys(("copysign", "nextafter", "heaviside"), (_FLOAT, 0)),
    **dict.fromkeys(("hypot", "arctan2"), (_FLOAT, 16)),
}
UNARY = {
    **dict.fromkeys(("positive", "negative", "square", "logical_not", "conjugate"), (_ALL, 0)),
    "absolute": (_ALL, 0),
    "sign": (_REAL, 0),
    "invert": ("biu", 0),
    "bitwise_count": (_WHOLE, 0),
    "reciprocal": (_REAL, 0),
    **dict.fromkeys(("floor", "ceil", "trunc", "rint"), (_REAL, 0)),
    **dict.fromkeys(("isnan", "isinf", "isfinite"), (_ALL, 0)),
    **dict.fromkeys(("signbit", "spacing"), (_FLOAT, 0)),
    **dict.fromkeys(("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2"), (_REAL, 16)),
    **dict.fromkeys(("log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh"), (_REAL, 16)),
    **dict.fromkeys(("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"), (_REAL, 16)),
    **dict.fromkeys(("deg2rad", "rad2deg"), (_REAL, 16)),
}
SUMS = ("sum", "mean", "nansum")
PRODUCTS = ("prod", "nanprod")
FOLDS = (*SUMS, *PRODUCTS, "max", "min", "nanmax", "nanmin", "any", "all")
STATISTICS = (
    *("var", "std", "nanvar", "nanstd", "nanmean"),
    *("ptp", "count_nonzero", "argmax", "argmin", "nanargmax", "nanargmin", "nan_to_num"),
)
ACCUMULATIONS = ("cumsum", "cumprod", "nancumsum", "nancumprod")
REARRANGEMENTS = (
    *("diff", "roll", "flip", "rot90", "tile", "repeat", "squeeze", "expand_dims"),
    *("moveaxis", "vstack", "hstack", "concatenate", "like", "linspace"),
)


class Vocabulary:
    """Vocabulary of a chapter: few types and operations, as each combination is a compilation."""

    def __init__(self, rng):
        self.dtypes = [*rng.sample(DTYPES, 2), np.dtype("?")]
        kinds = {dtype.kind for dtype in self.dtypes[:2]}

        def some(table, count):
            known = [name for name, (good, _) in table.items() if kinds & set(good)]
            return rng.sample(known, min(count, len(known)))

        self.most_axes = rng.choice([2, 2, 3, 4])
        self.operators, self.binary = some(OPERATORS, 3), some(BINARY, 2)
        self.unary, self.folds = some(UNARY, 3), rng.sample(FOLDS, 2)
        self.statistics = rng.sample(STATISTICS, 3)
        self.accumulations = rng.sample(ACCUMULATIONS, 2)
