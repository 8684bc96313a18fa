"""What operators make of bad operands, and of numbers that NumPy treats in a way of its own."""

import array
import operator
from collections import deque

import numpy as np
import pytest
from campaign import each_once, rare_but
from strategies import assert_same

from PyGPU import errors, gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu

BINARY = [
    *["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift"],
    "rshift",
]
ORDER = ["lt", "le", "gt", "ge"]
EQUALITY = ["eq", "ne"]
UNARY = {
    "-": operator.neg,
    "abs": operator.abs,
    "~": operator.invert,
    "astype": lambda a: a.astype("f4"),
    "fill": lambda a: a.fill(1),
}
SEQUENCES = [[1, 2], (1, 2), range(3), [], deque([1]), array.array("i", [1, 2, 3])]
STRANGERS = [None, "x", b"x", {1: 2}, object(), int, 1 + 0 * np.longdouble(1)]


@pytest.fixture
def a():
    return to_gpu(np.array([1, 2, 3], "i4"))


@pytest.mark.parametrize(
    ("name", "other"), each_once([*BINARY, *ORDER], [(other,) for other in STRANGERS + SEQUENCES])
)
def test_what_is_no_operand(a, name, other):
    if name == "mod" and isinstance(other, (str, bytes)):
        pytest.skip("formats text")
    op = getattr(operator, name)
    with pytest.raises(TypeError):
        op(a, other)
    with pytest.raises(TypeError):
        op(other, a)


@pytest.mark.parametrize("other", STRANGERS[:-1], ids=lambda other: type(other).__name__)
def test_what_is_no_operand_is_not_equal(a, other):
    assert (a == other) is False
    assert (other == a) is False
    assert (a != other) is True
    assert (other != a) is True
    assert other not in [a]


@pytest.mark.parametrize("other", SEQUENCES, ids=lambda other: type(other).__name__)
def test_sequences_are_neither_compared_as_one_nor_repeated(a, other):
    """A 0-d array has an __index__, by which a list would repeat itself."""
    for own in (a, to_gpu(np.array(2)), a[:0]):
        for name in (*EQUALITY, "mul", "imul", "iadd"):
            for pair in ((own, other), (other, own)):
                with pytest.raises(TypeError):
                    getattr(operator, name)(*pair)
    for text in ("ab", b"ab"):
        with pytest.raises(TypeError, match="multiply: expected arrays and numbers, got a"):
            to_gpu(np.array(2)) * text


def test_a_sequence_may_compute_the_operation(a):
    class Sequence(list):
        def __eq__(self, other):
            return "its own"

        def __mul__(self, other):
            return "its own"

        __rmul__ = __mul__

    assert (a == Sequence()) == (a * Sequence()) == "its own"


@pytest.mark.parametrize("name", [*BINARY, *ORDER, *EQUALITY])
def test_arrays_on_the_host(a, name):
    op = getattr(operator, name)
    for host in (
        np.ones(3, "i4"),
        np.ones(1, "i4"),
        np.ones((2, 3)),
        np.zeros(0),
        np.ones(3, "M8[s]"),
    ):
        for call in (lambda: op(a, host), lambda: op(host, a)):  # noqa: B023
            with pytest.raises(TypeError, match="to_gpu"):
                call()


def test_arrays_on_the_host_leave_operators_to_ours(a):
    assert a.__array_priority__ > np.ones(3).__array_priority__
    with pytest.raises(TypeError, match="to_gpu"):
        np.ones(3, "i4").__add__(a)


def test_arrays_on_the_host_in_place(a):
    host = np.ones(3, "i4")
    with pytest.raises(TypeError, match="to_gpu"):
        a += host
    with pytest.raises(TypeError):
        host += a
    with pytest.raises(TypeError):
        np.add(host, a)


@pytest.mark.parametrize(
    ("name", "x", "y"),
    each_once(
        [*BINARY, *ORDER, *EQUALITY],
        [(3, 4), ((2, 3), (3, 2)), (0, 2), ((2, 0), (2, 3)), (3, (2, 4))],
    ),
)
def test_shapes_that_do_not_fit_together(name, x, y):
    op, (x, y) = getattr(operator, name), (gpuarray.zeros(shape, np.int32) for shape in (x, y))
    for kind in (errors.ShapeError, ValueError, NotImplementedError):
        with pytest.raises(kind, match="broadcast"):
            op(x, y)


@pytest.mark.parametrize(
    "dtype", ["S3", "U2", "M8[s]", "m8[s]", "V4", "g", ">i4", ">f8", [("id", "i4")]], ids=str
)
def test_types_without_arithmetic(a, dtype):
    for count in (3, 0):
        other = GPUArray(count, dtype)
        for name in [*BINARY, *ORDER, *EQUALITY]:
            op = getattr(operator, name)
            for call in (
                lambda: op(other, other),  # noqa: B023
                lambda: op(other, 1),  # noqa: B023
                lambda: op(1, other),  # noqa: B023
                lambda: op(a, other),  # noqa: B023
            ):
                with pytest.raises(ValueError, match="unable to map dtype"):
                    call()
        for name, call in UNARY.items():
            if name == "fill":
                continue  # which moves bytes
            with pytest.raises(ValueError, match="unable to map dtype"):
                call(other)
        with pytest.raises(ValueError, match="unable to map dtype"):
            a += other
    with pytest.raises(ValueError, match="unable to map dtype"):
        a.astype(dtype)
    assert (a == a).get().all()


def test_types_that_are_none(a):
    for dtype in ("nonsense", object, 7):
        with pytest.raises(TypeError):
            a.astype(dtype)


@pytest.mark.parametrize("method", ["fill", "astype"])
def test_streams_that_are_none(a, method):
    for stream in ("x", 1.5, [], np.zeros(3)):
        with pytest.raises(TypeError, match="stream"):
            getattr(a, method)("f4" if method == "astype" else 1, stream=stream)


@pytest.mark.parametrize("name", ORDER)
def test_complex_numbers_have_no_order(a, name):
    op, c = getattr(operator, name), to_gpu(np.array([1j, 2, 3], "F"))
    for x, y in [(c, c), (c, 1), (1, c), (c, a), (a, c), (a, 1j), (1j, a), (a, np.complex64(1))]:
        with pytest.raises(TypeError):
            op(x, y)


def test_complex_numbers_can_be_equal():
    c = to_gpu(np.array([1j, 2, 3], "F"))
    assert (c == 2).get().tolist() == [0, 1, 0]
    assert (c != 1j).get().tolist() == [0, 1, 1]
    assert (to_gpu(np.array([1, 2, 3], "f4")) == 2j).get().tolist() == [0, 0, 0]


def test_operators_without_meaning(a):
    flags, f = to_gpu(np.array([True, False, True])), to_gpu(np.ones(3, "f4"))
    for call in (
        lambda: flags - flags,
        lambda: -flags,
        lambda: ~f,
        lambda: f & f,
        lambda: f << 1,
        lambda: a & 2.5,
        lambda: a | f,
        lambda: f.astype("F") // 2,
        lambda: f.astype("F") % 2,
        lambda: pow(a, 2, 3),
        lambda: a @ a,
        lambda: hash(a),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("call", UNARY.values(), ids=UNARY)
def test_one_array_whose_memory_was_freed(a, call):
    view = a[1:]
    a.gpudata.free()
    for dead in (a, view):
        with pytest.raises(errors.LogicError):
            call(dead)


@pytest.mark.parametrize("name", [*BINARY, *ORDER, *EQUALITY, "iadd", "ilshift"])
def test_memory_that_was_freed(a, name):
    op, alive, view = getattr(operator, name), to_gpu(np.ones(3, "i4")), a[1:]
    a.gpudata.free()
    for call in (
        lambda: op(a, 1),
        lambda: op(a, a),
        lambda: op(a, alive),
        lambda: op(alive, a),
        lambda: op(view, alive[1:]),
        lambda: op(alive[1:], view),
    ):
        with pytest.raises(errors.LogicError):
            call()
    assert alive.get().tolist() == [1, 1, 1]


@pytest.mark.parametrize("code", ["i4", "u8"])
def test_integers_divided_by_zero(code):
    """As in NumPy: 0, without an error."""
    x = np.array([1, 0, 7], code)
    if x.dtype.kind == "i":
        x[0] = np.iinfo(code).min
    a = to_gpu(x)
    zero = gpuarray.zeros(3, code)
    for quotient in (a // zero, a % zero):
        assert quotient.get().tolist() == [0, 0, 0]
    assert (a // zero[:1]).dtype == code
    if code == "i4":
        assert (a // 0).get().tolist() == (a % 0).get().tolist() == [0, 0, 0]
        a //= 0
        assert a.get().tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_division_by_zero():
    x = np.array([1, 0, -7.5, np.inf, np.nan], "f4")
    a, zero = to_gpu(x), gpuarray.zeros(5, np.float32)
    for divide in (operator.truediv, operator.floordiv, operator.mod):
        for number in (0, -0.0):
            expected = divide(x, np.full(5, number, "f4"))
            np.testing.assert_array_equal(divide(a, zero.fill(number)).get(), expected)
    np.testing.assert_array_equal((a / 0).get(), x / np.float32(0))
    whole = to_gpu(np.array([1, 0, -1], "i4")) / 0
    np.testing.assert_array_equal(whole.get(), [np.inf, np.nan, -np.inf])
    assert not np.isfinite((to_gpu(np.array([1 + 1j, 0], "F")) / 0).get()).any()


@pytest.mark.parametrize("code", rare_but(["i1", "i8"], ["i1", "i4", "i8"]))
def test_the_quotient_that_overflows(code):
    """Of the least integer and -1: it wraps."""
    least = np.iinfo(code).min
    x = np.array([least, least + 1, -1, 0, 1], code)
    a, minus = to_gpu(x), to_gpu(np.full(5, -1, code))
    assert (a // minus).get().tolist() == [least, -(least + 1), 1, 0, -1]
    assert (a % minus).get().tolist() == [0] * 5
    assert abs(a[:1] + 0 * minus[:1]).get().tolist() == [least]


@pytest.mark.parametrize("code", ["i1", "u8"])
def test_shifts_beyond_the_width(code):
    x, bits = np.array([1, 3, 100], code), 8 * np.dtype(code).itemsize
    if x.dtype.kind == "i":
        x[2] = -5
    for count in (0, 1, bits - 1, bits, bits + 1, 2 * bits, np.iinfo(code).max):
        shift = np.full(3, count, code)
        assert (to_gpu(x) << to_gpu(shift)).get().tolist() == (x << shift).tolist()
        assert (to_gpu(x) >> to_gpu(shift)).get().tolist() == (x >> shift).tolist()
    if x.dtype.kind == "i":
        minus = to_gpu(np.full(3, -1, code))
        assert (to_gpu(x) << minus).get().tolist() == [0, 0, 0]
        assert (to_gpu(x) >> minus).get().tolist() == [0, 0, -1]


@pytest.mark.parametrize("code", ["i1", "i2", "i4", "i8"])
def test_negative_powers_of_integers(code):
    """Refused as in NumPy, in every call; the array of the result stays as it was."""
    x = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], code)
    y = np.array([3, 2, 1, -1], code)
    a, e, out = to_gpu(x), to_gpu(y), to_gpu(x)
    for power in (
        lambda: a**e,
        lambda: a.T ** e[3],
        lambda: a[:, ::-2] ** e[::-2],
        lambda: 2**e,
        lambda: np.int8(2) ** e,
        lambda: np.power(a, e, out=out),
        lambda: operator.ipow(out, e),
        lambda: np.power(a, e, where=to_gpu(np.array([[True], [False]]))),
    ):
        with pytest.raises(ValueError, match="negative integer powers"):
            power()
    assert out.tolist() == x.tolist()
    assert_same((a[:, :3] ** e[:3]).get(), x[:, :3] ** y[:3])
    assert (a[:0] ** e).shape == (0, 4)
    found = np.power(a, e, where=to_gpu(y >= 0), out=out)
    assert found[:, :3].tolist() == (x[:, :3] ** y[:3]).tolist()
    np.testing.assert_allclose(np.float_power(a, e).get(), np.float_power(x, y))
    np.testing.assert_allclose((a.astype("f4") ** e).get(), x.astype("f4") ** y, rtol=1e-6)
    assert_same((a ** to_gpu(y.astype("u1"))).get(), x ** y.astype("u1"))


def test_powers_of_integers_are_exact():
    x = np.array([3, 7, -5, 10, 0, 2**31], "i8")
    y = np.array([39, 22, 27, 18, 0, 3], "i8")
    assert (to_gpu(x) ** to_gpu(y)).get().tolist() == (x**y).tolist()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_powers_at_the_edges():
    x = np.array([0, 0, -8, -8, np.inf, -2, 1], "f4")
    y = np.array([0, -1, 1 / 3, 2, -1, -3, np.nan], "f4")
    np.testing.assert_allclose((to_gpu(x) ** to_gpu(y)).get(), x**y, rtol=1e-6)
    c = np.array([0, 2, 1j, 1 + 1j], "F")
    for power in (0, 1, 2):
        np.testing.assert_allclose((to_gpu(c) ** power).get(), c**power, rtol=1e-6, atol=1e-6)
