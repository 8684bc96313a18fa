"""Surface references: kernels that read and write arrays in place."""

import numpy as np
import pytest
from array_tools import contents, copy_all, make, need_arrays  # noqa: F401

import PyGPU as gpuarray
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule

FLAGS = drv.array3d_flags

# Each kernel writes, to where the coordinates are turned round, what it reads.
KERNELS = """
surface<void> a1; surface<void, 1> b1;
surface<void, cudaSurfaceType2D> a2; static surface<void, 2> b2;
surface<void, 3> a3, b3;
surface<void, cudaSurfaceType1DLayered> a1l, b1l;
surface<void, cudaSurfaceType2DLayered> a2l, b2l;
#define HERE int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, \\
  u = (blockDim.x - 1 - x) * sizeof(TYPE), v = blockDim.y - 1 - y, w = blockDim.z - 1 - z; \\
  x *= sizeof(TYPE); (void)u, (void)v, (void)w;
__global__ void f1() { HERE surf1Dwrite(surf1Dread<TYPE>(a1, x), b1, u); }
__global__ void f2() { HERE TYPE t; surf2Dread(&t, a2, x, y); surf2Dwrite<TYPE>(t, b2, u, v); }
__global__ void f3() { HERE surf3Dwrite(surf3Dread<TYPE>(a3, x, y, z), b3, u, v, w); }
__global__ void f1l()
{ HERE TYPE t; surf1DLayeredread(&t, a1l, x, z); surf1DLayeredwrite(t, b1l, u, w); }
__global__ void f2l()
{ HERE surf2DLayeredwrite(surf2DLayeredread<TYPE>(a2l, x, y, z), b2l, u, v, w,
                          cudaBoundaryModeTrap); }
"""
DTYPES = {"int": np.int32, "ushort": np.uint16, "float4": np.float32}


@pytest.mark.parametrize("type_", ["int", "ushort", "float4"])
@pytest.mark.parametrize(
    ("which", "extent"),
    [("1", (7, 0, 0)), ("2", (5, 3, 0)), ("3", (5, 3, 4)), ("1l", (7, 0, 4)), ("2l", (5, 3, 4))],
)
def test_reads_and_writes(type_, which, extent):
    module = SourceModule(KERNELS.replace("TYPE", type_), options=["-w"])
    shape, channels = (max(extent[2], 1), max(extent[1], 1), extent[0]), 4 if "4" in type_ else 1
    data = np.random.default_rng(3).integers(0, 100, (*shape, channels)).astype(DTYPES[type_])
    flags = FLAGS.SURFACE_LDST | (FLAGS.ARRAY3D_LAYERED if which.endswith("l") else 0)
    format = drv.dtype_to_array_format(data.dtype)
    source, target = (make(*extent, format, channels, flags) for _ in range(2))
    copy_all(source, data)
    module.get_surfref("a" + which).set_array(source)
    written = module.get_surfref("b" + which)
    written.set_array(target, 0)
    module.get_function("f" + which)(block=shape[::-1])
    found = contents(target, data.shape, data.dtype)
    np.testing.assert_array_equal(found, data[::-1, ::-1, ::-1])
    assert isinstance(written, drv.SurfaceReference) and written.get_array() is target


def test_boundaries():
    module = SourceModule("""
    surface<void, 2> plane;
    __global__ void read(float *out)
    {
      int x = threadIdx.x, y = threadIdx.y, i = y * blockDim.x + x;
      out[2 * i] = surf2Dread<float>(plane, 4 * (x - 2), y - 2, cudaBoundaryModeZero);
      out[2 * i + 1] = surf2Dread<float>(plane, 4 * (x - 2), y - 2, cudaBoundaryModeClamp);
    }
    """)
    data = np.random.default_rng(4).random((3, 4)).astype(np.float32)
    array = copy_all(make(4, 3, flags=FLAGS.SURFACE_LDST), data)
    module.get_surfref("plane").set_array(array)
    out = np.zeros((7, 8, 2), np.float32)
    module.get_function("read")(drv.Out(out), block=(8, 7, 1))
    np.testing.assert_array_equal(out[..., 0], np.pad(data, 2))
    np.testing.assert_array_equal(out[..., 1], np.pad(data, 2, "edge"))


HELPED = """
#include <pycuda-helpers.hpp>
surface<void, cudaSurfaceType2DLayered> flat;
surface<void, 3> deep;
__global__ void store(NUMBER *a)
{
  int x = threadIdx.x, y = threadIdx.y;
  NUMBER value = a[y * blockDim.x + x];
  fp_surf2DLayeredwrite(value, flat, x, y, 0, cudaBoundaryModeClamp);
  fp_surf3Dwrite(value, deep, x, y, 1);
}
__global__ void load(NUMBER *a, NUMBER *b)
{
  int x = threadIdx.x, y = threadIdx.y, i = y * blockDim.x + x;
  fp_surf2DLayeredread(&a[i], flat, x, y, 0, cudaBoundaryModeClamp);
  fp_surf3Dread(&b[i], deep, x, y, 1);
}
"""
NUMBERS = {"i2": "short", "u4": "unsigned", "f4": "float", "f8": "double"}
NUMBERS.update({"c8": "pycuda::complex<float>", "c16": "pycuda::complex<double>"})


@pytest.mark.parametrize("dtype", NUMBERS)
def test_numbers_of_all_kinds(dtype):
    module = SourceModule(HELPED.replace("NUMBER", NUMBERS[dtype]))
    data = (100 * np.random.default_rng(5).random(2 * 32)).view(np.complex128).reshape(4, 8)
    data = (data if dtype.startswith("c") else data.real).astype(dtype)
    zeros = np.zeros((2, 4, 8), dtype)
    flat = drv.gpuarray_to_array(gpuarray.to_gpu(zeros[0]), "C", allowSurfaceBind=True)
    deep = drv.np_to_array(zeros, "C", allowSurfaceBind=True)
    module.get_surfref("flat").set_array(flat)
    module.get_surfref("deep").set_array(deep)
    a, b = gpuarray.to_gpu(data), gpuarray.zeros((4, 8), dtype)
    module.get_function("store").prepare("P").prepared_call((1, 1), (8, 4, 1), a.gpudata)
    a.fill(0)
    module.get_function("load")(a, b, block=(8, 4, 1))
    np.testing.assert_array_equal(a.get(), data)
    np.testing.assert_array_equal(b.get(), data)


def test_two_dimensions_with_a_surface_are_those_of_a_layer():
    array = drv.np_to_array(np.zeros((4, 8), np.float32), "C", allowSurfaceBind=True)
    told = array.get_descriptor_3d()
    assert (told.width, told.height, told.depth) == (8, 4, 1)
    assert told.flags & FLAGS.ARRAY3D_LAYERED and told.flags & FLAGS.SURFACE_LDST


def test_what_no_surface_can_be():
    module = SourceModule("surface<void, 2> plane; __global__ void f() {}")
    plane, f = module.get_surfref("plane"), module.get_function("f")
    with pytest.raises(drv.LogicError, match="not bound to an Array"):
        plane.get_array()
    with pytest.raises(drv.LogicError, match="'plane' is not bound"):
        f(block=(1, 1, 1), texrefs=[plane])
    for wrong in (None, 5, np.zeros(4)):
        with pytest.raises(TypeError, match="Array"):
            plane.set_array(wrong)
    with pytest.raises(drv.LogicError, match="flags=1"):
        plane.set_array(make(4, 4, flags=FLAGS.SURFACE_LDST), 1)
    for array, why in [
        (make(4, 4), "SURFACE_LDST"),
        (make(4, 4, 4, flags=FLAGS.SURFACE_LDST), "2D, but bound to an array of 3D"),
    ]:
        plane.set_array(array)
        with pytest.raises(drv.LogicError, match=f"'plane'.*{why}"):
            f(block=(1, 1, 1))
