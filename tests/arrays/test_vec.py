"""vec: CUDA's vector types as NumPy's, and kernels that take them."""

import numpy as np
import pytest
from vector_names import COUNTS, NAMES

from PyGPU import compiler, tools
from PyGPU.gpuarray import to_gpu, vec, zeros

CODES = dict(zip(COUNTS, "bBhHiIqQfqQd"))


@pytest.mark.parametrize("name", NAMES)
def test_types(name):
    dtype, count = getattr(vec, name), int(name[-1])
    assert dtype.names == tuple("xyzw"[:count])
    assert all(dtype[field] == np.dtype(CODES[name[:-1]]) for field in dtype.names)
    assert dtype.itemsize == count * np.dtype(CODES[name[:-1]]).itemsize
    value = getattr(vec, f"make_{name}")(*range(1, count + 1))
    assert isinstance(value, np.ndarray) and value.shape == () and value.dtype == dtype
    assert value.item() == tuple(range(1, count + 1))


def test_no_other_types():
    made = {name for name in vars(vec) if not name.startswith("_")}
    assert made == {*NAMES, *(f"make_{name}" for name in NAMES)}


def test_make():
    assert vec.make_float4(1, 2, w=4, z=3).item() == (1, 2, 3, 4)
    assert vec.make_int2(y=1, x=2).item() == (2, 1)
    for args, named in [((1, 2), {}), ((1, 2, 3, 4), {}), ((1, 2), {"y": 3}), ((1, 2), {"w": 3})]:
        with pytest.raises(TypeError, match=r"make_float3\(x, y, z\)"):
            vec.make_float3(*args, **named)
    with pytest.raises((TypeError, ValueError)):
        vec.make_float2("a", None)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_c(name):
    dtype = getattr(vec, name)
    argument = tools.parse_c_arg(f"const {name} *x")
    assert isinstance(argument, tools.VectorArg) and argument.dtype == dtype
    canonical = tools.dtype_to_ctype(dtype)
    assert canonical.replace("longlong", "long") == name.replace("longlong", "long")
    assert tools.VectorArg(dtype, "x").declarator() == f"{canonical} *x"
    assert tools.ScalarArg(dtype, "x").struct_char == f"{dtype.itemsize}s"


def test_kernels_take_them():
    """By value where C++ aligns them, and as elements of arrays."""
    module = compiler.SourceModule("""
    __global__ void scale(float4 *out, int before, float4 by, char between, double2 add, uchar3 c)
    {
      float4 &v = out[threadIdx.x];
      v.x = v.x * by.x + before;
      v.y = v.y * by.y + between;
      v.z = v.z * by.z + add.x + add.y;
      v.w = v.w * by.w + c.x + c.y + c.z;
    }
    """)
    x = np.zeros(3, vec.float4)
    for k, field in enumerate("xyzw"):
        x[field] = np.arange(3) + k
    array = to_gpu(x)
    by = vec.make_float4(1, 10, 100, 1000)
    module.get_function("scale")(
        *(
            array,
            np.int32(5),
            by,
            np.int8(6),
            vec.make_double2(0.5, 0.25),
            vec.make_uchar3(1, 2, 3),
        ),
        block=(3, 1, 1),
    )
    expected = x.copy()
    for field, factor, term in zip("xyzw", (1, 10, 100, 1000), (5, 6, 0.75, 6)):
        expected[field] = x[field] * factor + term
    assert (array.get() == expected).all()


def test_arrays_of_them():
    x = np.zeros((2, 3), vec.float3)
    x["z"] = np.arange(6).reshape(2, 3)
    array = to_gpu(x)
    assert (array.T[1:].get() == x.T[1:]).all()
    array[0] = vec.make_float3(7, 8, 9)
    assert array.get()[0].tolist() == [(7, 8, 9)] * 3
    assert (array.view(np.float32).get()[1] == x[1].copy().view(np.float32)).all()
    assert zeros(2, vec.int4).get().tolist() == [(0, 0, 0, 0)] * 2
