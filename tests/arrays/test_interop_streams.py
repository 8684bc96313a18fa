"""Streams of other libraries, ours for them, and the order that exchanged arrays keep."""

import ctypes

import dlpack_tools as dlpack
import numpy as np
import pytest
from slow_work import SIZE, prepare, slow_fill, slow_spoil
from stand_ins import Carrier, StreamProtocol

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import asarray, from_dlpack, to_gpu


class Number:
    """A handle as cuda.bindings has it: only int() gives the number."""

    def __init__(self, number):
        self.number = number

    def __int__(self):
        return self.number


# How a stream looks in other libraries.
FOREIGN = {
    "int": lambda handle: handle,
    "cuda.core, a method": StreamProtocol,
    "cuda.core, an attribute": lambda handle: Carrier(__cuda_stream__=(0, handle)),
    "torch": lambda handle: Carrier(cuda_stream=handle),
    "CuPy": lambda handle: Carrier(ptr=handle),
    "Numba": lambda handle: Carrier(handle=ctypes.c_void_p(handle)),
    "cuda.bindings": Number,
    "both": lambda handle: Carrier(__cuda_stream__=(0, handle), ptr=0, handle="no number"),
}


@pytest.mark.parametrize("flags", [0, 1])
def test_our_streams_speak_the_protocol(flags):
    for stream in (PyGPU.cudaStream_t(flags), drv.Stream(flags)):
        assert stream.__cuda_stream__() == (0, int(stream))
        assert int(stream) > 2


SET = """
__global__ void set(int *x, int value) { x[threadIdx.x] = value; }
"""


@pytest.mark.parametrize("form", FOREIGN)
def test_streams_of_others_are_taken_wherever_one_is(form):
    owner = drv.Stream(1)
    stream = FOREIGN[form](int(owner))
    x = np.arange(4, dtype=np.int32)
    array = gpuarray.to_gpu_async(x, stream=stream)
    assert array.astype(np.float32, stream).get_async(stream).dtype == np.float32
    array.fill(3, stream)
    SourceModule(SET).get_function("set")(array, np.int32(5), block=(2, 1, 1), stream=stream)
    got = array.get_async(stream)
    drv.Event().record(stream).synchronize()
    assert not PyGPU.cudaStreamSynchronize(stream)
    assert got.tolist() == [5, 5, 3, 3]
    drv.memcpy_dtoh_async(x, array.gpudata, stream)
    assert not PyGPU.cudaStreamSynchronize(stream)
    assert x.tolist() == [5, 5, 3, 3]
    assert asarray(array, stream=stream) is array
    assert from_dlpack(array, stream=stream).get().tolist() == [5, 5, 3, 3]


@pytest.mark.parametrize("form", ["int", "Numba", "CuPy", "torch", "cuda.bindings"])
def test_the_null_stream_of_others(form):
    array = gpuarray.zeros(3)
    array.fill(1, FOREIGN[form](0))
    assert not PyGPU.cudaStreamSynchronize(FOREIGN[form](0))
    assert array.get().tolist() == [1] * 3


@pytest.mark.parametrize(
    "bad",
    [1.5, np.float32(0), np.zeros(1), "0", object(), Carrier(__cuda_stream__=3)],
    ids=lambda one: type(one).__name__,
)
def test_what_is_no_stream(bad):
    with pytest.raises(TypeError):
        gpuarray.zeros(3).fill(1, bad)


@pytest.mark.parametrize("pair", [None, 5, (0,), (0, 1, 2), "01", (None, 1), (1, 0), ("0", 1)])
@pytest.mark.parametrize("is_method", [False, True])
def test_a_stream_protocol_that_is_not_read(pair, is_method):
    stream = Carrier(__cuda_stream__=(lambda: pair) if is_method else pair)
    uses = (
        lambda: gpuarray.zeros(3).get_async(stream=stream),
        lambda: PyGPU.cudaStreamSynchronize(stream),
    )
    for use in uses:
        with pytest.raises(TypeError, match=r"__cuda_stream__ is .*version 0"):
            use()


# What must come after slow work.


@pytest.fixture(autouse=True)
def idle():
    prepare()


WRITERS = {
    "null": lambda: None,
    "blocking": drv.Stream,
    "non-blocking": lambda: drv.Stream(1),
}


def exchanged(array, consumer=None):
    """The elements as a consumer sees them that reads on its stream, and knows no other."""
    managed = dlpack.take(array.__dlpack__(stream=consumer))
    tensor, out = managed.tensor, drv.pagelocked_empty(array.shape, array.dtype)
    drv.memcpy_dtoh_async(out, tensor.data, consumer)
    assert not PyGPU.cudaStreamSynchronize(consumer)
    dlpack.end(managed)
    return out


@pytest.mark.parametrize("consumer", WRITERS)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_consumer_comes_after_our_work(writer, consumer):
    array, stream, reader = gpuarray.zeros(SIZE, np.int32), WRITERS[writer](), WRITERS[consumer]()
    prepare()
    slow_fill(array, 7, stream)
    assert (exchanged(array, reader) == 7).all()


@pytest.mark.parametrize("kind", [0, 1])
def test_a_consumer_comes_after_a_stream_that_is_gone(kind):
    array, stream = gpuarray.zeros(SIZE, np.int32), drv.Stream(kind)
    prepare()
    slow_fill(array, 7, stream)
    del stream
    assert (exchanged(array, drv.Stream(1)) == 7).all()


@pytest.mark.parametrize("writer", WRITERS)
def test_a_reader_of_the_interface_comes_after_our_work(writer):
    array, stream = gpuarray.zeros(SIZE, np.int32), WRITERS[writer]()
    prepare()
    slow_fill(array, 7, stream)
    interface, reader = array._array_interface, drv.Stream(1)
    reader.wait_for_event(drv.Event().record(interface["stream"]))
    out = drv.pagelocked_empty(array.shape, array.dtype)
    drv.memcpy_dtoh_async(out, interface["data"][0], reader)
    reader.synchronize()
    assert (out == 7).all()


@pytest.mark.parametrize("writer", WRITERS)
def test_a_copy_comes_after_our_work(writer):
    array, stream = gpuarray.zeros(SIZE, np.int32), WRITERS[writer]()
    prepare()
    slow_fill(array, 7, stream)
    reader = drv.Stream(1)
    managed = dlpack.take(array.__dlpack__(stream=reader, copy=True))
    out = drv.pagelocked_empty(array.shape, array.dtype)
    drv.memcpy_dtoh_async(out, managed.tensor.data, reader)
    reader.synchronize()
    dlpack.end(managed)
    assert (out == 7).all()


class Ordered(dlpack.Producer):
    """A producer with work on a stream of its own, which it lets the consumer's wait for."""

    def __init__(self, array, stream):
        super().__init__(array)
        self.own = stream

    def __dlpack__(self, **asked):
        event = drv.Event().record(self.own)
        assert not PyGPU.cudaStreamWaitEvent(asked.get("stream"), event)
        return super().__dlpack__(**asked)


class Teller:
    def __init__(self, array, stream):
        self.__cuda_array_interface__ = {
            **array._array_interface,
            "stream": int(stream) if stream else 1,
        }


@pytest.mark.parametrize("form", [Ordered, Teller])
@pytest.mark.parametrize("reader", WRITERS)
@pytest.mark.parametrize("writer", WRITERS)
def test_our_work_comes_after_a_producers(form, writer, reader):
    """The producer's stream has no owner that this library knows."""
    array, stream, ours = gpuarray.zeros(SIZE, np.int32), WRITERS[writer](), WRITERS[reader]()
    source = form(array, stream)
    prepare()
    slow_fill(array, 7, stream)
    got = asarray(source, stream=ours)
    out = got.get_async(ours)
    assert not PyGPU.cudaStreamSynchronize(ours)
    assert (out == 7).all()


@pytest.mark.parametrize("writer", WRITERS)
def test_memory_goes_back_after_our_work(writer):
    """The producer may use it for something else at once, on a stream that waits for nothing."""
    array, stream, other = gpuarray.zeros(SIZE, np.int32), WRITERS[writer](), drv.Stream(1)
    producer = dlpack.Producer(array)
    prepare()
    slow_fill(from_dlpack(producer), 7, stream)
    assert producer.ended == 1
    drv.memset_d32_async(array.ptr, 3, array.size, other)
    drv.Context.synchronize()
    assert (array.get() == 3).all()


@pytest.mark.parametrize("consumer", WRITERS)
def test_our_memory_is_free_after_a_consumers_work(consumer):
    stream = WRITERS[consumer]()
    array = to_gpu(np.zeros(SIZE, np.int32))
    address = array.ptr
    managed = dlpack.take(array.__dlpack__(stream=stream))
    del array
    prepare()
    slow_spoil(address, 7, stream)
    del stream
    dlpack.end(managed)
    later = [to_gpu(np.ones(SIZE, np.int32)) for _ in range(3)]  # of the memory that was freed
    drv.Context.synchronize()
    assert all((one.get() == 1).all() for one in later)
