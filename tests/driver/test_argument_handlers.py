"""In, Out, InOut and handlers of one's own: host arrays as arguments of kernels."""

from array import array

import kernel_sources
import numpy as np
import pytest

import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule


@pytest.fixture(scope="module")
def module():
    return SourceModule(kernel_sources.POINTERS.source)


@pytest.fixture(params=["no stream", "stream"])
def stream(request):
    return drv.Stream() if request.param == "stream" else None


@pytest.fixture
def twice(module, stream):
    """twice(argument, n): doubles the first n floats."""
    kernel = module.get_function("twice")
    return lambda argument, n: kernel(argument, np.int32(n), block=(64, 1, 1), stream=stream)


@pytest.fixture
def add(module, stream):
    kernel = module.get_function("add")
    return lambda *arguments, n: kernel(*arguments, block=(n, 1, 1), stream=stream)


def test_the_first_program_of_the_tutorial(add):
    a, b = np.random.default_rng(0).standard_normal((2, 400)).astype(np.float32)
    total = np.zeros_like(a)
    add(drv.Out(total), drv.In(a), drv.In(b), n=400)
    np.testing.assert_array_equal(total, a + b)


def test_in_does_not_come_back(twice):
    x = np.arange(10, dtype=np.float32)
    handler = drv.In(x)
    twice(handler, 10)
    assert x.tolist() == list(range(10))
    found = drv.from_device(handler.get_device_alloc(), 10, np.float32)
    np.testing.assert_array_equal(found, 2 * x)


def test_in_uploads_at_each_call(add):
    total, b = np.zeros(4, np.float32), np.zeros(4, np.float32)
    a = np.ones(4, np.float32)
    handler = drv.In(a)
    for value in (1, 5):
        a[:] = value
        add(drv.Out(total), handler, drv.In(b), n=4)
        assert total.tolist() == [value] * 4


def test_out_uploads_nothing(twice):
    x = np.full(8, 7, np.float32)
    handler = drv.Out(x)
    device = np.arange(8, dtype=np.float32)
    drv.memcpy_htod(handler.get_device_alloc(), device)
    twice(handler, 4)
    assert x.tolist() == [0, 2, 4, 6, 4, 5, 6, 7]


def test_inout_does_both(twice):
    x = np.arange(8, dtype=np.float32)
    assert twice(drv.InOut(x), 8) is None
    assert x.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda raw: array("f", raw)])
def test_other_buffers(twice, add, kind):
    host = np.arange(8, dtype=np.float32)
    buffer, total = kind(host.tobytes()), np.zeros(8, np.float32)
    add(drv.Out(total), drv.In(buffer), drv.In(buffer), n=8)
    assert (total == 2 * host).all()
    twice(drv.In(kind(b"")), 0)
    if memoryview(buffer).readonly:
        for handler in (drv.Out, drv.InOut):
            with pytest.raises(BufferError, match=f"{handler.__name__}: the buffer is read-only"):
                twice(handler(buffer), 8)
        return
    twice(drv.InOut(buffer), 8)
    assert (np.frombuffer(buffer, np.float32) == 2 * host).all()
    add(drv.Out(buffer), drv.In(host), drv.In(total), n=8)
    assert (np.frombuffer(buffer, np.float32) == 3 * host).all()


@pytest.mark.parametrize("handler", [drv.In, drv.Out, drv.InOut])
def test_arrays_without_elements(twice, handler):
    twice(handler(np.zeros(0, np.float32)), 0)
    assert handler(np.zeros((0, 3))).get_device_alloc() == 0


def test_inout_is_an_in_and_an_out():
    assert issubclass(drv.InOut, drv.In) and issubclass(drv.InOut, drv.Out)
    assert issubclass(drv.In, drv.ArgumentHandler)


def test_a_handler_keeps_its_memory_on_the_device(twice):
    x = np.ones(8, np.float32)
    handler = drv.InOut(x)
    assert handler.dev_alloc is None and handler.array is x
    twice(handler, 8)
    memory = handler.dev_alloc
    assert memory is not None and handler.get_device_alloc() is memory
    twice(handler, 8)
    assert handler.dev_alloc is memory and (x == 4).all()


def test_one_array_in_two_handlers(add):
    x = np.arange(5, dtype=np.float32)
    add(drv.InOut(x), drv.In(x), drv.In(x), n=5)
    assert x.tolist() == [0, 2, 4, 6, 8]


def test_one_handler_twice_in_a_call(add):
    x, total = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    handler = drv.In(x)
    add(drv.Out(total), handler, handler, n=5)
    np.testing.assert_array_equal(total, 2 * x)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2, 4), ()])
def test_arrays_of_any_contiguous_shape(twice, shape):
    for order in "CF":
        x = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape), np.float32, order)
        expected = 2 * x
        twice(drv.InOut(x), x.size)
        np.testing.assert_array_equal(x, expected)


def test_pagelocked_arrays(twice):
    x = drv.pagelocked_empty(100, np.float32)
    x[:] = np.arange(100)
    kernel_argument = drv.InOut(x)
    twice(kernel_argument, 50)
    assert x[49] == 98 and x[50] == 50


def test_time_kernel_counts_handlers_in(module):
    x = np.ones(8, np.float32)
    kernel = module.get_function("twice")
    seconds = kernel(drv.InOut(x), np.int32(8), block=(8, 1, 1), time_kernel=True)
    assert type(seconds) is float and (x == 2).all()


# What goes wrong.


def test_a_refused_launch_brings_nothing_back(module):
    x = np.full(8, 7, np.float32)
    kernel = module.get_function("twice")
    handler = drv.Out(x)
    drv.memset_d32(handler.get_device_alloc(), 0, 8)
    with pytest.raises(drv.Error):
        kernel(handler, np.int32(8), block=(5000, 1, 1))
    with pytest.raises(drv.ArgumentError):
        kernel(handler, np.float64(8), block=(8, 1, 1))
    assert (x == 7).all()


@pytest.mark.parametrize("handler", [drv.Out, drv.InOut])
def test_a_read_only_array_is_refused_before_the_launch(module, handler):
    x = np.ones(8, np.float32)
    x.flags.writeable = False
    with pytest.raises(ValueError, match=f"{handler.__name__}: the array is read-only"):
        module.get_function("twice")(handler(x), np.int32(8), block=(8, 1, 1))
    read = drv.In(x)
    module.get_function("twice")(read, np.int32(8), block=(8, 1, 1))
    assert drv.from_device(read.dev_alloc, 8, np.float32).tolist() == [2.0] * 8


@pytest.mark.parametrize("handler", [drv.In, drv.Out, drv.InOut])
def test_an_array_with_gaps_is_refused(module, handler):
    x = np.ones(16, np.float32)
    advice = r"not contiguous; numpy.ascontiguousarray\(\) makes a contiguous copy"
    advice += "$" if handler is drv.In else "; copy the result back from it"
    for gaps in (x[::2], memoryview(x)[::2]):
        with pytest.raises(ValueError, match=advice):
            module.get_function("twice")(handler(gaps), np.int32(8), block=(8, 1, 1))
    assert (x == 1).all()


@pytest.mark.parametrize(
    ("thing", "hint"), [(None, ""), (5, ""), ("text", r"encode\(\)"), ([1.0, 2.0], "numpy.array")]
)
@pytest.mark.parametrize("handler", [drv.In, drv.Out, drv.InOut])
def test_a_handler_of_what_is_no_buffer(module, handler, thing, hint):
    if isinstance(thing, str) and handler is not drv.In:
        hint = "bytearray"
    text = f"{handler.__name__}: expected a host buffer, got {type(thing).__name__}.*{hint}"
    with pytest.raises(TypeError, match=text):
        module.get_function("twice")(handler(thing), np.int32(1), block=(1, 1, 1))


# Handlers of one's own.


class Recorder(drv.ArgumentHandler):
    """Uploads before, and notes what it is asked."""

    def __init__(self, array):
        super().__init__(array)
        self.calls = []

    def pre_call(self, stream):
        self.calls.append(("pre", stream))
        drv.memcpy_htod(self.get_device_alloc(), self.array)

    def post_call(self, stream):
        self.calls.append(("post", stream))
        self.array[:] = drv.from_device_like(self.get_device_alloc(), self.array)


def test_a_handler_is_asked_before_and_after(twice, stream):
    x = np.arange(6, dtype=np.float32)
    handler = Recorder(x)
    if stream is None:
        twice(handler, 6)
        assert x.tolist() == [0, 2, 4, 6, 8, 10]
    else:
        twice(handler, 6)
        stream.synchronize()
    assert handler.calls == [("pre", stream), ("post", stream)]


def test_a_handler_with_memory_of_its_own(module):
    a = gpuarray.to_gpu(np.arange(6, dtype=np.float32))

    class Own(drv.ArgumentHandler):
        def get_device_alloc(self):
            return a.gpudata

    module.get_function("twice")(Own(None), np.int32(6), block=(8, 1, 1))
    assert a.get().tolist() == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("method", ["pre_call", "post_call", "get_device_alloc"])
def test_what_a_handler_raises_reaches_the_caller(module, method):
    class Failing(drv.In):
        pass

    def fail(self, *arguments):
        raise ZeroDivisionError(method)

    setattr(Failing, method, fail)
    kernel = module.get_function("twice")
    with pytest.raises(ZeroDivisionError, match=method):
        kernel(Failing(np.ones(4, np.float32)), np.int32(4), block=(4, 1, 1))
    a = gpuarray.to_gpu(np.ones(4, np.float32))
    kernel(a, np.int32(4), block=(4, 1, 1))
    assert a.get().tolist() == [2.0] * 4


def test_a_handler_may_launch_kernels_itself(module):
    """Argument memory is each call's own."""
    other = gpuarray.to_gpu(np.ones(4, np.float32))
    kernel = module.get_function("twice")

    class Nested(drv.InOut):
        def pre_call(self, stream):
            super().pre_call(stream)
            kernel(other, np.int32(3), block=(4, 1, 1))

    x = np.ones(4, np.float32)
    kernel(Nested(x), np.int32(2), block=(4, 1, 1))
    assert x.tolist() == [2, 2, 1, 1] and other.get().tolist() == [2, 2, 2, 1]
