"""Strategies for tests of fused functions: expression trees, arrays for them, and comparisons."""

import functools
import operator

import hypothesis.strategies as st
import numpy as np
from strategies import assert_same_numbers, counted_strides

import PyGPU
import PyGPU.gpuarray as ga
from PyGPU import cumath

DTYPES = [np.dtype(code) for code in "?bBhHiIqQefdFD"]


def _moderate(x):
    """Limit values to a range of all dtypes, as other conversions are undefined in C."""
    return np.where(abs(x) < 100, abs(x), 0)


# {number of operands: functions}; functions that expose the sign of a NaN are left out.
_CALLS = {
    1: [
        *(operator.neg, operator.pos, operator.abs, operator.invert),
        *(np.sin, np.exp, np.sqrt, np.square, np.sign, np.rint, np.isnan, np.floor, np.isfinite),
        *(np.negative, np.absolute, np.logical_not, np.conjugate, np.reciprocal),
        *(np.real, np.imag, np.log1p, np.spacing, np.deg2rad, np.round, np.arctan),
        *(cumath.cos, cumath.log, cumath.tanh, cumath.fabs, ga.logical_not),
        *(lambda x, dtype=dtype: _moderate(x).astype(dtype) for dtype in DTYPES),
        *(lambda x: x.real, lambda x: x.imag, lambda x: x.conj(), lambda x: x.round(1)),
        *(lambda x: np.modf(x)[0], lambda x: np.frexp(x)[1], lambda x: cumath.frexp(x)[0]),
    ],
    2: [
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
        *(operator.mod, operator.pow, operator.and_, operator.or_, operator.xor),
        *(operator.lshift, operator.rshift, operator.lt, operator.le, operator.eq),
        *(operator.ne, operator.gt, operator.ge),
        *(np.add, np.subtract, np.multiply, np.divide, np.power, np.float_power, np.fmod),
        *(np.less, np.greater_equal, np.equal, np.maximum, np.fmin, np.hypot, np.logaddexp),
        *(np.arctan2, np.nextafter, np.heaviside, np.gcd, np.logical_xor),
        *(np.ldexp, np.isclose, ga.maximum, ga.minimum, ga.logical_and, ga.logical_or),
        *(cumath.fmod, cumath.ldexp, cumath.hypot, cumath.arctan2),
        *(lambda x, y: divmod(x, y)[1], lambda x, y: np.divmod(x, y)[0]),
        *(lambda x, y: np.clip(x, y, None), lambda x, y: np.add(x, y, dtype="f8")),
        *(lambda x, y: x.mul_add(2, y, 0.5),),
    ],
    3: [np.where, ga.where, ga.if_positive, np.clip],
}
_CALLS_OF = [(count, call) for count, calls in _CALLS.items() for call in calls]

numbers = st.sampled_from(
    [0, 1, 2, 3, -1, -2, 7, 100, 300, 2**40, -(2**63), 2**64 - 1, 10**400]
    + [0.0, -0.0, 0.5, 2.0, -1.0, 1.5, 1e-3, 1e30, float("inf"), float("nan")]
    + [1j, 2 - 0.5j, True, np.float32(0.1), np.int8(-3), np.uint64(5), np.bool_(True)]
    + [np.float64(2), np.float16(0.5), np.complex64(1 + 2j)]
)


class Tree:
    """A function of several arguments, as a tree; leaves are argument numbers and constants."""

    def __init__(self, call, children):
        self.call, self.children = call, children

    def __call__(self, *arguments):
        values = [
            one(*arguments)
            if isinstance(one, Tree)
            else arguments[one[0]]
            if type(one) is tuple
            else one
            for one in self.children
        ]
        return self.call(*values)

    def __repr__(self):
        name = getattr(self.call, "__name__", self.call)
        return f"{name}({', '.join(map(repr, self.children))})"


@st.composite
def trees(draw, arguments, depth=4):
    """Draw a Tree of `arguments` arguments; the first argument, an array, is the leftmost leaf."""
    count, call = draw(st.sampled_from(_CALLS_OF))
    children = []
    for k in range(count):
        kind = draw(st.integers(0, 9))
        if depth > 1 and (kind < 6 if k == 0 else kind < 4):
            children.append(draw(trees(arguments, depth - 1)))
        elif k == 0:
            children.append((0,))
        elif kind < 8:
            children.append((draw(st.integers(0, arguments - 1)),))
        else:
            children.append(draw(numbers))
    return Tree(call, children)


def values(shape, dtype, seed):
    """Return elements of every kind: small numbers, the dtype's extremes, zeros, NaN."""
    dtype, rng = np.dtype(dtype), np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        ends = np.array([info.min, info.max, info.max - 1, 0, 1, 2, 3], dtype)
        some = rng.integers(max(info.min, -20), 20, shape).astype(dtype)
        return np.where(rng.random(shape) < 0.3, rng.choice(ends, shape), some)
    if dtype.kind == "c":
        real = values(shape, dtype.char.lower(), seed)
        return (real + 1j * values(shape, dtype.char.lower(), seed + 1)).astype(dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, 2, 6e-5, 6e4], dtype)
    some = rng.normal(0, 3, shape).astype(dtype)
    return np.where(rng.random(shape) < 0.3, rng.choice(special, shape), some).astype(dtype)


@st.composite
def layouts(draw, shape, dtype):
    """Draw a GPUArray of a shape: contiguous, reversed, strided or with permuted axes."""
    seed = draw(st.integers(0, 99))
    kind = draw(st.sampled_from(["C", "C", "F", "stepped", "back", "permuted"]))
    if kind == "stepped":
        return ga.to_gpu(values((*shape, 2), dtype, seed))[..., 1]
    if kind == "permuted" and len(shape) > 1:
        moved = ga.to_gpu(values((shape[-1], *shape[:-1]), dtype, seed))
        return moved.transpose((*range(1, len(shape)), 0))
    array = ga.to_gpu(np.asarray(values(shape, dtype, seed), order="F" if kind == "F" else "C"))
    return array[::-1] if kind == "back" and shape else array


def others_like(number):
    """Draw numbers of the same type."""
    return numbers.filter(lambda one: type(one) is type(number))


@st.composite
def operands(draw, count=3, of_one_shape=None):
    """Draw arrays of shapes that broadcast, and possibly numbers."""
    shape = draw(st.sampled_from([(), (1,), (7,), (3, 5), (2, 3, 4), (0, 3), (33,), (20, 18)]))
    of_one_shape = draw(st.booleans()) if of_one_shape is None else of_one_shape
    found = []
    for k in range(count):
        if k and draw(st.integers(0, 4)) == 0:
            found.append(draw(numbers))
            continue
        own = shape
        if not of_one_shape:
            own = tuple(draw(st.sampled_from([n, n, 1])) for n in shape)
            own = own[draw(st.integers(0, len(own))) :]
        found.append(draw(layouts(own, draw(st.sampled_from(DTYPES)))))
    return found


def assert_same(got, expected):
    """Check that arrays are equal to the last bit; any NaN equals any other."""
    assert type(got) is type(expected)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert counted_strides(got) == counted_strides(expected)
    assert_same_numbers(got.get(), expected.get())


def counted(function):
    """Return the fused function, and the list of the calls of the original one."""
    calls = []

    @functools.wraps(function)
    def counting(*args, **kwargs):
        calls.append(args)
        return function(*args, **kwargs)

    return PyGPU.fuse(counting), calls
