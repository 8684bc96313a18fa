"""Arrays of one element as Python's numbers, and elements as lists: by explicit calls."""

import math
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, arrays, assert_same, indices, part, values

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import to_gpu

NUMBERS = [
    *[np.array(number) for number in (7, -3, 2.75, 1e300, True, False, 2**63 - 1, 0.1)],
    *[np.array(2.5, "f4"), np.array(1.5, "e"), np.array(200, "u1"), np.array(2**64 - 1, "u8")],
    *[np.array([[4.5]]), np.array([9]), np.array([True])],
]


@pytest.mark.parametrize("x", NUMBERS, ids=repr)
def test_numbers(x):
    array, number = to_gpu(x), x.item()
    for call in (int, float, complex, bool, round):
        converted = call(array)
        assert (type(converted), converted) == (type(call(number)), call(number))
    assert round(array, 1) == round(number, 1)
    assert type(array.item()) is type(number)
    assert array.item() == array.tolist()[0] if x.shape == (1,) else array.item() == number
    for how in (".3f", "8.2e", ">12", "g"):
        assert f"{array:{how}}" == format(number, how)
    assert f"{array}" == str(x)


def test_results_of_reductions():
    x = np.arange(6, dtype="f4").reshape(2, 3)
    a = to_gpu(x)
    assert float(a.sum()) == 15
    assert f"{a.mean():.3f}" == "2.500"
    assert f"{a.max():.0f} of {a.astype('i4').sum():d}" == "5 of 15"
    assert math.sqrt(a[1, 1]) == 2


def test_complex_numbers():
    array = to_gpu(np.array([1 + 2j], "F"))
    assert complex(array) == array.item() == 1 + 2j
    for call in (float, int):
        with pytest.raises(TypeError, match="complex"):
            call(array)


@pytest.mark.parametrize("call", [int, float, complex, round])
@pytest.mark.parametrize("shape", [2, 0, (1, 3)])
def test_more_or_fewer_elements_are_no_number(call, shape):
    with pytest.raises(TypeError, match=r"one element, got shape \("):
        call(gpuarray.zeros(shape))
    with pytest.raises(TypeError, match="one element"):
        f"{gpuarray.zeros(shape):.2f}"
    with pytest.raises(ValueError, match=r"tolist\(\)"):
        gpuarray.zeros(shape).item()
    with pytest.raises(TypeError, match="one element"):
        gpuarray.zeros(shape).__float__()


def test_not_a_number():
    array = to_gpu(np.array(np.nan))
    assert math.isnan(float(array))
    with pytest.raises(ValueError, match="NaN"):
        int(array)


@pytest.mark.parametrize("code", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_without_axes_are_indices(code):
    three = to_gpu(np.array(3, code))
    assert operator.index(three) == 3
    assert list(range(5))[three] == 3
    assert list(range(5))[:three] == [0, 1, 2]
    assert len(range(three)) == 3
    assert gpuarray.zeros(three, np.int8).shape == (3,)
    assert np.arange(10)[:three].size == 3
    x = np.arange(10.0)
    assert_same(to_gpu(x)[:three].get(), x[:3])


@pytest.mark.parametrize(
    "x", [np.array(2.0), np.array([2]), np.array(True), np.arange(3)], ids=repr
)
def test_what_is_no_index(x):
    with pytest.raises(TypeError, match="0-d integer array"):
        operator.index(to_gpu(x))


@given(arrays(), st.data())
def test_lists(x, data):
    index = data.draw(indices(x.shape))
    view, host = to_gpu(x)[index], part(x.copy(order="K"), index)
    assert repr(view.tolist()) == repr(host.tolist())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_items_of_every_dtype(dtype):
    x = values((3,), dtype)
    assert repr(to_gpu(x).item(1)) == repr(x.item(1))
    assert repr(to_gpu(x)[2:].item()) == repr(x[2:].item())


def test_items():
    x = np.arange(24).reshape(2, 3, 4)
    for host, array in (
        (x, to_gpu(x)),
        (x[::-1, :, ::2], to_gpu(x)[::-1, :, ::2]),
        (x.T, to_gpu(x).T),
    ):
        for index in ((5,), (-1,), (0, 1, 1), (-1, -2, 0), ((1, 2, 1),), (np.int8(3),)):
            assert array.item(*index) == host.item(*index)
    assert to_gpu(np.array(3.5)).item(0) == 3.5
    for index in ((24,), (-25,), (0, 3, 0), (0, 0, -5)):
        with pytest.raises(IndexError, match="out of bounds"):
            to_gpu(x).item(*index)
    with pytest.raises(ValueError, match=r"each axis of shape \(2, 3, 4\), got 2 indices"):
        to_gpu(x).item(1, 2)
    for index in ((1.5,), ("1",), (None,), (slice(2),)):
        with pytest.raises(TypeError):
            to_gpu(x).item(*index)


def test_conversions_come_after_the_work_before_them():
    stream = drv.Stream()
    a = gpuarray.zeros(1 << 20, np.int32)
    a.fill(3, stream=stream)
    total = a.sum(stream=stream)
    assert int(total) == 3 << 20


def test_a_launch_fetches_no_number_unasked():
    function = SourceModule("__global__ void f(float *a, int n, float x) {}").get_function("f")
    function.prepare("Pif")
    a, n, x = gpuarray.zeros(4, "f4"), to_gpu(np.array(4, "i4")), to_gpu(np.array(1.5, "f4"))
    for passed in ((n, 1.5), (4, x)):
        with pytest.raises(TypeError, match="GPUArray"):
            function.prepared_call((1, 1), (1, 1, 1), a.gpudata, *passed)
        with pytest.raises(TypeError, match=r"int\(a\) and float\(a\) return"):
            function(a, *passed, block=(1, 1, 1))
    function.prepared_call((1, 1), (1, 1, 1), a.gpudata, int(n), float(x))


def test_an_array_is_no_stream():
    with pytest.raises(TypeError, match="stream: expected"):
        gpuarray.zeros(3).sum(stream=gpuarray.zeros(3))


def test_messages_name_the_classes_as_users_know_them():
    a = gpuarray.zeros(3)
    with pytest.raises(TypeError, match=r"'PyGPU\.GPUArray' and 'str'"):
        a + "x"
    with pytest.raises(TypeError, match=r"'PyGPU\.GPUArray' object is not callable"):
        a()
    assert PyGPU.cudaError_t.__module__ == PyGPU.DeviceAllocation.__module__ == "PyGPU"
    for name, value in vars(PyGPU).items():
        if isinstance(value, type):
            assert f"_{PyGPU.target}." not in repr(value), name


def test_matrix_products_are_other_libraries():
    class HasItsOwn:
        def __rmatmul__(self, other):
            return "product"

    a = gpuarray.zeros((2, 2))
    for other in (a, 2, None):
        with pytest.raises(TypeError, match="from_dlpack"):
            a @ other
    for compute in (
        lambda: a @ np.ones((2, 2)),
        lambda: np.ones((2, 2)) @ a,
        lambda: np.matmul(a, a),
    ):
        with pytest.raises(TypeError):
            compute()
    with pytest.raises(TypeError, match="from_dlpack"):
        2 @ a
    assert a @ HasItsOwn() == "product"


@pytest.mark.parametrize(
    "bases", ["cudaError_t GPUArray", "GPUArray cudaError_t", "GPUArray cudaStream_t"]
)
def test_a_class_is_made_of_one_of_ours(bases):
    with pytest.raises(TypeError, match=r"lay-?out"):
        type("Mixed", tuple(getattr(PyGPU, name) for name in bases.split()), {})
