"""Numbers with a unit or a mask do not become plain numbers in silence."""

import operator

import needs
import numpy as np
import pytest

from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu


class Length(np.ndarray):
    """A number with a unit, whose class computes no operation of its own."""


class OwnLength(Length):
    """A number with a unit, whose class computes all operations."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, [type(one) for one in inputs]


def astropy():
    return 3 * needs.module("astropy.units").m


def unyt():
    return 3 * needs.module("unyt").m


def quantities():
    return 3 * needs.module("quantities").m


NUMBERS = {
    "subclass": lambda: np.array(3.0).view(Length),
    "masked": lambda: np.ma.masked,
    "masked array": lambda: np.ma.array(3.0, mask=True),
    **{"astropy": astropy, "unyt": unyt, "quantities": quantities},
}
OPERATORS = [*["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "iadd", "imul"]]


@pytest.fixture(params=NUMBERS)
def number(request):
    return NUMBERS[request.param]()


@pytest.fixture
def a():
    return to_gpu(np.arange(3.0))


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_refuse_them(a, number, name):
    before = a.get()
    for array in (a, a[0]):
        with pytest.raises(TypeError):
            getattr(operator, name)(array, number)
    assert np.array_equal(a.get(), before)
    if name[0] != "i":
        with pytest.raises(TypeError):
            getattr(operator, name)(number, a)


@pytest.mark.parametrize(
    "call",
    [
        lambda a, q: np.multiply(a, q),
        lambda a, q: np.add(a, q, out=a),
        lambda a, q: np.maximum(q, a),
        lambda a, q: np.less(q, a),
        lambda a, q: np.where(a, a, q),
        lambda a, q: np.clip(a, 0, q),
        lambda a, q: a.clip(0, q),
        lambda a, q: a.mul_add(q, a, 1),
        lambda a, q: gpuarray.maximum(a, q),
        lambda a, q: np.nan_to_num(a, nan=q),
        lambda a, q: np.sum(a, initial=q),
        lambda a, q: a.max(initial=q),
        lambda a, q: np.searchsorted(a, q),
        lambda a, q: gpuarray.linspace(0, q, 3),
        lambda a, q: np.isclose(a, q),
    ],
)
def test_functions_refuse_them(a, number, call):
    with pytest.raises(TypeError):
        call(a, number)


def test_their_class_may_compute_the_operation(a):
    own = np.array(3.0).view(OwnLength)
    assert np.multiply(a, own) == ("multiply", [GPUArray, OwnLength])
    assert np.less(own, a) == ("less", [OwnLength, GPUArray])
    assert (a * own)[0] == (own * a)[0] == "multiply"


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element")
def test_assignments_convert_them_as_numpy_does(number):
    """NumPy asks the number's class for a float."""
    for assign in (
        lambda x: operator.setitem(x, 0, number),
        lambda x: x.fill(number),
    ):
        host, array = np.zeros(3), gpuarray.zeros(3)
        try:
            assign(host)
        except TypeError:
            with pytest.raises(TypeError):
                assign(array)
        else:
            assign(array)
            np.testing.assert_array_equal(array.get(), host)
