"""Operations of dask.array on chunks of GPUArrays: as on NumPy's chunks, or refused."""

import needs
import numpy as np
import pytest

from PyGPU import gpuarray

dask = needs.module("dask")
da = needs.module("dask.array")
operations = needs.importlib.import_module("dask_operations")
OPERATIONS, REFUSED, Arrays = operations.OPERATIONS, operations.REFUSED, operations.Arrays
X, VECTOR = operations.X, operations.VECTOR


@pytest.fixture(scope="module")
def chunks_on_host():
    return Arrays("numpy")


@pytest.fixture(scope="module")
def chunks_on_device():
    return Arrays("PyGPU")


def computed(value):
    value = value.compute(scheduler="synchronous") if hasattr(value, "compute") else value
    return value


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name, chunks_on_host, chunks_on_device):
    operation = OPERATIONS[name]
    if name in REFUSED:
        with pytest.raises((TypeError, ValueError), match=REFUSED[name]):
            computed(operation(chunks_on_device))
        return
    expected = np.asarray(computed(operation(chunks_on_host)))
    lazy = operation(chunks_on_device)
    result = computed(lazy)
    if name == "to_backend numpy":
        assert type(result) is np.ndarray
    else:
        assert type(result) is gpuarray.GPUArray
        result = result.get()
    assert lazy.dtype == expected.dtype == result.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["lt", "le", "eq", "ne", "gt", "ge"])
def test_comparisons_are_bools(name, chunks_on_device):
    """Also of arrays that Dask holds to be of NumPy's chunks, as those of `coarsen`."""
    coarse = da.coarsen(np.sum, chunks_on_device.x.rechunk((6, 8)), {0: 3, 1: 2})
    assert isinstance(coarse._meta, np.ndarray)
    compare = getattr(np.ndarray, f"__{name}__")
    sums = X.reshape(4, 3, 8, 2).sum(axis=(1, 3))
    result = getattr(coarse, f"__{name}__")(0.5).compute(scheduler="synchronous")
    assert result.dtype == bool
    np.testing.assert_array_equal(result.get(), compare(sums, 0.5))


def test_comparisons_of_other_chunks_are_unchanged(chunks_on_device):
    x = da.from_array(np.array(["a", "b"], object), chunks=1)
    assert (x == "a").compute().tolist() == [True, False]
    masked = da.ma.masked_greater(da.from_array(VECTOR, chunks=13), 0)
    assert isinstance((masked < -1).compute(), np.ma.MaskedArray)


def test_the_back_end_creates_arrays():
    with dask.config.set({"array.backend": "PyGPU"}):
        arrays = da.ones((4, 3), chunks=2), da.zeros(5, chunks=2, dtype="i2")
        arrays += da.full((2, 2), 7), da.arange(5, chunks=2), da.empty(3, chunks=2)
        with pytest.raises(NotImplementedError, match="to_backend"):
            da.random.random(5)
    made = [array.compute() for array in arrays]
    assert all(type(one) is gpuarray.GPUArray for one in made)
    assert [one.tolist() for one in made[:4]] == [
        *([[1.0] * 3] * 4, [0] * 5, [[7, 7], [7, 7]], [0, 1, 2, 3, 4]),
    ]
    assert [one.dtype for one in made] == [array.dtype for array in arrays]


def test_chunks_that_a_function_makes(python):
    """The functions that Dask chooses by the chunks' type, where nothing else registers them."""
    python("""
import dask.array as da
import numpy as np
import PyGPU.dask

x = np.arange(12.0).reshape(3, 4)
a = da.from_array(x, chunks=2).map_blocks(PyGPU.to_gpu)
PyGPU.dask.register()
PyGPU.dask.register()
assert (a.std(axis=0).compute().get() == x.std(axis=0)).all()
assert (a[a > 3].compute().get() == x[x > 3]).all()
""")
