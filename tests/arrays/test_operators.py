"""Operators of GPUArray: each gives what NumPy gives, whatever the types, layouts and shapes."""

import operator
from itertools import product

import numpy as np
import pytest
from campaign import each_once, rare_but
from hypothesis import given
from hypothesis import strategies as st
from strategies import arrays, assert_same, examples, shapes

from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# Each operator with pairs of types: of each kind, mixed ones, those that need a detour.
PAIRS = {
    operator.add: ["i4 i4", "u1 i2", "e e", "f d", "F F", "? ?"],
    operator.sub: ["u4 u4", "f f", "F D"],
    operator.mul: ["i2 i2", "e f", "F F", "? ?"],
    operator.truediv: ["i4 i4", "u1 e", "F D"],
    operator.floordiv: ["b b", "u4 i8", "e e", "d d"],
    operator.mod: ["b b", "u8 u8", "d d", "? ?"],
    operator.pow: ["i8 i8", "u2 u2", "? ?", "f f", "F F"],
    operator.and_: ["? ?", "u1 i2"],
    operator.or_: ["? ?", "i8 i8"],
    operator.xor: ["? ?", "i4 i4"],
    operator.lshift: ["b b", "u4 u4"],
    operator.rshift: ["b b", "i8 u1"],
    operator.eq: ["i4 i4", "e f", "F F"],
    operator.ne: ["u8 u8", "? ?"],
    operator.lt: ["i8 i8", "f d", "? ?"],
    operator.le: ["f f"],
    operator.gt: ["b i2"],
    operator.ge: ["u8 u8", "f f"],
}
USUAL = [(op, pairs[-1]) for op, pairs in PAIRS.items()]
CASES = rare_but(USUAL, [(op, pair) for op in PAIRS for pair in PAIRS[op]])


def reference(op, x, y):
    """NumPy's result for arrays."""
    with np.errstate(all="ignore"):
        return op(x, y)


def assert_close(got, expected, ulps=4):
    """Equal dtypes and shapes; integers equal, floating-point numbers up to rounding."""
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind not in "fc":
        return np.testing.assert_array_equal(got, expected)
    info = np.finfo(expected.dtype)
    finite = np.isfinite(expected)
    assert (np.isfinite(got) == finite).all()
    close = abs(got[finite] - expected[finite]) <= (
        ulps * (float(info.eps) * abs(expected[finite]) + float(info.tiny) * float(info.eps))
    )
    assert close.all(), (got, expected)
    if expected.dtype.kind == "f":
        np.testing.assert_array_equal(got[~finite], expected[~finite])


def elements(dtype):
    """Lists of numbers: small ones, and those at the ends of the type."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        ends = st.sampled_from([info.min, info.min + 1, info.max - 1, info.max])
        return ends | st.integers(max(info.min, -9), 9)
    if dtype.kind == "c":
        part = st.sampled_from([0.5, 1.0, -1.5, 2.0, -3.0])
        return st.builds(complex, part, part)
    special = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 6e-5]
    return st.sampled_from(special) | st.integers(-64, 64).map(lambda number: number / 8)


@pytest.mark.parametrize(("op", "pair"), CASES)
@examples(12)
@given(data=st.data())
def test_two_arrays(op, pair, data):
    first, second = (np.dtype(code) for code in pair.split())
    length = data.draw(st.integers(0, 35))
    x, y = (
        np.array(data.draw(st.lists(elements(d), min_size=length, max_size=length)), d)
        for d in (first, second)
    )
    if op is operator.pow and second.kind in "iu":
        y = abs(y) % second.type(12)
    expected = reference(op, x, y)
    result = op(to_gpu(x), to_gpu(y))
    assert type(result) is GPUArray
    ulps = 64 if op is operator.pow and expected.dtype.kind == "c" else 8
    assert_close(result.get(), expected, ulps)


@st.composite
def stretchable(draw, shape):
    """A shape that broadcasts to `shape`."""
    lengths = [1 if draw(st.integers(0, 3)) == 3 else length for length in shape]
    return tuple(lengths[draw(st.sampled_from([0, 0, 0, 1, len(shape)])) :])


@pytest.mark.parametrize(
    ("op", "first", "second"),
    each_once([operator.sub, operator.ge], [("f4", "f4"), ("i2", "f8")]),
)
@examples(40)
@given(data=st.data())
def test_any_layouts_and_shapes_that_fit_together(op, first, second, data):
    shape = data.draw(shapes(max_dims=3))
    x = data.draw(arrays(shape=data.draw(st.just(shape) | stretchable(shape)), dtype=first))
    y = data.draw(arrays(shape=data.draw(st.just(shape) | stretchable(shape)), dtype=second))
    assert_same(op(to_gpu(x), to_gpu(y)).get(), np.asarray(op(x, y)))


@given(arrays(shape=(4, 3, 5), dtype="f4"))
def test_views_that_step_and_turn(x):
    a = to_gpu(x)
    for view in (lambda v: v[::-1, 1:], lambda v: v.T, lambda v: v[2:, :, ::-2], lambda v: v[0]):
        assert_same((view(a) - view(a)[..., :1]).get(), view(x) - view(x)[..., :1])
        assert_same((-view(a)).get(), -view(x))
    assert_same((a[:, None] - a[:, :, None]).get(), x[:, None] - x[:, :, None])


def test_many_axes():
    x = np.arange(2.0**12, dtype="f4").reshape((2,) * 12)
    axes = [axis ^ 1 for axis in range(12)]
    assert_same((to_gpu(x) - to_gpu(x).transpose(axes)).get(), x - x.transpose(axes))


# Operators with numbers that are good on either side of an array, by the array's dtype.
NUMBERS = {
    "add": {"f8": 1 + 2j},
    "sub": {"i4": 3, "f4": -2.5, "u1": 7},
    "mul": {"F": 2, "u1": 7},
    "truediv": {"i4": 3, "f4": 0.3},
    "floordiv": {"i4": -3, "f4": 0.75},
    "mod": {"i4": -3, "u1": 7},
    "pow": {"i4": 3, "f4": 0.5, "i2": 2.0},
    "and_": {"?": True, "i4": 6},
    "xor": {"i4": 6},
    "lshift": {"i4": 3},
    "rshift": {"i4": 3},
    "eq": {"i4": 3, "F": 2},
    "lt": {"i4": 3, "f4": 2},
    "ge": {"f4": 2.5},
}


def numbers(dtype):
    return np.array([0, 1, 1, 0, 1], "?") if dtype == "?" else np.array([1, 2, 3, 4, 5], dtype)


SIDES = ["left", "right"]
FIRST = [(name, *next(iter(rows.items()))) for name, rows in NUMBERS.items()]
OTHERS = [(name, *row) for name, rows in NUMBERS.items() for row in list(rows.items())[1:]]


@pytest.mark.parametrize(
    ("name", "dtype", "number", "side"),
    [*each_once(FIRST, SIDES), *rare_but([], [(*row, side) for row in OTHERS for side in SIDES])],
)
def test_a_number_on_either_side(name, dtype, number, side):
    op, x = getattr(operator, name), numbers(dtype)
    forward = (lambda v: op(number, v)) if side == "left" else (lambda v: op(v, number))
    assert_close(forward(to_gpu(x)).get(), forward(x), 8)


@pytest.mark.parametrize(
    ("dtype", "number", "side"),
    each_once([("?", 2), ("?", True), ("?", 2.5), ("i4", True)], SIDES),
)
def test_numbers_beyond_the_arrays_kind(dtype, number, side):
    x = numbers(dtype)
    if side == "left":
        assert_same((number * to_gpu(x)).get(), number * x)
    else:
        assert_same((to_gpu(x) + number).get(), x + number)


@pytest.mark.parametrize(
    ("code", "of_array", "side"),
    each_once("?bBhHiIlLqQefdFD", list(product(["i4", "f4"], SIDES))),
)
def test_numpys_scalars_and_0d_arrays_are_arrays_of_one_element(code, of_array, side):
    x, scalar = numbers(of_array), np.ones(1, code)[0]
    for one in (scalar, np.array(scalar)):
        got = one + to_gpu(x) if side == "left" else to_gpu(x) + one
        assert_same(got.get(), x + np.ones(1, code))


@pytest.mark.parametrize(("name", "side"), each_once(["sub", "truediv", "pow", "lt"], SIDES))
def test_numpys_scalars_keep_their_side(name, side):
    op, x = getattr(operator, name), numbers("f4")
    for scalar in (np.float32(2), np.array(2, "f4")):
        if side == "left":
            assert_close(op(scalar, to_gpu(x)).get(), np.asarray(op(scalar, x)))
        else:
            assert_close(op(to_gpu(x), scalar).get(), np.asarray(op(x, scalar)))


def test_0d_arrays_on_the_device():
    x, y = numbers("f4"), np.array(3, "f4")
    a, b = to_gpu(x), to_gpu(y)
    assert_same((a - b).get(), x - y)
    assert_same((b - a).get(), y - x)
    assert_same((b - b).get(), np.asarray(y - y))
    assert_same((b - a[4]).get(), np.asarray(y - x[4]))
    assert_same((-b).get(), np.asarray(-y))
    assert_same((a >= b).get(), x >= y)


OF_ONE = [
    *((operator.neg, code) for code in "bQefF"),
    *((operator.abs, code) for code in "?bQefF"),
    *((operator.invert, code) for code in "bQ?"),
    *((operator.pos, code) for code in "if"),
]


@pytest.mark.parametrize(("op", "code"), rare_but(OF_ONE[::2], OF_ONE))
def test_one_array(op, code):
    dtype = np.dtype(code)
    x = np.array([0, 1, 3, 5, 100, 1, 0]).astype(dtype)
    if dtype.kind in "ifc":
        x[1::2] *= dtype.type(-1)
    if dtype.kind in "iu":
        x = np.append(x, [np.iinfo(dtype).min, np.iinfo(dtype).max]).astype(dtype)
    if dtype.kind == "f":
        x = np.append(x, [-0.0, np.inf, -np.inf, np.nan]).astype(dtype)
    if dtype.kind == "c":
        x = np.append(x, [3 - 4j, 1e30 + 1e30j]).astype(dtype)
    got, expected = op(to_gpu(x)).get(), op(x)
    assert_close(got, expected)
    if dtype.kind == "f":
        assert (np.signbit(got) == np.signbit(expected))[~np.isnan(x)].all()


CASTS = ["? F", "e ?", "u1 i8", "i8 b", "f i4", "d f", "i4 e", "u8 D", "D F", "i4 i4", "F ?"]


@pytest.mark.parametrize("pair", rare_but(CASTS[::2], CASTS))
def test_astype(pair):
    source, target = pair.split()
    x = np.array([[0, 1, 2], [100, 127, 0]]).astype(source)
    if x.dtype.kind == "c":
        x[0, 0] = 2j
    a = to_gpu(x)
    assert_same(a.astype(np.dtype(target)).get(), x.astype(target))
    assert a.astype(target).ptr != a.ptr


def test_astype_drops_imaginary_parts_and_fractions():
    x = np.array([1.75 - 2j, -3.5 + 1j], "F")
    assert_same(to_gpu(x).astype("f4").get(), x.real)
    assert_same(to_gpu(np.array([1.75, -1.75])).astype("i4").get(), np.array([1, -1], "i4"))


def test_astype_rounds_once():
    x = np.array([1 + 2**-11 + 2**-30])
    assert_same(to_gpu(x).astype("f2").get(), x.astype("f2"))


@pytest.mark.parametrize("shape", [0, (0,), (3, 0), (0, 3), (1, 0, 2)])
def test_no_elements(shape):
    x, a = np.zeros(shape, "i4"), to_gpu(np.zeros(shape, "i4"))
    for op in PAIRS:
        for result in (op(a, a), op(a, 2), op(a, a[..., :1]), op(2, a)):
            assert_same(result.get(), op(x, x))
    for op in (operator.neg, operator.abs, operator.invert, operator.pos):
        assert_same(op(a).get(), x)
    assert_same(a.astype("f8").get(), x.astype("f8"))
    assert_same(a.fill(3).get(), x)
    assert_same((a + np.float64(2)).get(), x.astype("f8"))


def test_large_arrays():
    count = 3_000_017  # 24 MB
    x, y = np.arange(count) / 4, np.arange(count)[::-1] % 1000
    a, b = to_gpu(x), to_gpu(y)
    assert_same((a - b).get(), x - y)
    assert_same((a[::-1] - b).get(), x[::-1] - y)
    a -= b
    assert_same(a.get(), x - y)
    assert_same(b.fill(7).get(), np.full(count, 7))


@pytest.mark.parametrize("code", rare_but(["i4", "f4"], ["i4", "u2", "f4", "f8"]))
def test_divmod(code):
    x = np.array([7, 8, 200, 1]).astype(code)
    y = np.array([2, 3, 7, 5]).astype(code)
    for found, expected in (
        (divmod(to_gpu(x), to_gpu(y)), divmod(x, y)),
        (divmod(to_gpu(x), 3), divmod(x, 3)),
        (divmod(100, to_gpu(y)), divmod(100, y)),
    ):
        assert type(found) is tuple
        for one, other in zip(found, expected):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one.get(), other)


EDGES = [0.0, -0.0, 1, -1, 2.5, -2.5, 7, 1e-30, 65000, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize(
    "code",
    rare_but(["i1", "u4", "f2"], ["i1", "u1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]),
)
def test_divmod_is_both_operators(code):
    """To the last bit, with NumPy's values at every edge."""
    dtype = np.dtype(code)
    numbers = EDGES
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        numbers = [info.min, info.min + 1, 0, 1, 2, 3, 7, info.max - 1, info.max]
        numbers += [-1, -2, -3] if dtype.kind == "i" else []
    numbers = np.array(numbers).astype(dtype)
    x, y = (part.ravel() for part in np.meshgrid(numbers, numbers))
    a, b = to_gpu(x), to_gpu(y)
    quotient, left = divmod(a, b)
    assert quotient.get().tobytes() == (a // b).get().tobytes()
    assert left.get().tobytes() == (a % b).get().tobytes()
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(quotient.get(), x // y)
        np.testing.assert_array_equal(left.get(), x % y)


def test_divmod_of_what_has_none():
    a = to_gpu(np.ones(3, "c8"))
    with pytest.raises(TypeError, match="divmod is not defined for complex64"):
        divmod(a, 2)
    for pair in [(a, "x"), (None, a)]:
        with pytest.raises(TypeError, match="unsupported operand"):
            divmod(*pair)
    empty = divmod(to_gpu(np.ones((0, 3), "f4")), 2)
    assert [one.shape for one in empty] == [(0, 3)] * 2
    rows = divmod(to_gpu(np.arange(6.0).reshape(2, 3))[:, ::-1], to_gpu(np.array([[2.0], [4]])))
    np.testing.assert_array_equal(rows[1].get(), [[0, 1, 0], [1, 0, 3]])


def test_strict_mode_finds_no_fault(python):
    """The host machine then looks at every access of a kernel."""
    python(
        "import numpy as np\n"
        "from PyGPU import gpuarray\n"
        "a = gpuarray.to_gpu(np.arange(60.0).reshape(3, 4, 5))\n"
        "assert (a[::2, 1:, ::-2] + a.T[:3, 1:4, :2].T * 2 - 1).get().shape == (2, 3, 3)\n"
        "assert a.fill(2).get().sum() == 120\n",
        PYGPU_HOST_STRICT=1,
    )


@pytest.mark.parametrize("code", rare_but(["c16", "i2"], ["f4", "c8", "c16", "i2"]))
def test_elements_that_are_not_aligned(code):
    """A GPU cannot access them: operands and results are copied."""
    itemsize = np.dtype(code).itemsize
    x = np.arange(6).astype(code)
    raw = np.concatenate([np.zeros(1, "u1"), x.view("u1")])
    views = [to_gpu(raw)[1:].view(code)]
    rows = np.zeros((6, itemsize + 1), "u1")
    rows[:, 1:] = x.view("u1").reshape(6, itemsize)
    kept = to_gpu(rows)
    views.append(GPUArray(6, code, gpudata=kept.ptr + 1, strides=(itemsize + 1,), base=kept))
    for view in views:
        np.testing.assert_array_equal(view.get(), x)
        np.testing.assert_array_equal((view + view).get(), x + x)
        np.testing.assert_array_equal(view.copy().get(), x)
        assert gpuarray.sum(view).get() == x.sum()
        view += 1
        np.testing.assert_array_equal(view.get(), x + 1)
        with pytest.raises(ValueError, match="not aligned"):
            gpuarray.sum(to_gpu(x), out=view[0])


def test_what_is_refused_says_what_to_do():
    a, other = to_gpu(np.arange(4.0)), to_gpu(np.arange(4, dtype=np.dtype("i4").newbyteorder(">")))
    with pytest.raises(TypeError, match=r"~ is not defined for float64; .*numpy.logical_not"):
        operator.invert(a)
    with pytest.raises(ValueError, match=r"it has no arithmetic; .*newbyteorder"):
        operator.add(other, 1)
    with pytest.raises(TypeError, match=r"value has dtype float32, the array float64: .*astype"):
        a[:] = to_gpu(np.zeros(4, "f4"))
