"""DeviceArray_<dtype>: the examples of the first PyGPU, and the round trip for every dtype."""

import ctypes

import numpy as np
import pytest
from memory_tools import device_side

import PyGPU
import PyGPU as gpuarray
from PyGPU import DeviceArray_float64, DeviceArray_int64
from PyGPU.errors import check

DTYPES = PyGPU.SUPPORTED_DTYPES


def class_of(dtype):
    return getattr(PyGPU, f"DeviceArray_{dtype}")


def sample(dtype, shape, order="C"):
    """Every byte pattern that the dtype allows, NaNs included."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=int))
    raw = np.random.default_rng(count).integers(0, 256, count * dtype.itemsize, np.uint8)
    if dtype.kind == "b":
        raw %= 2
    return np.array(raw.view(dtype).reshape(shape), order=order)


# The examples of the first PyGPU's README.


def test_the_complete_round_trip():
    A = np.array([1, 2, 3, 4, 5, 6])
    da = DeviceArray_int64(A)
    da.allocate()
    da.to_device()
    twice = A * 2
    check(PyGPU.cudaMemcpy(da.device_data(), twice, twice.nbytes))  # a function on the device data
    da.to_host()
    assert (A == [2, 4, 6, 8, 10, 12]).all()
    assert da.last_status() == 0


def test_calls_answer_with_a_status_or_with_a_value_and_a_status():
    status = PyGPU.cudaSetDevice(0)
    assert repr(status) == "<cudaError: code=0>"
    idx, err = PyGPU.cudaGetDevice()
    assert idx == 0 and repr((idx, err)) == "(0, <cudaError: code=0>)"
    assert repr(PyGPU.cudaSetDevice(10**6)) == "<cudaError: code=101>"


def test_the_arrays_above_it():
    k = np.array([1, 2, 3, 4, 5, 6])
    k_gpu = gpuarray.to_gpu(k)
    fk_gpu = gpuarray.GPUArray((3, 3, 3), dtype=np.complex128)
    fk = fk_gpu.get()
    assert (k_gpu.get() == k).all()
    assert fk.shape == (3, 3, 3) and fk.dtype == np.complex128
    assert isinstance(k_gpu.ptr, int) and ctypes.c_void_p(k_gpu.ptr).value == k_gpu.ptr


def test_pointers_are_passed_as_integers():
    da = DeviceArray_float64(np.arange(6.0))
    assert da.allocate() == 0
    host, device = da.host_data(), da.device_data()
    assert host.is_safe() and not device.is_safe()
    assert (host.get() == np.arange(6.0)).all()
    with pytest.raises(ValueError, match="not safe"):
        device.get()
    assert isinstance(int(device), int) and int(device) == device.ptr != 0


# Round trips.


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (3, 1, 4), (1,), ()])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_buffer_makes_the_round_trip(dtype, shape, order):
    data = sample(dtype, shape, order)
    before = data.copy(order="K")
    array = class_of(dtype)(data)
    assert (array.shape(), array.strides()) == (data.shape, data.strides)
    assert (array.size(), array.nbytes()) == (data.size, data.nbytes)
    assert array.allocate() == array.to_device() == 0
    assert device_side(array) == before.tobytes("A")
    data[...] = np.zeros_like(data)
    assert array.to_host() == array.last_status() == 0
    assert data.tobytes() == before.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_shape_gives_host_memory_of_its_own(dtype):
    array = class_of(dtype)((2, 3))
    view = np.asarray(array)
    assert view.dtype == dtype and view.shape == (2, 3) and not view.any()
    data = sample(dtype, (2, 3))
    view[...] = data
    assert array.allocate() == array.to_device() == 0
    view[...] = np.zeros_like(view)
    assert array.to_host() == 0
    assert view.tobytes() == data.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_pointer_lends_its_memory(dtype):
    data = sample(dtype, (2, 3))
    first = class_of(dtype)(data)
    assert first.allocate() == first.to_device() == 0
    on_host = class_of(dtype)(first.host_data(), (3, 2), "F")
    assert (on_host.shape(), on_host.allocated()) == ((3, 2), False)
    assert np.shares_memory(np.asarray(on_host), data)
    on_device = class_of(dtype)(first.device_data(), 6)
    assert on_device.allocated() and on_device.device_data() == first.device_data()
    assert device_side(on_device) == data.tobytes()


def test_large_arrays_make_the_round_trip():
    data = np.arange(5_000_001, dtype=np.float64)
    array = DeviceArray_float64(data)
    assert array.allocate() == array.to_device() == 0
    data[:] = 0
    assert array.to_host() == 0
    assert (data == np.arange(5_000_001)).all()


def test_the_staged_transfers_make_the_round_trip(python):
    python(
        """
import numpy as np, PyGPU
for nbytes in (1 << 20, (4 << 20) - 1, (8 << 20) + 1, (26 << 20) + 77):
    data = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
    before = data.copy()
    array = PyGPU.DeviceArray_uint8(data)
    assert array.allocate() == array.to_device() == 0
    data[:] = 0
    assert array.to_host() == 0
    assert (data == before).all(), nbytes
""",
        PYGPU_STAGING=1 << 20,
    )


def test_page_locked_memory_makes_the_round_trip():
    block = PyGPU.PagelockedAllocator_float64()
    assert block.allocate(3_000_000) == 0
    array = DeviceArray_float64(block.ptr(), (1000, 3000))
    host = np.asarray(array)
    host[...] = np.arange(3e6).reshape(1000, 3000)
    assert array.allocate() == array.to_device() == 0
    host[...] = 0
    assert array.to_host() == 0
    assert (host == np.arange(3e6).reshape(1000, 3000)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [0, (0,), (3, 0, 2)])
def test_arrays_without_elements(dtype, shape):
    shape_tuple = (shape,) if isinstance(shape, int) else shape
    for array in (class_of(dtype)(shape), class_of(dtype)(np.zeros(shape, dtype))):
        assert array.allocate() == array.to_device() == array.to_host() == 0
        assert (array.shape(), array.size(), array.nbytes()) == (shape_tuple, 0, 0)
        assert np.asarray(array).shape == shape_tuple and np.asarray(array).dtype == dtype
        assert int(array.device_data()) == 0
