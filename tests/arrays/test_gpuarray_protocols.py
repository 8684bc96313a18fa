"""GPUArray and the rest of Python: pickle, copy, text, NumPy, __cuda_array_interface__."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    DTYPES,
    RECORD,
    arrays,
    assert_same,
    counted_strides,
    examples,
    indices,
    part,
    values,
)

import PyGPU
from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu

WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle {n}": lambda array, n=n: pickle.loads(pickle.dumps(array, n))
        for n in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.mark.parametrize("way", WAYS)
@examples(20)
@given(x=arrays(), data=st.data())
def test_copies_by_python(way, x, data):
    """The elements are NumPy's, and the axes keep their order in memory."""
    index = data.draw(indices(x.shape))
    view, host = to_gpu(x)[index], part(x.copy(order="K"), index)
    made, expected = WAYS[way](view), host.copy(order="K")
    assert type(made) is GPUArray
    assert_same(made.get(), WAYS[way](expected))  # NumPy's pickles may swap the bytes
    assert counted_strides(made) == counted_strides(expected)
    assert made.base is None
    made[...] = np.zeros((), made.dtype)
    assert_same(view.get(), host)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", "CF")
def test_copies_by_python_keep_the_order(way, order):
    x = np.array(values((2, 3, 4), np.float32), order=order)
    assert WAYS[way](to_gpu(x)).strides == x.strides


def test_deepcopy_of_a_structure():
    array = to_gpu(np.arange(3))
    first, second = copy.deepcopy([array, array])
    assert first is second
    assert first.ptr != array.ptr
    assert first.get().tolist() == [0, 1, 2]


def test_a_pickle_names_no_target():
    """So that another machine, with another target, can read it."""
    text = pickle.dumps(to_gpu(np.arange(3)), 2)
    assert b"PyGPU.gpuarray" in text
    assert f"_{PyGPU.target}".encode() not in text


def test_a_pickle_is_read_by_another_process(python, tmp_path):
    path = tmp_path / "array.pickle"
    path.write_bytes(pickle.dumps(to_gpu(np.arange(6).reshape(2, 3).T)))
    source = f"import pickle; print(pickle.load(open({str(path)!r}, 'rb')).get().tolist())"
    assert python(source).stdout.strip() == "[[0, 3], [1, 4], [2, 5]]"


def test_the_class_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(GPUArray)) is GPUArray
    assert gpuarray.to_gpu.__module__ == "PyGPU.gpuarray"


@given(arrays(), st.data())
def test_text_is_numpys(x, data):
    index = data.draw(indices(x.shape))
    host = part(x.copy(order="K"), index)
    view = to_gpu(x)[index]
    assert str(view) == str(host)
    assert repr(view) == repr(host)
    assert f"{view}" == str(host)


def test_text_follows_numpys_options():
    x = np.arange(2000) / 7
    with np.printoptions(precision=2, threshold=10):
        assert repr(to_gpu(x)) == repr(x)


CONVERSIONS = {
    "asarray": np.asarray,
    "array": np.array,
    "array of a dtype": lambda array: np.array(array, np.float32),
    "asarray of a dtype": lambda array: np.asarray(array, dtype="f4"),
    "list of arrays": lambda array: np.array([array, array]),
    "concatenate": lambda array: np.concatenate([np.zeros(3), array]),
    "assignment": lambda array: np.zeros(3).__setitem__(slice(None), array),
}


@pytest.mark.parametrize("way", CONVERSIONS)
def test_numpy_takes_no_array_unasked(way):
    with pytest.raises(TypeError, match=r"\.get\(\)"):
        CONVERSIONS[way](gpuarray.zeros(3))


@examples(60)
@given(arrays(), st.data())
def test_cuda_array_interface(x, data):
    index = data.draw(indices(x.shape))
    array = to_gpu(x)
    view, host = array[index], part(x.copy(order="K"), index)
    interface = view._array_interface
    assert type(interface) is dict
    assert interface["version"] == 3
    assert interface["shape"] == host.shape
    assert interface["typestr"] == x.dtype.str
    assert interface["data"] == (view.ptr, False)
    assert interface["strides"] == view.strides
    assert interface.get("mask") is None
    if x.dtype.names:
        assert interface["descr"] == x.dtype.descr
    # What a consumer makes of it:
    dtype = np.dtype(interface.get("descr") or interface["typestr"])
    address, strides = interface["data"][0], interface["strides"]
    seen = GPUArray(interface["shape"], dtype, gpudata=address, strides=strides)
    assert_same(seen.get(), host)


def test_host_arrays_have_no_cuda_array_interface(python):
    """Libraries that find one look for a GPU, and do not try DLPack."""
    if PyGPU.target != "host":
        array = GPUArray(3)
        assert array.__cuda_array_interface__["data"] == (array.ptr, False)
        return
    program = """
import PyGPU
if {is_pycuda}:
    PyGPU.install_as_pycuda()
a = PyGPU.zeros(3)
assert a.__dlpack_device__() == (1, 0)
assert hasattr(a, "__cuda_array_interface__") is {expected}
try:
    assert a.__cuda_array_interface__ == a._array_interface
    assert a._array_interface["data"] == (a.ptr, False)
except AttributeError as error:
    assert "PYGPU_HOST_INTERFACE=1" in str(error)
"""
    python(program.format(is_pycuda=False, expected=False), PYGPU_HOST_INTERFACE="")
    python(program.format(is_pycuda=False, expected=True), PYGPU_HOST_INTERFACE="1")
    python(program.format(is_pycuda=True, expected=False), PYGPU_HOST_INTERFACE="0")
    python(
        "import os; del os.environ['PYGPU_HOST_INTERFACE']"
        + program.format(is_pycuda=True, expected=True),
        PYGPU_HOST_INTERFACE="0",
    )


@pytest.mark.parametrize("shape", [0, (3, 0), (0, 0, 2)])
def test_cuda_array_interface_without_elements(shape):
    interface = GPUArray(shape, np.float32)._array_interface
    assert interface["data"] == (0, False)
    assert interface["shape"] == ((shape,) if isinstance(shape, int) else shape)
    assert len(interface["strides"]) == len(interface["shape"])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_typestr_of_every_dtype(dtype):
    interface = GPUArray(3, dtype)._array_interface
    assert interface["typestr"] == dtype.str
    assert all(type(key) is str for key in interface)


def test_the_interface_of_records_without_a_list_of_fields():
    """Fields out of order have no descr, which is optional: the rest is told all the same."""
    fields = {"names": ["b", "a"], "formats": ["i4", "i4"], "offsets": [4, 0]}
    interface = GPUArray(3, np.dtype(fields))._array_interface
    assert interface["typestr"] == "|V8"
    assert "descr" not in interface


def test_the_stream_of_the_interface_orders_reads():
    """None promises that no wait is needed; 1 is the legacy null stream; 0 is not allowed."""
    array = GPUArray(3)
    stream = array._array_interface["stream"]
    assert stream in ((None,) if PyGPU.target == "hip" else (None, 1))  # ROCm has no stream 1
    assert not PyGPU.cudaDeviceSynchronize()
    assert array._array_interface["stream"] is None  # nothing is pending


def test_an_array_is_memory_for_the_low_level():
    x = values((5,), np.float64)
    array, out = to_gpu(x), np.zeros(5)
    assert not PyGPU.cudaMemcpy(out, array, x.nbytes)
    assert_same(out, x)
    assert not PyGPU.cudaMemcpy(array, out[::-1].copy(), x.nbytes)
    assert_same(array.get(), x[::-1])
    records = to_gpu(values((2,), RECORD))
    assert_same(GPUArray(2, RECORD, gpudata=records).get(), records.get())
