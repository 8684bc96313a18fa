"""Texture references, as programs for PyCUDA have them: declarations, sources, ways of reading."""

import gc

import numpy as np
import pytest
from array_tools import copy_all, make, need_arrays  # noqa: F401
from campaign import each_with

import PyGPU as gpuarray
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule, compile

MODES, FILTERS, FORMATS = drv.address_mode, drv.filter_mode, drv.array_format
NAMES = {"i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint"}
NAMES["f4"] = "float"


def numbers(shape, dtype="f4"):
    rng = np.random.default_rng(8)
    if np.dtype(dtype).kind == "f":
        return rng.random(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def module_of(declaration, result, call):
    """A module whose `read` puts a fetch at (x[i], y[i], z[i]) into out[i]."""
    return SourceModule(f"""
    typedef unsigned char uchar;
    {declaration}
    __global__ void read(const float *x, const float *y, const float *z, {result} *out, int n)
    {{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = {call}; }}
    """)


def read(module, points, dtype="f4", channels=1, **options):
    """What `read` fetches at points (x, y, z), each a sequence: (points, channels)."""
    given = [np.asarray(axis, np.float32) for axis in points]
    given += [np.zeros_like(given[0])] * (3 - len(given))
    out, n = np.zeros((given[0].size, channels), dtype), given[0].size
    shape = {"block": (64, 1, 1), "grid": (-(-n // 64), 1)}
    function = module.get_function("read")
    function(*map(drv.In, given), drv.Out(out), np.int32(n), **shape, **options)
    return out


def pixels(height, width):
    """The centres of elements, row by row."""
    y, x = np.indices((height, width)).reshape(2, -1)
    return x + 0.5, y + 0.5


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix(order):
    module = module_of("texture<float, 2, cudaReadModeElementType> image;", "float", TEX2D)
    image = module.get_texref("image")
    matrix = numbers((6, 10))
    drv.matrix_to_texref(matrix, image, order=order)
    points = pixels(*(matrix.shape if order == "C" else matrix.shape[::-1]))
    expected = matrix if order == "C" else matrix.T
    np.testing.assert_array_equal(read(module, points, texrefs=[image])[:, 0], expected.ravel())
    # A launch that does not name the reference reads it as well.
    np.testing.assert_array_equal(read(module, points)[:, 0], expected.ravel())


TEX2D = "tex2D(image, x[i], y[i])"


@pytest.mark.parametrize(("channels", "dtype"), each_with([1, 2, 4], ["u1", "i2", "f4"], NAMES))
def test_elements_of_every_type(dtype, channels):
    kind = NAMES[dtype] + (str(channels) if channels > 1 else "")
    module = module_of(f"texture<{kind}, 2> image; texture<{kind}> line;", kind, TEX2D)
    data = numbers((4, 8, channels), dtype)
    image = module.get_texref("image")
    image.set_array(drv.make_multichannel_2d_array(data, order="C"))
    np.testing.assert_array_equal(read(module, pixels(4, 8), dtype, channels), data.reshape(32, -1))
    assert image.get_format() == (drv.dtype_to_array_format(data.dtype), channels)
    # The format of memory is the declared one until set_format.
    assert module.get_texref("line").get_format() == image.get_format()
    assert image.get_flags() == (0 if dtype == "f4" else drv.TRSF_READ_AS_INTEGER)


DECLARED = """
texture<float> plain;
static texture<float, 1, cudaReadModeElementType> hidden;
typedef texture<float, cudaTextureType1D> Line;
Line named;
texture<float4, 1> wide;
texture<unsigned char, 1, cudaReadModeNormalizedFloat> unused;
namespace apart { texture<float> inside; }
template <class Texture> __device__ float fetched(Texture t, int i) { return tex1Dfetch(t, i); }
extern "C" {
texture<float, 1> plain_c;
__global__ void all(float *out)
{
  int i = threadIdx.x;
  out[i] = tex1Dfetch(plain, i) + 10 * tex1Dfetch(hidden, i) + 100 * fetched(named, i)
    + 1000 * tex1Dfetch(wide, i).w + 10000 * tex1Dfetch<float>(plain_c, i);
}
}
"""


def test_ways_to_declare_a_reference():
    module = SourceModule(DECLARED, no_extern_c=True)
    function, kept = module.get_function("all"), []
    for digit, name in enumerate(["plain", "hidden", "named", "wide", "plain_c"], 1):
        data = np.full((8, 4) if name == "wide" else 8, digit, np.float32)
        kept.append(module.get_texref(name))
        gpuarray.to_gpu(data).bind_to_texref(kept[-1])
    out = gpuarray.zeros(8, np.float32)
    function(out, block=(8, 1, 1), texrefs=kept)
    np.testing.assert_array_equal(out.get(), 54321)
    assert module.get_texref("plain") is kept[0]
    assert module.get_texref("unused").get_format() == (FORMATS.UNSIGNED_INT8, 1)


def test_a_module_from_an_image():
    text = "texture<int> line; __global__ void f(int *a) { a[0] = tex1Dfetch(line, 3); }"
    module = drv.module_from_buffer(compile(text))
    line, out = module.get_texref("line"), gpuarray.zeros(1, np.int32)
    gpuarray.arange(5, dtype=np.int32).bind_to_texref(line)
    module.get_function("f")(out, block=(1, 1, 1))
    assert out.get() == [3]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("filtering", FILTERS)
def test_reads_as_a_texture_object_does(mode, normalized, filtering):
    data = numbers((4, 8))
    array = drv.matrix_to_array(data, "C")
    module = module_of("texture<float, 2> image;", "float", TEX2D)
    other = SourceModule("""
    __global__ void read(const float *x, const float *y, cudaTextureObject_t t, float *out)
    { int i = threadIdx.x; out[i] = tex2D<float>(t, x[i], y[i]); }
    """)
    image = module.get_texref("image")
    image.set_array(array)
    for axis in (0, 1):
        image.set_address_mode(axis, mode)
    image.set_filter_mode(filtering)
    image.set_flags(drv.TRSF_NORMALIZED_COORDINATES if normalized else 0)
    x, y = np.random.default_rng(3).uniform(-1.5, 2.5, (2, 100)).astype(np.float32)
    if not normalized:
        x, y = 8 * x, 4 * y
    expected = np.zeros(100, np.float32)
    same = drv.TextureObject(array, mode, filtering, normalized)
    function = other.get_function("read")
    function(drv.In(x), drv.In(y), same, drv.Out(expected), block=(100, 1, 1))
    np.testing.assert_array_equal(read(module, (x, y))[:, 0], expected)
    assert (image.get_address_mode(1), image.get_filter_mode()) == (mode, filtering)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2"])
@pytest.mark.parametrize("declared", ["{}, 2, cudaReadModeNormalizedFloat", "float, 2"])
def test_integers_as_fractions(dtype, declared):
    declared = declared.format(NAMES[dtype])
    module = module_of(f"texture<{declared}> image;", "float", TEX2D)
    data = numbers((4, 8), dtype)
    drv.matrix_to_texref(data, module.get_texref("image"), "C")
    expected = np.maximum(data / np.iinfo(dtype).max, -1).ravel()
    np.testing.assert_allclose(read(module, pixels(4, 8))[:, 0], expected, atol=1e-6)


def test_colours_of_srgb():
    declaration = "texture<uchar4, 2, cudaReadModeNormalizedFloat> image;"
    module = module_of(declaration, "float4", TEX2D)
    image = module.get_texref("image")
    data = np.repeat(np.array([[0, 10, 128, 255]], np.uint8), 4, axis=0).T.reshape(1, 4, 4).copy()
    image.set_array(drv.make_multichannel_2d_array(data, "C"))
    image.set_flags(drv.TRSF_SRGB)
    out = read(module, pixels(1, 4), channels=4)
    # Of IEC 61966-2-1; the fourth channel is no colour.
    np.testing.assert_allclose(out[:, 0], [0, 0.0030353, 0.2158605, 1], atol=1e-3)
    np.testing.assert_allclose(out[:, 3], np.array([0, 10, 128, 255]) / 255, atol=1e-6)
    image.set_flags(0)
    np.testing.assert_allclose(read(module, pixels(1, 4), channels=4)[:, 0], out[:, 3], atol=1e-6)


def test_memory_by_its_address():
    module = module_of("texture<float4> line;", "float4", "tex1Dfetch(line, (int)x[i])")
    data = numbers((16, 4))
    memory = drv.to_device(data)
    line = module.get_texref("line")
    assert line.set_address(memory, data.nbytes) == 0
    line.set_format(FORMATS.FLOAT, 4)
    assert line.get_address() == int(memory)
    del memory
    gc.collect()  # the reference keeps it
    np.testing.assert_array_equal(read(module, [np.arange(16)], channels=4), data)


def test_memory_with_an_offset():
    module = module_of("texture<int> line;", "int", "tex1Dfetch(line, (int)x[i])")
    numbers_ = gpuarray.arange(1000, dtype=np.int32)
    line = module.get_texref("line")
    assert numbers_.bind_to_texref(line) == 0
    part = numbers_[33:]
    with pytest.raises(drv.LogicError, match="allow_offset is False"):
        part.bind_to_texref(line)
    for offset in (
        part.bind_to_texref(line, True),
        part.bind_to_texref_ext(line, 1, False, False, True),
    ):
        assert offset == 33
        out = read(module, [np.arange(5) + offset], np.int32)
        np.testing.assert_array_equal(out[:, 0], np.arange(33, 38))


def test_memory_with_rows():
    module = module_of("texture<float, 2> image;", "float", TEX2D)
    data = numbers((5, 12))
    memory, pitch = drv.mem_alloc_pitch(48, 5, 4)
    copy = drv.Memcpy2D()
    copy.set_src_host(data)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = 48, pitch, 48, 5
    copy()
    shape = drv.ArrayDescriptor()
    shape.width, shape.height, shape.format, shape.num_channels = 12, 5, FORMATS.FLOAT, 1
    image = module.get_texref("image")
    image.set_address_2d(memory, shape, pitch)
    np.testing.assert_array_equal(read(module, pixels(5, 12))[:, 0], data.ravel())
    image.set_filter_mode(FILTERS.LINEAR)
    between = read(module, ([1.0], [0.5]))[0, 0]
    np.testing.assert_allclose(between, data[0, :2].mean(), atol=1 / 256)


@pytest.mark.parametrize(
    ("declared", "call", "lengths", "flags"),
    [
        ("float", "tex1D(image, x[i])", (8,), 0),
        ("float, 3", "tex3D(image, x[i], y[i], z[i])", (2, 4, 8), 0),
        ("float, cudaTextureType1DLayered", "tex1DLayered(image, x[i], (int)z[i])", (3, 1, 8), 1),
        ("float, cudaTextureType2DLayered", "tex2DLayered(image, x[i], y[i], z[i])", (3, 4, 8), 1),
    ],
)
def test_dimensions_and_layers(declared, call, lengths, flags):
    module = module_of(f"texture<{declared}> image;", "float", call)
    data = numbers(lengths)
    depth, height, width = (*(0, 0), *lengths)[-3:]
    array = make(width, 0 if height == 1 else height, depth, flags=flags)
    module.get_texref("image").set_array(copy_all(array, data))
    z, y, x = np.indices((max(depth, 1), max(height, 1), width)).reshape(3, -1)
    out = read(module, (x + 0.5, y + 0.5, z))[:, 0]
    np.testing.assert_array_equal(out, data.ravel())


def test_cubes():
    """Each direction gives its face: x, -x, y, -y, z, -z."""
    data = np.repeat(np.arange(12), 16).reshape(12, 4, 4).astype(np.float32)
    flags = drv.array3d_flags
    x, y, z = np.array([[1, -1, 0, 0, 0, 0], [0, 0, 1, -1, 0, 0], [0, 0, 0, 0, 1, -1]]) * 0.7
    one = module_of(
        "texture<float, cudaTextureTypeCubemap> image;",
        "float",
        "texCubemap(image, x[i], y[i], z[i])",
    )
    one.get_texref("image").set_array(copy_all(make(4, 4, 6, flags=flags.CUBEMAP), data[:6]))
    np.testing.assert_array_equal(read(one, (x, y, z))[:, 0], np.arange(6))
    two = module_of(
        "texture<float, cudaTextureTypeCubemapLayered> image;",
        "float",
        "texCubemapLayered(image, x[i], y[i], z[i], 1)",
    )
    layered = make(4, 4, 12, flags=flags.CUBEMAP | flags.ARRAY3D_LAYERED)
    two.get_texref("image").set_array(copy_all(layered, data))
    np.testing.assert_array_equal(read(two, (x, y, z))[:, 0], np.arange(6, 12))


def test_a_place_on_a_face():
    """Of +x, left to right is -z, and top to bottom -y."""
    data = np.zeros((6, 2, 2), np.float32)
    data[0] = [[1, 2], [3, 4]]
    module = module_of(
        "texture<float, cudaTextureTypeCubemap> image;",
        "float",
        "texCubemap(image, x[i], y[i], z[i])",
    )
    array = copy_all(make(2, 2, 6, flags=drv.array3d_flags.CUBEMAP), data)
    module.get_texref("image").set_array(array)
    half = np.array([0.5, -0.5])
    z, y = np.tile(half, 2), np.repeat(half, 2)
    np.testing.assert_array_equal(read(module, (np.ones(4), y, z))[:, 0], [1, 2, 3, 4])


def test_gathers():
    module = module_of("texture<float, 2> image;", "float4", "tex2Dgather(image, x[i], y[i])")
    data = numbers((4, 8))
    array = copy_all(make(8, 4, flags=drv.array3d_flags.TEXTURE_GATHER), data)
    module.get_texref("image").set_array(array)
    x, y = np.array([3.0, 5.0]), np.array([1.0, 2.0])
    expected = [
        [data[b, a - 1], data[b, a], data[b - 1, a], data[b - 1, a - 1]]
        for a, b in ((3, 1), (5, 2))
    ]
    np.testing.assert_array_equal(read(module, (x, y), channels=4), expected)


@pytest.mark.parametrize(
    "call",
    [
        "tex2DLod(image, x[i], y[i], 0.f)",
        "tex2DGrad(image, x[i], y[i], make_float2(1, 0), make_float2(0, 1))",
    ],
)
def test_without_mipmaps_there_is_one_level(call):
    module = module_of("texture<float, 2> image;", "float", call)
    data, image = numbers((4, 8)), module.get_texref("image")
    drv.matrix_to_texref(data, image, "C")
    image.set_flags(drv.TRSF_NORMALIZED_COORDINATES)
    x, y = pixels(4, 8)
    np.testing.assert_array_equal(read(module, (x / 8, y / 4))[:, 0], data.ravel())


def test_what_a_new_reference_has():
    module = SourceModule("texture<short2, 2> image; __global__ void f() {}")
    for reference in (module.get_texref("image"), drv.TextureReference()):
        assert [reference.get_address_mode(axis) for axis in range(3)] == [MODES.CLAMP] * 3
        assert reference.get_filter_mode() == FILTERS.POINT
        for unbound in (reference.get_array, reference.get_address):
            with pytest.raises(drv.LogicError, match="is not bound to"):
                unbound()
    array = make(4, 4)
    reference.set_array(array)
    assert reference.get_array() is array


def test_references_by_cpp_names():
    text = """namespace q { texture<float> t; surface<void, 2> s; __device__ int v; }
    texture<float> u; __global__ void f() {}"""
    module = SourceModule(text)
    assert module.get_texref("q::t") is module.get_texref("&q::t") is module.get_texref("t")
    assert module.get_surfref("q::s") is module.get_surfref("s")
    for get in (module.get_texref, module.get_surfref):
        expected = rf"^{get.__name__} failed.*reference 'zz' not found.* q::t, q::s, u"
        with pytest.raises(drv.LogicError, match=expected):
            get("zz")
        with pytest.raises(drv.LogicError, match=r"'q::v'.*not a texture or surface"):
            get("q::v")
