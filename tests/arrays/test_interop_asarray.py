"""asarray: memory of other libraries by __cuda_array_interface__, or by DLPack."""

import gc
import weakref

import dlpack_tools as dlpack
import numpy as np
import pytest
from dlpack_tools import Producer
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, arrays, assert_same, counted_strides, indices, part, values

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray, asarray, to_gpu


class Teller:
    """Another library's array, which tells of its memory by the interface alone."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array._array_interface, **changes}

    def without(self, *names):
        for name in names:
            self.__cuda_array_interface__.pop(name, None)
        return self


def test_an_array_is_returned_as_it_is():
    class Sub(GPUArray):
        pass

    for array in (gpuarray.zeros(3), gpuarray.zeros(3)[1:], Sub(3)):
        assert asarray(array) is array


@given(x=arrays(), data=st.data())
def test_any_layout_and_dtype(x, data):
    index = data.draw(indices(x.shape))
    view, host = to_gpu(x)[index], part(x.copy(order="K"), index)
    array = asarray(Teller(view))
    assert type(array) is GPUArray
    assert array.ptr == view.ptr
    assert_same(array.get(), host)
    assert counted_strides(array) == counted_strides(host)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_every_version(version, dtype):
    x = values((2, 3), dtype)
    teller = Teller(to_gpu(x), version=version)
    if version < 3:
        teller.without("stream")
    assert_same(asarray(teller).get(), x)


@pytest.mark.parametrize("names", [["strides"], ["stream"], ["mask", "descr"]])
def test_what_may_be_left_out(names):
    x = values((2, 3), np.float32)
    assert_same(asarray(Teller(to_gpu(x)).without(*names)).get(), x)


def test_none_stands_for_what_is_left_out():
    x = values((2, 3), np.float32)
    teller = Teller(to_gpu(x), strides=None, mask=None, stream=None, descr=[("", "<f4")])
    assert_same(asarray(teller).get(), x)


@pytest.mark.parametrize("flags", [0, 1])
def test_the_producers_stream(flags):
    stream = PyGPU.cudaStream_t(flags)
    x = values((4,), np.int32)
    for number in (1, 2, stream.handle):
        assert_same(asarray(Teller(to_gpu(x), stream=number)).get(), x)


def test_a_stream_that_could_be_two():
    with pytest.raises(ValueError, match="stream 0"):
        asarray(Teller(gpuarray.zeros(3), stream=0))


@pytest.mark.parametrize("flags", [0, 1])
def test_ready_on_a_stream(flags):
    stream = drv.Stream(flags)
    x = values((4,), np.int32)
    for source in (Teller(to_gpu(x)), Producer(to_gpu(x))):
        got = asarray(source, stream=stream).get_async(stream)
        stream.synchronize()
        assert_same(got, x)


def test_the_owner_lives_as_long_as_the_last_view():
    owner = Teller(to_gpu(np.arange(10)))
    reference = weakref.ref(owner)
    array = asarray(owner)
    assert array.base is owner
    view = array[2:5].T
    del owner, array
    gc.collect()
    assert view.get().tolist() == [2, 3, 4]
    exported = dlpack.take(view.__dlpack__(max_version=(1, 0)))
    del view
    gc.collect()
    assert reference() is not None
    dlpack.end(exported)
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize(
    "back",
    [
        lambda array: array,
        lambda array: array[1:],
        lambda array: array.T[::2],
        lambda array: [array, array[1:].view("i4")],
    ],
)
def test_an_owner_that_refers_back_to_its_array_is_garbage(back):
    owner = Teller(to_gpu(np.arange(5.0)))
    reference = weakref.ref(owner)
    owner.back = back(asarray(owner))
    del owner
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("shape", [0, (3, 0)])
def test_without_elements(shape):
    owner = Teller(gpuarray.zeros(shape, np.int16))
    array = asarray(owner)
    assert (array.ptr, array.size, array.dtype) == (0, 0, np.int16)


def test_the_memory_is_shared():
    source = gpuarray.zeros(4)
    array = asarray(Teller(source))
    array += 3
    assert source.get().tolist() == [3] * 4


def test_dlpack_where_the_interface_is_missing_or_old():
    producer = Producer(to_gpu(np.arange(3)))
    assert asarray(producer).get().tolist() == [0, 1, 2]
    assert producer.ended == 1
    old = Producer(to_gpu(np.arange(3)))
    old.__cuda_array_interface__ = Teller(old.array, version=2).__cuda_array_interface__
    asarray(old)
    assert len(old.asked) == 1
    new = Producer(to_gpu(np.arange(3)))
    new.__cuda_array_interface__ = Teller(new.array).__cuda_array_interface__
    asarray(new)
    assert new.asked == []


# What is refused.


HOSTS = [np.zeros(3), np.float64(3), np.zeros(()), np.ma.array([1, 2])]


@pytest.mark.parametrize("x", HOSTS, ids=repr)
def test_arrays_of_numpy(x):
    with pytest.raises(TypeError, match=r"to_gpu\(x\)"):
        asarray(x)


@pytest.mark.parametrize("x", [None, 3, 1.5, [1, 2], "array", b"bytes", range(3)], ids=repr)
def test_other_objects(x):
    with pytest.raises(TypeError, match=r"to_gpu\(numpy.asarray\(x\)\)"):
        asarray(x)


@pytest.mark.parametrize("name", ["data", "shape", "typestr"])
def test_what_every_interface_has(name):
    with pytest.raises(TypeError, match=f"of Teller has no '{name}'"):
        asarray(Teller(gpuarray.zeros(3), **{name: None}))


def test_masks():
    with pytest.raises(BufferError, match="mask"):
        asarray(Teller(gpuarray.zeros(3), mask=gpuarray.zeros(3, bool)))


def test_read_only_arrays():
    array = gpuarray.zeros(3)
    with pytest.raises(BufferError, match="read-only"):
        asarray(Teller(array, data=(array.ptr, True)))


NONSENSE = [
    ({"typestr": "|O8"}, TypeError, "Python objects"),
    ({"typestr": "hello"}, TypeError, "hello"),
    ({"shape": "33"}, TypeError, "shape"),
    ({"shape": (-1,)}, ValueError, "-1"),
    ({"strides": (8, 8)}, ValueError, "strides"),
    ({"strides": (2**62,)}, ValueError, r"strides \(4611686018427387904,\)"),
    ({"data": (0, False)}, BufferError, "address 0|not in memory"),
    ({"data": (-8, False)}, ValueError, "data"),
    ({"data": ("here", False)}, TypeError, "data"),
    ({"stream": "1"}, TypeError, "stream"),
]


@pytest.mark.parametrize(("changes", "error", "message"), NONSENSE, ids=lambda x: str(x)[:30])
def test_nonsense(changes, error, message):
    with pytest.raises(error, match=message):
        asarray(Teller(gpuarray.zeros(3), **changes))


@pytest.mark.parametrize("interface", [5, {"data": 5}, {"data": (5,)}, {"data": "here"}, {}])
def test_an_interface_without_an_address_is_named(interface):
    x = Teller(gpuarray.zeros(3))
    x.__cuda_array_interface__ = interface
    uses = (
        lambda: asarray(x),
        lambda: PyGPU.cudaMemset(x, 0, 8),
        lambda: drv.mem_get_address_range(x),
        lambda: drv.memset_d8(x, 0, 8),
    )
    for use in uses:
        with pytest.raises(TypeError, match="__cuda_array_interface__"):
            use()


@pytest.mark.parametrize("device", [None, 1, (1,), "12"])
def test_a_dlpack_device_that_is_none(device):
    class Producer:
        def __dlpack__(self, **keywords):
            raise AssertionError

        def __dlpack_device__(self):
            return device

    for use in (asarray, gpuarray.from_dlpack):
        with pytest.raises(TypeError, match=r"__dlpack_device__\(\) returned"):
            use(Producer())


def test_memory_that_the_target_does_not_know():
    x = np.zeros(3)
    teller = Teller(gpuarray.zeros(3), data=(x.__array_interface__["data"][0], False))
    with pytest.raises(BufferError, match=f"not in memory of the target {PyGPU.target}"):
        asarray(teller)


def test_errors_of_the_owner_are_heard():
    class Freed:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("freed")

    with pytest.raises(RuntimeError, match="freed"):
        asarray(Freed())
    array = gpuarray.zeros(3)
    array.gpudata.free()
    with pytest.raises(PyGPU.errors.LogicError, match="freed"):
        _ = array._array_interface
