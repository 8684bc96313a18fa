"""compyte.array and compyte.dtypes, which PyCUDA's programs and its sister libraries import."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from PyGPU import gpuarray, tools
from PyGPU.compyte import array as compyte
from PyGPU.compyte import dtypes
from PyGPU.gpuarray import vec

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@pytest.mark.no_device
@given(SHAPES, st.sampled_from([1, 4, 12]))
def test_strides_of_contiguous_arrays(shape, itemsize):
    """NumPy's, but for arrays without elements, where axes of length zero count as of one."""
    filled = tuple(max(1, length) for length in shape)
    for order, strides in (
        ("C", compyte.c_contiguous_strides(itemsize, shape)),
        ("F", compyte.f_contiguous_strides(itemsize, shape)),
    ):
        assert strides == np.empty(filled, f"V{itemsize}", order=order).strides


@pytest.mark.no_device
@given(SHAPES, st.data())
def test_whether_strides_are_contiguous(shape, data):
    axes = data.draw(st.permutations(range(len(shape))))
    steps = [slice(None, None, data.draw(st.integers(1, 2))) for _ in shape]
    ary = np.zeros(shape, "i4").transpose(axes)[tuple(steps)]
    given_layout = (ary.strides, ary.itemsize, ary.shape)
    assert compyte.is_c_contiguous_strides(*given_layout) == ary.flags.c_contiguous
    assert compyte.is_f_contiguous_strides(*given_layout) == ary.flags.f_contiguous
    flags = compyte.ArrayFlags(ary)
    assert (flags.c_contiguous, flags.f_contiguous) == (
        ary.flags.c_contiguous,
        ary.flags.f_contiguous,
    )
    assert flags.forc == ary.flags.forc
    assert f"C_CONTIGUOUS : {flags.c_contiguous}" in str(flags)


@pytest.mark.no_device
def test_strides_that_lead_to_the_same_places():
    assert compyte.equal_strides((8, 4), (8, 4), (3, 2))
    assert compyte.equal_strides((8, 4), (99, 4), (1, 2))
    assert not compyte.equal_strides((8, 4), (99, 4), (2, 2))
    assert not compyte.equal_strides((8,), (8, 4), (3, 2))


@pytest.mark.no_device
@pytest.mark.parametrize(
    "one, other, double, single",
    [
        (np.zeros(2, "f4"), np.zeros(2, "f8"), "f8", "f4"),
        (np.zeros(2, "c8"), np.zeros(2, "f8"), "c16", "c8"),
        (np.zeros(2, "i4"), np.zeros(2, "f4"), "f8", "f4"),
        (np.zeros(2, "f4"), 3, "f4", "f4"),
        (np.zeros(2, "f4"), 2j, "c8", "c8"),
        (np.zeros(2, "i2"), np.zeros(2, "i8"), "i8", "i8"),
    ],
)
def test_common_dtypes(one, other, double, single):
    assert compyte.get_common_dtype(one, other, True) == np.dtype(double)
    assert compyte.get_common_dtype(one, other, False) == np.dtype(single)


def test_flags_of_arrays_on_the_device():
    array = gpuarray.zeros((3, 4), np.float32)
    for one in (array, array.T, array[:, ::2]):
        flags = compyte.ArrayFlags(one)
        assert (flags.c_contiguous, flags.f_contiguous, flags.forc) == (
            one.flags.c_contiguous,
            one.flags.f_contiguous,
            one.flags.forc,
        )
    common = compyte.get_common_dtype(array, gpuarray.zeros(1, np.complex128), True)
    assert common == np.complex128


@pytest.mark.no_device
def test_views_by_strides():
    windows = compyte.as_strided(np.arange(5), shape=(3, 3), strides=(8, 8))
    assert windows.tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]


@pytest.mark.no_device
def test_the_registry_is_the_tools():
    """What is registered by one is known to the other."""
    pair = np.dtype([("compyte_a", "i4"), ("compyte_b", "f4")])
    assert dtypes.get_or_register_dtype("compyte_pair", pair) == pair
    assert tools.dtype_to_ctype(pair) == "compyte_pair"
    assert tools.parse_c_arg("compyte_pair *p").dtype == pair
    other = np.dtype([("compyte_c", "i8")])
    tools.get_or_register_dtype(["compyte_other"], other)
    assert dtypes.dtype_to_ctype(other) == "compyte_other"
    assert dtypes.TYPE_REGISTRY.name_to_dtype["compyte_other"] == other
    assert dtypes.NAME_TO_DTYPE["compyte_other"] == other
    assert dtypes.DTYPE_TO_NAME[other] == "compyte_other"
    by_text = {name: c for name, c in dtypes.DTYPE_TO_NAME.items() if isinstance(name, str)}
    assert by_text["float32"] == "float" and by_text["int64"] == "long"
    assert dtypes.dtype_to_ctype(vec.float4) == "float4"


@pytest.mark.no_device
def test_registries_of_ones_own():
    registry = dtypes.DTypeRegistry()
    with pytest.raises(ValueError, match="float32"):
        registry.dtype_to_ctype("f4")
    with pytest.raises(ValueError, match="None"):
        registry.dtype_to_ctype(None)
    dtypes.fill_registry_with_c_types(registry, respect_windows=False)
    assert registry.dtype_to_ctype(np.uint16) == "unsigned short"
    assert registry.get_or_register_dtype("unsigned long int") == np.uint64
    with pytest.raises(KeyError):
        registry.get_or_register_dtype("uchar")
    dtypes.fill_registry_with_opencl_c_types(registry)
    assert registry.get_or_register_dtype("uchar") == np.uint8
    assert registry.dtype_to_ctype(np.uint8) == "unsigned char", "the first name stays"
    with pytest.raises(RuntimeError, match="'uchar' already belongs to uint8, not to int8"):
        registry.get_or_register_dtype("uchar", np.int8)
    opencl = dtypes.DTypeRegistry()
    dtypes.fill_registry_with_opencl_c_types(opencl)
    assert [opencl.dtype_to_ctype(code) for code in ("u1", "u4", "u8")] == [
        *("uchar", "uint", "ulong")
    ]
    stdint = dtypes.DTypeRegistry()
    dtypes.fill_registry_with_c99_stdint_types(stdint)
    dtypes.fill_registry_with_c99_complex_types(stdint)
    assert [stdint.dtype_to_ctype(code) for code in ("?", "i1", "u8", "f4", "D")] == [
        *("bool", "int8_t", "uint64_t", "float", "double complex")
    ]
    without = dtypes.DTypeRegistry()
    dtypes.fill_registry_with_c_types(without, respect_windows=True, include_bool=False)
    assert np.dtype(bool) not in without.dtype_to_name


@pytest.mark.no_device
def test_declarations():
    def scalar(dtype, name):
        return "scalar", dtype, name

    def vector(dtype, name):
        return "vector", dtype, name

    read = dtypes.parse_c_arg_backend
    assert read("const float *__restrict__ x", scalar, vector) == ("vector", np.dtype("f4"), "x")
    assert read("unsigned n", scalar, vector) == ("scalar", np.dtype("u4"), "n")
    assert read("int a[3]", scalar, vector) == ("vector", np.dtype("i4"), "a")
    own = dtypes.DTypeRegistry()
    own.get_or_register_dtype("real", np.float64)
    assert read("real x", scalar, vector, own) == ("scalar", np.dtype("f8"), "x")
    assert read("any x", scalar, vector, lambda name: np.dtype("i2"))[1] == np.dtype("i2")
    with pytest.raises(ValueError, match="unknown type 'real'"):
        read("real x", scalar, vector)
    with pytest.raises(ValueError, match="couldn't parse"):
        read("nothing", scalar, vector)
    assert issubclass(dtypes.TypeNameNotKnown, RuntimeError)
