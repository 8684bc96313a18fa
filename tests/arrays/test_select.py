"""Flat indices of a mask's true elements, against numpy.flatnonzero."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scan_tools import WARP
from strategies import arrays

from PyGPU import driver, gpuarray
from PyGPU._arrays import select
from PyGPU._kernels.text import compaction

CHUNK = compaction.CHUNK


@pytest.fixture(params=["one block", "warps", "threads"], scope="module", autouse=True)
def kernels(request):
    """All forms, whatever the target takes: few elements are one block's otherwise."""
    if request.param == "one block":
        yield
        return
    by_warps = request.param == "warps"
    made = {dtype: select._Kernels(by_warps, WARP, dtype) for dtype in (np.int32, np.int64)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(select, "_kernels", made.__getitem__)
        patch.setattr(select, "_MAX_SMALL_MASK", 0)
        yield


def check(mask, array=None):
    array = gpuarray.to_gpu(mask) if array is None else array
    expected = np.flatnonzero(mask)
    indices = select.nonzero_flat(array)
    assert indices.dtype == np.int64 and indices.shape == expected.shape
    assert np.array_equal(indices.get(), expected)
    short = select.nonzero_flat(array, np.int32)
    assert short.dtype == np.int32 and np.array_equal(short.get(), expected)
    assert np.array_equal(array.get(), mask)


@pytest.mark.parametrize("part", [0, 0.01, 0.5, 0.99, 1])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 1000, CHUNK - 1, CHUNK, CHUNK + 1, 70_001])
def test_sizes(n, part):
    check(np.random.default_rng(n).random(n) < part)


@pytest.mark.parametrize("offset", range(1, 17, 3))
def test_masks_that_begin_anywhere(offset):
    mask = np.random.default_rng(offset).random(9000) < 0.3
    check(mask[offset:], gpuarray.to_gpu(mask)[offset:])
    check(mask[offset:-offset], gpuarray.to_gpu(mask)[offset:-offset])


@given(arrays(dtype=np.dtype("?")), st.integers(0, 2**32))
def test_shapes_and_layouts(mask, seed):
    if mask.flags.writeable:
        mask[...] = np.random.default_rng(seed).random(mask.shape) < 0.5
    check(mask)


@given(st.data())
def test_views(data):
    shape = data.draw(st.tuples(st.integers(0, 90), st.integers(0, 90)))
    mask = np.random.default_rng(data.draw(st.integers(0, 99))).random(shape) < 0.4
    steps = data.draw(st.tuples(*[st.sampled_from([None, -1, 2, -3])] * 2))
    parts = tuple(slice(None, None, step) for step in steps)
    array = gpuarray.to_gpu(mask)[parts]
    mask = mask[parts]
    if data.draw(st.booleans()):
        mask, array = mask.T, array.T
    check(mask, array)


def test_no_axes_and_no_elements():
    check(np.array(True))
    check(np.array(False))
    for shape in ((0,), (3, 0), (0, 4, 2)):
        check(np.zeros(shape, bool))


def test_any_byte_but_zero_is_true():
    octets = np.arange(5000, dtype=np.uint8)
    array = gpuarray.to_gpu(octets).view(np.bool_)
    assert np.array_equal(select.nonzero_flat(array).get(), np.flatnonzero(octets))


def test_the_indices_are_of_the_masks_allocator():
    mask = gpuarray.to_gpu(np.ones(5, bool), allocator=driver.mem_alloc)
    assert select.nonzero_flat(mask).allocator is driver.mem_alloc
    assert select.nonzero_flat(mask[::2]).get().tolist() == [0, 1, 2]


def test_what_is_no_mask():
    for wrong, told in [
        (None, "NoneType"),
        ([True], "list"),
        (np.ones(3, bool), "ndarray"),
        (gpuarray.zeros((3,), np.int8), "GPUArray of int8"),
    ]:
        with pytest.raises(TypeError, match=f"mask: expected a GPUArray of bool, got .*{told}"):
            select.nonzero_flat(wrong)
