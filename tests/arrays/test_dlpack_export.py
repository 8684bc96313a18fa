"""GPUArray.__dlpack__: what other libraries are told, in which order, and for how long."""

import ctypes
import gc
import threading
import weakref

import dlpack_tools as dlpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import Carrier
from strategies import arrays, assert_same, indices, part, values

import PyGPU
from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu

HOST = PyGPU.target == "host"
on_host = pytest.mark.skipif(not HOST, reason="NumPy reaches arrays on the target host alone")
dtypes = st.sampled_from(dlpack.EVERY_DTYPE)
VERSIONS = {"legacy": None, "asks for 0.8": (0, 8), "asks for 1.0": (1, 0), "newer": (2, 3)}


def seen(tensor, dtype):
    """The elements that a tensor tells of, read as a consumer would."""
    shape = [tensor.shape[axis] for axis in range(tensor.ndim)]
    strides = [tensor.strides[axis] * dtype.itemsize for axis in range(tensor.ndim)]
    return GPUArray(shape, dtype, gpudata=tensor.data or 0, strides=strides).get()


def test_the_device():
    kind, number = gpuarray.zeros(3).__dlpack_device__()
    assert kind == {"cuda": 2, "hip": 10, "host": 1}[PyGPU.target]
    assert number == 0
    assert type(kind) is type(number) is int


@given(st.sampled_from(sorted(VERSIONS)), st.data(), dtypes)
def test_what_a_capsule_tells(version, data, dtype):
    x = data.draw(arrays(dtype=dtype))
    index = data.draw(indices(x.shape))
    view, host = to_gpu(x)[index], part(x.copy(order="K"), index)
    capsule = view.__dlpack__(max_version=VERSIONS[version])
    versioned = version in ("asks for 1.0", "newer")
    assert dlpack.name_of(capsule) == dlpack.FRESH[versioned]
    managed = dlpack.look(capsule)
    if versioned:
        assert (managed.major, managed.flags) == (1, 0)
    tensor = managed.tensor
    assert (tensor.device_type, tensor.device_id) == view.__dlpack_device__()
    assert (tensor.code, tensor.bits) == (dlpack.CODES[dtype.kind], 8 * dtype.itemsize)
    assert (tensor.lanes, tensor.byte_offset) == (1, 0)
    assert (tensor.data or 0) == view.ptr
    assert tensor.shape[: tensor.ndim] == list(host.shape)
    if host.size:
        assert_same(seen(tensor, dtype), host)


@pytest.mark.parametrize("dtype", dlpack.OTHER_DTYPES, ids=str)
def test_dtypes_that_dlpack_lacks(dtype):
    with pytest.raises(BufferError, match=r"byte order|no type for dtype") as caught:
        GPUArray(3, dtype).__dlpack__()
    assert str(dtype) in str(caught.value)


def test_records_are_named():
    with pytest.raises(BufferError, match="'at'"):
        GPUArray(3, [("at", "f4"), ("id", "i4")]).__dlpack__()


def test_strides_of_no_whole_elements():
    x = to_gpu(np.arange(24, dtype=np.uint8))
    odd = GPUArray((4,), np.int32, gpudata=x, strides=(6,))
    with pytest.raises(BufferError, match=r"6 bytes.*4 bytes"):
        odd.__dlpack__()
    single = GPUArray((1,), np.int32, gpudata=x, strides=(6,))
    assert dlpack.look(single.__dlpack__()).tensor.strides[0] == 1


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1)])
def test_few_elements(shape):
    tensor = dlpack.look(gpuarray.zeros(shape, np.int16).__dlpack__()).tensor
    assert tensor.shape[: tensor.ndim] == list(shape)
    assert (tensor.data is None) == (0 in shape)


def test_many_axes():
    tensor = dlpack.look(gpuarray.zeros((1,) * 32).__dlpack__()).tensor
    assert tensor.ndim == 32


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError):
        gpuarray.zeros(3).__dlpack__(1)


# Copies.


def test_a_copy_is_flagged_and_apart():
    array = to_gpu(np.arange(6.0).reshape(2, 3).T)
    managed = dlpack.take(array.__dlpack__(max_version=(1, 0), copy=True))
    assert managed.flags == dlpack.IS_COPIED
    assert managed.tensor.data != array.ptr
    array.fill(-1)
    assert_same(seen(managed.tensor, array.dtype), np.arange(6.0).reshape(2, 3).T)
    dlpack.end(managed)
    same = dlpack.look(array.__dlpack__(max_version=(1, 0), copy=False))
    assert same.tensor.data == array.ptr
    assert same.flags == 0


def test_the_device_that_is_asked_for():
    array = to_gpu(np.arange(3))
    own = array.__dlpack_device__()
    assert dlpack.look(array.__dlpack__(dl_device=own)).tensor.data == array.ptr
    for other in ((7, 0), (own[0], own[1] + 1), (14, 2)):
        with pytest.raises(BufferError, match=r"dl_device=\(\d+, \d\)"):
            array.__dlpack__(dl_device=other)
    with pytest.raises(ValueError, match="dl_device"):
        array.__dlpack__(dl_device=(1, 0, 0))


@pytest.mark.skipif(HOST, reason="on the target host the CPU is where arrays are")
def test_a_copy_on_the_host():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2]
    array = to_gpu(x)
    capsule = array.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    managed = dlpack.look(capsule)
    assert managed.flags == dlpack.IS_COPIED
    tensor = managed.tensor
    assert (tensor.device_type, tensor.device_id) == (1, 0)
    strides = [4 * tensor.strides[axis] for axis in range(2)]
    flat = np.frombuffer((ctypes.c_char * x.nbytes).from_address(tensor.data), np.float32)
    assert_same(np.lib.stride_tricks.as_strided(flat, (3, 2), strides).copy(), x.copy())
    with pytest.raises(BufferError, match="copy=False"):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(ValueError, match="stream"):
        array.__dlpack__(dl_device=(1, 0), stream=1 if PyGPU.cuda_enabled else 0)


# Streams.


@pytest.mark.parametrize("flags", [0, 1])
def test_streams_of_consumers(flags):
    stream = PyGPU.cudaStream_t(flags)
    numbers = {"cuda": (1, 2), "host": (1, 2), "hip": (0,)}[PyGPU.target]
    forms = [None, -1, stream, stream.handle, Carrier(cuda_stream=stream.handle), *numbers]
    array = to_gpu(np.arange(5))
    for form in forms:
        managed = dlpack.take(array.__dlpack__(stream=form))
        assert_same(seen(managed.tensor, array.dtype), np.arange(5))
        dlpack.end(managed)


def test_streams_that_are_none():
    wrong = (1, 2, -2) if PyGPU.target == "hip" else (0, -2, -1000)
    array = gpuarray.zeros(3)
    for number in wrong:
        with pytest.raises(ValueError, match="stream"):
            array.__dlpack__(stream=number)
    with pytest.raises(TypeError, match="stream"):
        array.__dlpack__(stream="1")
    stream = PyGPU.cudaStream_t()
    assert not PyGPU.cudaStreamDestroy(stream)
    with pytest.raises(ValueError, match="destroyed"):
        array.__dlpack__(stream=stream)


# Lifetimes.


class Memory:
    """An allocator's result that tells when it goes."""

    def __init__(self, nbytes):
        self.memory = to_gpu(np.zeros(nbytes, np.uint8))

    def __index__(self):
        return self.memory.ptr


def used():
    """Bytes that arrays hold."""
    gc.collect()
    return PyGPU.cudaMemGetInfo()[0]


@pytest.mark.skipif(not HOST, reason="pools of GPUs keep freed memory")
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_keeps_our_memory(version):
    before = used()
    array = gpuarray.zeros(1 << 20, np.uint8)
    capsule = array[1000:].__dlpack__(max_version=version)
    del array
    assert used() < before
    managed = dlpack.take(capsule)
    del capsule
    assert used() < before
    dlpack.end(managed)
    assert used() == before
    capsule = gpuarray.zeros(1 << 20, np.uint8).__dlpack__(max_version=version)
    assert used() < before
    del capsule
    assert used() == before


@pytest.mark.parametrize("form", ["allocator", "base", "view"])
@pytest.mark.parametrize("taken", [False, True])
def test_a_capsule_keeps_others_memory(form, taken):
    if form == "base":
        owner = Memory(24)
        array = GPUArray(3, gpudata=owner.memory.ptr, base=owner)
        reference = weakref.ref(owner)
        del owner
    else:
        array = GPUArray(3, allocator=Memory)
        reference = weakref.ref(array.gpudata)
        array = array[::2] if form == "view" else array
    capsule = array.__dlpack__(max_version=(1, 0))
    del array
    gc.collect()
    assert reference() is not None
    if taken:
        managed = dlpack.take(capsule)
        del capsule
        gc.collect()
        assert reference() is not None
        dlpack.end(managed)
    else:
        del capsule
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("allocator", [None, Memory])
def test_deleters_in_threads_without_the_gil(allocator):
    """ctypes lets the GIL go around a foreign function, so these run at once."""
    tensors, references = [], []
    for _ in range(64):
        array = GPUArray(100, np.int8, allocator)
        references.append(weakref.ref(array.gpudata) if allocator else None)
        tensors.append(dlpack.take(array.__dlpack__(max_version=(1, 0))))
        del array
    threads = [
        threading.Thread(
            target=lambda some: [dlpack.end(one) for one in some], args=(tensors[i::4],)
        )
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert all(one is None or one() is None for one in references)


def test_a_freed_array_is_not_exported():
    array = gpuarray.zeros(3)
    array.gpudata.free()
    with pytest.raises(PyGPU.errors.LogicError, match="freed"):
        array.__dlpack__()


def test_capsules_at_the_end_of_the_program(python):
    """One that was never taken, one that a consumer never gave back."""
    source = """
import ctypes, gc, sys
import PyGPU
kept = PyGPU.GPUArray(3, allocator=lambda n: PyGPU.zeros(n, "u1")).__dlpack__()
late = [kept, PyGPU.zeros(3).__dlpack__(max_version=(1, 0))]
late.append(late)
taken = PyGPU.zeros(3).__dlpack__()
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
name = b"used_dltensor"
assert set_name(taken, name) == 0
sys.stdout.write("done")
"""
    done = python(source)
    assert (done.stdout, done.stderr) == ("done", "")


# NumPy.


@on_host
@given(st.data(), dtypes)
def test_numpy_takes_an_array(data, dtype):
    x = data.draw(arrays(dtype=dtype))
    index = data.draw(indices(x.shape))
    view, host = to_gpu(x)[index], part(x.copy(order="K"), index)
    got = np.from_dlpack(view)
    assert_same(got, host)
    if got.size:
        assert got.__array_interface__["data"][0] == view.ptr


@on_host
def test_numpy_shares_and_keeps_the_memory():
    array = to_gpu(np.arange(6.0))
    got = np.from_dlpack(array)
    array.fill(7)
    assert (got == 7).all()
    del array
    gc.collect()
    again = to_gpu(np.zeros(6))
    assert (got == 7).all()
    assert again.ptr != got.__array_interface__["data"][0]


@on_host
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="new in NumPy 2.1")
def test_numpy_asks_for_copies():
    array = to_gpu(values((4,), np.int32))
    copied = np.from_dlpack(array, copy=True)
    assert copied.__array_interface__["data"][0] != array.ptr
    shared = np.from_dlpack(array, copy=False, device="cpu")
    assert shared.__array_interface__["data"][0] == array.ptr
    shared[...] = 5  # writable
    assert (array.get() == 5).all()


@pytest.mark.skipif(HOST, reason="on the target host the CPU is where arrays are")
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="new in NumPy 2.1")
def test_numpy_asks_for_a_copy_on_the_cpu():
    x = np.arange(12.0).reshape(3, 4)
    array = to_gpu(x)[:, ::2]
    assert_same(np.from_dlpack(array, device="cpu").copy(), x[:, ::2].copy())
    with pytest.raises(RuntimeError if PyGPU.target == "hip" else BufferError):
        np.from_dlpack(array)


SUB_INTERPRETER = """
import dlpack_tools as dlpack
import PyGPU
import sub_interpreters
array = PyGPU.zeros(4)
stream = PyGPU.cudaStream_t(PyGPU.cudaStreamNonBlocking)
managed = dlpack.take(array.__dlpack__(stream=stream))
sub_interpreters.run("pass")
dlpack.end(managed)
print("ended")
"""


def test_the_end_comes_without_the_gil_once_there_was_a_sub_interpreter(python):
    assert python(SUB_INTERPRETER).stdout == "ended\n"
