"""Types of results: NumPy's rule for dtypes, axes in the operands' order, class and allocator."""

import itertools
import operator

import numpy as np
import pytest
from campaign import rare_but
from hypothesis import given
from strategies import arrays, counted_strides, examples, shapes

from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu

# Arrays without elements have a type but need no kernel: every combination is cheap to try.
CODES = list("?bBhHiIqQefdFD")
ARITHMETIC = [
    *[operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv],
    *[operator.mod, operator.pow, operator.and_, operator.or_, operator.xor],
    *[operator.lshift, operator.rshift],
]
EQUALITY = [operator.eq, operator.ne]
ORDER = [operator.lt, operator.le, operator.gt, operator.ge]
NUMPY_2 = int(np.__version__.split(".")[0]) >= 2
LIMITS = [np.iinfo("i8").min, np.iinfo("i8").max, np.iinfo("u8").max]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def name_of(value):
    return getattr(value, "__name__", None) or repr(value)


def outcome(call):
    """The dtype of a result, or the error's class."""
    try:
        return call().dtype
    except (TypeError, OverflowError) as error:
        return TypeError if isinstance(error, TypeError) else OverflowError


def empty(code):
    return gpuarray.empty(0, np.dtype(code))


@pytest.mark.parametrize("op", ARITHMETIC, ids=name_of)
def test_two_arrays_have_numpys_type(op):
    for first, second in itertools.product(CODES, CODES):
        expected = outcome(lambda: op(np.ones(1, first), np.ones(1, second)))  # noqa: B023
        got = outcome(lambda: op(empty(first), empty(second)))  # noqa: B023
        assert got == expected, (first, second)


@pytest.mark.parametrize("op", [*EQUALITY, *ORDER], ids=name_of)
def test_comparisons_return_bool(op):
    for first, second in itertools.product(CODES, CODES):
        common = (np.ones(1, first) + np.ones(1, second)).dtype
        got = outcome(lambda: op(empty(first), empty(second)))  # noqa: B023
        assert got == (TypeError if op in ORDER and common.kind == "c" else bool)


@pytest.mark.parametrize("op", ARITHMETIC, ids=name_of)
@pytest.mark.parametrize("number", [True, 3, 2.5, 1 + 2j], ids=name_of)
def test_python_numbers_are_weak(op, number):
    for code in CODES:
        for call in (lambda v: op(v, number), lambda v: op(number, v)):
            expected = outcome(lambda: call(np.ones(1, code)))  # noqa: B023
            assert outcome(lambda: call(empty(code))) == expected, code  # noqa: B023


@pytest.mark.parametrize("op", [*EQUALITY, *ORDER], ids=name_of)
@pytest.mark.parametrize("number", [True, 3, -1, 300, 2.5, 1 + 2j], ids=name_of)
def test_comparisons_with_numbers_return_bool(op, number):
    for code in CODES:
        undefined = op in ORDER and "c" in (np.dtype(code).kind, np.min_scalar_type(number).kind)
        for call in (lambda v: op(v, number), lambda v: op(number, v)):
            got = outcome(lambda: call(empty(code)))  # noqa: B023
            assert got == (TypeError if undefined else bool), code


@pytest.mark.parametrize("op", ARITHMETIC, ids=name_of)
def test_numpys_scalars_are_strong(op):
    """Like arrays of one element, on every NumPy version."""
    for code, other in itertools.product(CODES, CODES):
        scalar = np.ones(1, other)[0]
        expected = outcome(lambda: op(np.ones(1, code), np.ones(1, other)))  # noqa: B023
        for value in (scalar, np.array(scalar)):
            assert outcome(lambda: op(empty(code), value)) == expected, (code, other)  # noqa: B023


def test_quotients_of_integers_are_float64():
    x = np.array([7, -7, 1], "i4")
    for got in (to_gpu(x) / to_gpu(x[::-1].copy()), to_gpu(x) / 2, 2 / to_gpu(x)):
        assert got.dtype == np.float64
    assert (to_gpu(x) / 2).get().tolist() == [3.5, -3.5, 0.5]


def test_comparisons_compute_with_the_numbers_as_they_are():
    a = to_gpu(np.array([1, 2, 3], "i4"))
    assert (a > 2.5).get().tolist() == [0, 0, 1]
    assert (a == 2.5).get().tolist() == [0, 0, 0]
    assert (to_gpu(np.array([44, 255], "u1")) == 300).get().tolist() == [0, 0]
    assert (to_gpu(np.array([1, 255], "u1")) > -1).get().tolist() == [1, 1]
    assert (to_gpu(np.array([True, False])) == 2).get().tolist() == [False, False]


INT64 = [-(2**63), -1, 0, 5, 2**53, 2**53 + 1, 2**63 - 1]
UINT64 = [0, 5, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]


@pytest.mark.parametrize(
    "op", rare_but([operator.eq, operator.lt], [*EQUALITY, *ORDER]), ids=name_of
)
def test_comparisons_of_int64_and_uint64_are_exact(op):
    """float64, their common type, does not tell 2**53 and 2**53 + 1 apart."""
    a, b = to_gpu(np.array(INT64, "i8")[:, None]), to_gpu(np.array(UINT64, "u8"))
    expected = [[op(x, y) for y in UINT64] for x in INT64]
    assert (op(a, b).dtype, op(a, b).get().tolist()) == (bool, expected)
    assert op(b, a).get().tolist() == [[op(y, x) for y in UINT64] for x in INT64]
    for x, row in zip(INT64, expected):
        assert op(np.int64(x), b).get().tolist() == row
    function = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal}
    function = function.get(op.__name__, np.greater if op is operator.gt else np.greater_equal)
    assert (function(a, b).dtype, function(a, b).get().tolist()) == (bool, expected)


@pytest.mark.parametrize(
    ("code", "number"),
    [("u8", -1), ("i8", 2**63), ("i8", 2**70), ("u1", -(2**70)), ("?", 2**70), ("f4", 10**400)],
    ids=["u8 -1", "i8 2**63", "i8 2**70", "u1 -2**70", "? 2**70", "f4 10**400"],
)
def test_comparisons_with_integers_of_any_size(code, number):
    x = np.array([0, 1]) if code == "?" else np.array(LIMITS[-1:] if code == "u8" else [-1, 5])
    x = x.astype(code)
    assert (to_gpu(x) == number).get().tolist() == [0] * x.size
    assert (to_gpu(x) < number).get().tolist() == [number > 0] * x.size


@pytest.mark.skipif(not NUMPY_2, reason="NumPy 1 promotes by value")
@pytest.mark.parametrize("code", ["u1", "i2", "u4", "i8", "u8"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "and_", "or_", "xor", "lshift", "rshift"])
def test_integers_that_do_not_fit_overflow(name, code):
    op, info = getattr(operator, name), np.iinfo(code)
    for number in (int(info.max) + 1, int(info.min) - 1, 2**70):
        with pytest.raises(OverflowError):
            op(empty(code), number)
        with pytest.raises(OverflowError):
            op(number, empty(code))
    assert op(empty(code), int(info.max)).dtype == code


@pytest.mark.skipif(not NUMPY_2, reason="NumPy 1 promotes by value")
@pytest.mark.parametrize("name", ["floordiv", "mod", "pow"])
def test_integers_that_do_not_fit_overflow_in_every_operator(name):
    with pytest.raises(OverflowError):
        getattr(operator, name)(empty("u1"), 300)


def test_enumerations_are_numbers(python):
    """NumPy 2.2 squares an array without promotion in `x ** number`, but not in `np.power`."""
    python(
        "import enum, numpy as np\n"
        "from PyGPU import gpuarray\n"
        "color = enum.IntEnum('Color', {'GREEN': 2})\n"
        "a, x = gpuarray.empty(0, np.int32), np.ones(1, np.int32)\n"
        "assert (a ** color.GREEN).dtype == np.power(x, color.GREEN).dtype\n"
    )


def test_a_subclass_of_numbers_does_not_change_the_numbers(python):
    """Since NumPy 2.1 subclasses of int are not weak numbers; int stays weak thereafter."""
    python(
        "import enum, numpy as np\n"
        "from PyGPU import gpuarray\n"
        "color = enum.IntEnum('Color', 'RED')\n"
        "a, x = gpuarray.empty(0, np.int32), np.ones(1, np.int32)\n"
        "for number in (color.RED, 1):\n"
        "    assert (a + number).dtype == (x + number).dtype, (a + number).dtype\n"
    )


@pytest.mark.parametrize("expression", ["a / 0", "a / 0.0", "half * 1e5", "half + 1e5"])
def test_asking_for_types_gives_no_warnings(python, expression):
    python(
        "import warnings\n"
        "import numpy as np\n"
        "from PyGPU import gpuarray\n"
        "warnings.simplefilter('error')\n"
        "a, half = gpuarray.empty(0, np.float32), gpuarray.empty(0, np.float16)\n"
        f"{expression}\n"
    )


@examples(40)
@given(shapes(max_dims=3).flatmap(lambda shape: arrays(shape=shape, dtype="f4")))
def test_axes_keep_their_order(x):
    """NumPy's order "K": a packed copy whose axes are sorted as the operand's."""
    a = to_gpu(x)
    expected = a.copy()
    for result in (-a,):
        assert counted_strides(result) == counted_strides(expected)
        assert (result.flags.c_contiguous, result.flags.f_contiguous) == (
            expected.flags.c_contiguous,
            expected.flags.f_contiguous,
        )
    wide = a.astype("f8")
    assert counted_strides(wide) == tuple(2 * step for step in counted_strides(expected))


def test_order_of_results_of_another_type():
    x = np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3))
    f8 = np.asfortranarray(x.astype("f8"))
    a = to_gpu(x)
    for result, expected in [
        (a + to_gpu(f8), x + f8),
        (a * 2j, x * 2j),
        (a.astype("i2"), x.astype("i2")),
        (abs(a * 2j), abs(x * 2j)),
        (a == to_gpu(f8), np.ones((2, 3))),
        (a + to_gpu(f8[:1]), x + f8[:1]),
    ]:
        assert result.flags.f_contiguous is True
        assert result.flags.c_contiguous is False
        assert (result.get() == expected).all()


def test_order_of_mixed_operands():
    x = np.arange(6, dtype="f4").reshape(2, 3)
    c, f = to_gpu(x), to_gpu(np.asfortranarray(x))
    assert ((c + f).get() == 2 * x).all()
    assert ((f + c).get() == 2 * x).all()
    assert (c + f).flags.c_contiguous
    turned = to_gpu(np.zeros((2, 3, 4), "f4").transpose(1, 2, 0))
    assert (turned + 1).strides == turned.copy().strides


class Mine(GPUArray):
    """A class of a user's."""


def test_results_of_subclasses():
    mine, plain = Mine(0, np.int32), gpuarray.zeros(1, np.int32)
    for result in (mine + 1, 1 + mine, mine + plain, mine == 2, -mine, abs(mine), ~mine, mine / 2):
        assert type(result) is Mine
    assert type(mine.astype("f4")) is Mine
    assert type(plain + 1) is GPUArray
    mine += plain
    assert type(mine) is Mine


def test_an_operator_that_a_subclass_defines():
    class Loud(GPUArray):
        def __add__(self, other):
            return "loud"

        __radd__ = __add__

    loud = Loud(2)
    assert loud + 1 == "loud"
    assert 1 + loud == "loud"
    assert gpuarray.zeros(2) + loud == "loud"


def test_results_inherit_the_allocator():
    taken = []

    def allocate(nbytes):
        taken.append(nbytes)
        return GPUArray(nbytes, np.uint8).gpudata

    a = to_gpu(np.arange(4, dtype="f4"), allocator=allocate)
    taken.clear()
    results = [a + 1, 2 - a, a - a, a == a, -a, a.astype("f8"), a * np.float64(2)]
    assert taken == [16, 16, 16, 4, 16, 32, 32]
    for result in results:
        assert result.allocator is allocate
    plain = gpuarray.zeros(4, np.float32)
    assert (a + plain).allocator is allocate
    assert (plain + a).allocator is not allocate
