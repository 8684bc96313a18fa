"""Operators in place, and fill: the array keeps its memory and its dtype."""

import operator
import re
import struct

import numpy as np
import pytest
from campaign import each_once, each_with, rare_but
from hypothesis import given
from hypothesis import strategies as st
from strategies import arrays, assert_same, examples, indices, part

from PyGPU import gpuarray
from PyGPU.errors import ShapeError
from PyGPU.gpuarray import to_gpu

INTEGERS = ["iadd", "isub", "imul", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor"]
SHIFTS = ["ilshift", "irshift"]
FLOATS = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"]
ALL = [*INTEGERS, *SHIFTS, "itruediv"]


CASES = [
    *((name, "i4") for name in [*INTEGERS, *SHIFTS]),
    *((name, "f4") for name in FLOATS),
    *((name, "F") for name in ("iadd", "isub", "imul", "itruediv")),
    *((name, "?") for name in ("iadd", "imul", "iand", "ior", "ixor")),
]
OF_OTHERS = {"isub": "f4", "imul": "?", "imod": "f4", "ior": "?", "itruediv": "F"}
USUAL = [(name, OF_OTHERS.get(name, "i4")) for name in ALL]


@pytest.mark.parametrize(("name", "code"), rare_but(USUAL, CASES))
def test_every_operator(name, code):
    op = getattr(operator, name)
    x = np.array([0, 1, 2, 3, 7]).astype(code)
    y = np.array([3, 2, 1, 2, 0] if name != "ipow" else [3, 2, 0, 1, 2]).astype(code)
    if name in ("ifloordiv", "imod", "itruediv"):
        y[4] = 4
    for other in (y, y[2]) if code == "i4" else (y,):
        a, expected = to_gpu(x), x.copy()
        address, number = a.ptr, other.item() if other.ndim == 0 else to_gpu(other)
        expected = op(expected, other)
        assert op(a, number) is a
        assert (a.ptr, a.dtype) == (address, x.dtype)
        np.testing.assert_allclose(a.get(), expected, rtol=1e-6)


@examples(40)
@given(arrays(shape=(4, 3), dtype="i4", writable=True), st.data())
def test_any_views_of_one_array(x, data):
    """The operand is read before it is overwritten, as if it were a copy."""
    a, expected = to_gpu(x), x.copy(order="K")
    index = data.draw(indices(x.shape))
    into, target = a[index], part(expected, index)
    sources = [lambda v: v, lambda v: v[::-1], lambda v: v[:1], lambda v: v[..., :1]]
    source = data.draw(st.sampled_from(sources[: 1 if target.ndim == 0 else 4]))
    operand = source(target).copy()
    into += source(into)
    target += operand
    assert_same(a.get(), expected)


def test_overlapping_views():
    for count in (10, 100_000):
        x = np.arange(count, dtype="i4") % 1000
        for into, source in [
            (np.s_[1:], np.s_[:-1]),
            (np.s_[:-1], np.s_[1:]),
            (np.s_[:], np.s_[::-1]),
            (np.s_[::2], np.s_[: count // 2]),
        ]:
            a, expected = to_gpu(x), x.copy()
            view = a[into]
            view += a[source]
            expected[into] += x[source]
            assert_same(a.get(), expected)


def test_the_array_itself_and_its_transpose():
    x = np.arange(9, dtype="f4").reshape(3, 3)
    a = to_gpu(x)
    a += a
    assert_same(a.get(), x + x)
    a -= a.T
    assert_same(a.get(), (x + x) - (x + x).T)
    a += a[1]
    assert_same(a.get(), (x + x) - (x + x).T + ((x + x) - (x + x).T)[1])


def test_overlapping_views_of_another_type():
    x = np.arange(8, dtype="i4")
    a = to_gpu(x)
    view = a[4:]
    view += a.view("i8")[:4]
    assert a.get().tolist() == [*range(4), *(x[4:] + x.view("i8").astype("i4")[:4])]


def test_items_of_an_array():
    x = np.arange(12, dtype="i4").reshape(3, 4)
    a, expected = to_gpu(x), x.copy()
    a[1] += 5
    a[:, ::2] *= a[:, 1::2]
    a[-1, -1] -= 100
    expected[1] += 5
    expected[:, ::2] *= expected[:, 1::2]
    expected[-1, -1] -= 100
    assert_same(a.get(), expected)


def test_what_is_stretched_into_the_array():
    x = np.arange(12, dtype="f4").reshape(3, 4)
    for y in (x[0], x[:, :1], x[:1], x[2, 1], np.asarray(x[1:2, 2:3]), x.T.copy().T):
        a, expected = to_gpu(x), x.copy()
        a *= to_gpu(np.asarray(y))
        expected *= y
        assert_same(a.get(), expected)


@pytest.mark.parametrize(
    "shapes", [(3, 4), ((3, 1), (3, 4)), (4, (3, 4)), ((), 1), (1, (1, 1)), (1, 0)]
)
def test_what_does_not_fit_into_the_array(shapes):
    a, b = (gpuarray.zeros(shape, np.int32) for shape in shapes)
    for kind in (ShapeError, ValueError, NotImplementedError):
        with pytest.raises(kind):
            a += b
    assert not a.get().any()


@pytest.mark.parametrize("shape", [0, (0, 3), (2, 0)])
def test_no_elements(shape):
    a = gpuarray.zeros(shape, np.int32)
    for name in [*INTEGERS, *SHIFTS]:
        op = getattr(operator, name)
        assert op(op(a, a), 2) is a
        assert op(a, gpuarray.zeros(1, np.int32)) is a
    assert a.get().size == 0


def test_0d_arrays():
    a, b = to_gpu(np.array(5, "i4")), to_gpu(np.array(3, "i4"))
    a *= b
    a -= 1
    a += np.array(2)
    assert (a.shape, a.get().item()) == ((), 16)


@pytest.mark.parametrize(
    ("code", "other"),
    [("i4", "f8"), ("f4", "f8"), ("u1", "i8"), ("i8", "?"), ("F", "D"), ("e", "i4")],
)
def test_arrays_of_other_types_become_the_arrays_type(code, other):
    x, y = np.array([1, 2, 3], code), np.array([1, 2.75, 0]).astype(other)
    a = to_gpu(x)
    a += to_gpu(y)
    assert_same(a.get(), x + y.astype(code))


@pytest.mark.parametrize(
    ("name", "code", "other"),
    each_with(
        ["ifloordiv", "imod", "ipow", "ilshift", "irshift"],
        [("i2", "i8"), ("u1", "u4"), ("u8", "i8")],
        [("i4", "i8"), ("i2", "i8"), ("u1", "u4"), ("u1", "i8"), ("u8", "i8"), ("i8", "u8")],
    ),
)
def test_quotients_powers_and_shifts_of_wider_integers(name, code, other):
    """NumPy's results, or its refusal: the operand is not cut to the array's width."""
    small, large = np.iinfo(code), np.iinfo(other)
    x = np.array([small.max, small.max, 7, 6, 5, 2], code)
    y = np.array([large.max, large.max // 2 + 1, 3, 4, 1, 2], other)
    op = getattr(operator, name)
    shift = np.array([0, 3, small.bits + 1, 1, 2, 2], other)
    by = {"ipow": y % 4, "ilshift": shift % 60, "irshift": shift % 60}.get(name, y)
    a, expected = to_gpu(x), x.copy()
    try:
        expected = op(expected, by)
    except TypeError:
        with pytest.raises(TypeError):
            op(a, to_gpu(by))
    else:
        op(a, to_gpu(by))
    assert_same(a.get(), expected)


@pytest.mark.parametrize(
    ("name", "code", "other"),
    each_once(
        ["iadd", "isub", "imul", "iand", "ior", "ixor"],
        [("u1", "i8"), ("i4", "u8"), ("i8", "?")],
    ),
)
def test_sums_products_and_bits_of_integers_are_right_modulo_their_width(name, code, other):
    x = np.array([3, 100, 127, 0, 5, 77]).astype(code)
    y = np.array([2**31 + 5, 2**60 + 3, 2, 2**33, -1, 0]).astype(other)
    a = getattr(operator, name)(to_gpu(x), to_gpu(y))
    exact = [
        getattr(operator, name[1:] + "_" * (name in ("iand", "ior")))(int(m), int(n))
        for m, n in zip(x, y)
    ]
    width = 8 * x.itemsize
    assert [int(n) % 2**width for n in a.get()] == [n % 2**width for n in exact]


@pytest.mark.parametrize(
    ("name", "x", "y"),
    each_once(
        ["imul", "iadd", "isub", "itruediv", "ifloordiv", "imod"],
        [
            (np.array([1e-30, 1e-30, 3], "f4"), np.array([1e50, 1e-50, 2])),
            (np.array([0.001, 1.5, 3], "e"), np.array([70000, 3, 2], "i4")),
        ],
    ),
)
def test_floating_point_numbers_are_computed_in_the_common_dtype(name, x, y):
    """1e-30 * 1e50 is 1e20, though no float32 holds 1e50."""
    op = getattr(operator, name)
    with np.errstate(all="ignore"):
        expected = op(x.copy(), y)
    a = op(to_gpu(x), to_gpu(y))
    np.testing.assert_allclose(a.get(), expected, rtol=2e-3 if x.itemsize == 2 else 1e-6)


def test_integers_and_floating_point_arrays():
    """Sums and products are cut off, as PyCUDA's; the rest is refused, as NumPy does."""
    x, y = np.array([5, 10, -7], "i4"), np.array([0.5, 2.75, 0.5])
    for name in ("iadd", "isub", "imul"):
        op, apart = getattr(operator, name), getattr(operator, name[1:])
        assert_same(op(to_gpu(x), to_gpu(y)).get(), np.trunc(apart(x, y)).astype("i4"))
    for name in set(ALL) - {"iadd", "isub", "imul"}:
        a = to_gpu(x)
        with pytest.raises(TypeError):
            getattr(operator, name)(a, to_gpu(y))
        assert_same(a.get(), x)


def test_bools_take_bools_alone():
    x = np.array([True, False, True])
    for other in (2, 1.5, np.int8(1), to_gpu(np.array([2, 0, 0]))):
        for name in (*ALL, "isub"):
            a = to_gpu(x)
            with pytest.raises(TypeError):
                getattr(operator, name)(a, other)
            assert_same(a.get(), x)
    for name in ("ifloordiv", "imod", "ipow", "ilshift", "irshift"):
        with pytest.raises(TypeError, match=r"int8.*bool"):
            getattr(operator, name)(to_gpu(x), to_gpu(x))
    a = to_gpu(x)
    a &= np.False_
    a |= True
    assert a.get().all()


@pytest.mark.parametrize("power", [-1, np.int64(-2), np.int8(-1), np.array(-3)], ids=repr)
def test_negative_powers_of_integers_are_refused(power):
    x = np.array([1, 2, -3], "i4")
    a = to_gpu(x)
    for compute in (
        lambda: a**power,
        lambda: operator.ipow(a, power),
        lambda: np.power(a, power),
        lambda: np.power(a, power, out=gpuarray.zeros(3, np.int64)),
        lambda: to_gpu(x.astype("i2")) ** power,
    ):
        with pytest.raises(ValueError, match="negative integer powers"):
            compute()
    assert_same(a.get(), x)
    np.testing.assert_allclose((to_gpu(x.astype("f8")) ** power).get(), x.astype("f8") ** power)


@pytest.mark.parametrize("code", rare_but(["u1"], ["u1", "u8"]))
def test_unsigned_integers_wrap(code):
    x, top = np.array([0, 1, 5], code), int(np.iinfo(code).max)
    a = to_gpu(x)
    a -= 1
    assert a.get().tolist() == [top, 0, 4]
    a += 2
    assert a.get().tolist() == [1, 2, 6]
    a *= top
    assert a.get().tolist() == [top, top - 1, top - 5]
    a -= to_gpu(np.array([-1], "i8"))
    assert a.get().tolist() == [0, top, top - 4]
    assert (-to_gpu(x)).get().tolist() == [0, top, top - 4]


OUTSIDE = [
    *[("i4", 2.5), ("i4", 2.0), ("i4", 1j), ("i4", 2**31), ("i4", float("nan"))],
    *[("u4", -1), ("u1", 256), ("u8", 2**64), ("i8", -(2**70)), ("f4", 2j), ("f8", 1 + 0j)],
    *[("i4", np.float64(2)), ("i4", np.array(2.5)), ("u1", np.int16(-3))],
]
COMPLEX = [pytest.param(code, np.complex64(2j)) for code in ("f4", "f8")]


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize(("code", "number"), [*OUTSIDE, *COMPLEX])
def test_numbers_outside_the_arrays_type(code, number):
    x = np.array([1, 2, 3], code)
    a = to_gpu(x)
    for kind in (TypeError, struct.error):
        with pytest.raises(kind):
            a += number
        with pytest.raises(kind):  # without elements, too
            empty = a[:0]
            empty += number
    assert_same(a.get(), x)
    if isinstance(number, (int, complex, np.int16, np.complex64)):
        with pytest.raises(TypeError):
            a.fill(number)
    elif number == number:  # the integer part, as in an assignment
        x.fill(number)
        assert_same(a.fill(number).get(), x)
    else:
        with pytest.raises(ValueError, match="NaN"):
            a.fill(number)


@pytest.mark.parametrize("number", [2.5, np.float32(2), np.array(3.0)], ids=repr)
def test_numbers_for_integers_are_integers(number):
    a = to_gpu(np.array([1, 2, 3], "u1"))
    for kind in (TypeError, struct.error):
        with pytest.raises(kind, match=rf"{number} does not fit into uint8: expected an integer"):
            a *= number
    assert a.tolist() == [1, 2, 3]
    assert np.full_like(a, number).tolist() == a.fill(number).tolist() == [int(number)] * 3


@pytest.mark.parametrize(
    ("code", "number", "expected"),
    [
        ("u1", 300, "from 0 to 255"),
        ("u1", np.int64(-1), "from 0 to 255"),
        ("i1", -129, "from -128 to 127"),
        ("i8", 2**63, f"from {-(2**63)} to {2**63 - 1}"),
        ("u8", np.array(-1), f"from 0 to {2**64 - 1}"),
    ],
)
def test_the_range_of_a_dtype_is_named(code, number, expected):
    a = to_gpu(np.zeros(3, code))
    text = f"{number} does not fit into {a.dtype}: expected an integer {expected}"
    with pytest.raises(TypeError, match=re.escape(text)):
        a.fill(number)
    with pytest.raises(TypeError, match=re.escape(text)):
        gpuarray.full(3, number, code)


@pytest.mark.parametrize(
    ("code", "number", "kind"),
    [
        ("i4", np.nan, ValueError),
        ("u1", np.inf, OverflowError),
        ("i8", 1e300, OverflowError),
        ("i4", np.float64(1e10), OverflowError),
        ("u1", -1, OverflowError),
        ("i1", 300, OverflowError),
        ("u8", 2**70, OverflowError),
        ("f4", 1j, TypeError),
        ("f4", 10**400, OverflowError),
    ],
)
def test_numbers_that_do_not_fit_are_named(code, number, kind):
    """In every call that takes one number, with NumPy's exception and an unchanged array."""
    a = to_gpu(np.zeros(3, code))
    is_long = isinstance(number, int) and number.bit_length() > 128
    shown = "an integer of 1329 bits" if is_long else re.escape(str(number))
    calls = {
        "value": [
            lambda: a.fill(number),
            lambda: gpuarray.full(3, number, code),
            lambda: np.full_like(a, number),
            lambda: a.__setitem__(..., number),
            lambda: a.__setitem__(0, number),
            lambda: a.__setitem__([0, 2], number),
            lambda: a.__setitem__(to_gpu(np.array([0, 2])), number),
            lambda: a.__setitem__(to_gpu(np.array([True, False, True])), number),
            lambda: a.__setitem__((np.array([True, False, True]),), number),
        ],
        "values": [lambda: a.put([0], number)],
        "initial": [lambda: np.max(a, initial=number), lambda: a.min(initial=number)],
    }
    for name, works in calls.items():
        for work in works:
            with pytest.raises(kind, match=f"^{name}={shown} does not fit into {a.dtype}"):
                work()
    assert a.tolist() == [0, 0, 0]
    if isinstance(number, int):
        for work in (lambda: a.put([0], [number]), lambda: operator.iadd(a, number)):
            with pytest.raises(OverflowError):
                work()


def test_padding_converts_constants_like_numpy():
    for code, value in (("u1", 300), ("i1", 3), ("i4", 2.5), ("S3", 0), ("M8[s]", 5), ("?", 2)):
        x = np.zeros(2, code)
        expected = np.pad(x, 1, constant_values=value)
        assert_same(np.pad(to_gpu(x), 1, constant_values=value).get(), expected)
        expected = np.pad(x, 1, constant_values=(value, 0))
        assert_same(np.pad(to_gpu(x), 1, constant_values=(value, 0)).get(), expected)
    for code, value, kind in (("i1", 300, OverflowError), ("i4", np.nan, ValueError)):
        with pytest.raises(kind, match=f"^constant_values={value} does not fit into int"):
            np.pad(to_gpu(np.zeros(2, code)), 1, constant_values=value)


def test_complex_arrays_do_not_fit_into_real_ones():
    for code in ("i4", "f4", "?"):
        a = gpuarray.zeros(3, code)
        for kind in (TypeError, struct.error):
            with pytest.raises(kind):
                a += gpuarray.zeros(3, np.complex64)


@pytest.mark.parametrize(
    ("code", "name", "other"),
    [
        *(("i4", "itruediv", other) for other in ("i4", "f4")),
        *(("f4", name, "f4") for name in ("iand", "ior", "ixor", "ilshift", "irshift")),
        *(("F", name, "F") for name in ("ifloordiv", "imod", "iand", "ilshift")),
        pytest.param("i4", "iand", "f4"),
        pytest.param("i4", "ilshift", "f4"),
        pytest.param("?", "isub", "?"),
    ],
)
def test_what_has_no_meaning(code, name, other):
    a = gpuarray.zeros(0, code)
    with pytest.raises(TypeError):
        getattr(operator, name)(a, gpuarray.zeros(0, other))


@pytest.mark.parametrize("name", ALL)
def test_numbers_that_have_no_meaning(name):
    for other in ("x", None, [1], (1, 2), object(), b"1", np.ones(3, "i4")):
        with pytest.raises(TypeError):
            getattr(operator, name)(gpuarray.zeros(3, np.int32), other)


@pytest.mark.parametrize(
    ("code", "number"),
    [
        *[("i4", -7), ("?", True), ("u8", 2**64 - 1), ("e", 1.5), ("f4", 3), ("f8", 0.1)],
        *[("F", 1 + 2j), ("D", 3), ("i4", np.int64(5)), ("f4", np.float64(0.1)), ("i2", True)],
        *[("f4", np.array(2.5)), ("i4", np.array(3)), ("D", np.complex64(2j)), ("f4", np.True_)],
        pytest.param("i4", np.True_),
        pytest.param("f4", np.array([2.5])),
        pytest.param("i4", np.array([3])),
    ],
)
def test_fill(code, number):
    a = gpuarray.zeros((2, 3), code)
    assert a.fill(number) is a
    assert_same(a.get(), np.full((2, 3), number, code))


def test_fill_of_views():
    x = np.arange(24, dtype="i4").reshape(2, 3, 4)
    for index in (np.s_[:, 1], np.s_[..., ::-2], np.s_[1, 1, 1], np.s_[1:1]):
        a, expected = to_gpu(x), x.copy()
        a[index].fill(99)
        expected[index] = 99
        assert_same(a.get(), expected)


@pytest.mark.parametrize("code", ["i4", "f4", "F", pytest.param("?")])
def test_fill_with_what_is_no_number(code):
    a = gpuarray.zeros(3, code)
    for value in (None, "x", [1, 2], np.ones(2), object()):
        with pytest.raises((TypeError, struct.error)):
            a.fill(value)
    assert not a.get().any()
