"""Host memory in the driver's names: page-locked, managed and aligned arrays."""

import gc

import numpy as np
import pytest
from hypothesis import given
from memory_tools import kind_of
from strategies import dtypes, examples, shapes, values

import PyGPU
import PyGPU.driver as drv

KINDS = ("pagelocked", "managed", "aligned")
OWNERS = {
    "pagelocked": drv.PagelockedHostAllocation,
    "managed": drv.ManagedAllocation,
    "aligned": drv.AlignedHostAllocation,
}
ODD_RECORDS = [
    np.dtype([("a", "u1"), ("b", "f8")], align=True),
    np.dtype({"names": ["a", "b"], "formats": ["i4", "i2"], "offsets": [0, 0]}),
    np.dtype({"names": ["b", "a"], "formats": ["f4", "i4"], "offsets": [8, 0], "itemsize": 20}),
    np.dtype([(("a title", "a"), "f4"), ("b", [("c", "M8[us]"), ("d", "U2")], (2, 3))]),
]


def make(kind, what):
    return getattr(drv, f"{kind}_{what}")


def bytes_of(array):
    return array.tobytes(order="A")


# Arrays of all three kinds.


@pytest.mark.parametrize("kind", KINDS)
@examples(30)
@given(dtypes, shapes())
def test_every_dtype_shape_and_order(kind, dtype, shape):
    data = values(shape, dtype)
    for order in "CF":
        array = make(kind, "empty")(shape, dtype, order)
        assert type(array) is np.ndarray and type(array.base) is OWNERS[kind]
        assert array.shape == shape and array.dtype == dtype and array.flags.writeable
        assert array.flags.c_contiguous if order == "C" else array.flags.f_contiguous
        array[...] = data
        assert array.tobytes() == data.tobytes()
        zeros = make(kind, "zeros")(shape, dtype, order)
        assert zeros.dtype == dtype and zeros.shape == shape
        assert zeros.tobytes() == np.zeros(shape, dtype).tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ODD_RECORDS, ids=str)
def test_odd_records(kind, dtype):
    array = make(kind, "zeros")((2, 3), dtype, "F")
    assert array.dtype == dtype and array.dtype.fields == dtype.fields
    assert array.shape == (2, 3) and array.nbytes == 6 * dtype.itemsize
    first = dtype.names[0]
    array[first][1, 2] = array[first].dtype.type(3)
    assert (array[first] == array[first].dtype.type(3)).sum() == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["empty", "zeros"])
def test_shapes_are_numbers_or_sequences(kind, what):
    create = make(kind, what)
    for shape in (6, np.int64(6), [6], (np.uint8(6),), np.array([6])):
        assert create(shape, np.int16).shape == (6,)
    assert create((), np.float32).shape == () and create((), np.float32).flags.forc
    assert create(shape=(2, 3), dtype="f4", order="F").strides == (4, 8)
    assert create((2, 0, 3), float).size == 0
    assert create(3, float).dtype == np.float64


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["empty", "zeros"])
def test_bad_input(kind, what):
    create = make(kind, what)
    for order in ("A", "K", "", "c", None, 0):
        with pytest.raises(drv.LogicError, match="order"):
            create(4, np.float32, order)
    for shape in (-1, (3, -1), [2, -(2**40)]):
        with pytest.raises((OverflowError, ValueError)):
            create(shape, np.float32)
    with pytest.raises(TypeError):
        create(4, "no such type")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_shape(kind):
    for shape in (1.5, None, "4", (2, "3"), (2, 3.0)):
        with pytest.raises(TypeError):
            make(kind, "empty")(shape, np.float32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [2**50, (2**30, 2**30), (2**31, 2**31), (2**40, 2**40)])
def test_too_much_memory(kind, shape):
    with pytest.raises((MemoryError, ValueError)):
        make(kind, "empty")(shape, np.float32)


def test_a_shortage_of_page_locked_memory_names_the_bytes():
    with pytest.raises(MemoryError, match=f"{2**52} bytes of page-locked memory were requested"):
        drv.pagelocked_empty(2**50, np.float32)


@pytest.mark.parametrize("kind", KINDS)
def test_no_python_objects(kind):
    for dtype in (object, np.dtype([("a", "i4"), ("b", object)])):
        with pytest.raises((TypeError, ValueError)):
            make(kind, "empty")(4, dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["empty_like", "zeros_like"])
def test_like_another_array(kind, what):
    like = make(kind, what)
    for other in (np.ones((3, 4), np.complex64), np.ones((3, 4), np.int16).T, np.ones(())):
        array = like(other)
        assert array.shape == other.shape and array.dtype == other.dtype
        assert array.strides == other.strides and type(array.base) is OWNERS[kind]
        if what == "zeros_like":
            assert not array.any()
    for strided in (np.ones(10)[::2], np.ones((2, 3, 4)).transpose(1, 0, 2)):
        with pytest.raises(ValueError, match="contiguous"):
            like(strided)


@pytest.mark.parametrize("kind", KINDS)
def test_views_keep_the_memory(kind):
    array = make(kind, "empty")((100, 100), np.int32)
    array[...] = np.arange(10_000).reshape(100, 100)
    view, address = array[50:, ::2].T, array.ctypes.data
    del array
    gc.collect()
    others = [make(kind, "zeros")((100, 100), np.int32) for _ in range(3)]
    assert all(other.ctypes.data != address for other in others)
    assert (view == np.arange(10_000).reshape(100, 100)[50:, ::2].T).all()


@pytest.mark.parametrize("kind", ["pagelocked", "managed"])
def test_memory_goes_with_the_last_view(kind):
    expected = {"pagelocked": PyGPU.cudaMemoryTypeHost, "managed": PyGPU.cudaMemoryTypeManaged}
    array = make(kind, "empty")(1 << 20, np.uint8)
    address, view = array.ctypes.data, array[5:]
    del array
    gc.collect()
    assert kind_of(address) == expected[kind]
    del view
    gc.collect()
    assert kind_of(address) == PyGPU.cudaMemoryTypeUnregistered


@pytest.mark.parametrize("kind", ["pagelocked", "managed"])
def test_memory_is_freed_once(kind):
    array = make(kind, "empty")(1 << 20, np.uint8)
    owner, address = array.base, array.ctypes.data
    del array
    assert int(owner) == address and owner.free() is None
    assert kind_of(address) == PyGPU.cudaMemoryTypeUnregistered
    with pytest.raises(drv.LogicError, match="free"):
        owner.free()


@pytest.mark.parametrize("kind", KINDS)
def test_copies_there_and_back(kind):
    array, back = (make(kind, "empty")((5, 7), np.float64, "F") for _ in range(2))
    array[...] = np.arange(35.0).reshape(5, 7)
    stream, memory = drv.Stream(), drv.mem_alloc_like(array)
    drv.memcpy_htod_async(memory, array, stream)
    drv.memcpy_dtoh_async(back, memory, stream)
    stream.synchronize()
    assert (back == array).all()
    drv.memset_d32(memory, 0, 70)
    drv.memcpy_dtoh(back, memory)
    assert not back.any()


# Page-locked memory.


def test_page_locked_memory():
    array = drv.pagelocked_zeros((10, 10), np.float32)
    assert kind_of(array.ctypes.data) == PyGPU.cudaMemoryTypeHost
    assert drv.HostAllocation is drv.PagelockedHostAllocation
    assert issubclass(drv.PagelockedHostAllocation, drv.HostPointer)
    assert type(array.base.get_flags()) is int
    mapped = array.base.get_device_pointer()
    assert type(mapped) is int
    drv.memset_d32(mapped, 0x3F800000, 100)
    assert (array == 1).all()


@pytest.mark.parametrize("name", ["PORTABLE", "DEVICEMAP", "WRITECOMBINED"])
def test_flags_of_page_locked_memory(name):
    flag = getattr(drv.host_alloc_flags, name)
    # The driver puts small blocks beside earlier ones, and reports the flags of the first.
    large = 4 << 20
    like = np.zeros(large, np.uint8)
    for array in (
        drv.pagelocked_zeros(large, np.uint8, mem_flags=flag),
        drv.pagelocked_empty(large, np.uint8, "F", flag),
        drv.pagelocked_empty_like(like, flag),
        drv.pagelocked_zeros_like(like, mem_flags=flag),
    ):
        assert array.base.get_flags() & flag == flag
    with pytest.raises(drv.LogicError):
        drv.pagelocked_empty(10, np.uint8, mem_flags=1 << 20)


# Managed memory.


def test_managed_memory():
    array = drv.managed_empty((4, 5), np.int32, mem_flags=drv.mem_attach_flags.GLOBAL)
    owner = array.base
    assert drv.ManagedAllocationOrStub is drv.ManagedAllocation
    assert isinstance(owner, drv.DeviceAllocation)
    assert int(owner) == owner.get_device_pointer() == array.ctypes.data
    assert kind_of(owner) == PyGPU.cudaMemoryTypeManaged
    drv.memset_d32(owner, 42, 20)
    drv.Context.synchronize()
    assert (array == 42).all()
    found = drv.from_device_like(owner, array)
    assert (found == 42).all()


def test_managed_memory_is_attached():
    owner = drv.managed_zeros(100, np.float32).base
    stream = drv.Stream()
    assert owner.attach(drv.mem_attach_flags.SINGLE, stream) is None
    stream.synchronize()
    assert owner.attach(mem_flags=drv.mem_attach_flags.GLOBAL, stream=None) is None
    drv.Context.synchronize()
    with pytest.raises(drv.LogicError):
        owner.attach(99)
    with pytest.raises(drv.LogicError):
        drv.managed_empty(10, np.float32, mem_flags=99)


# Aligned memory.


@pytest.mark.parametrize("alignment", [1, 2, 64, 4096, 1 << 16, np.int64(512)])
def test_aligned_memory(alignment):
    arrays = [
        drv.aligned_empty((3, 5), np.uint8, alignment=alignment),
        drv.aligned_zeros((3, 5), np.complex128, "F", alignment),
        drv.aligned_empty_like(np.ones(7), alignment),
        drv.aligned_zeros_like(np.ones(7), alignment=alignment),
    ]
    for array in arrays:
        assert array.ctypes.data % alignment == 0
        array[...] = 1
    assert drv.aligned_empty(100, np.uint8).ctypes.data % 4096 == 0


def test_bad_alignments():
    for alignment in (0, -8, 3, 100, 4097):
        with pytest.raises(drv.LogicError, match=f"alignment={alignment}"):
            drv.aligned_empty(100, np.uint8, alignment=alignment)
    for alignment in (1.5, None, "64"):
        with pytest.raises(TypeError):
            drv.aligned_empty(100, np.uint8, alignment=alignment)


def test_arrays_on_aligned_memory_that_was_freed_are_what_they_were(python):
    python("""
import weakref
import numpy as np
import PyGPU.driver as drv

array = drv.aligned_zeros(1 << 24, np.uint8)
part, block = array[1 << 23 :], weakref.ref(array.base._block)
array.base.free()
others = [np.full(1 << 24, 9, np.uint8) for _ in range(4)]
assert not array.any() and not part.any()
array[...] = 1
assert part.all() and all((one == 9).all() for one in others)
del array
assert part.all()
del part
assert block() is None
""")


def test_aligned_memory_is_given_up_once():
    array = drv.aligned_zeros(100, np.uint8)
    owner = array.base
    del array
    assert owner.free() is None
    with pytest.raises(drv.LogicError, match="free"):
        owner.free()
