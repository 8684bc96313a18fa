"""Pickles of arrays: buffers out of band, subclasses, devices, pickles of earlier versions."""

import copy
import pickle

import needs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, arrays, assert_same, counted_strides, indices, part

from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu


class Measured(GPUArray):
    """A subclass with slots alone."""

    __slots__ = ("unit",)


class Labelled(Measured):
    """A subclass with a constructor of its own, slots and attributes."""

    def __init__(self, label, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.label = label


class Restoring(GPUArray):
    """A subclass that chooses its own state."""

    def __getstate__(self):
        return {"seen": "pickled"}

    def __setstate__(self, state):
        self.seen = state["seen"] + " and restored"


WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "cloudpickle": lambda array: pickle.loads(needs.module("cloudpickle").dumps(array)),
    **{
        f"pickle {n}": lambda array, n=n: pickle.loads(pickle.dumps(array, n))
        for n in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
}


def out_of_band(array):
    buffers = []
    return pickle.dumps(array, 5, buffer_callback=buffers.append), buffers


@given(arrays(), st.data())
def test_elements_are_a_buffer_out_of_band(x, data):
    index = data.draw(indices(x.shape))
    view, host = to_gpu(x)[index], part(x.copy(order="K"), index)
    text, buffers = out_of_band(view)
    assert [buffer.raw().nbytes for buffer in buffers] == [host.nbytes]
    expected = host.copy(order="K")
    given_buffers = buffers if data.draw(st.booleans()) else [bytes(b.raw()) for b in buffers]
    made = pickle.loads(text, buffers=given_buffers)
    assert_same(made.get(), expected)
    assert counted_strides(made) == counted_strides(expected)
    made[...] = np.zeros((), made.dtype)
    assert_same(view.get(), host)


def test_every_dtype_is_a_buffer():
    for dtype in DTYPES:
        assert len(out_of_band(to_gpu(np.zeros(3, dtype)))[1]) == 1, dtype


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
def test_dtypes_of_ml_dtypes(name):
    x = np.arange(6).reshape(2, 3).astype(getattr(needs.module("ml_dtypes"), name))
    text, buffers = out_of_band(to_gpu(x))
    assert len(buffers) == 1
    assert_same(pickle.loads(text, buffers=buffers).get(), x)


def test_the_buffer_is_the_download_itself():
    """The pickle has no elements, and loading reads the buffer that is passed."""
    text, (buffer,) = out_of_band(to_gpu(np.arange(1000.0)))
    assert len(text) < 300
    elements = np.frombuffer(buffer.raw())
    elements[0] = 7
    assert pickle.loads(text, buffers=[buffer]).get()[0] == 7


@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3, 4)])
@pytest.mark.parametrize("way", WAYS)
def test_objects_of_a_subclass(way, shape):
    array = Labelled("a", shape, np.float32)
    array.set(np.arange(array.size, dtype="f4").reshape(shape))
    array.unit, array.itself = "m", array
    made = WAYS[way](array)
    assert type(made) is Labelled and made.base is None
    assert (made.label, made.unit) == ("a", "m")
    assert made.itself is (array if way == "copy" else made)
    assert_same(made.get(), array.get())
    made.fill(-1)
    assert (array.get() >= 0).all()


@pytest.mark.parametrize("way", WAYS)
def test_objects_with_slots_alone(way):
    array = Measured(3, np.float32)
    assert not hasattr(WAYS[way](array), "unit")
    array.unit = "m"
    made = WAYS[way](array)
    assert type(made) is Measured and made.unit == "m"


@pytest.mark.parametrize("way", WAYS)
def test_the_state_of_a_subclass_is_its_own(way):
    made = WAYS[way](Restoring(3, np.float32))
    assert type(made) is Restoring
    assert made.seen == "pickled and restored"


def test_attributes_are_copied_deeply_or_shared():
    array = Labelled(["a"], 3, np.float32)
    assert copy.copy(array).label is array.label
    deep = copy.deepcopy([array, array.label])
    assert deep[0].label is deep[1] is not array.label


def test_a_pickle_of_an_earlier_version():
    """Earlier versions stored the ndarray alone."""
    x = np.arange(6.0).reshape(2, 3)
    assert_same(gpuarray._restored(x).get(), x)
    assert gpuarray._restored.__module__ == "PyGPU.gpuarray"


def test_a_device_that_is_missing_means_the_current_device():
    x = np.arange(3.0)
    assert_same(gpuarray._restored(x, 63).get(), x)


def test_the_device_of_a_pickle(two_devices):
    two_devices("""
import copy, pickle
import numpy as np, PyGPU
from PyGPU.gpuarray import GPUArray, to_gpu

class Mine(GPUArray):
    pass

assert not PyGPU.cudaSetDevice(1)
arrays = [to_gpu(np.arange(3.0)), Mine(4, np.float32)]
text = pickle.dumps(arrays)
assert not PyGPU.cudaSetDevice(0)
arrays.append(to_gpu(np.arange(3.0)))
for made in (pickle.loads(pickle.dumps(arrays)), copy.deepcopy(arrays)):
    assert [array.device for array in made] == [1, 1, 0]
assert [array.device for array in pickle.loads(text)] == [1, 1]
assert copy.copy(arrays[1]).device == 1
assert PyGPU.cudaGetDevice()[0] == 0
""")
