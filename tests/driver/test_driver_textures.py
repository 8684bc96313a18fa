"""Texture objects against a model in NumPy: types, addressing, filters, layers, memory."""

import gc
from functools import cache

import numpy as np
import pytest
from array_tools import copy_all, make, need_arrays  # noqa: F401
from campaign import each_once, each_with

import PyGPU
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule

MODES, FILTERS, FORMATS = drv.address_mode, drv.filter_mode, drv.array_format
NAMES = {"i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint"}
NAMES["f4"] = "float"

# One kernel for each function: coordinates in, what was fetched out.
KERNELS = """
typedef unsigned char uchar;
#define HERE int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
__global__ void fetch(cudaTextureObject_t t, const float *x, TYPE *out, int n)
{ HERE out[i] = tex1Dfetch<TYPE>(t, (int)x[i]); }
__global__ void one(cudaTextureObject_t t, const float *x, TYPE *out, int n)
{ HERE out[i] = tex1D<TYPE>(t, x[i]); }
__global__ void two(cudaTextureObject_t t, const float *x, TYPE *out, int n)
{ HERE out[i] = tex2D<TYPE>(t, x[i], x[n + i]); }
__global__ void three(cudaTextureObject_t t, const float *x, TYPE *out, int n)
{ HERE tex3D(&out[i], t, x[i], x[n + i], x[2 * n + i]); }
__global__ void layer_one(cudaTextureObject_t t, const float *x, TYPE *out, int n)
{ HERE out[i] = tex1DLayered<TYPE>(t, x[i], (int)x[n + i]); }
__global__ void layer_two(cudaTextureObject_t t, const float *x, TYPE *out, int n)
{ HERE out[i] = tex2DLayered<TYPE>(t, x[i], x[n + i], (int)x[2 * n + i]); }
"""


def type_name(dtype, channels):
    name = NAMES[np.dtype(dtype).str[1:]]
    return f"{name}{channels}" if channels > 1 else name


@cache
def kernel(function, type_):
    return SourceModule(KERNELS.replace("TYPE", type_)).get_function(function)


def run(function, texture, coordinates, dtype="f4", channels=1):
    """What a kernel reads at the coordinates, each a sequence: (points, channels)."""
    points = np.asarray(coordinates, np.float32)
    n = points.shape[1]
    out = np.zeros((n, channels), dtype)
    shape = {"block": (64, 1, 1), "grid": (-(-n // 64), 1)}
    call = kernel(function, type_name(dtype, channels))
    call(texture, drv.In(points), drv.Out(out), np.int32(n), **shape)
    return out


def numbers(shape, dtype="f4"):
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return np.random.default_rng(5).random(shape).astype(kind)
    limits = np.iinfo(kind)
    found = np.random.default_rng(5).integers(limits.min, limits.max, shape, kind, endpoint=True)
    found.flat[:2] = limits.min, limits.max
    return found


def model(data, coordinates, modes, linear=False, normalized=False, border=0.0):
    """The fetches of `data` (..., y, x) at coordinates (x, y, ...)."""

    def at(indices):
        inside, where = np.ones(indices[0].shape, bool), []
        for index, mode, length in zip(indices, modes, data.shape[::-1]):
            if mode == MODES.BORDER:
                inside &= (index >= 0) & (index < length)
            if mode == MODES.WRAP:
                index = index % length
            if mode == MODES.MIRROR:
                index = index % (2 * length)
                index = np.where(index < length, index, 2 * length - 1 - index)
            where.append(np.clip(index, 0, length - 1))
        return np.where(inside, data[tuple(where[::-1])], border)

    points = [np.asarray(x, np.float64) for x in coordinates]
    if normalized:
        points = [x * length for x, length in zip(points, data.shape[::-1])]
    if not linear:
        return at([np.floor(x).astype(int) for x in points])
    first = [np.floor(x - 0.5).astype(int) for x in points]
    share = [x - 0.5 - i for x, i in zip(points, first)]
    total = 0
    for corner in np.ndindex(*(2 for _ in points)):
        weight = np.prod([s if c else 1 - s for s, c in zip(share, corner)], axis=0)
        total = total + weight * at([i + c for i, c in zip(first, corner)])
    return total


def grid(*lengths, step=0.25, beyond=1.7):
    """Points of a grid of eighths over more than the lengths, off the edges between elements."""
    axes = [np.arange(-np.ceil(n * beyond), n * (1 + beyond), step) + 0.125 for n in lengths]
    return [x.ravel() for x in np.meshgrid(*axes)]


def array_of(data, **wish):
    """An Array of (depth, height, width) or fewer, for numbers of one channel."""
    lengths = (*data.shape[::-1], 0, 0)[:3]
    return copy_all(make(*lengths, drv.dtype_to_array_format(data.dtype), **wish), data)


@pytest.mark.parametrize(("channels", "dtype"), each_with([1, 2, 4], ["u1", "i2", "f4"], NAMES))
def test_elements_of_every_type(dtype, channels):
    data = numbers((3, 5, channels), dtype)
    array = make(5, 3, 0, drv.dtype_to_array_format(np.dtype(dtype)), channels)
    texture = drv.TextureObject(copy_all(array, data))
    y, x = np.indices((3, 5)).reshape(2, -1)
    out = run("two", texture, (x + 0.5, y + 0.5), dtype, channels)
    np.testing.assert_array_equal(out, data.reshape(15, channels))


@pytest.mark.parametrize(("dtype", "channels"), each_once(NAMES, [1, 2, 4]))
def test_memory_without_rows(dtype, channels):
    data = numbers((77, channels), dtype)
    memory = PyGPU.to_gpu(data if channels > 1 else data.ravel())
    texture = drv.TextureObject(memory, num_channels=channels)
    out = run("fetch", texture, [np.arange(77)[::-1]], dtype, channels)
    np.testing.assert_array_equal(out, data[::-1])


@pytest.mark.parametrize("linear", [False, True])
def test_memory_with_rows(linear):
    data = numbers((6, 10))
    memory, pitch = drv.mem_alloc_pitch(40, 6)
    copy = drv.Memcpy2D()
    copy.set_src_host(data)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = 40, pitch, 40, 6
    copy()
    filtering = FILTERS.LINEAR if linear else FILTERS.POINT
    texture = drv.TextureObject(
        memory, filter_mode=filtering, dtype=np.float32, shape=(6, 10), pitch=pitch
    )
    points = grid(10, 6)
    expected = model(data, points, [MODES.CLAMP] * 2, linear)
    np.testing.assert_allclose(run("two", texture, points)[:, 0], expected, atol=1e-3)


def test_a_gpuarray_with_rows():
    data = numbers((6, 32))
    texture = drv.TextureObject(PyGPU.to_gpu(data))
    gc.collect()  # the texture keeps the array
    points = grid(32, 6)
    expected = model(data, points, [MODES.CLAMP] * 2)
    np.testing.assert_array_equal(run("two", texture, points)[:, 0], expected)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize(
    ("mode", "normalized"),
    [(MODES.CLAMP, False), (MODES.BORDER, False), *((mode, True) for mode in MODES)],
)
@pytest.mark.parametrize("lengths", [(8,), (8, 4), (8, 4, 2)])
def test_addressing_and_filters(lengths, mode, normalized, linear):
    data = numbers(lengths[::-1])
    axes = len(lengths)
    texture = drv.TextureObject(
        array_of(data), mode, FILTERS.LINEAR if linear else FILTERS.POINT, normalized
    )
    points = grid(*lengths, step=0.25 if axes < 3 else 0.75)
    if normalized:
        points = [x / length for x, length in zip(points, lengths)]
    out = run(["one", "two", "three"][axes - 1], texture, points)[:, 0]
    expected = model(data, points, [mode] * axes, linear, normalized)
    # GPUs weigh neighbours in steps of 1/256.
    np.testing.assert_allclose(out, expected, atol=np.ptp(data) * axes / 256 if linear else 0)


def test_a_mode_for_each_axis_and_a_border():
    data = numbers((4, 8))
    points = grid(8, 4)
    modes = (MODES.BORDER, MODES.CLAMP)
    texture = drv.TextureObject(array_of(data), modes, border_color=[0.5])
    expected = model(data, points, modes, border=0.5)
    np.testing.assert_array_equal(run("two", texture, points)[:, 0], expected.astype(np.float32))


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2"])
@pytest.mark.parametrize("linear", [False, True])
def test_integers_as_fractions(dtype, linear):
    data = numbers((4, 8), dtype)
    filtering = FILTERS.LINEAR if linear else FILTERS.POINT
    texture = drv.TextureObject(array_of(data), MODES.CLAMP, filtering, normalized_float=True)
    points = grid(8, 4)
    fractions = np.maximum(data.astype(np.float64) / np.iinfo(data.dtype).max, -1)
    expected = model(fractions, points, [MODES.CLAMP] * 2, linear)
    out = run("two", texture, points)[:, 0]
    tolerance = np.ptp(fractions) * 2 / 256 if linear else 1e-6
    np.testing.assert_allclose(out, expected, atol=tolerance)


def test_halves_are_read_as_floats():
    data = numbers((4, 8)).astype(np.float16)
    texture = drv.TextureObject(array_of(data))
    y, x = np.indices((4, 8)).reshape(2, -1)
    np.testing.assert_array_equal(run("two", texture, (x + 0.5, y + 0.5))[:, 0], data.ravel())


def test_doubles_are_read_as_two_integers():
    data = np.random.default_rng(2).random((4, 8))
    texture = drv.TextureObject(drv.np_to_array(data, "C"))
    y, x = np.indices((4, 8)).reshape(2, -1)
    out = run("two", texture, (x + 0.5, y + 0.5), np.int32, 2)
    np.testing.assert_array_equal(out.view(np.float64).ravel(), data.ravel())


@pytest.mark.parametrize("lengths", [(8,), (8, 4)])
def test_layers(lengths):
    data = numbers((3, *lengths[::-1]))
    array = make(*(*lengths, 0)[:2], 3, flags=drv.array3d_flags.ARRAY3D_LAYERED)
    texture = drv.TextureObject(copy_all(array, data))
    points = grid(*lengths)
    for layer in range(3):
        coordinates = [*points, np.full(points[0].shape, layer)]
        out = run(["layer_one", "layer_two"][len(lengths) - 1], texture, coordinates)[:, 0]
        np.testing.assert_array_equal(out, model(data[layer], points, [MODES.CLAMP] * 2))


def test_a_handle_is_a_number():
    data = numbers((4, 8))
    texture = drv.TextureObject(array_of(data))
    gc.collect()  # the texture keeps the array
    assert int(texture) == texture.handle == texture.__index__() > 0
    points = np.array([[0.5, 1.5], [0.5, 3.5]], np.float32)
    for argument in (np.uint64(texture.handle), texture):
        out = np.zeros(2, np.float32)
        call = kernel("two", "float").prepare("QPPi")
        x, y = PyGPU.to_gpu(points), PyGPU.zeros(2, np.float32)
        call.prepared_call((1, 1), (2, 1, 1), argument, x.gpudata, y.gpudata, 2)
        out = y.get()
        np.testing.assert_array_equal(out, [data[0, 0], data[3, 1]])


def test_many_that_come_and_go():
    array = array_of(numbers((4, 8)))
    kept = [drv.TextureObject(array) for _ in range(100)]
    for _ in range(3000):
        drv.TextureObject(array)
    assert len({texture.handle for texture in kept}) == 100


@pytest.mark.parametrize(
    ("dtype", "how", "why"),
    [
        ("i4", {"filter_mode": FILTERS.LINEAR}, "LINEAR"),
        ("u1", {"filter_mode": FILTERS.LINEAR}, "LINEAR"),
        ("i4", {"normalized_float": True}, "32 bits"),
        ("f4", {"address_mode": 9}, "address_mode"),
        ("f4", {"address_mode": [MODES.CLAMP] * 4}, "address_mode"),
        ("f4", {"filter_mode": 2}, "filter_mode"),
        ("f4", {"filter_mode": None}, "filter_mode"),
    ],
)
def test_readings_that_no_texture_does(dtype, how, why):
    with pytest.raises(drv.LogicError, match=why):
        drv.TextureObject(array_of(numbers((4, 8), dtype)), **how)


def test_memory_that_no_texture_reads():
    memory = PyGPU.zeros(1024, np.float32)
    bad = [
        {"dtype": np.float32, "shape": (4, 7), "pitch": 28},
        {"dtype": np.float32, "shape": (4, 8), "pitch": 16},
        {"dtype": np.float32, "shape": (2, 2, 2)},
        {"dtype": np.float32, "shape": 0},
        {"dtype": np.float32, "shape": 16, "num_channels": 3},
    ]
    for how in bad:
        with pytest.raises(drv.LogicError):
            drv.TextureObject(memory, **how)
    with pytest.raises(drv.LogicError, match="TEXTURE_ALIGNMENT"):
        drv.TextureObject(memory[1:])
    with pytest.raises(drv.LogicError, match="TEXTURE_PITCH_ALIGNMENT"):
        drv.TextureObject(memory, **bad[0])
    with pytest.raises(drv.LogicError, match="pitch=16"):
        drv.TextureObject(memory, **bad[1])
    with pytest.raises(TypeError, match="dtype, shape: expected both"):
        drv.TextureObject(memory.gpudata)
    with pytest.raises(TypeError, match="expected an integer of 8, 16 or 32 bits, float16"):
        drv.TextureObject(PyGPU.zeros(16, np.float64))
    with pytest.raises(ValueError, match="channels"):
        drv.TextureObject(PyGPU.zeros((16, 3), np.float32), num_channels=2)
    with pytest.raises(TypeError, match="an Array has its own"):
        drv.TextureObject(make(4), dtype=np.float32)
    for wrong in (None, "text", 1.5):
        with pytest.raises(TypeError):
            drv.TextureObject(wrong, dtype=np.float32, shape=4)
