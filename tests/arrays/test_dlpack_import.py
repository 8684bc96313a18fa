"""from_dlpack: what is taken from other libraries, and when it is given back."""

import ctypes
import gc
import threading
import weakref

import dlpack_tools as dlpack
import numpy as np
import pytest
from dlpack_tools import Producer
from hypothesis import given
from hypothesis import strategies as st
from strategies import arrays, assert_same, counted_strides, indices, part, values

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import GPUArray, from_dlpack, to_gpu

HOST = PyGPU.target == "host"
on_host = pytest.mark.skipif(not HOST, reason="memory of the CPU is reached on the target host")
both = pytest.mark.parametrize("versioned", [False, True], ids=["legacy", "versioned"])
dtypes = st.sampled_from(dlpack.EVERY_DTYPE)
NULL_STREAM = {"cuda": {"stream": 1}, "hip": {"stream": 0}, "host": {}}[PyGPU.target]


@given(st.booleans(), st.data(), dtypes, st.sampled_from([0, 8, 64]))
def test_any_layout(versioned, data, dtype, offset):
    x = data.draw(arrays(dtype=dtype))
    index = data.draw(indices(x.shape))
    view, host = to_gpu(x)[index], part(x.copy(order="K"), index)
    producer = Producer(view, versioned, offset)
    array = from_dlpack(producer)
    assert type(array) is GPUArray
    assert array.ptr == view.ptr
    assert_same(array.get(), host)
    assert counted_strides(array) == counted_strides(host)
    assert dlpack.name_of(producer.capsule) == dlpack.USED[versioned]
    del array
    assert producer.ended == 1


@both
def test_what_a_producer_is_asked(versioned):
    producer = Producer(gpuarray.zeros(3), versioned)
    from_dlpack(producer)
    assert producer.asked[-1] == (
        {**NULL_STREAM, "max_version": (1, 1)} if versioned else NULL_STREAM
    )
    assert len(producer.asked) == (1 if versioned else 2)
    producer = Producer(gpuarray.zeros(3))
    from_dlpack(producer, copy=False)
    assert producer.asked == [{**NULL_STREAM, "max_version": (1, 1), "copy": False}]


def test_strides_may_be_left_out():
    source = to_gpu(values((2, 3, 4), np.int16))
    producer = Producer(source, strides=None)
    assert_same(from_dlpack(producer).get(), source.get())


@both
def test_given_back_with_the_last_view(versioned):
    producer = Producer(to_gpu(np.arange(24).reshape(2, 3, 4)), versioned)
    array = from_dlpack(producer)
    views = [array[0], array.T[1:], array.reshape(24), array.view(np.int32), array[1, ::-1]]
    assert array.base is producer
    del array
    gc.collect()
    while views:
        assert producer.ended == 0
        views.pop()
        gc.collect()
    assert producer.ended == 1


@both
def test_without_elements_it_is_given_back_at_once(versioned):
    producer = Producer(gpuarray.zeros((3, 0, 2), np.float32), versioned)
    array = from_dlpack(producer)
    assert (array.shape, array.ptr, producer.ended) == ((3, 0, 2), 0, 1)
    del array
    assert producer.ended == 1


@both
def test_a_deleter_may_be_missing(versioned):
    producer = Producer(to_gpu(np.arange(3)), versioned)
    producer.managed.deleter = dlpack.Deleter()
    assert from_dlpack(producer).get().tolist() == [0, 1, 2]


@both
def test_a_capsule_is_taken_once(versioned):
    producer = Producer(gpuarray.zeros(3), versioned)
    array = from_dlpack(producer)
    with pytest.raises(BufferError, match="consumed before"):
        from_dlpack(producer)
    assert producer.ended == 0
    del array
    assert producer.ended == 1


def test_the_memory_is_shared():
    source = to_gpu(np.arange(5.0))
    array = from_dlpack(Producer(source))
    array += 1
    assert source.get().tolist() == [1, 2, 3, 4, 5]
    source.fill(2)
    assert (array * 2).get().tolist() == [4] * 5
    array[1:3] = np.array([8.0, 9.0])
    assert source.get().tolist() == [2, 8, 9, 2, 2]


def test_a_copy_has_memory_of_its_own():
    source = to_gpu(np.arange(5.0))
    producer = Producer(source, flags=dlpack.READ_ONLY)
    array = from_dlpack(producer, copy=True)
    assert producer.ended == 1
    assert array.ptr != source.ptr
    assert array.get().tolist() == [0, 1, 2, 3, 4]


def test_ours_again():
    source = to_gpu(np.arange(6).reshape(2, 3).T)
    array = from_dlpack(source)
    assert array.ptr == source.ptr
    assert array.strides == source.strides
    del source
    gc.collect()
    gpuarray.zeros(6, np.int64)
    assert array.get().tolist() == [[0, 3], [1, 4], [2, 5]]


def test_it_can_be_passed_on():
    producer = Producer(to_gpu(np.arange(3)))
    managed = dlpack.take(from_dlpack(producer).__dlpack__(max_version=(1, 0)))
    gc.collect()
    assert producer.ended == 0
    thread = threading.Thread(target=dlpack.end, args=[managed])
    thread.start()
    thread.join()
    assert producer.ended == 1


@pytest.mark.parametrize("flags", [0, 1])
def test_the_array_is_ready_on_a_stream(flags):
    stream = drv.Stream(flags)
    array = from_dlpack(Producer(to_gpu(np.arange(4))), stream=stream)
    out = array.get_async(stream)
    stream.synchronize()
    assert out.tolist() == [0, 1, 2, 3]


# What is refused. The capsule stays the producer's then.


REFUSED = {
    "read-only": ({"flags": dlpack.READ_ONLY}, r"read-only.*copy=True"),
    "of the future": ({"major": 2}, "DLPack 2"),
    "vectors": ({"lanes": 4}, "4 lanes"),
    "four bits of ml_dtypes": ({"code": 17, "bits": 4}, "type code 17 of 4 bits"),
    "a wide bfloat": ({"code": 4, "bits": 32}, "type code 4 of 32 bits"),
    "pairs of bfloat16": ({"code": 4, "bits": 16, "lanes": 2}, "2 lanes"),
    "four bits": ({"bits": 4}, "4 bits"),
    "negative length": ({"ndim": -1}, "-1 axes"),
    "many axes": ({"ndim": 65}, "65 axes"),
    "no shape": ({"shape": None}, "shape"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    fields, message = REFUSED[case]
    producer = Producer(to_gpu(np.arange(6)), **fields)
    with pytest.raises(BufferError, match=message):
        from_dlpack(producer)
    assert dlpack.name_of(producer.capsule) == dlpack.FRESH[True]
    assert producer.ended == 0


def test_nonsense_in_a_tensor():
    for shape, strides in (((-1,), (1,)), ((2**62, 2**62), (1, 1)), ((3,), (2**62,))):
        producer = Producer(to_gpu(np.zeros((2,) * len(shape))))
        producer.shape[: len(shape)], producer.strides[: len(shape)] = shape, strides
        with pytest.raises(BufferError, match="from_dlpack"):
            from_dlpack(producer)
    producer = Producer(to_gpu(np.zeros(3)), data=None)
    with pytest.raises(BufferError, match="address 0"):
        from_dlpack(producer)
    assert producer.ended == 1  # it was taken already


@pytest.mark.parametrize("bad", [None, 3, [1, 2], "array", gpuarray, np.float64])
def test_what_is_no_array(bad):
    with pytest.raises(TypeError, match="__dlpack__"):
        from_dlpack(bad)


def test_what_is_no_capsule():
    class Liar(Producer):
        def __dlpack__(self, **asked):
            return self.answer

    producer = Liar(gpuarray.zeros(3))
    for producer.answer in (None, 3, dlpack.api.PyCapsule_New(1, b"other", None)):
        with pytest.raises(BufferError, match="no DLPack capsule"):
            from_dlpack(producer)


def test_errors_of_producers_are_heard():
    class Failing(Producer):
        def __dlpack__(self, **asked):
            raise self.error

    producer = Failing(gpuarray.zeros(3))
    for producer.error in (BufferError("grad"), RuntimeError("lost"), TypeError("never")):
        with pytest.raises(type(producer.error), match=str(producer.error)):
            from_dlpack(producer)


ELSEWHERE = {
    "cuda": {1: r"the CPU; to_gpu\(numpy.from_dlpack", 10: "ROCm", 14: "type 14"},
    "hip": {1: r"the CPU; to_gpu\(numpy.from_dlpack", 2: "CUDA", 14: "type 14"},
    "host": {2: "a CUDA device; the target host accesses the CPU", 10: "ROCm", 14: "type 14"},
}[PyGPU.target]


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_arrays_elsewhere(kind):
    producer = Producer(gpuarray.zeros(3), device_type=kind)
    with pytest.raises(BufferError, match=ELSEWHERE[kind]):
        from_dlpack(producer)
    assert producer.asked == []


@pytest.mark.skipif(HOST, reason="the CPU has one number")
def test_devices_that_are_not_there():
    count = PyGPU.cudaGetDeviceCount()[0]
    for number in (-1, count):
        with pytest.raises(BufferError, match=f"device {number}.*sees {count}"):
            from_dlpack(Producer(gpuarray.zeros(3), device_id=number))


def test_a_capsule_of_another_device_than_told():
    producer = Producer(gpuarray.zeros(3))
    producer.managed.tensor.device_id = 5
    with pytest.raises(BufferError, match=r"\(\d+, 5\)"):
        from_dlpack(producer)


def test_the_device_that_is_asked_for():
    kind, number = dlpack.device()
    for device in (0, np.int64(0), (kind, number)):
        assert from_dlpack(Producer(gpuarray.zeros(3)), device=device).shape == (3,)
    with pytest.raises(BufferError, match=r"device=\(7, 0\)"):
        from_dlpack(Producer(gpuarray.zeros(3)), device=(7, 0))
    with pytest.raises(TypeError, match="device"):
        from_dlpack(Producer(gpuarray.zeros(3)), device="gpu")


def test_another_device_is_a_copy(two_devices):
    two_devices("""
import PyGPU, numpy as np
from PyGPU.gpuarray import from_dlpack, to_gpu
x = to_gpu(np.arange(6).reshape(2, 3).T)
there = from_dlpack(x, device=1)
assert PyGPU.cudaPointerGetAttributes(there.ptr)[0]["device"] == 1
assert PyGPU.cudaGetDevice()[0] == 0
assert (there.get() == x.get()).all() and there.strides == x.strides
try:
    from_dlpack(x, device=1, copy=False)
except BufferError as error:
    assert "copy=False" in str(error)
else:
    raise AssertionError
""")


# NumPy's memory.


@on_host
@given(st.data(), dtypes)
def test_numpys_arrays(data, dtype):
    x = data.draw(arrays(dtype=dtype, writable=True))
    array = from_dlpack(x)
    assert_same(array.get(), x.copy(order="K"))
    if x.size:
        assert array.ptr == x.__array_interface__["data"][0]


DOUBLE = """
__global__ void twice(int *x, int n)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
"""


@on_host
def test_kernels_and_copies_reach_numpys_memory():
    x = np.arange(40, dtype=np.int32)
    array = from_dlpack(x)
    SourceModule(DOUBLE).get_function("twice")(array, np.int32(40), block=(32, 1, 1), grid=(2, 1))
    assert (x == 2 * np.arange(40)).all()
    array[::2].fill(7)
    array[1::2] = array[::2] + array[1::2].copy()
    assert (x[1::2] == 2 * np.arange(1, 40, 2) + 7).all()
    drv.memset_d32(array.ptr, 3, 40)
    assert (x == 3).all()
    drv.memcpy_htod(array.gpudata, np.arange(40, dtype=np.int32))
    assert (x == np.arange(40)).all()
    assert from_dlpack(x[5:30]).get().tolist() == x[5:30].tolist()  # lent twice


@on_host
def test_numpys_memory_is_the_machines_no_longer_than_lent():
    x = np.arange(100)
    address = x.__array_interface__["data"][0]
    first, second = from_dlpack(x), from_dlpack(x[50:])
    assert PyGPU.cudaMemset(address, 0, x.nbytes) == 0
    del first
    assert PyGPU.cudaMemset(address, 0, x.nbytes) == PyGPU.cudaErrorInvalidValue
    assert PyGPU.cudaMemset(address + 400, 1, 400) == 0
    del second
    assert PyGPU.cudaMemset(address + 400, 0, 400) == PyGPU.cudaErrorInvalidValue


@on_host
def test_numpys_array_lives_as_long_as_ours():
    class Array(np.ndarray):
        pass

    x = np.arange(1000).view(Array)
    reference = weakref.ref(x)
    view = from_dlpack(x)[10:20]
    del x
    gc.collect()
    assert reference() is not None
    assert view.get().tolist() == list(range(10, 20))
    del view
    gc.collect()
    assert reference() is None


@on_host
def test_read_only_arrays_of_numpy():
    x = np.arange(3)
    x.flags.writeable = False
    with pytest.raises(BufferError):
        from_dlpack(x)


@on_host
def test_strict_kernels_reach_no_further_than_lent(python):
    source = f"""
import numpy as np, PyGPU
from PyGPU.compiler import SourceModule
twice = SourceModule({DOUBLE!r}).get_function("twice")
pairs = [(np.zeros(300, np.int32), np.zeros(300, np.int32)) for _ in range(200)]
places = [kept for hole, kept in pairs]
del pairs  # into the holes between them goes what a launch needs for itself
for x in places:
    array = PyGPU.from_dlpack(x[:40])
    twice(array, np.int32(40), block=(64, 1, 1))
    try:
        twice(array, np.int32(41), block=(64, 1, 1))
    except PyGPU.errors.Error as error:
        print("a read of 4 bytes" in str(error))
"""
    assert python(source, PYGPU_HOST_STRICT=1).stdout == "True\n" * 200


def test_many_threads():
    source = to_gpu(np.arange(100))
    failures = []

    def work():
        try:
            for _ in range(50):
                array = from_dlpack(source)
                assert array[99].get() == 99
                managed = dlpack.take(array.__dlpack__(max_version=(1, 0)))
                del array
                dlpack.end(managed)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_loan_at_the_end_of_the_program(python):
    source = """
import ctypes, numpy as np, PyGPU
x = PyGPU.zeros(3)
y = PyGPU.from_dlpack(x)
cycle = [y, x]; cycle.append(cycle)
print("done")
"""
    done = python(source)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_sizes_of_the_structures():
    assert ctypes.sizeof(dlpack.Tensor) == 48
    assert ctypes.sizeof(dlpack.Managed) == 64
    assert ctypes.sizeof(dlpack.ManagedVersioned) == 80
