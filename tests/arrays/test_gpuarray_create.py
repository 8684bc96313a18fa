"""Making a GPUArray: the forms of its arguments, its attributes, what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, arrays, assert_same, counted_strides, indices, part, shapes, values

import PyGPU
from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray, empty_like, to_gpu, to_gpu_async, zeros_like


@pytest.mark.parametrize(
    ("given_as", "shape"),
    [
        (4, (4,)),
        (0, (0,)),
        (np.int64(4), (4,)),
        (np.array(4), (4,)),
        ((), ()),
        ([], ()),
        ((2, 3), (2, 3)),
        ([2, 3], (2, 3)),
        (np.array([2, 3]), (2, 3)),
        (np.array([], int), ()),
        ((np.uint8(2), 0, 3), (2, 0, 3)),
        ((1,) * 32, (1,) * 32),
    ],
)
def test_forms_of_a_shape(given_as, shape):
    array = GPUArray(given_as, np.float32)
    assert array.shape == shape
    assert all(type(length) is int for length in array.shape)
    assert array.dtype == np.float32
    x = values(shape, np.float32)
    array.set(x)
    assert_same(array.get(), x)


@pytest.mark.parametrize("dtype", [np.float32, "f4", "<f4", np.dtype("f4"), np.dtype("f4").type])
def test_forms_of_a_dtype(dtype):
    array = GPUArray(3, dtype)
    assert array.dtype == np.dtype("f4")
    assert isinstance(array.dtype, np.dtype)


def test_the_default_dtype_is_float64():
    assert GPUArray(3).dtype == np.float64
    assert GPUArray(3, None).dtype == np.float64
    assert gpuarray.zeros(3).dtype == np.float64


@pytest.mark.parametrize("dtype", ["S", "U", "V", "V0"])
def test_dtypes_without_a_size(dtype):
    array = gpuarray.zeros(3, dtype)
    assert array.get().dtype == array.dtype
    assert array.get().tobytes() == bytes(array.nbytes)


def test_a_subarray_dtype_adds_axes():
    dtype = np.dtype(("f4", (2,)))
    assert_same(gpuarray.zeros(3, dtype).get(), np.zeros(3, dtype))
    assert GPUArray(3, dtype).shape == (3, 2)
    assert GPUArray(3, dtype).dtype == np.float32
    with pytest.raises(TypeError, match="dtype"):
        gpuarray.empty_like(GPUArray(3), dtype)
    with pytest.raises(TypeError, match="dtype"):
        GPUArray(3).view(dtype)


@given(arrays())
def test_an_ndarray_in_place_of_a_shape_is_copied(x):
    if x.ndim == 0:  # an int: the number of elements
        return
    array = GPUArray(x)
    assert_same(array.get(), x)
    assert array.base is None


class Clearing(list):
    """Its first item empties it when it is asked for its number."""

    class First:
        def __init__(self, items):
            self.items = items

        def __index__(self):
            self.items.clear()
            return 2

    def __init__(self):
        super().__init__([self.First(self), 3, 4])


class Counting:
    """A sequence that makes its items when they are asked for."""

    def __len__(self):
        return 3

    def __getitem__(self, i):
        if i >= 3:
            raise IndexError(i)
        return int("1000") + i


@pytest.mark.parametrize(
    ("shape", "expected"),
    [(range(300, 303), (300, 301, 302)), (Counting(), (1000, 1001, 1002)), (Clearing(), (2, 3, 4))],
)
def test_shapes_that_are_other_sequences(shape, expected):
    assert gpuarray.empty(shape, np.uint8).shape == expected


def test_the_copy_is_apart_from_the_ndarray():
    x = np.arange(3)
    array = GPUArray(x)
    x[:] = 7
    assert array.get().tolist() == [0, 1, 2]


@given(shapes(), st.sampled_from(DTYPES), st.sampled_from("CF"))
def test_attributes_of_a_new_array(shape, dtype, order):
    x = np.empty(shape, dtype, order)
    for array in (GPUArray(shape, dtype, order=order), gpuarray.zeros(shape, dtype, order=order)):
        assert_attributes(array, x)
        assert array.base is None
        assert array.allocator is None


@given(arrays(), st.data())
def test_attributes_of_any_layout(x, data):
    host = x.copy(order="K")
    index = data.draw(indices(x.shape))
    assert_attributes(to_gpu(x), host)
    assert_attributes(to_gpu(x)[index], part(host, index))


def assert_attributes(array, x):
    """As NumPy's, except strides that never count."""
    for name in ("shape", "dtype", "size", "nbytes", "itemsize", "ndim"):
        assert getattr(array, name) == getattr(x, name)
    assert array.mem_size == x.size
    assert counted_strides(array) == counted_strides(x)
    assert len(array.strides) == x.ndim
    assert all(type(number) is int for number in (*array.shape, *array.strides, array.size))
    assert array.flags.c_contiguous is bool(x.flags.c_contiguous)
    assert array.flags.f_contiguous is bool(x.flags.f_contiguous)
    assert array.flags.forc is bool(x.flags.forc)
    assert (array.ptr == 0) is (array.gpudata is None) is (x.size == 0)


def test_an_array_is_not_hashable():
    with pytest.raises(TypeError):
        hash(GPUArray(3))


@given(shapes(), st.sampled_from(DTYPES), st.sampled_from("CF"))
def test_zeros_are_zeros(shape, dtype, order):
    assert_same(gpuarray.zeros(shape, dtype, order=order).get(), np.zeros(shape, dtype, order))


@given(arrays(), st.data())
def test_like_another_array(x, data):
    order = data.draw(st.sampled_from("KACF"))
    dtype = data.draw(st.none() | st.sampled_from(DTYPES))
    index = data.draw(indices(x.shape))
    other, host = to_gpu(x)[index], part(x.copy(order="K"), index)
    expected = np.zeros_like(host, dtype, order)
    empty = gpuarray.empty_like(other, dtype, order)
    zeros = gpuarray.zeros_like(other, dtype, order)
    assert_same(zeros.get(), expected)
    for array in (empty, zeros):
        assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
        assert counted_strides(array) == counted_strides(expected)
        assert array.base is None
    assert empty.size == 0 or empty.ptr not in (other.ptr, zeros.ptr)


def test_like_another_array_by_default():
    other = GPUArray((2, 3), np.int16, order="F")
    for make in (gpuarray.empty_like, gpuarray.zeros_like):
        assert make(other).dtype == np.int16
        assert make(other).strides == other.strides
        with pytest.raises(TypeError):
            make(object())


@pytest.mark.parametrize("order", ["c", "K", "A", "", "CF", "C "])
def test_unknown_orders(order):
    with pytest.raises(ValueError, match="order"):
        GPUArray(3, order=order)
    with pytest.raises(ValueError, match="order"):
        gpuarray.zeros(3, order=order)
    if order not in ("K", "A"):
        with pytest.raises(ValueError, match="order"):
            gpuarray.empty_like(GPUArray(3), order=order)


@pytest.mark.parametrize(
    "strides", [(32, 4), (4, 8), (-32, 4), (64, -8), [32, 4], np.array([4, 8])]
)
def test_strides_of_ones_own(strides):
    array = GPUArray((2, 3), np.float32, strides=strides, order="F")
    assert array.strides == tuple(strides)
    assert array.nbytes == 24
    x = values((2, 3), np.float32)
    array.set(x)
    assert_same(array.get(), x)


def test_wrong_strides():
    for strides in [(4,), (), (4, 4, 4)]:
        with pytest.raises(ValueError, match="strides"):
            GPUArray((2, 3), np.float32, strides=strides)
    for strides in [(8.0, 4), 2.5, "ab"]:
        with pytest.raises(TypeError):
            GPUArray((2, 3), np.float32, strides=strides)


@pytest.mark.parametrize(
    "dtype", [object, [("a", object)], [("a", [("b", "O")])], [("a", object, (2,))]]
)
@pytest.mark.parametrize("make", [GPUArray, gpuarray.zeros])
def test_python_objects_are_refused(make, dtype):
    with pytest.raises(TypeError, match="object"):
        make(3, dtype)
    with pytest.raises(TypeError, match="object"):
        gpuarray.empty_like(GPUArray(3), dtype)
    with pytest.raises(TypeError, match="object"):
        to_gpu(np.empty(3, dtype))


def test_what_is_no_dtype():
    with pytest.raises(TypeError):
        GPUArray(3, "no such dtype")


def test_empty_takes_what_the_class_takes():
    for make in (GPUArray, gpuarray.empty):
        array = make((2, 3), np.int16, order="F")
        assert type(array) is GPUArray
        assert (array.shape, array.dtype, array.strides) == ((2, 3), np.int16, (2, 4))
        part = make(shape=4, dtype="u1", base=array, gpudata=array.ptr, strides=(2,))
        assert part.base is array and part.ptr == array.ptr and part.strides == (2,)
        for args, kwargs in [
            ((), {}),
            ((), {"dtype": "f4"}),
            ((3, "f4"), {"dtype": "f4"}),
            ((3,), {"size": 3}),
            (range(8), {}),
        ]:
            with pytest.raises(TypeError, match="argument"):
                make(*args, **kwargs)


@pytest.mark.parametrize("name", gpuarray.__all__)
def test_the_package_has_the_same_names(name):
    assert getattr(PyGPU, name) is getattr(gpuarray, name)


class Named(GPUArray):
    """As programs do: a constructor and attributes of their own."""

    def __init__(self, shape, dtype, name):
        super().__init__(shape, dtype)
        self.name = name

    def total(self):
        return self.get().sum()


def test_an_array_is_made_once():
    """Another thread may be using what it is."""
    x = np.arange(3.0)
    for array in (to_gpu(x), to_gpu(x)[:], GPUArray(3, np.float64), Named(3, np.float64, "t")):
        array.set(x)
        with pytest.raises(TypeError, match="only once"):
            GPUArray.__init__(array, 5, np.int8)
        assert_same(array.get(), x)
    status = PyGPU.cudaError_t(2)
    with pytest.raises(TypeError, match=r"cudaError_t.*only once"):
        status.__init__(3)
    assert status.code == 2


def test_subclasses():
    named = Named((2, 3), np.float32, "temperature")
    named.set(np.ones((2, 3), np.float32))
    assert isinstance(named, GPUArray)
    assert (named.name, named.total(), named.shape) == ("temperature", 6, (2, 3))
    for plain in (named[1:], named.copy(), named.reshape(6), named.T, gpuarray.empty_like(named)):
        assert type(plain) is GPUArray
    assert named[1:].base is named
    assert to_gpu(named).get().sum() == 6


@pytest.mark.parametrize(
    "value", [3.5, 7, 1j, True, [1, 2], [[1.5], [2]], (1, 2j), np.float32(3)], ids=str
)
def test_numbers_and_nested_lists(value):
    expected = np.asarray(value)
    assert_same(to_gpu(value).get(), expected)
    assert_same(zeros_like(value).get(), np.zeros_like(expected))
    assert empty_like(value).shape == expected.shape and empty_like(value, "i4").dtype == np.int32
    for wrong in (object(), "text", None, {1: 2}):
        with pytest.raises(TypeError, match="to_gpu: ary: expected a numpy"):
            to_gpu(wrong)
        with pytest.raises(TypeError, match="other_ary: expected a GPUArray or an array_like, got"):
            zeros_like(wrong)
    with pytest.raises(ValueError, match="inhomogeneous"):
        to_gpu([[1, 2], [3]])
    with pytest.raises(TypeError, match="to_gpu: ary: expected a numpy"):
        to_gpu_async([1, 2])


@pytest.mark.parametrize("order", ["K", "A", "C", "F"])
def test_shapes_of_arrays_like_others(order):
    x = np.empty((2, 3, 4), "f4").transpose(1, 0, 2)
    for host in (x, np.asfortranarray(x), x[:, ::-1]):
        a = to_gpu(host)
        for shape in ((5, 6, 7), (4, 3), 5, (), (0, 2, 1)):
            expected = np.empty_like(a.get(), shape=shape, order=order)
            for made in (
                empty_like(a, order=order, shape=shape),
                zeros_like(host, order=order, shape=shape),
            ):
                assert made.shape == expected.shape
                assert made.strides == expected.strides or not expected.size
    assert (zeros_like(x, shape=3).get() == 0).all()
