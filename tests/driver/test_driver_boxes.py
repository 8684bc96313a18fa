"""Memcpy2D, Memcpy3D and Memcpy3DPeer against NumPy's slices, on any two sides."""

import gc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from array_tools import has_arrays, make
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import PyGPU
import PyGPU.driver as drv

SIDES = ["host", "device", "array", "unified"]


class Side:
    """Bytes in a block of (depth, height, width), on some side, with gaps between the rows."""

    def __init__(self, kind, shape):
        self.kind, self.shape = kind, shape
        self.start = np.random.default_rng(sum(shape)).integers(0, 255, shape).astype(np.uint8)
        gap = 0 if kind in ("array", "unified") else 3
        self.block = np.zeros((shape[0], shape[1] + gap, shape[2] + gap), np.uint8)
        self.block[:, : shape[1], : shape[2]] = self.start
        self.memory = PyGPU.to_gpu(self.block) if kind == "device" else None
        if kind == "array":
            self.memory = make(*shape[::-1], drv.array_format.UNSIGNED_INT8)
            self.move(drv.Memcpy3D(), "dst", "src", "host", self.block)

    def move(self, copy, own, other, kind, block):
        copy.width_in_bytes, copy.height, copy.depth = self.shape[::-1]
        getattr(copy, f"set_{own}_array")(self.memory)
        getattr(copy, f"set_{other}_{kind}")(block)
        setattr(copy, f"{other}_pitch", block.shape[2])
        setattr(copy, f"{other}_height", block.shape[1])
        copy()

    def set(self, copy, name, position):
        end = self.block if self.kind in ("host", "unified") else self.memory
        getattr(copy, f"set_{name}_{self.kind}")(end)
        if self.kind != "array":
            setattr(copy, f"{name}_pitch", self.block.shape[2])
            setattr(copy, f"{name}_height", self.block.shape[1])
        for field, value in zip(("z", "y", "x_in_bytes"), position):
            setattr(copy, f"{name}_{field}", value)

    def now(self):
        if self.kind == "array":
            back = np.zeros(self.shape, np.uint8)
            self.move(drv.Memcpy3D(), "src", "dst", "host", back)
            return back
        whole = self.memory.get() if self.kind == "device" else self.block
        return whole[:, : self.shape[1], : self.shape[2]]


@st.composite
def boxes(draw):
    """(shape of the source, of the target, box, position in the source, in the target)"""
    box = [draw(st.integers(1, 5)) for _ in range(3)]
    at = [[draw(st.integers(0, 3)) for _ in range(3)] for _ in range(2)]
    rest = [[draw(st.integers(0, 3)) for _ in range(3)] for _ in range(2)]
    shapes = [tuple(b + p + r for b, p, r in zip(box, at[i], rest[i])) for i in range(2)]
    return (*shapes, box, *at)


@pytest.mark.parametrize("target", SIDES)
@pytest.mark.parametrize("source", SIDES)
@examples(20)
@given(case=boxes(), on_stream=st.booleans())
def test_any_box_between_any_two_sides(source, target, case, on_stream):
    if "array" in (source, target) and not has_arrays():
        pytest.skip("the device has no arrays")
    shape, target_shape, box, at, to = case
    src, dst = Side(source, shape), Side(target, target_shape)
    copy = drv.Memcpy3D()
    src.set(copy, "src", at)
    dst.set(copy, "dst", to)
    copy.depth, copy.height, copy.width_in_bytes = box
    if on_stream:
        stream = drv.Stream()
        copy(stream)
        stream.synchronize()
    else:
        copy()
    expected = dst.start.copy()
    inside = tuple(slice(p, p + n) for p, n in zip(to, box))
    expected[inside] = src.start[tuple(slice(p, p + n) for p, n in zip(at, box))]
    np.testing.assert_array_equal(dst.now(), expected)


def matrix_copy(matrix, memory, pitch):
    copy = drv.Memcpy2D()
    copy.set_src_host(matrix)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch = matrix.strides[0], pitch
    copy.width_in_bytes, copy.height = matrix.shape[1] * matrix.itemsize, matrix.shape[0]
    return copy


HOW = [(), (True,), (False,), (None,), (np.bool_(True),), (1,)]


@pytest.mark.parametrize("how", HOW, ids=str)
def test_the_ways_to_call_a_2d_copy(how):
    matrix = np.arange(35, dtype=np.float64).reshape(5, 7)
    memory, pitch = drv.mem_alloc_pitch(7 * 8, 5, 8)
    matrix_copy(matrix, memory, pitch)(*how)
    back = drv.Memcpy2D()
    out = np.zeros((5, 7))
    back.set_src_device(memory)
    back.set_dst_host(out)
    back.src_pitch, back.dst_pitch = pitch, 56
    back.width_in_bytes, back.height = np.int64(56), np.int32(5)
    back(drv.Stream())
    drv.Context.synchronize()
    np.testing.assert_array_equal(out, matrix)


def test_keywords():
    matrix, memory = np.ones((2, 3)), PyGPU.zeros((2, 3), np.float64)
    copy = matrix_copy(matrix, memory, 24)
    copy(aligned=True)
    copy(stream=drv.Stream())
    np.testing.assert_array_equal(memory.get(), matrix)


def test_a_strided_buffer_is_read_from_its_first_element():
    whole = np.arange(60, dtype=np.int32).reshape(6, 10)
    part = whole[1:5, 2:6]
    memory = PyGPU.zeros((4, 4), np.int32)
    matrix_copy(part, memory, 16)()
    np.testing.assert_array_equal(memory.get(), part)


def test_the_fields_start_at_0_and_others_can_be_set():
    for copy in (drv.Memcpy2D(), drv.Memcpy3D(), drv.Memcpy3DPeer()):
        for name in ["x_in_bytes", "y", "pitch", "memory_type", "device"]:
            assert getattr(copy, f"src_{name}") == getattr(copy, f"dst_{name}") == 0
        assert copy.width_in_bytes == copy.height == 0
        copy.no_such_field = 3
    assert drv.Memcpy3D().depth == drv.Memcpy3D().src_lod == drv.Memcpy3D().dst_height == 0


def test_setters_set_the_memory_type():
    copy = drv.Memcpy2D()
    memory = PyGPU.zeros(4, np.float32)
    copy.set_src_host(np.zeros(4))
    copy.set_dst_device(memory)
    assert copy.src_memory_type == drv.memory_type.HOST
    assert copy.dst_memory_type == drv.memory_type.DEVICE
    assert copy.dst_device == memory.ptr


def test_the_description_keeps_its_buffers():
    memory = PyGPU.zeros((3, 1000), np.float64)
    copy = matrix_copy(np.arange(3000.0).reshape(3, 1000), memory, 8000)
    gc.collect()
    copy()
    np.testing.assert_array_equal(memory.get().ravel(), np.arange(3000.0))


@pytest.mark.parametrize("name", ["width_in_bytes", "height", "depth"])
def test_an_empty_box_copies_nothing(name):
    copy = drv.Memcpy3D()
    copy.set_src_host(np.ones(4))
    memory = PyGPU.zeros(4, np.float64)
    copy.set_dst_device(memory)
    copy.width_in_bytes, copy.height, copy.depth = 32, 1, 1
    setattr(copy, name, 0)
    copy()
    assert (memory.get() == 0).all()


@pytest.mark.parametrize("side", ["src", "dst"])
def test_a_side_that_was_not_set(side):
    for copy in (drv.Memcpy2D(), drv.Memcpy3D(), drv.Memcpy3DPeer()):
        getattr(copy, f"set_{'dst' if side == 'src' else 'src'}_host")(np.zeros(4))
        copy.width_in_bytes = copy.height = copy.depth = 1
        with pytest.raises(drv.LogicError, match=f"no {side}.*set_{side}_host"):
            copy()


def test_a_host_buffer_that_is_too_small():
    memory = PyGPU.zeros((4, 8), np.uint8)
    for change in ({"height": 5}, {"width_in_bytes": 9}, {"src_y": 1}, {"src_x_in_bytes": 1}):
        copy = matrix_copy(np.zeros((4, 8), np.uint8), memory, 8)
        for name, value in change.items():
            setattr(copy, name, value)
        with pytest.raises(drv.LogicError, match=r"src|pitch"):
            copy()


@pytest.mark.parametrize("field", ["width_in_bytes", "height", "src_y", "dst_pitch"])
def test_fields_that_are_no_lengths(field):
    copy = matrix_copy(np.zeros((4, 8)), PyGPU.zeros((4, 8), np.float64), 64)
    setattr(copy, field, -1)
    with pytest.raises(OverflowError, match=field):
        copy()
    setattr(copy, field, 1.5)
    with pytest.raises(TypeError, match=field):
        copy()


@pytest.mark.skipif(PyGPU.target != "host", reason="a GPU need not notice, and may then fault")
def test_device_memory_that_is_too_small():
    memory = drv.mem_alloc(512)
    copy = matrix_copy(np.zeros((1 << 12, 1 << 12), np.uint8), memory, 1 << 12)
    with pytest.raises(drv.LogicError, match="Memcpy2D"):
        copy()


def test_buffers_that_are_none():
    copy = drv.Memcpy2D()
    for wrong in ([1], "text", None, PyGPU.zeros(3), 5):
        with pytest.raises(TypeError):
            copy.set_src_host(wrong)
        with pytest.raises(TypeError, match="Array"):
            copy.set_dst_array(wrong)
    for wrong in (None, "text", 1.5):
        with pytest.raises(TypeError):
            copy.set_src_device(wrong)
    read_only = np.zeros(3)
    read_only.flags.writeable = False
    for wrong, error in ((bytes(3), BufferError), (read_only, ValueError)):
        with pytest.raises(error, match="read-only"):
            copy.set_dst_host(wrong)
    with pytest.raises(ValueError, match="contiguous"):
        copy.set_src_unified(np.zeros(8)[::2])


def test_mipmaps_and_bad_pitches():
    copy = drv.Memcpy3D()
    copy.set_src_host(np.zeros(64))
    copy.set_dst_device(PyGPU.zeros(64, np.float64))
    copy.width_in_bytes, copy.height, copy.depth = 16, 2, 2
    copy.src_pitch, copy.dst_pitch = 16, 8
    copy.src_height = 2
    with pytest.raises(drv.LogicError, match="dst_pitch=8"):
        copy()
    copy.dst_pitch = 16
    with pytest.raises(drv.LogicError, match="dst_height=0"):
        copy()
    copy.dst_height = 2
    for field in ("src_lod", "dst_lod"):
        setattr(copy, field, 1)
        with pytest.raises(drv.LogicError, match="mipmaps"):
            copy()
        setattr(copy, field, 0)
    copy()


def test_between_devices():
    contexts = []
    for number in (0, drv.Device.count() - 1):
        contexts.append(drv.Device(number).retain_primary_context())
    x = PyGPU.to_gpu(np.arange(24, dtype=np.int32).reshape(2, 3, 4))
    contexts[1].push()
    y = PyGPU.zeros((2, 3, 4), np.int32)
    contexts[1].synchronize()
    contexts[1].pop()
    copy = drv.Memcpy3DPeer()
    copy.set_src_device(x)
    copy.set_dst_device(y)
    copy.set_src_context(contexts[0])
    copy.set_dst_context(contexts[1])
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 16
    copy.src_height = copy.dst_height = copy.height = 3
    copy.depth = 2
    copy()
    PyGPU.cudaDeviceSynchronize()
    np.testing.assert_array_equal(y.get(), x.get())
    unsaid = drv.Memcpy3DPeer()  # of which devices
    vars(unsaid).update({name: value for name, value in vars(copy).items() if name != "_contexts"})
    for current in (0, drv.Device.count() - 1):
        PyGPU.cudaSetDevice(current)
        y.fill(0)
        unsaid()
        PyGPU.cudaDeviceSynchronize()
        np.testing.assert_array_equal(y.get(), x.get())
    PyGPU.cudaSetDevice(0)
    with pytest.raises(TypeError, match="Context"):
        copy.set_src_context(0)
    PyGPU.cudaSetDevice(0)


def test_between_two_devices(two_devices):
    folder = str(Path(__file__).parent)
    two_devices(
        f"import sys; sys.path.append({folder!r});"
        "from test_driver_boxes import test_between_devices as test; test()"
    )


def test_a_device_that_is_none():
    copy = drv.Memcpy3DPeer()
    copy.set_src_device(PyGPU.zeros(4, np.float32))
    copy.set_dst_device(PyGPU.zeros(4, np.float32))
    copy.width_in_bytes, copy.height, copy.depth = 16, 1, 1
    context = drv.Device(0).retain_primary_context()
    copy.set_src_context(context)
    copy()
    elsewhere = SimpleNamespace(device=SimpleNamespace(_ordinal=4096))
    copy.set_dst_context(elsewhere)
    with pytest.raises(drv.LogicError):
        copy()
