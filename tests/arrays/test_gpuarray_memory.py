"""Where a GPUArray's memory comes from: gpudata=, base=, allocator=."""

import gc
import threading
import weakref

import numpy as np
import pytest
from strategies import values

import PyGPU
from PyGPU import driver as drv
from PyGPU import errors, gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.gpuarray import GPUArray, to_gpu

X = values((2, 3), np.float32)


class WithPtr:
    def __init__(self, array):
        self.ptr = array.ptr


class WithIndex:
    def __init__(self, array):
        self.address = array.ptr

    def __index__(self):
        return self.address


class WithInt:
    def __init__(self, array):
        self.address = array.ptr

    def __int__(self):
        return self.address


ADDRESSES = {
    "int": lambda array: array.ptr,
    "numpy integer": lambda array: np.uint64(array.ptr),
    "DeviceAllocation": lambda array: array.gpudata,
    "pointer_wrapper": lambda array: PyGPU.pointer_wrapper_float32(array.ptr),
    "GPUArray": lambda array: array,
    ".ptr": WithPtr,
    "__index__": WithIndex,
    "__int__": WithInt,
}


@pytest.mark.parametrize("form", ADDRESSES)
def test_gpudata_is_used_as_it_is(form):
    owner = to_gpu(X)
    gpudata = ADDRESSES[form](owner)
    array = GPUArray((2, 3), np.float32, gpudata=gpudata)
    assert array.gpudata is gpudata
    assert array.ptr == owner.ptr
    assert array.base is None
    assert array.get().tolist() == X.tolist()
    array.set(X + 1)
    assert owner.get().tolist() == (X + 1).tolist()


@pytest.mark.parametrize("form", [WithIndex, WithInt])
def test_gpudata_that_moves_is_followed(form):
    one, two = to_gpu(X), to_gpu(X + 10)
    bank = form(one)
    array = GPUArray((2, 3), np.float32, gpudata=bank)
    double = ElementwiseKernel("float *out, float *x", "out[i] = 2 * x[i]")
    out, view = gpuarray.empty_like(one), array[1]
    for owner, host in ((one, X), (two, X + 10), (one, X)):
        bank.address = owner.ptr
        double(out, array)
        np.testing.assert_array_equal(out.get(), 2 * host)
        np.testing.assert_array_equal((array + 1).get(), host + 1)
        np.testing.assert_array_equal(array.get(), host)
        assert array.ptr == owner.ptr and array.gpudata is bank
        assert array.sum().get() == host.sum()
    assert view.ptr == one[1].ptr
    bank.address = two.ptr
    assert array._array_interface["data"][0] == two.ptr
    array.fill(3)
    assert (two.get() == 3).all() and (one.get() == X).all()
    array.gpudata = one.gpudata
    bank.address = 0
    assert array.ptr == one.ptr


def test_gpudata_that_fails_to_say_where():
    class Broken(WithIndex):
        def __index__(self):
            if self.address is None:
                raise KeyError("lost")
            return self.address

    owner = to_gpu(X)
    bank = Broken(owner)
    array = GPUArray((2, 3), np.float32, gpudata=bank)
    bank.address = None
    for use in (array.get, lambda: array + 1, lambda: array.ptr):
        with pytest.raises(KeyError, match="lost"):
            use()
    assert array.shape == (2, 3) and array.flags.c_contiguous and array.nbytes == 24
    array.gpudata = owner.gpudata
    np.testing.assert_array_equal(array.get(), X)


def test_gpudata_that_uses_its_array():
    one, two = to_gpu(X), to_gpu(X + 10)

    class Bank:
        change = None

        def __index__(self):
            if self.change:
                assert array.nbytes == 24 and array.ptr and (array.get() == X).all()
                self.change()
            return one.ptr

    bank = Bank()
    array = GPUArray((2, 3), np.float32, gpudata=bank)
    bank.change = lambda: None
    np.testing.assert_array_equal(array.get(), X)

    def change():
        array.gpudata = two.gpudata

    bank.change = change
    array.get()
    assert array.gpudata is two.gpudata and array.ptr == two.ptr
    np.testing.assert_array_equal(array.get(), X + 10)


def test_threads_read_while_gpudata_changes():
    hosts = [np.full(1 << 20, number, np.int32) for number in range(3)]
    banks = [to_gpu(host) for host in hosts]
    array = GPUArray(1 << 20, np.int32, gpudata=banks[0].gpudata)
    done = threading.Event()

    def change():
        for turn in range(300):
            array.gpudata = to_gpu(hosts[turn % 3]).gpudata
        done.set()

    thread = threading.Thread(target=change)
    thread.start()
    while not done.is_set():
        found = array.get()
        assert (found == found[0]).all()
    thread.join()


def test_gpudata_with_strides_and_order():
    owner = to_gpu(np.arange(6.0))
    turned = GPUArray((2, 3), gpudata=owner.ptr, order="F")
    assert turned.get().tolist() == [[0, 2, 4], [1, 3, 5]]
    backwards = GPUArray(3, gpudata=owner.ptr + 40, strides=(-16,))
    assert backwards.get().tolist() == [5, 3, 1]


def test_all_arguments_by_position():
    owner = to_gpu(X)
    array = GPUArray((3, 2), "f4", None, owner, owner.ptr, (4, 12), "C")
    assert array.get().tolist() == X.T.tolist()
    assert array.base is owner


def test_gpudata_without_elements():
    array = GPUArray((0, 3), np.float32, gpudata=to_gpu(X).gpudata)
    assert (array.ptr, array.gpudata) == (0, None)
    assert array.get().shape == (0, 3)


@pytest.mark.parametrize("gpudata", ["0x10", b"ab", 4096.0, object(), np.zeros(3), [4096]])
def test_what_is_no_address(gpudata):
    with pytest.raises(TypeError, match="gpudata"):
        GPUArray(3, gpudata=gpudata)


def test_addresses_out_of_range():
    for number in (-1, 2**64):
        with pytest.raises((ValueError, OverflowError)):
            GPUArray(3, gpudata=number)


def test_base_needs_gpudata():
    with pytest.raises(ValueError, match="base"):
        GPUArray(3, base=object())


class Owner:
    """Something that has memory and frees it when it goes."""

    def __init__(self):
        self.array = to_gpu(X)


def test_base_stays_alive_with_the_array_and_its_views():
    owner = Owner()
    alive = weakref.ref(owner)
    array = GPUArray((2, 3), np.float32, base=owner, gpudata=owner.array.ptr)
    assert array.base is owner
    del owner
    view = array[1]
    del array
    gc.collect()
    assert alive() is not None
    assert view.get().tolist() == X[1].tolist()
    del view
    gc.collect()
    assert alive() is None


def test_gpudata_stays_alive_with_the_array():
    holder = WithPtr(to_gpu(X))
    alive = weakref.ref(holder)
    array = GPUArray((2, 3), np.float32, gpudata=holder)
    del holder
    gc.collect()
    assert alive() is not None
    del array
    gc.collect()
    assert alive() is None


def test_an_allocation_keeps_the_memory():
    gpudata = to_gpu(X).gpudata
    gc.collect()
    others = [gpuarray.zeros((2, 3), np.float32) for _ in range(8)]
    assert GPUArray((2, 3), np.float32, gpudata=gpudata).get().tolist() == X.tolist()
    assert int(gpudata) not in [other.ptr for other in others]


class Allocator:
    """Counts what is asked of it; gives memory in the form `form`."""

    def __init__(self, form):
        self.form = form
        self.asked = []
        self.given = []
        self.owners = []

    def __call__(self, nbytes):
        assert type(nbytes) is int
        self.asked.append(nbytes)
        self.owners.append(GPUArray(nbytes, np.uint8))
        self.given.append(ADDRESSES[self.form](self.owners[-1]))
        return self.given[-1]


@pytest.mark.parametrize("form", ADDRESSES)
def test_an_allocator_is_called_once_with_the_bytes(form):
    allocator = Allocator(form)
    array = GPUArray((2, 3), np.float32, allocator)
    assert allocator.asked == [24]
    assert array.gpudata is allocator.given[0]
    assert array.ptr == allocator.owners[0].ptr
    assert array.allocator is allocator
    assert array.base is None
    array.set(X)
    assert allocator.owners[0].get().tobytes() == X.tobytes()


def test_an_allocator_is_not_called_for_nothing():
    allocator = Allocator("int")
    for shape in (0, (3, 0)):
        array = GPUArray(shape, allocator=allocator)
        assert array.gpudata is None
        assert array.copy().allocator is allocator
        to_gpu(np.empty(shape), allocator)
        gpuarray.zeros(shape, allocator=allocator)
    assert allocator.asked == []


def test_an_allocator_is_inherited():
    allocator = Allocator("DeviceAllocation")
    array = to_gpu(X, allocator)
    assert allocator.asked == [24]
    views = [array[1:], array.reshape(6), array.T, array.view(np.int32), array.squeeze()]
    assert allocator.asked == [24]
    copies = [array.copy(), gpuarray.zeros_like(array), gpuarray.empty_like(array[1:])]
    assert allocator.asked == [24, 24, 24, 12]
    copies.append(gpuarray.zeros((2, 3), np.float32, allocator, "F"))
    assert all(each.allocator is allocator for each in views + copies)
    assert copies[0].get().tolist() == X.tolist()
    assert copies[1].get().tolist() == copies[3].get().tolist() == np.zeros((2, 3)).tolist()


def test_an_allocator_gives_all_that_strides_reach():
    allocator = Allocator("int")
    array = GPUArray((2, 3), np.float32, allocator, strides=(-32, 8))
    assert allocator.asked == [32 + 16 + 4]
    array.set(X)
    assert array.get().tolist() == X.tolist()
    assert array.ptr == allocator.owners[0].ptr + 32


def test_an_allocator_that_fails():
    def fails(nbytes):
        raise KeyError(nbytes)

    with pytest.raises(KeyError, match="24"):
        GPUArray((2, 3), np.float32, fails)
    for result in ("memory", 1.5):
        with pytest.raises(TypeError, match="allocator"):
            GPUArray(3, allocator=lambda nbytes, result=result: result)
    with pytest.raises(TypeError):
        GPUArray(3, allocator=4096)


# Results are allocated first: their allocator is named, which must return memory.
FAILURES = (errors.LogicError, errors.MemoryError, TypeError)


@pytest.mark.parametrize("nothing", [0, None])
def test_memory_that_is_set_after_the_array_was_made(nothing):
    """PyCUDA allows it: a program sets its own memory later."""
    arrays = [
        GPUArray((2, 3), np.float32, allocator=lambda nbytes: nothing),
        gpuarray.empty((2, 3), np.float32, lambda nbytes: nothing),
        gpuarray.empty_like(GPUArray((2, 3), np.float32, allocator=lambda nbytes: nothing)),
        GPUArray((3, 2), np.float32, allocator=lambda nbytes: nothing).T,
    ]
    uses = (
        lambda a: a.get(),
        lambda a: a.set(np.zeros((2, 3), np.float32)),
        lambda a: a.fill(1),
        lambda a: a + 1,
        lambda a: a.copy(),
        lambda a: gpuarray.sum(a),
        lambda a: a[:, 1].get(),
        lambda a: gpuarray.take(a.reshape(-1), to_gpu(np.array([1]))),
        lambda a: a.__dlpack__(),
    )
    for a in arrays:
        assert a.ptr == 0
        for use in uses:
            with pytest.raises(FAILURES, match=r"set gpudata|allocator"):
                use(a)
    for a in arrays[:3]:
        assert a.gpudata == nothing
        a.gpudata = drv.mem_alloc(a.nbytes)
        a.fill(3)
        assert a.get().tolist() == [[3] * 3] * 2
    a.allocator = lambda nbytes: 0
    for use in (lambda: a + 1, lambda: a.copy(), lambda: gpuarray.zeros_like(a)):
        with pytest.raises(FAILURES, match=r"set gpudata|allocator"):
            use()


def test_a_kernel_may_receive_an_array_without_memory():
    text = "__global__ void f(const float *a, int *is_null) { *is_null = a == 0; }"
    found = gpuarray.zeros(1, np.int32)
    a = GPUArray(3, np.float32, allocator=lambda nbytes: 0)
    SourceModule(text).get_function("f")(a, found, block=(1, 1, 1))
    assert found.get()[0] == 1


SAME_MEMORY = """
import numpy as np
from PyGPU.gpuarray import GPUArray, to_gpu

owner = to_gpu(np.arange(6.0))
array = GPUArray(6, allocator=lambda nbytes: owner.ptr)
assert array.copy().get().tolist() == array.get().tolist() == list(range(6))
"""


def test_an_allocator_that_gives_the_same_memory_again(python):
    """The copy is the array itself; a process of its own, because this has recursed without end."""
    python(SAME_MEMORY)


def test_an_allocation_is_an_int_and_can_be_freed_early():
    array = to_gpu(X)
    gpudata = array.gpudata
    assert array.gpudata is gpudata
    assert int(gpudata) == gpudata.__index__() == array.ptr
    assert f"{array.ptr:x}" in repr(gpudata)
    gpudata.free()
    with pytest.raises(errors.LogicError, match="freed"):
        gpudata.free()


@pytest.mark.alone
def test_ten_thousand_small_arrays_leave_the_memory_as_it_was():
    def round_trip():
        arrays = [gpuarray.zeros(7, np.float32) + number for number in range(10000)]
        assert arrays[-1].get()[0] == 9999
        del arrays
        assert not PyGPU.cudaDeviceSynchronize()
        return PyGPU.cudaMemGetInfo()[0]

    gc.collect()  # what other tests have left
    round_trip()  # kept blocks of other sizes give way to these
    first = round_trip()  # the runtime's pool may grow once
    assert [round_trip() for _ in range(3)] == [first] * 3


OURS = [drv.mem_alloc, lambda nbytes: gpuarray.empty(nbytes, np.uint8).gpudata]


@pytest.mark.parametrize("allocate", OURS)
def test_an_array_stays_within_the_memory_that_it_is_put_on(allocate):
    memory = allocate(64)
    GPUArray(16, np.float32, gpudata=memory), GPUArray(8, np.float32, gpudata=int(memory) + 32)
    GPUArray(4, np.float32, gpudata=int(memory) + 60, strides=(-16,))
    for shape, at, strides in [(17, 0, None), (9, 32, None), (4, 44, (8,)), (1 << 40, 0, None)]:
        with pytest.raises(ValueError, match="allocated"):
            GPUArray(shape, np.float32, gpudata=int(memory) + at, strides=strides)


@pytest.mark.parametrize("allocate", OURS)
def test_an_array_keeps_memory_of_ours_even_by_its_address(allocate):
    memory = allocate(64)
    address = int(memory)
    array = GPUArray(16, np.float32, gpudata=address)
    del memory
    gc.collect()
    array.fill(5)
    assert drv.mem_get_address_range(address)[0] == address and (array.get() == 5).all()


def test_an_array_says_that_the_memory_under_it_was_freed():
    memory = drv.mem_alloc(64)
    array = GPUArray(16, np.float32, gpudata=int(memory))
    memory.free()
    for use in (array.get, lambda: array.fill(1), lambda: array + 1):
        with pytest.raises(errors.LogicError, match="freed"):
            use()
