"""Strategies of property tests (shapes, dtypes, arrays of all layouts, indices); comparisons."""

import math
import os

import hypothesis
import hypothesis.strategies as st
import numpy as np

LONG = 50  # factor of the number of examples in the profile "long" (see conftest.py)
IS_LONG = os.environ.get("PYGPU_HYPOTHESIS") == "long"


def examples(count):
    """Set the number of examples of a test, multiplied in the long profile."""
    return hypothesis.settings(max_examples=count * (LONG if IS_LONG else 1))


def usual_or_any(usual, values):
    """Draw one of the `usual` values, or of all in the long profile. New dtypes cost kernels."""
    return st.sampled_from(values if IS_LONG else usual)


NUMBERS = [np.dtype(code) for code in "bBhHiIqQefdgFDG"]
RECORD = np.dtype([("id", "<i4"), ("name", "S3"), ("at", "<f8", (2,))])
OTHERS = [
    np.dtype(text)
    for text in ("?", "M8[ns]", "m8[s]", "S5", "U3", "V7", ">i2", ">i4", ">f8", ">c16", ">U3")
]
DTYPES = [*NUMBERS, *OTHERS, RECORD, np.dtype([("flag", "?"), ("inner", RECORD)])]

#: One dtype of each kind and size that kernels distinguish.
USUAL_DTYPES = [np.dtype(code) for code in ("?", "i1", "f2", "i4", "c16", "S5")] + [RECORD]

dtypes = st.sampled_from(DTYPES)


@st.composite
def shapes(draw, max_dims=4, max_length=5):
    """Draw a shape of 0 to `max_dims` axes, sometimes with an axis of length zero."""
    ndim = draw(st.sampled_from([n for n in (0, 1, 2, 2, 3, 3, 4) if n <= max_dims]))
    lengths = [n for n in (1, 2, 2, 3, 3, 4, 5) if n <= max_length]
    shape = [draw(st.sampled_from(lengths)) for _ in range(ndim)]
    if shape and draw(st.integers(0, 7)) == 7:
        shape[draw(st.integers(0, len(shape) - 1))] = 0
    return tuple(shape)


def values(shape, dtype):
    """Return an array with distinct elements, as far as the dtype allows."""
    dtype = np.dtype(dtype)
    numbers = np.arange(math.prod(shape)).reshape(shape)
    if dtype.names:
        array = np.zeros(shape, dtype)
        for name in dtype.names:
            array[name] = values(array[name].shape, array[name].dtype)
        return array
    if dtype.kind == "V":
        text = numbers.astype(f"S{dtype.itemsize}")
        return text.view(dtype).reshape(shape)
    if dtype.kind == "b":
        numbers = numbers % 3 == 1
    elif dtype.kind == "c":
        numbers = numbers - 2j * numbers
    elif dtype == np.float16:
        numbers = numbers % 2048
    return np.asarray(numbers).astype(dtype)


@st.composite
def arrays(draw, shape=None, dtype=None, writable=False):
    """Draw an array: C or F order, permuted axes, gaps, steps of both signs, or zero strides.

    Writable arrays have no zero strides.
    """
    shape = draw(shapes()) if shape is None else shape
    dtype = draw(dtypes) if dtype is None else dtype
    ndim = len(shape)
    layout = draw(st.sampled_from(["C", "F", "permuted", "stepped", "stepped", "broadcast"]))
    if layout in ("C", "F"):
        return np.array(values(shape, dtype), order=layout)
    order = draw(st.permutations(range(ndim)))
    steps, margins = [1] * ndim, [0] * ndim
    if layout == "stepped":
        steps = draw(st.tuples(*[st.sampled_from([1, 2, -1, -2, 3])] * ndim))
        margins = draw(st.tuples(*[st.integers(0, 1)] * ndim))
    whole = [n * abs(s) + m for n, s, m in zip(shape, steps, margins)]
    array = values([whole[axis] for axis in order], dtype).transpose(
        np.argsort(order, kind="stable")
    )
    array = array[(..., *(slice(m, None) for m in margins))]
    array = array[(..., *(slice(None, None, s) for s in steps))]
    if layout == "broadcast" and not writable:
        repeated = [slice(0, 1 if n and draw(st.booleans()) else None) for n in shape]
        array = np.broadcast_to(array[(..., *repeated)], shape)
    return array


def slices(length):
    """Draw any kind of slice, including bounds beyond the axis and beyond 64 bits."""
    huge = st.sampled_from([2**62, -(2**62), 2**70, -(2**70)])
    bound = st.none() | st.integers(-length - 2, length + 2)
    step = st.none() | st.integers(-3, 3).filter(bool)
    return st.one_of(
        st.builds(slice, bound, st.none(), step),
        st.builds(slice, st.none(), bound, step),
        st.builds(slice, bound | huge, bound | huge, step | huge),
    )


@st.composite
def indices(draw, shape):
    """Draw a tuple of ints, slices, at most one '...' and up to two None, valid for `shape`."""
    used = draw(st.integers(0, len(shape)))
    ellipsis_at = draw(st.none() | st.integers(0, used))
    axes = list(range(used))
    if ellipsis_at is not None:
        axes[ellipsis_at:] = range(len(shape) - used + ellipsis_at, len(shape))
    items = []
    for axis in axes:
        length = shape[axis]
        whole_numbers = st.integers(-length, length - 1) if length else st.nothing()
        items.append(draw(slices(length) | whole_numbers))
    if ellipsis_at is not None:
        items.insert(ellipsis_at, Ellipsis)
    for position in draw(st.lists(st.integers(0, len(items)), max_size=2)):
        items.insert(position, None)
    return tuple(items)


def part(array, index):
    """Return array[index] as a view, also if NumPy would return a scalar."""
    return array[index if Ellipsis in index else (*index, Ellipsis)]


def counted_strides(array):
    """Return the strides that matter: those of axes longer than one, in non-empty arrays."""
    if array.size == 0:
        return ()
    return tuple(s for n, s in zip(array.shape, array.strides) if n > 1)


def assert_same(got, expected):
    """Check dtype, shape and elements to the last bit; layouts may differ."""
    assert isinstance(got, np.ndarray)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if got.dtype.char in "gG":  # long doubles have padding
        assert (got == expected).all()
    else:
        assert got.tobytes() == expected.tobytes()


def assert_same_numbers(got, expected):
    """Check dtype, shape and elements with the signs of zeros; any NaN equals any other."""
    np.testing.assert_array_equal(got, expected, strict=True)
    for one, other in ((got.real, expected.real), (got.imag, expected.imag)):
        known = one == one
        np.testing.assert_array_equal(np.signbit(one[known]), np.signbit(other[known]))
