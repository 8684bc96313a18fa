"""Classes of users' that derive from GPUArray, as libraries for PyCUDA have them."""

import collections.abc

import numpy as np
import pytest

from PyGPU import GPUArray, cumath, driver, gpuarray
from PyGPU.gpuarray import to_gpu


class Padded(GPUArray):
    """Says of itself what only it knows, as PyCUDA's plain attributes allow."""

    def __init__(self, shape, dtype, padding=0, **rest):
        super().__init__(shape, dtype, **rest)
        self.padding = padding
        self.nbytes = self.nbytes + padding
        self.size = 1000
        self.mem_size = "much"
        self.base = self


def filled(array):
    array.set(np.arange(np.prod(array.shape)).reshape(array.shape).astype(array.dtype))
    return array


def test_what_a_subclass_says_is_read_and_what_is_true_is_used():
    a = filled(Padded((3, 4), np.float32, padding=8))
    assert (a.nbytes, a.size, a.mem_size) == (56, 1000, "much")
    assert a.base is a
    x = np.arange(12, dtype="f4").reshape(3, 4)
    for got, expected in [
        (a + a, 2 * x),
        (a * 3 - 1, x * 3 - 1),
        (cumath.sin(a), np.sin(x)),
        (a[1:, ::2], x[1:, ::2]),
        (gpuarray.sum(a), x.sum()),
        (a.copy(), x),
        (gpuarray.take(a.ravel(), to_gpu(np.array([3, 7], "i4"))), x.ravel()[[3, 7]]),
        (a[to_gpu(x > 5)], x[x > 5]),
        (gpuarray.concatenate((a, a)), np.concatenate((x, x))),
        (a.reshape(12), x.ravel()),
    ]:
        np.testing.assert_allclose(got.get(), expected, rtol=1e-6)
    assert np.float32(1) + np.float32(gpuarray.max(a).get()) == 12
    a.size = 1
    np.testing.assert_array_equal(np.cumsum(a, axis=0).get(), np.cumsum(x, axis=0))
    np.testing.assert_array_equal(np.histogram(a, 3)[0].get(), np.histogram(x, 3)[0])
    rows = filled(Padded((12,), np.float32))
    rows.size = 1
    np.testing.assert_array_equal(np.searchsorted(rows, rows).get(), np.arange(12))
    del a.size
    assert a.size == 12


def test_attributes_that_do_not_fit_are_the_objects_word():
    a = filled(Padded((3, 4), np.float32))
    a.shape = (5, 5)
    a.dtype = "none of NumPy's"
    a.gpudata = None
    assert (a.shape, a.dtype, a.gpudata) == ((5, 5), "none of NumPy's", None)
    del a.shape, a.dtype, a.gpudata
    assert (a.shape, a.dtype) == ((3, 4), np.float32)
    np.testing.assert_array_equal(a.get().ravel(), np.arange(12))


@pytest.mark.parametrize("kind", [GPUArray, Padded])
def test_shape_strides_and_dtype_change_the_array(kind):
    a = filled(kind((3, 4), np.float32))
    x = np.arange(12, dtype="f4").reshape(3, 4)
    a.shape = (4, 3)
    assert (a.shape, a.strides) == ((4, 3), (12, 4))
    np.testing.assert_array_equal((a + 1).get(), x.reshape(4, 3) + 1)
    a.shape = 12
    a.dtype = np.int32
    np.testing.assert_array_equal((a + 1).get(), x.ravel().view("i4") + 1)
    a.dtype = np.float32
    a.shape = (6, 2)
    a.strides = (4, 24)
    with pytest.raises(ValueError, match=r"spans 8196 bytes of memory, of which 12"):
        gpuarray.zeros(3, np.float32).strides = (4096,)
    np.testing.assert_array_equal((a * 1).get(), x.reshape(2, 6).T)


@pytest.mark.parametrize("kind", [GPUArray, Padded])
def test_gpudata_changes_the_memory(kind):
    a, b = filled(kind(6, np.float32)), to_gpu(np.full(6, 7, "f4"))
    a.gpudata = b.gpudata
    assert a.ptr == b.ptr
    b += 1
    np.testing.assert_array_equal((a + 1).get(), np.full(6, 9))
    a.gpudata = b.ptr
    del b
    np.testing.assert_array_equal((a + 1).get(), np.full(6, 9))


def test_what_a_plain_array_refuses():
    a = gpuarray.zeros((3, 4), np.float32)
    for name in ("size", "mem_size", "nbytes", "base"):
        with pytest.raises(AttributeError, match=f"{name} of a GPUArray cannot be set"):
            setattr(a, name, 1)
    with pytest.raises(ValueError, match="shape"):
        a.shape = (5, 5)
    with pytest.raises(TypeError, match="gpudata: expected memory"):
        a.gpudata = None
    with pytest.raises(TypeError, match="deleted"):
        del a.shape
    with pytest.raises(TypeError, match="allocator"):
        a.allocator = 3
    assert a.shape == (3, 4)
    assert a.get().shape == (3, 4)
    taken = []

    def allocate(nbytes):
        taken.append(nbytes)
        return GPUArray(nbytes, np.uint8).gpudata

    a.allocator = allocate
    assert (a + 1).allocator is allocate
    assert taken == [48]


class Tagged(GPUArray):
    """Has a constructor of PyCUDA's signature, and something more."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.tag = "new"


class Named(GPUArray):
    """Has a constructor of its own signature, so it says how results are made."""

    def __init__(self, name, shape, dtype, allocator=None):
        super().__init__(shape, dtype, allocator=allocator)
        self.name = name

    def _new_like_me(self, dtype=None, order="C"):
        return Named(self.name + "'", self.shape, dtype or self.dtype, self.allocator)


def test_results_are_made_by_the_class():
    x = np.arange(6, dtype="f4").reshape(2, 3)
    tagged = filled(Tagged((2, 3), np.float32))
    for result in (tagged + 1, 2 * tagged, -tagged, abs(tagged), cumath.exp(tagged), tagged == 1):
        assert (type(result), result.tag) == (Tagged, "new")
    np.testing.assert_array_equal((tagged + 1).get(), x + 1)
    assert tagged.astype("f8").dtype == np.float64
    named = filled(Named("a", (2, 3), np.float32))
    assert (named + named).name == "a'"
    assert cumath.sqrt(named * 2).name == "a''"
    np.testing.assert_array_equal((named / 2).get(), x / 2)
    for plain in (named[1:], named.copy(), named.T, named + gpuarray.zeros((4, 2, 3), np.float32)):
        assert type(plain) is GPUArray
    assert named._new_like_me(np.int8).dtype == np.int8
    assert GPUArray((3, 2), np.float32, order="F")._new_like_me(np.int16).strides == (2, 6)


def test_a_result_that_does_not_fit_is_refused():
    class Wrong(GPUArray):
        def _new_like_me(self, dtype=None, order="C"):
            return gpuarray.zeros(7, np.float32)

    with pytest.raises(TypeError, match=r"Wrong\._new_like_me.*shape \(3,\).*got shape \(7,\)"):
        Wrong(3, np.float32) + 1

    class Nothing(GPUArray):
        def _new_like_me(self, dtype=None, order="C"):
            return None

    with pytest.raises(TypeError, match="got None"):
        -Nothing(3, np.float32)


class Counted(GPUArray):
    """Replaces the inner sums of PyCUDA's operators."""

    calls = []  # noqa: RUF012

    def _axpbyz(self, selffac, other, otherfac, out, add_timer=None, stream=None):
        self.calls.append((selffac, otherfac))
        return super()._axpbyz(selffac, other, otherfac, out)

    def _axpbz(self, selffac, other, out, stream=None):
        self.calls.append((selffac, other))
        return super()._axpbz(selffac, other, out)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, np.complex64])
def test_operators_by_inner_sums_of_a_class(dtype):
    x = np.arange(1, 7).astype(dtype)
    a, b = filled(Counted(6, dtype)), to_gpu(x)
    a += 1
    Counted.calls.clear()
    for got, expected in [
        (a + b, x + x),
        (a - b, x - x),
        (a + 2, x + 2),
        (3 + a, 3 + x),
        (a - 1, x - 1),
        (7 - a, 7 - x),
    ]:
        assert type(got) is Counted
        np.testing.assert_array_equal(got.get(), expected, strict=True)
    minus_one = 255 if dtype is np.uint8 else -1
    assert Counted.calls == [(1, 1), (1, minus_one), (1, 2), (1, 3), (1, -1), (-1, 7)]
    np.testing.assert_array_equal((-a).get(), (-x.astype("c16")).real.astype("i8").astype(dtype))
    a -= b
    np.testing.assert_array_equal(a.get(), np.zeros(6))


def test_the_inner_sums_by_themselves():
    a, out = to_gpu(np.arange(4, dtype="f4")), gpuarray.zeros(4, np.float32)
    assert a._axpbz(2, 1, out) is out
    np.testing.assert_array_equal(out.get(), [1, 3, 5, 7])
    assert a._axpbyz(2, out, -1, out) is out
    np.testing.assert_array_equal(out.get(), [-1, -1, -1, -1])
    with pytest.raises(TypeError, match="out"):
        a._axpbz(2, 1, None)


def test_copies_of_any_strides():
    x = np.arange(24, dtype="i4").reshape(4, 6)
    a, b = to_gpu(x), gpuarray.zeros((4, 3), np.int32)
    gpuarray._memcpy_discontig(b, a[:, ::2])
    np.testing.assert_array_equal(b.get(), x[:, ::2])
    host = np.zeros((4, 3), "i4")
    gpuarray._memcpy_discontig(host, a[:, 1::2])
    np.testing.assert_array_equal(host, x[:, 1::2])
    gpuarray._memcpy_discontig(a[::2], x[1::2])
    np.testing.assert_array_equal(a.get()[::2], x[1::2])
    stream = driver.Stream()
    gpuarray._memcpy_discontig(b, a[:, 3:], async_=True, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(b.get(), a.get()[:, 3:])
    with pytest.raises(TypeError, match="src"):
        gpuarray._memcpy_discontig(host, host)


def test_arrays_are_not_taken_for_lists():
    """Programs ask for Iterable to tell a list of arrays from an array."""
    a = to_gpu(np.arange(6).reshape(2, 3))
    assert not isinstance(a, collections.abc.Iterable)
    assert not hasattr(a, "__iter__")
    assert [row.get().tolist() for row in a] == [[0, 1, 2], [3, 4, 5]]
    _first, second = a
    assert (second.get() == [3, 4, 5]).all()
    with pytest.raises(TypeError, match="0-d"):
        list(a[0, 0])
