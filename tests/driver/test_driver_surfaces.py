"""Surface objects: kernels that read and write arrays in place."""

import numpy as np
import pytest
from array_tools import contents, copy_all, make, need_arrays  # noqa: F401
from campaign import each_with

import PyGPU
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule

FLAGS = drv.array3d_flags
TYPES = ["char", "uchar", "short", "ushort", "int", "uint", "float"]
DTYPES = dict(zip(TYPES, ["i1", "u1", "i2", "u2", "i4", "u4", "f4"]))

# Each kernel writes, to where x, y and z are turned round, what it reads.
KERNELS = """
typedef unsigned char uchar;
#define HERE int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, \\
  u = (blockDim.x - 1 - x) * sizeof(TYPE), v = blockDim.y - 1 - y, w = blockDim.z - 1 - z; \\
  x *= sizeof(TYPE); (void)u, (void)v, (void)w;
__global__ void one(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{ HERE surf1Dwrite(surf1Dread<TYPE>(from, x), to, u); }
__global__ void two(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{ HERE TYPE a; surf2Dread(&a, from, x, y); surf2Dwrite<TYPE>(a, to, u, v); }
__global__ void three(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{ HERE surf3Dwrite(surf3Dread<TYPE>(from, x, y, z), to, u, v, w); }
__global__ void layer_one(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{ HERE surf1DLayeredwrite(surf1DLayeredread<TYPE>(from, x, z), to, u, w); }
__global__ void layer_two(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{ HERE surf2DLayeredwrite(surf2DLayeredread<TYPE>(from, x, y, z), to, u, v, w); }
"""
BOUNDARIES = """
__global__ void read(cudaSurfaceObject_t s, float *out)
{
  int x = threadIdx.x, y = threadIdx.y, i = y * blockDim.x + x;
  out[2 * i] = surf2Dread<float>(s, 4 * (x - 2), y - 2, cudaBoundaryModeZero);
  out[2 * i + 1] = surf2Dread<float>(s, 4 * (x - 2), y - 2, cudaBoundaryModeClamp);
}
__global__ void write(cudaSurfaceObject_t s)
{
  surf2Dwrite(1.0f, s, 4 * ((int)threadIdx.x - 2), (int)threadIdx.y - 2, cudaBoundaryModeZero);
}
__global__ void trap(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 1 << 20, 1 << 14); }
"""


def surface_array(data, extent, channels=1, flags=0):
    format = drv.dtype_to_array_format(data.dtype)
    array = make(*extent, format, channels, FLAGS.SURFACE_LDST | flags)
    return copy_all(array, data)


def check(type_, channels, kernel, extent, flags=0):
    shape = (max(extent[2], 1), max(extent[1], 1), extent[0])
    rng = np.random.default_rng(3)
    data = rng.integers(0, 100, (*shape, channels)).astype(DTYPES[type_])
    source = surface_array(data, extent, channels, flags)
    target = surface_array(np.zeros_like(data), extent, channels, flags)
    name = type_ if channels == 1 else f"{type_}{channels}"
    call = SourceModule(KERNELS.replace("TYPE", name), options=["-w"]).get_function(kernel)
    call(drv.SurfaceObject(source), drv.SurfaceObject(target), block=shape[::-1])
    found = contents(target, data.shape, data.dtype)
    np.testing.assert_array_equal(found, data[::-1, ::-1, ::-1])


@pytest.mark.parametrize(
    ("channels", "type_"), each_with([1, 2, 4], ["uchar", "short", "float"], TYPES)
)
def test_elements_of_every_type(type_, channels):
    check(type_, channels, "two", (5, 3, 0))


@pytest.mark.parametrize(
    ("kernel", "extent", "flags"),
    [
        ("one", (7, 0, 0), 0),
        ("three", (5, 3, 4), 0),
        ("layer_one", (7, 0, 4), FLAGS.ARRAY3D_LAYERED),
        ("layer_two", (5, 3, 4), FLAGS.ARRAY3D_LAYERED),
    ],
)
def test_dimensions_and_layers(kernel, extent, flags):
    check("float", 1, kernel, extent, flags)
    check("short", 4, kernel, extent, flags)


def test_boundaries():
    data = np.random.default_rng(4).random((3, 4)).astype(np.float32)
    array = surface_array(data, (4, 3, 0))
    module, surface = SourceModule(BOUNDARIES), drv.SurfaceObject(array)
    out = np.zeros((7, 8, 2), np.float32)
    module.get_function("read")(surface, drv.Out(out), block=(8, 7, 1))
    np.testing.assert_array_equal(out[..., 0], np.pad(data, 2))
    np.testing.assert_array_equal(out[..., 1], np.pad(data, 2, "edge"))
    module.get_function("write")(surface, block=(8, 7, 1))
    np.testing.assert_array_equal(contents(array, (3, 4), "f4"), np.ones((3, 4)))


def test_outside_ends_the_kernel(python):
    text = f"""
import sys
sys.path.insert(0, {str(__file__.rsplit("/", 1)[0])!r})
import numpy as np, PyGPU.driver as drv
from test_driver_surfaces import BOUNDARIES, SourceModule, surface_array
surface = drv.SurfaceObject(surface_array(np.zeros((3, 4), "f4"), (4, 3, 0)))
try:
    SourceModule(BOUNDARIES).get_function("trap")(surface, block=(1, 1, 1))
    drv.Context.synchronize()
except drv.Error as error:
    print("refused", type(error))
import os
sys.stdout.flush()
os._exit(0)  # after such a fault, nothing of the device can be released
"""
    assert "refused" in python(text).stdout


def test_a_texture_reads_what_a_surface_wrote():
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    array = drv.np_to_array(data, "C", allowSurfaceBind=True)
    surface, texture = drv.SurfaceObject(array), drv.TextureObject(array)
    module = SourceModule("""
    __global__ void twice(cudaSurfaceObject_t s)
    {
      int x = 4 * threadIdx.x, y = threadIdx.y;
      surf2DLayeredwrite(2 * surf2DLayeredread<float>(s, x, y, 0), s, x, y, 0);
    }
    __global__ void read(cudaTextureObject_t t, float *out)
    {
      int x = threadIdx.x, y = threadIdx.y;
      out[y * 4 + x] = tex2DLayered<float>(t, x, y, 0);
    }
    """)
    module.get_function("twice")(surface, block=(4, 3, 1))
    out = PyGPU.zeros((3, 4), np.float32)
    module.get_function("read")(texture, out, block=(4, 3, 1))
    np.testing.assert_array_equal(out.get(), 2 * data)
    assert int(surface) == surface.handle == surface.__index__() > 0


def test_arrays_that_are_not_for_surfaces():
    with pytest.raises(drv.LogicError, match="SURFACE_LDST"):
        drv.SurfaceObject(make(4, 4))
    for wrong in (None, 5, PyGPU.zeros(4), np.zeros(4)):
        with pytest.raises(TypeError, match="Array"):
            drv.SurfaceObject(wrong)


def test_the_profiler_can_be_told():
    drv.start_profiler()
    drv.stop_profiler()
