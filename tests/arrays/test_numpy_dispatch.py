"""NumPy's ufuncs on GPUArray: they stay on the device and give what NumPy gives."""

import operator

import numpy as np
import pytest
from campaign import each_with
from hypothesis import given
from strategies import arrays, assert_same, assert_same_numbers, examples

import PyGPU
from PyGPU._arrays.functions import UFUNCS
from PyGPU.errors import ShapeError
from PyGPU.gpuarray import GPUArray, empty, to_gpu

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

CODES = list("?bBhHiIqQefdFD")
NUMPY_2 = int(np.__version__.split(".")[0]) >= 2
COMPARISONS = {
    **{np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt},
    **{np.greater_equal: operator.ge, np.equal: operator.eq, np.not_equal: operator.ne},
}
ARITHMETIC = {
    **{np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul},
    **{np.divide: operator.truediv, np.floor_divide: operator.floordiv},
    **{np.remainder: operator.mod, np.power: operator.pow, np.divmod: divmod},
    **{np.bitwise_and: operator.and_, np.left_shift: operator.lshift},
}
# Not among the functions that only real numbers have.
NO_ORDER = {"maximum", "minimum", "fmax", "fmin", "less", "less_equal", "greater", "greater_equal"}


def name_of(value):
    return getattr(value, "__name__", None)


def dtypes_of(function, *operands):
    """The dtypes of a function's results, or the error's class."""
    try:
        results = function(*operands)
    except (TypeError, OverflowError) as error:
        return TypeError if isinstance(error, TypeError) else OverflowError
    return [one.dtype for one in (results if isinstance(results, tuple) else (results,))]


def zero(code):
    return empty(0, np.dtype(code))


def test_ufuncs_are_many():
    assert len(UFUNCS) >= 75


@pytest.mark.parametrize("ufunc", sorted(UFUNCS, key=name_of), ids=name_of)
def test_types_are_numpys(ufunc):
    """Arrays without elements need no kernel."""
    others = "?iqfF" if ufunc.nin == 2 else "f"
    for first in CODES:
        for second in others:
            expected = dtypes_of(ufunc, *[np.ones(1, first), np.ones(1, second)][: ufunc.nin])
            got = dtypes_of(ufunc, *[zero(first), zero(second)][: ufunc.nin])
            if UFUNCS[ufunc] in NO_ORDER and {first, second} & set("FD"):
                expected = TypeError
            assert got == expected, (first, second)


@pytest.mark.parametrize("ufunc", [np.add, np.divide, np.less, np.maximum, np.arctan2], ids=name_of)
def test_pythons_numbers_are_weak(ufunc):
    for code in CODES:
        for number in (True, 3, 2.5, 1j):
            for reflected in (False, True):
                expected, got = (
                    dtypes_of(ufunc, *((number, array) if reflected else (array, number)))
                    for array in (np.ones(1, code), zero(code))
                )
                if UFUNCS[ufunc] in NO_ORDER and (code in "FD" or number == 1j):
                    expected = TypeError
                assert got == expected, (code, number)


@pytest.mark.parametrize("ufunc", ARITHMETIC, ids=name_of)
def test_operators_of_numpys_scalars_are_those_of_gpuarray(ufunc):
    """`scalar * a` comes through the ufunc; it must be what `a` would do with the scalar."""
    for code in CODES:
        for other in "?bBiQefdF":
            scalar = np.ones(1, other)[0]
            on_host = dtypes_of(ufunc, np.ones(1, other), np.ones(1, code))
            for left in (scalar, np.array(scalar)):
                assert dtypes_of(ARITHMETIC[ufunc], left, zero(code)) == on_host, (code, other)
                assert dtypes_of(ufunc, left, zero(code)) == on_host, (code, other)


@pytest.mark.parametrize("ufunc", COMPARISONS, ids=name_of)
def test_comparisons_with_scalars_on_the_left(ufunc):
    """Operators of NumPy's scalars come through the ufunc."""
    compare = COMPARISONS[ufunc]
    x = np.array([1, 2, 3], "i4")
    for left in (2, np.int32(2), np.array(2, "i4")):
        assert_same(compare(left, to_gpu(x)).get(), compare(left, x))
        assert_same(ufunc(left, to_gpu(x)).get(), ufunc(left, x))


def test_values():
    x = np.linspace(-2, 2, 33, dtype="f4")
    a = to_gpu(x)
    np.testing.assert_allclose(np.sin(a).get(), np.sin(x), rtol=1e-6)
    assert_same(np.add(a, 1).get(), x + 1)
    assert_same(np.multiply(np.float32(2), a).get(), 2 * x)
    assert_same((np.float32(2) * a).get(), 2 * x)
    assert_same(np.less(a, 0.5).get(), x < 0.5)
    assert_same(np.conj(to_gpu(x.astype("c8"))).get(), x.astype("c8").conj())
    for got, expected in zip(np.divmod(a, 0.75), np.divmod(x, np.float32(0.75))):
        assert_same(got.get(), expected)
    assert_same(np.positive(a).get(), x)
    assert np.positive(a) is not a


INTEGERS = [np.gcd, np.lcm, *([np.bitwise_count] if NUMPY_2 else [])]


@pytest.mark.parametrize(("ufunc", "code"), each_with(INTEGERS, "bIq", "bBhHiIqQ"))
def test_divisors_multiples_and_bits_of_integers(ufunc, code):
    """Of both ends of a dtype too: magnitudes that it does not hold."""
    info = np.iinfo(code)
    some = np.unique(np.array([info.min, info.min + 1, -12, -1, 0, 1, 18, info.max], "O"))
    x = np.array([one for one in some if info.min <= one <= info.max], code)
    operands = (x,) if ufunc.nin == 1 else tuple(np.meshgrid(x, x))
    assert_same(ufunc(*map(to_gpu, operands)).get(), ufunc(*operands))


@pytest.mark.skipif(not NUMPY_2, reason="numpy.bitwise_count is NumPy 2's")
def test_bits_of_bools():
    flags = np.array([True, False])
    assert_same(np.bitwise_count(to_gpu(flags)).get(), np.bitwise_count(flags))


@pytest.mark.parametrize("code", "efd")
def test_numbers_next_to_a_number(code):
    info = np.finfo(code)
    ends = [0, info.tiny, info.tiny * info.eps, info.max, 1, 1 - info.eps / 2, 2, np.inf, np.nan]
    x = np.array([*ends, *np.negative(ends)], code)
    x, y = np.meshgrid(x, x)
    assert_same_numbers(np.spacing(to_gpu(x)).get(), np.spacing(x))
    np.testing.assert_array_equal(np.nextafter(to_gpu(x), to_gpu(y)).get(), np.nextafter(x, y))


def test_every_float16_has_its_next():
    x = np.arange(65536).astype("u2").view("e")
    a = to_gpu(x)
    assert_same_numbers(np.spacing(a).get(), np.spacing(x))
    for end in (np.inf, -np.inf, 0, 1, np.nan):
        np.testing.assert_array_equal(np.nextafter(a, end).get(), np.nextafter(x, np.float16(end)))


def test_not_a_number_wins():
    """As in NumPy, and other than in PyGPU.gpuarray.maximum."""
    x, y = np.array([1, np.nan, np.nan], "f4"), np.array([np.nan, 2, np.nan], "f4")
    for ufunc in (np.maximum, np.minimum, np.fmax, np.fmin):
        assert_same(ufunc(to_gpu(x), to_gpu(y)).get(), ufunc(x, y))


@pytest.mark.skipif(not NUMPY_2, reason="NumPy 1 compares such integers as objects")
@pytest.mark.parametrize(("code", "number"), [("u1", 300), ("i8", 2**63), ("f4", 10**400)])
def test_integers_of_any_size_compare(code, number):
    x = np.array([0, 1 if code == "f4" else np.iinfo(code).max], code)
    assert np.less(to_gpu(x), number).get().tolist() == [True] * 2
    assert np.less(to_gpu(x), -(10**400)).get().tolist() == [False] * 2


@examples(25)
@given(arrays(dtype="f4"))
def test_every_layout(x):
    assert_same(np.fabs(to_gpu(x)).get(), np.fabs(x))


def test_out():
    x = np.linspace(0, 1, 7, dtype="f4")
    a, out, wide = to_gpu(x), empty(7, np.float32), empty((2, 7), np.float64)
    assert np.add(a, a, out=out) is out
    assert np.add(a, a, out) is out
    assert_same(out.get(), x + x)
    assert np.add(a, a, out=(wide,)) is wide
    assert_same(wide.get(), np.array([x + x] * 2, "f8"))
    assert np.add(1, 2, out=out) is out
    assert out.get().tolist() == [3] * 7
    fraction, whole = np.modf(a, out=(out, None))
    assert fraction is out
    assert_same(whole.get(), np.modf(x)[1])
    flags = empty(7, np.bool_)
    assert np.greater(a, 0.5, out=flags) is flags
    assert_same(flags.get(), x > 0.5)


def test_settings():
    a = to_gpu(np.array([250, 10], "u1"))
    assert_same(np.add(a, a, dtype=np.int16).get(), np.array([500, 20], "i2"))
    assert np.add(a, a, dtype="f4", order="K", casting="unsafe", subok=True).dtype == np.float32
    with pytest.raises(TypeError, match="add is not defined for"):
        np.add(to_gpu(np.ones(2)), 1, dtype=np.int8)
    for function in (np.maximum, np.fmin):
        with pytest.raises(TypeError, match="not defined for complex"):
            function(to_gpu(np.ones(2)), 1, dtype=complex)
    out = empty(2, np.int32)
    assert np.multiply(to_gpu(np.ones(2)), 2.5, out=out, casting="unsafe") is out
    assert out.get().tolist() == [2, 2]


@pytest.mark.parametrize(("step", "code"), each_with([1, 2], "fd", "fdih"))
def test_operands_are_rounded_to_the_loops_float16(code, step):
    x, y = np.random.default_rng(7).uniform(-3000, 3000, (2, 500)).astype(code)[:, ::step]
    settings = {"dtype": np.float16, "casting": "unsafe"}
    a, b = to_gpu(x), to_gpu(y)
    assert_same(np.add(a, b, **settings).get(), np.add(x, y, **settings))
    assert_same(np.subtract(a, 0.1, **settings).get(), np.subtract(x, 0.1, **settings))
    fused = PyGPU.fuse(lambda a, b: np.add(a, b, **settings))
    assert_same(fused(a, b).get(), np.add(x, y, **settings))


class Foreign:
    """A class with its own say about ufuncs, which knows GPUArray."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, [type(one) for one in inputs]


def test_other_classes_have_their_say():
    a = empty(2, np.float32)
    assert np.add(a, Foreign()) == ("add", [GPUArray, Foreign])
    assert np.add(Foreign(), a) == ("add", [Foreign, GPUArray])


def test_subclasses():
    class Mine(GPUArray):
        pass

    assert type(np.sin(Mine(0, np.float32))) is Mine
    assert type(np.float32(2) * Mine(0, np.float32)) is Mine
    assert type(np.add(Mine(0, np.float32), 1)) is Mine


HOST = np.ones(3, "f4")


@pytest.mark.parametrize(
    "call",
    [
        *(lambda a: a + HOST, lambda a: HOST + a, lambda a: HOST < a, lambda a: HOST == a),
        *(lambda a: np.add(HOST, a), lambda a: np.add(a, HOST), lambda a: np.less(a, HOST)),
        *(lambda a: operator.iadd(HOST, a), lambda a: operator.imul(HOST, a)),
        *(
            lambda a: operator.iadd(a, HOST),
            lambda a: HOST @ a,
            lambda a: np.sin(HOST, out=a) + HOST,
        ),
    ],
)
def test_arrays_of_the_host_do_not_mix(call):
    before = HOST.copy()
    with pytest.raises(TypeError, match=r"to_gpu\(\).*\.get\(\)"):
        call(to_gpu(HOST))
    assert_same(HOST, before)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: np.add(a, 1, out=a.get()), TypeError, "out: expected a GPUArray, got ndarray"),
        (lambda a: np.add(a, 1j, out=a), TypeError, "complex64 do not fit into float32"),
        (lambda a: np.add(a, 1, out=a[:2]), ShapeError, "shape"),
        (lambda a: np.add(a, a[:2]), ShapeError, "shape"),
        (lambda a: np.add(a, 1, where=a.get() > 0), TypeError, "to_gpu"),
        (lambda a: np.add(a, 1, order="C"), TypeError, "order='C': expected 'K'"),
        (lambda a: np.add(a, 1, signature="ff->f"), TypeError, "signature: not implemented"),
        (lambda a: np.add(a, [1, 2, 3]), TypeError, "expected arrays and numbers"),
        (lambda a: np.add(a, "text"), TypeError, "'text'"),
        (lambda a: np.add(a, None), TypeError, "None"),
        (lambda a: np.matmul(a, a), TypeError, "numpy.matmul is not implemented"),
        (lambda a: np.isnat(a), TypeError, r"numpy.isnat is not implemented.*\.get\(\)"),
        (lambda a: np.add.accumulate(a), TypeError, "add.accumulate is not .*InclusiveScanKernel"),
        (lambda a: np.add.outer(a, a), TypeError, "numpy.add.outer is not implemented"),
        (lambda a: np.add.at(a, [0], 1), TypeError, "numpy.add.at is not implemented"),
        (lambda a: np.hypot.reduce(a), TypeError, "numpy.hypot.reduce is not implemented"),
        (lambda a: np.add.reduce(a, where=a.get() > 0), TypeError, "to_gpu"),
        (lambda a: np.floor(a * 1j), TypeError, "floor is not defined for complex64"),
        (lambda a: np.less(a * 1j, a), TypeError, "complex numbers"),
        (lambda a: np.add(a, np.longdouble(1)), TypeError, "expected arrays and numbers"),
        (lambda a: np.longdouble(1) + a, TypeError, "arrays and numbers|unsupported operand"),
        (lambda a: np.add(a, np.datetime64(1, "s")), TypeError, "expected arrays and numbers"),
        (lambda a: np.longdouble(1) < a, TypeError, "float128|longdouble|returned NotImplemented"),
    ],
)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text):
        call(to_gpu(HOST))


def test_reduce():
    x = np.arange(12, dtype="i4").reshape(3, 4) - 4
    a = to_gpu(x)
    for ufunc, named in [
        (np.add, {}),
        (np.add, {"axis": 1, "keepdims": True}),
        (np.multiply, {"axis": None}),
        (np.logical_or, {"axis": None}),
    ]:
        got, expected = ufunc.reduce(a, **named).get(), np.asarray(ufunc.reduce(x, **named))
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == expected.dtype
    out = empty(4, np.int64)
    assert np.add.reduce(a, out=out) is out
    assert_same(out.get(), np.add.reduce(x))


def test_ufuncs_of_programs_are_not_called_numpys():
    a, mine = PyGPU.zeros(3), np.frompyfunc(abs, 1, 1)
    mine_of_two = np.frompyfunc(max, 2, 1)
    for use in (lambda: mine(a), lambda: mine_of_two.accumulate(a), lambda: mine_of_two.reduce(a)):
        with pytest.raises(TypeError, match=r"^the ufunc (abs|max)") as info:
            use()
        assert "numpy." not in str(info.value)
    with pytest.raises(TypeError, match=r"^numpy.isnat is not implemented"):
        np.isnat(a)
