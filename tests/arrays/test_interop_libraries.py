"""torch, CuPy, Numba and JAX on one GPU with PyGPU: shared memory, lifetimes, order of work."""

import gc
from contextlib import contextmanager

import needs
import numpy as np
import pytest
from slow_work import SIZE, prepare, slow_fill, slow_spoil

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray, asarray, from_dlpack, to_gpu

if PyGPU.target != "cuda":
    pytest.skip("torch, CuPy, Numba and JAX share the target cuda", allow_module_level=True)

DTYPES = ["?", "i1", "u1", "i2", "i4", "i8", "f2", "f4", "f8", "F", "D"]


class Torch:
    def __init__(self):
        self.torch = needs.module("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("torch finds no GPU")

    def array(self, x):
        return self.torch.from_numpy(x).cuda()

    def fetch(self, x):
        """On the host, after the work on the library's current stream."""
        return x.cpu().numpy()

    def take(self, array):
        return self.torch.from_dlpack(array)

    def take_interface(self, array):
        return self.torch.as_tensor(array, device="cuda")

    def full(self, value):
        return self.torch.full((SIZE,), value, dtype=self.torch.int32, device="cuda")

    def address(self, x):
        return x.data_ptr()

    def used(self):
        return self.torch.cuda.memory_allocated()

    @contextmanager
    def stream(self):
        stream = self.torch.cuda.Stream()
        with self.torch.cuda.stream(stream):
            yield stream


class CuPy:
    def __init__(self):
        self.cupy = needs.module("cupy")

    def array(self, x):
        return self.cupy.asarray(x)

    def fetch(self, x):
        return x.get()

    def take(self, array):
        return self.cupy.from_dlpack(array)

    def take_interface(self, array):
        return self.cupy.asarray(array)

    def full(self, value):
        return self.cupy.full(SIZE, value, dtype=np.int32)

    def address(self, x):
        return x.data.ptr

    def used(self):
        return self.cupy.get_default_memory_pool().used_bytes()

    @contextmanager
    def stream(self):
        with self.cupy.cuda.Stream(non_blocking=True) as stream:
            yield stream


@pytest.fixture(scope="module", params=[Torch, CuPy], ids=["torch", "cupy"])
def library(request):
    return request.param()


@pytest.fixture(autouse=True)
def idle():
    gc.collect()
    prepare()


def values(dtype):
    return (np.arange(24).reshape(2, 3, 4) % 7 - 2).astype(dtype)


# The same memory.


@pytest.mark.parametrize("way", [from_dlpack, asarray])
@pytest.mark.parametrize("dtype", DTYPES)
def test_their_arrays_here(library, way, dtype):
    x = values(dtype)
    source = library.array(x)
    array = way(source)
    assert type(array) is GPUArray
    assert array.ptr == library.address(source)
    assert (array.dtype, array.shape) == (x.dtype, x.shape)
    np.testing.assert_array_equal(array.get(), x)
    np.testing.assert_array_equal(way(source[1, :, ::2]).get(), x[1, :, ::2])
    turned = way(source.transpose(2, 0) if isinstance(library, Torch) else source.T)
    np.testing.assert_array_equal(turned.get(), x.T)


@pytest.mark.parametrize("way", ["take", "take_interface"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_our_arrays_there(library, way, dtype):
    x = values(dtype)
    array = to_gpu(x)
    taken = getattr(library, way)(array)
    assert library.address(taken) == array.ptr
    np.testing.assert_array_equal(library.fetch(taken), x)
    part = getattr(library, way)(array[1, :, ::2])
    np.testing.assert_array_equal(library.fetch(part), x[1, :, ::2])
    turned = getattr(library, way)(array.T)
    np.testing.assert_array_equal(library.fetch(turned), x.T)


def test_changes_are_seen_by_both(library):
    theirs = library.full(1)
    ours = asarray(theirs)
    ours += 1
    assert (library.fetch(theirs) == 2).all()
    theirs += 1
    assert (ours.get() == 3).all()


def test_few_elements(library):
    for shape in ((), (0,), (3, 0, 2)):
        x = np.ones(shape, np.float32)
        np.testing.assert_array_equal(from_dlpack(library.array(x)).get(), x)
        np.testing.assert_array_equal(library.fetch(library.take(to_gpu(x))), x)


def test_copies(library):
    theirs = library.full(1)
    copied = from_dlpack(theirs, copy=True)
    assert copied.ptr != library.address(theirs)
    assert from_dlpack(theirs, copy=False, device=0).ptr == library.address(theirs)
    assert (copied.get() == 1).all()


# Lifetimes.


@pytest.mark.parametrize("way", [from_dlpack, asarray])
def test_their_memory_is_kept_and_given_back(library, way):
    before = library.used()
    theirs = library.full(5)
    held = library.used()
    assert held > before
    view = way(theirs)[10:20]
    del theirs
    gc.collect()
    assert library.used() == held
    assert (view.get() == 5).all()
    del view
    gc.collect()
    assert library.used() == before


@pytest.mark.parametrize("way", ["take", "take_interface"])
def test_our_memory_is_kept(library, way):
    array = to_gpu(np.full(SIZE, 5, np.int32))
    taken = getattr(library, way)(array)
    del array
    gc.collect()
    others = [to_gpu(np.zeros(SIZE, np.int32)) for _ in range(4)]
    assert (library.fetch(taken) == 5).all()
    assert library.address(taken) not in [one.ptr for one in others]


def test_our_memory_is_given_back(library):
    """By the pool: the next array of the size has it again."""
    held = []
    for _ in range(20):
        taken = library.take(gpuarray.zeros(SIZE * 97, np.int32))
        held.append(library.address(taken))
        del taken
        gc.collect()
    assert len(set(held)) < 5


# Order of work: whoever comes second sees what the first one's slow kernel wrote.


STREAMS = {
    "null": lambda: None,
    "blocking": drv.Stream,
    "non-blocking": lambda: drv.Stream(1),
}


@pytest.mark.parametrize("reader", STREAMS)
@pytest.mark.parametrize("way", [from_dlpack, asarray])
def test_a_producer_on_a_side_stream(library, way, reader):
    ours = STREAMS[reader]()
    with library.stream() as side:
        theirs = library.full(0)
        slow_spoil(library.address(theirs), 7, side)
        array = way(theirs, stream=ours)
    out = array.get_async(ours)
    assert not PyGPU.cudaStreamSynchronize(ours)
    assert (out == 7).all()


@pytest.mark.parametrize("way", [from_dlpack, asarray])
def test_operators_come_after_a_producer_on_a_side_stream(library, way):
    with library.stream() as side:
        theirs = library.full(0)
        slow_spoil(library.address(theirs), 7, side)
        total = way(theirs) + 1
    assert (total.get() == 8).all()


@pytest.mark.parametrize("writer", STREAMS)
def test_a_consumer_on_a_side_stream(library, writer):
    array, stream = gpuarray.zeros(SIZE, np.int32), STREAMS[writer]()
    prepare()
    slow_fill(array, 7, stream)
    with library.stream():
        taken = library.take(array)
        assert (library.fetch(taken + 0) == 7).all()


@pytest.mark.parametrize("writer", STREAMS)
def test_a_consumer_on_the_default_stream(library, writer):
    array, stream = gpuarray.zeros(SIZE, np.int32), STREAMS[writer]()
    prepare()
    slow_fill(array, 7, stream)
    assert (library.fetch(library.take(array) + 0) == 7).all()


def test_memory_goes_back_after_our_work(library):
    """Their allocator hands it out again, on a stream that waits for nothing of ours."""
    with library.stream() as side:
        theirs = library.full(0)
        address = library.address(theirs)
        array = from_dlpack(theirs)
        drv.Event().record(side).synchronize()
        slow_fill(array, 7)
        del array, theirs
        again = [library.full(3) for _ in range(16)]
        side_sees = [library.fetch(one) for one in again]
    prepare()
    assert address in [library.address(one) for one in again]
    assert all((one == 3).all() for one in side_sees)
    assert all((library.fetch(one) == 3).all() for one in again)


def test_our_memory_is_free_after_their_work(library):
    array = gpuarray.zeros(SIZE, np.int32)
    address = array.ptr
    with library.stream() as side:
        taken = library.take(array)
        slow_spoil(address, 7, side)
        del array, taken
        gc.collect()
    later = [to_gpu(np.ones(SIZE, np.int32)) for _ in range(4)]
    prepare()
    assert all((one.get() == 1).all() for one in later)


# Their streams in our calls, and ours in theirs.


def test_their_streams_in_our_calls(library):
    array = gpuarray.zeros(SIZE, np.int32)
    prepare()
    with library.stream() as side:
        slow_fill(array, 3, side)
        out = array.get_async(side)
        drv.Event().record(side).synchronize()
    assert (out == 3).all()


# What is theirs alone.


def test_torch_tensors_that_cannot_be_shared():
    torch = Torch().torch
    with pytest.raises(BufferError, match=r"to_gpu\(numpy.from_dlpack"):
        from_dlpack(torch.zeros(3))
    with pytest.raises(BufferError, match=r"to_gpu\(numpy.from_dlpack"):
        asarray(torch.zeros(3))
    with pytest.raises((BufferError, RuntimeError), match="grad"):
        from_dlpack(torch.zeros(3, device="cuda", requires_grad=True))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_torch_tensors_of_few_bits(name):
    torch, ml_dtypes = Torch().torch, needs.module("ml_dtypes")
    theirs = torch.arange(8, device="cuda").to(getattr(torch, name))
    expected = np.arange(8).astype(getattr(ml_dtypes, name))
    array = from_dlpack(theirs)
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array.get(), expected)
    again = torch.from_dlpack(array.copy())
    assert again.dtype == theirs.dtype
    assert torch.equal(again.float(), theirs.float())


def test_managed_memory_of_cupy():
    cupy = CuPy().cupy
    memory = cupy.cuda.malloc_managed(40)
    theirs = cupy.ndarray(10, np.float32, memory)
    theirs[...] = cupy.arange(10)
    assert from_dlpack(theirs).get().tolist() == list(range(10))


@pytest.mark.parametrize(("make", "kind"), [(drv.managed_empty, 13), (drv.pagelocked_empty, 3)])
def test_our_memory_that_the_host_reaches(make, kind):
    """NumPy takes it as it is, and knows no stream to wait for."""
    host = make(SIZE, np.int32)
    address = host.__array_interface__["data"][0]
    array = GPUArray(SIZE, np.int32, gpudata=address, base=host)
    assert array.__dlpack_device__()[0] == kind
    slow_fill(array, 7)
    assert (np.from_dlpack(array) == 7).all()


def test_numba():
    cuda = needs.module("numba.cuda")
    x = values("f4")
    theirs = cuda.to_device(x)
    array = asarray(theirs)
    np.testing.assert_array_equal(array.get(), x)
    np.testing.assert_array_equal(cuda.as_cuda_array(array).copy_to_host(), x)
    stream = cuda.stream()
    array.fill(3, stream)
    stream.synchronize()
    assert (theirs.copy_to_host() == 3).all()
    array.fill(4, cuda.default_stream())
    assert (array.get() == 4).all()


def test_jax(monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = needs.module("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX finds no GPU")
    x = values("f4")
    theirs = jax.numpy.asarray(x) + 1
    np.testing.assert_array_equal(from_dlpack(theirs, copy=True).get(), x + 1)
    taken = jax.numpy.from_dlpack(to_gpu(x))
    np.testing.assert_array_equal(np.asarray(taken), x)


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
def test_sorting_in_place(dtype):
    """The lines of docs/arrays.md."""
    x = np.random.default_rng(3).permutation(5000).astype(dtype).reshape(5, 1000)
    cupy, torch = needs.module("cupy"), needs.module("torch")
    a, b = to_gpu(x), to_gpu(x)
    order = gpuarray.asarray(cupy.asarray(a).argsort())
    np.testing.assert_array_equal(order.get(), x.argsort())
    cupy.asarray(a).sort()
    np.testing.assert_array_equal(a.get(), np.sort(x))
    t = torch.from_dlpack(b)
    np.testing.assert_array_equal(from_dlpack(t.argsort()).get(), x.argsort())
    torch.sort(t, out=(t, torch.empty_like(t, dtype=torch.int64)))
    np.testing.assert_array_equal(b.get(), np.sort(x))
