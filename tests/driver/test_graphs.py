"""Streams that are captured, and the graphs that come of it."""

import gc

import graph_tools
import numpy as np
import pytest
from graph_tools import ADD, X, add_to, launched
from hypothesis import given
from hypothesis import strategies as st

import PyGPU
import PyGPU.driver as drv
from PyGPU import cumath, gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.scan import InclusiveScanKernel
from PyGPU.tools import DeviceMemoryPool

stream = graph_tools.stream  # the fixture


def test_work_is_done_when_it_is_launched(stream):
    a, b = gpuarray.to_gpu(X), gpuarray.to_gpu(X + 1)
    total = gpuarray.zeros_like(a)
    _ = (a + b, total)  # compiled before
    with stream.capture() as graph:
        total += a + b
    np.testing.assert_array_equal(total.get(), 0 * X)
    for count in (1, 2, 3):
        launched(graph, stream)
        np.testing.assert_array_equal(total.get(), count * (2 * X + 1))


def test_by_default_it_is_launched_on_the_null_stream(stream):
    a = gpuarray.to_gpu(X)
    with stream.capture() as graph:
        b = 2 * a
    graph.launch()
    np.testing.assert_array_equal(b.get(), 2 * X)


def test_it_sees_what_arrays_hold_when_it_is_launched(stream):
    a = gpuarray.to_gpu(X)
    with stream.capture() as graph:
        b = cumath.sqrt(a)
    for values in (X, X + 5):
        a.set(values)
        drv.Context.synchronize()  # a short copy may arrive after set() has returned
        launched(graph, stream)
        np.testing.assert_array_equal(b.get(), np.sqrt(values))


def test_kernels_of_the_user_with_and_without_the_stream(stream):
    a = gpuarray.to_gpu(X)
    add_to(a, 0)
    with stream.capture() as graph:
        add_to(a, 1)
        add_to(a, 2, stream)
    np.testing.assert_array_equal(a.get(), X)
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 3)


def test_prepared_launches(stream):
    a = gpuarray.to_gpu(X)
    kernel = SourceModule(ADD).get_function("add").prepare("Pfi")
    with stream.capture() as graph:
        kernel.prepared_call((8, 1), (128, 1, 1), a.gpudata, 1, X.size)
        kernel.prepared_async_call((8, 1), (128, 1, 1), stream, a.gpudata, 10, X.size)
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 11)


MANY = {
    "arithmetic": (lambda a, i: 3 * a - a / 7, lambda a, i: 3 * a - a / np.float32(7)),
    "strided": (lambda a, i: a[::3] + a[1::3], lambda a, i: a[::3] + a[1::3]),
    "transposed": (
        lambda a, i: a.reshape(30, 40).T.copy(),
        lambda a, i: np.ascontiguousarray(a.reshape(30, 40).T),
    ),
    "sum": (lambda a, i: gpuarray.sum(a), lambda a, i: a.sum()),
    "sum along an axis": (
        lambda a, i: np.sum(a.reshape(30, 40), axis=1),
        lambda a, i: a.reshape(30, 40).sum(axis=1),
    ),
    "max": (lambda a, i: gpuarray.max(a), lambda a, i: a.max()),
    "dot": (lambda a, i: gpuarray.dot(a, a), lambda a, i: a.dot(a)),
    "where": (
        lambda a, i: gpuarray.where(a > 500, a, -a),
        lambda a, i: np.where(a > 500, a, -a),
    ),
    "astype": (lambda a, i: a.astype(np.int16), lambda a, i: a.astype(np.int16)),
    "concatenate": (
        lambda a, i: gpuarray.concatenate([a, a[:8], a]),
        lambda a, i: np.concatenate([a, a[:8], a]),
    ),
    "zeros": (lambda a, i: gpuarray.zeros(77, "f4") + 1, lambda a, i: np.ones(77, "f4")),
    "fill": (lambda a, i: gpuarray.empty_like(a).fill(3), lambda a, i: np.full_like(a, 3)),
    "arange": (
        lambda a, i: gpuarray.arange(50, dtype="f4"),
        lambda a, i: np.arange(50, dtype="f4"),
    ),
    "scan": (
        lambda a, i: InclusiveScanKernel(np.int32, "a + b")(i.copy()),
        lambda a, i: np.cumsum(i, dtype="i4"),
    ),
}


@pytest.mark.parametrize("name", MANY)
def test_what_is_done_in_a_graph_is_what_is_done_at_once(stream, name):
    ours, numpys = MANY[name]
    x, k = np.arange(1200, dtype="f4"), np.arange(1200, dtype="i4") % 77
    a, i = gpuarray.to_gpu(x), gpuarray.to_gpu(k)
    at_once = ours(a, i).get()
    with stream.capture() as graph:
        result = ours(a, i)
    launched(graph, stream)
    np.testing.assert_array_equal(result.get(), at_once)
    np.testing.assert_allclose(at_once, numpys(x, k), rtol=1e-5)
    a.set(x[::-1].copy())
    drv.Context.synchronize()  # a short copy may arrive after set() has returned
    launched(graph, stream)
    np.testing.assert_allclose(result.get(), numpys(x[::-1].copy(), k), rtol=1e-5)


STEPS = [
    lambda a, b: a + b,
    lambda a, b: a - 2 * b,
    lambda a, b: abs(a),
    lambda a, b: a[::-1] + 1,
    lambda a, b: b * 0.5,
]


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(0, 9), st.integers(0, 9)), max_size=12
    ),
    kept=st.sets(st.integers(0, 12)),
    flags=st.integers(0, 1),
)
def test_any_program_is_the_same_in_a_graph(steps, kept, flags):
    """Arrays that are let go on the way make room for others, and never too early."""

    def program(first):
        arrays, results = list(first), []
        for number, (step, one, other) in enumerate(steps):
            arrays.append(step(arrays[one % len(arrays)], arrays[other % len(arrays)]))
            if number in kept:
                results.append(arrays[-1])
            if len(arrays) > 3:
                del arrays[0]
        return [*results, *arrays]

    first = [X[:64], np.cos(X[:64])]
    on_device = [gpuarray.to_gpu(one) for one in first]
    stream = drv.Stream(flags)
    with stream.capture() as graph:
        results = program(on_device)
    for _ in range(2):
        launched(graph, stream)
        for result, expected in zip(results, program(first)):
            np.testing.assert_array_equal(result.get(), expected.astype("f4"))


@pytest.mark.alone
def test_the_memory_of_what_nobody_has_any_more_is_used_again():
    stream = drv.Stream(1)
    a = gpuarray.zeros(1 << 22, "f4")
    a + 1
    free = drv.mem_get_info()[0]
    with stream.capture() as graph:
        b = a
        for _ in range(20):
            b = b + 1
    assert free - drv.mem_get_info()[0] <= 4 * a.nbytes
    launched(graph, stream)
    assert (b.get() == 20).all()


def test_memory_whose_address_was_asked_for_is_not_used_again_in_a_graph():
    """Another library may read it on a stream that joined."""
    stream = drv.Stream(1)
    a = gpuarray.to_gpu(X)
    with stream.capture():
        b = a + 1
        address = b.ptr
        del b
        c = a + 2
        assert c.ptr != address


def test_the_graph_keeps_what_it_uses():
    stream = drv.Stream(1)
    a = gpuarray.to_gpu(X)
    result = gpuarray.zeros_like(a)
    with stream.capture() as graph:
        doubled = 2 * a
        add_to(doubled, 1)
        result += doubled
    del a, doubled
    gc.collect()
    others = [gpuarray.to_gpu(X + k) for k in range(20)]
    launched(graph, stream)
    np.testing.assert_array_equal(result.get(), 2 * X + 1)
    np.testing.assert_array_equal(others[7].get(), X + 7)


def test_arrays_live_on_without_their_graph(stream):
    a = gpuarray.to_gpu(X)
    with stream.capture() as graph:
        b = a + 1
    launched(graph, stream)
    del graph
    gc.collect()
    np.testing.assert_array_equal((b + a).get(), 2 * X + 1)


def test_arrays_of_before_can_be_let_go_meanwhile(stream):
    before = [gpuarray.to_gpu(X + k) for k in range(80)]
    large = gpuarray.zeros(1 << 20, "f4")
    other = drv.Stream(1)
    large.fill(1, stream=other)  # freeing it has to wait for that stream
    a = gpuarray.to_gpu(X)
    with stream.capture() as graph:
        b = a * 2
        del before, large
        gc.collect()
    launched(graph, stream)
    np.testing.assert_array_equal(b.get(), 2 * X)
    other.synchronize()


def test_parameters_are_replaced_in_place(stream):
    a = gpuarray.to_gpu(X)
    for value in (1, 20, 300):
        graph = None
        with stream.capture() if graph is None else stream.capture(graph) as graph:
            add_to(a, value)
        launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 321)


def test_a_graph_takes_over_other_work(stream):
    a = gpuarray.to_gpu(X)
    with stream.capture() as graph:
        add_to(a, 1)
    with stream.capture(graph) as same:
        add_to(a, 2)
        a *= 2
    assert same is graph
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), (X + 2) * 2)


def test_asynchronous_copies_and_page_locked_memory(stream):
    source, target = drv.pagelocked_empty(X.shape, "f4"), drv.pagelocked_empty(X.shape, "f4")
    a = gpuarray.empty(X.shape, "f4")
    with stream.capture() as graph:
        a.set_async(source, stream)
        a += 1
        drv.memcpy_dtoh_async(target, a.gpudata, stream)
    for values in (X, X * 3):
        source[:] = values
        launched(graph, stream)
        np.testing.assert_array_equal(target, values + 1)


def test_host_memory_stays_as_long_as_the_graph(stream):
    a = gpuarray.empty(X.shape, "f4")
    source = drv.pagelocked_empty(X.shape, "f4")
    source[:] = X
    with stream.capture() as graph:
        a.set_async(source, stream)
        target = a.get_async(stream)
    del source
    gc.collect()
    launched(graph, stream)
    np.testing.assert_array_equal(target, X)


def test_copies_and_fills_within_the_device_are_recorded(stream):
    a, b = gpuarray.to_gpu(X), gpuarray.zeros(X.shape, "f4")
    with stream.capture() as graph:
        drv.memcpy_dtod(b.gpudata, a.gpudata, a.nbytes)
        drv.memset_d32(a.gpudata, 0, 10)
        drv.memset_d8(int(a.gpudata) + 40, 0, 4)
    np.testing.assert_array_equal(b.get(), 0 * X)
    launched(graph, stream)
    np.testing.assert_array_equal(b.get(), X)
    np.testing.assert_array_equal(a.get(), np.where(X < 11, 0, X))


def test_memory_can_be_taken_meanwhile(stream):
    with stream.capture() as graph:
        plain = drv.mem_alloc(4096)
        pinned = drv.pagelocked_empty(100, "f4")
        drv.memset_d32(plain, 7, 1024)
        drv.memcpy_dtoh_async(pinned, plain, stream)
        other = gpuarray.empty(1000, "f4", allocator=drv.mem_alloc)
        other.fill(3)
    launched(graph, stream)
    np.testing.assert_array_equal(pinned.view("u4"), np.full(100, 7))
    np.testing.assert_array_equal(other.get(), np.full(1000, 3))


def test_a_second_stream_takes_part(stream):
    other = drv.Stream(1)
    a, b = gpuarray.to_gpu(X), gpuarray.to_gpu(X)
    add_to(a, 0)
    begun, done = drv.Event(), drv.Event()
    with stream.capture() as graph:
        add_to(a, 1, stream)
        begun.record(stream)
        other.wait_for_event(begun)
        add_to(b, 2, other)
        done.record(other)
        stream.wait_for_event(done)
        a += b
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), 2 * X + 3)


def test_a_graph_in_a_graph(stream):
    a = gpuarray.to_gpu(X)
    with stream.capture() as inner:
        a += 1
    with stream.capture() as outer:
        a *= 2
        inner.launch()
    launched(outer, stream)
    np.testing.assert_array_equal(a.get(), 2 * X + 1)


def test_a_graph_keeps_the_graphs_in_it(stream):
    a, result = gpuarray.to_gpu(X), gpuarray.zeros(X.shape, "f4")
    with stream.capture() as inner:
        doubled = 2 * a
        result.set(doubled)
    with stream.capture() as outer:
        inner.launch()
    with stream.capture(inner):
        a += 1000
    del inner, doubled
    gc.collect()
    others = [gpuarray.to_gpu(X * 0) + 9 for _ in range(5)]
    launched(outer, stream)
    np.testing.assert_array_equal(result.get(), 2 * X)
    np.testing.assert_array_equal(a.get(), X)
    assert all((other.get() == 9).all() for other in others)


@pytest.mark.parametrize("is_made_before", [False, True])
def test_memory_of_pools_stays_with_the_graph(stream, is_made_before):
    pool = DeviceMemoryPool()
    result = gpuarray.zeros(X.shape, "f4")

    def lent():
        return gpuarray.empty(X.shape, "f4", allocator=pool.allocate)

    a = lent() if is_made_before else None
    with stream.capture() as graph:
        if not is_made_before:
            a = lent()
        a.fill(3)
        part = a[::2]
        part += 1
        add_to(a, 1)
        result += a
    del a, part
    gc.collect()
    other = lent()
    other.fill(7)
    launched(graph, stream)
    np.testing.assert_array_equal(other.get(), np.full(X.shape, 7))
    np.testing.assert_array_equal(result.get(), np.where(X % 2, 4, 5))
    del graph
    gc.collect()
    assert pool.active_blocks == 1


def test_fused_functions_and_elementwise_kernels(stream):
    a, b = gpuarray.to_gpu(X), gpuarray.to_gpu(X + 1)
    fused = PyGPU.fuse(lambda a, b: 2 * a + np.sqrt(b))
    kernel = ElementwiseKernel("float *x, float s", "x[i] *= s")
    with stream.capture() as graph:
        c = fused(a, b)
        kernel(c, 3)
        kernel(c, 2, slice=slice(0, 10))
    launched(graph, stream)
    expected = (2 * X + np.sqrt(X + 1)) * np.float32(3)
    expected[:10] *= 2
    np.testing.assert_array_equal(c.get(), expected)


def test_many_small_launches(stream):
    a = gpuarray.to_gpu(X)
    with stream.capture() as graph:
        for _ in range(1000):
            a += 1
    launched(graph, stream)
    np.testing.assert_array_equal(a.get(), X + 1000)
