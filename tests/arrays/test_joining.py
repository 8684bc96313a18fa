"""concatenate, stack, reverse and the functions that turn and reshape, against NumPy."""

import copy
import pickle

import numpy as np
import pytest
from campaign import each_once
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import BadIndex
from strategies import RECORD, arrays, assert_same, counted_strides, shapes, values

from PyGPU import driver, errors
from PyGPU.gpuarray import concatenate, reshape, stack, to_gpu, transpose, zeros


@st.composite
def parts(draw, axis_length=None):
    """One to three arrays that differ in length along an axis, and that axis."""
    shape = list(draw(shapes(max_dims=3)) or (2,))
    axis = draw(st.integers(0, len(shape) - 1))
    made = []
    for _ in range(draw(st.integers(1, 3))):
        own = [*shape]
        own[axis] = draw(st.integers(0, 3))
        made.append(draw(arrays(tuple(own), np.dtype("i2"))))
    return made, draw(st.sampled_from([axis, axis - len(shape)]))


@given(parts(), st.sampled_from([list, tuple, iter]))
def test_concatenate(case, kind):
    """Of any layouts; the result is in C order."""
    made, axis = case
    got = concatenate(kind([to_gpu(x) for x in made]), axis)
    assert_same(got.get(), np.concatenate(made, axis))
    assert got.flags.c_contiguous


@given(st.data())
def test_stack(data):
    shape = data.draw(shapes(max_dims=2))
    made = [data.draw(arrays(shape, np.dtype("i2"))) for _ in range(data.draw(st.integers(1, 3)))]
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    got = stack([to_gpu(x) for x in made], axis)
    assert_same(got.get(), np.stack(made, axis))
    assert got.flags.c_contiguous


@pytest.mark.parametrize(
    ("codes", "join"), each_once(["if", "fFd", "ef", "?h"], ["concatenate", "stack"])
)
def test_dtypes_are_promoted(codes, join):
    made = [values((2, 3), code)[:, ::step] for code, step in zip(codes, (-1, 1, 1))]
    arrays = [to_gpu(x) for x in made]
    if join == "concatenate":
        assert_same(concatenate(arrays, -1).get(), np.concatenate(made, -1))
    else:
        assert_same(stack(arrays).get(), np.stack(made))


@pytest.mark.parametrize("dtype", ["S3", "?", "f2", ">f8", RECORD, "M8[s]"], ids=str)
def test_dtypes_that_are_only_stored(dtype):
    x = values((2, 3), dtype)
    assert_same(
        concatenate([to_gpu(x), to_gpu(x[:, ::-1])]).get(),
        np.concatenate([x, x[:, ::-1]]).astype(dtype),
    )
    assert_same(stack([to_gpu(x)] * 2, 1).get(), np.stack([x, x], 1).astype(dtype))
    assert_same(to_gpu(x).reverse().get(), x[::-1, ::-1])


@pytest.mark.parametrize(
    ("count", "code"), each_once([1, 2, 3, 4, 8, 9], ["u1", "f2", "f4", "c8", "c16"])
)
def test_elements_in_turn(count, code):
    """Of whole vectors, of a rest, and of arrays that are not aligned for vectors."""
    x = values((count, 4 * 1021), code)
    a = to_gpu(x)
    for part in (slice(None), slice(0, 1), slice(16, 2000), slice(1, 1000)):
        got = stack([one[part] for one in a], 1)
        assert_same(got.get(), np.stack([one[part] for one in x], 1))
    column = to_gpu(x[0])[:, None]
    assert_same(concatenate([column] * count, 1).get(), np.stack([x[0]] * count, 1))


def test_an_array_is_a_sequence_of_its_rows():
    x = np.arange(6).reshape(2, 3)
    assert_same(concatenate(to_gpu(x)).get(), np.concatenate(x))
    assert_same(stack(to_gpu(x), 1).get(), np.stack(x, 1))


def test_arrays_that_do_not_join():
    a = zeros((2, 3))
    for function in (concatenate, stack):
        with pytest.raises(ValueError, match="at least one"):
            function([])
        with pytest.raises(TypeError, match=r"arrays\[1\]: expected a GPUArray, got ndarray"):
            function([a, np.zeros((2, 3))])
        with pytest.raises(TypeError, match="axis"):
            function([a], 0.5)
        with pytest.raises(ValueError, match="axis 3"):
            function([a], 3)
    for other in (zeros((3, 2)), zeros(3), zeros((2, 3, 1))):
        with pytest.raises(errors.ShapeError, match=r"arrays\[1\] has shape"):
            concatenate([a, other])
        with pytest.raises(errors.ShapeError, match=r"arrays\[1\] has shape"):
            stack([a, other])
    with pytest.raises(ValueError, match="no axis"):
        concatenate([zeros(())])


def test_allocators():
    given_sizes = []

    def allocator(nbytes):
        given_sizes.append(nbytes)
        return driver.mem_alloc(nbytes)

    a = zeros(4)
    assert concatenate([a, a], allocator=allocator).allocator is allocator
    assert stack([a, a], allocator=allocator).allocator is allocator
    assert given_sizes == [64, 64]
    assert concatenate([zeros(4, allocator=allocator), a]).allocator is allocator


@given(st.data())
def test_reverse(data):
    """Along every axis, which of a contiguous array is the reversed memory order."""
    x = data.draw(arrays(data.draw(shapes(max_dims=3)), np.dtype("i1")))
    assert_same(to_gpu(x).reverse().get(), np.asarray(np.flip(x)))
    if x.ndim:
        assert_same(to_gpu(x).T[..., ::2].reverse().get(), np.flip(x.T[..., ::2]))
    packed = to_gpu(x.copy(order="F"))
    assert_same(packed.reverse().ravel().get(), packed.ravel().get()[::-1])


def test_reverse_in_a_streams_order():
    stream = driver.Stream()
    assert_same(to_gpu(np.arange(1000)).reverse(stream).get(), np.arange(1000)[::-1])


def test_turned_and_reshaped():
    x = np.arange(24).reshape(2, 3, 4)
    array = to_gpu(x)
    assert_same(transpose(array).get(), x.T)
    assert_same(transpose(array, (1, 0, -1)).get(), x.transpose(1, 0, 2))
    assert_same(reshape(array, 6, 4).get(), x.reshape(6, 4))
    assert_same(reshape(array, (4, -1), order="F").get(), x.reshape((4, 6), order="F"))
    assert transpose(array).ptr == reshape(array, 24).ptr == array.ptr


@given(arrays(dtype=np.dtype("i2")))
def test_copies_keep_the_order(x):
    array = to_gpu(x)
    for made in (copy.copy(array), copy.deepcopy(array), pickle.loads(pickle.dumps(array))):
        assert_same(made.get(), x)
        assert made.base is None and (made.ptr != array.ptr or x.size == 0)
        assert made.flags.c_contiguous or not array.flags.c_contiguous
        assert made.flags.f_contiguous or not array.flags.f_contiguous
    assert counted_strides(copy.deepcopy(array)) == counted_strides(x.copy(order="K"))


@pytest.mark.parametrize("join", [concatenate, stack])
def test_an_axis_that_raises(join):
    with pytest.raises(KeyError):
        join([zeros(3), zeros(3)], axis=BadIndex())
    with pytest.raises(ValueError, match=str(1 << 80)):
        concatenate([zeros(3)], axis=1 << 80)


def test_an_allocator_that_changes_the_list():
    x = np.arange(12, dtype="f4")
    arrays, made = [to_gpu(x), to_gpu(x + 1)], []

    def allocate(nbytes):
        arrays.clear()
        made.extend(zeros(x.shape, x.dtype) for _ in range(4))  # where the arrays were
        return driver.mem_alloc(nbytes)

    joined = concatenate(arrays, allocator=allocate)
    assert_same(joined.get(), np.concatenate([x, x + 1]))


@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 6, 8, 12, 16, 24, 40])
@pytest.mark.parametrize("offset", [0, 1, 2, 4, 8])
def test_items_of_every_size(itemsize, offset):
    """At addresses that are aligned for the item, and at those that are not."""
    rng = np.random.default_rng(itemsize)
    data = [rng.integers(0, 256, 35 * itemsize + offset).astype(np.uint8) for _ in range(3)]
    host = [x[offset:].view(f"V{itemsize}").reshape(5, 7) for x in data]
    there = [to_gpu(x)[offset:].view(f"V{itemsize}").reshape(5, 7) for x in data]
    for axis in (0, 1, 2):
        assert_same(stack(there, axis).get(), np.stack(host, axis))
        assert_same(stack(there[:1], axis).get(), np.stack(host[:1], axis))
    for axis, part in ((0, np.s_[:4]), (1, np.s_[:, :3])):
        for last in (np.s_[:], part):
            assert_same(
                concatenate([*there, there[0][last]], axis).get(),
                np.concatenate([*host, host[0][last]], axis),
            )


@pytest.mark.parametrize("number", [1, 2, 8, 9])
@pytest.mark.parametrize("n", [1, 1000, 300_000])
def test_many_arrays_and_large_ones(number, n):
    x = [values((n,), "i2") + k for k in range(number)]
    for axis in (0, 1):
        assert_same(stack([to_gpu(one) for one in x], axis).get(), np.stack(x, axis))


def test_stack_of_arrays_without_axes_or_elements():
    assert_same(
        stack([to_gpu(np.asarray(k, "f4")) for k in range(3)]).get(), np.arange(3, dtype="f4")
    )
    for shape in ((0,), (3, 0)):
        made = stack([zeros(shape, "f4")] * 2, -1)
        assert made.shape == (*shape, 2) and made.dtype == np.float32
