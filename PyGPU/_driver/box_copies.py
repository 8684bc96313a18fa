"""Memcpy2D, Memcpy3D and Memcpy3DPeer: copies of boxes that a program describes by fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._driver import enums
from PyGPU._driver.strided_copies import Buffer, End, array_in, copy, non_negative
from PyGPU._runtime import core, docstrings, errors

if TYPE_CHECKING:
    from PyGPU._types import Address, BufferLike, StreamLike

__all__ = [
    "Memcpy2D",
    "Memcpy3D",
    "Memcpy3DPeer",
]

_HOST, _DEVICE = enums.memory_type.HOST, enums.memory_type.DEVICE
_ARRAY, _UNIFIED = enums.memory_type.ARRAY, enums.memory_type.UNIFIED


class _Box:
    """Common part of the copies: the program sets fields, then calls the object to copy."""

    _name = "Memcpy2D"
    _depth = False
    _fields = "x_in_bytes y pitch memory_type device"
    src_x_in_bytes: int
    dst_x_in_bytes: int
    src_y: int
    dst_y: int
    src_pitch: int
    dst_pitch: int
    src_memory_type: int
    dst_memory_type: int
    src_device: Any
    dst_device: Any

    def __init__(self) -> None:
        for side in ("src", "dst"):
            for field in self._fields.split():
                setattr(self, f"{side}_{field}", 0)
        self.width_in_bytes = 0
        self.height = 0
        if self._depth:
            self.depth = 0
        self._ends: dict[tuple[str, enums.memory_type], Any] = {}

    def _set(self, side: str, kind: enums.memory_type, end: Any) -> None:
        self._ends[side, kind] = end
        setattr(self, f"{side}_memory_type", kind)

    def set_src_host(self, buffer: BufferLike) -> None:
        """Copy from a host buffer.

        :param buffer: Host memory of any strides; positions count from its first element.
        """
        self._set("src", _HOST, Buffer(buffer, "src", False))

    def set_dst_host(self, buffer: BufferLike) -> None:
        """Copy to a host buffer.

        :param buffer: Writable host memory of any strides; positions count from its first element.
        """
        self._set("dst", _HOST, Buffer(buffer, "dst", True))

    def set_src_array(self, array: core._Array) -> None:
        """Copy from an Array.

        :param array: Array to read.
        """
        self._set("src", _ARRAY, array_in(array, "src"))

    def set_dst_array(self, array: core._Array) -> None:
        """Copy to an Array.

        :param array: Array to write.
        """
        self._set("dst", _ARRAY, array_in(array, "dst"))

    def set_src_device(self, devptr: Address) -> None:
        """Copy from device memory.

        :param devptr: Address to read.
        """
        self.src_device = core._device_address(devptr, "src")
        self._set("src", _DEVICE, devptr)

    def set_dst_device(self, devptr: Address) -> None:
        """Copy to device memory.

        :param devptr: Address to write.
        """
        self.dst_device = core._device_address(devptr, "dst", writable=True)
        self._set("dst", _DEVICE, devptr)

    def set_src_unified(self, buffer: BufferLike) -> None:
        """Copy from memory whose address the runtime identifies, such as managed memory.

        :param buffer: Contiguous memory.
        """
        self._set("src", _UNIFIED, Buffer(buffer, "src", False, contiguous=True))

    def set_dst_unified(self, buffer: BufferLike) -> None:
        """Copy to memory whose address the runtime identifies, such as managed memory.

        :param buffer: Writable contiguous memory.
        """
        self._set("dst", _UNIFIED, Buffer(buffer, "dst", True, contiguous=True))

    def _end(self, side: str) -> End:
        try:
            kind = enums.memory_type(int(getattr(self, f"{side}_memory_type")))
        except ValueError:
            kind = None
        where = self._ends.get((side, kind)) if kind else None
        if kind == _DEVICE:  # programs may set the field without calling the setter
            name = f"{side}_device"
            where = core._device_address(getattr(self, name), name, writable=side == "dst") or None
        if kind is None or where is None:
            raise errors.LogicError(
                f"{self._name} failed: no {side} is set; call set_{side}_host, set_{side}_device, "
                f"set_{side}_array or set_{side}_unified"
            )
        pitch, rows, x, y, z, lod = (
            non_negative(getattr(self, f"{side}_{name}", 0), f"{side}_{name}")
            for name in ("pitch", "height", "x_in_bytes", "y", "z", "lod")
        )
        if lod:
            raise errors.LogicError(
                f"{self._name} failed: {side}_lod={lod}: expected 0, as Arrays have no mipmaps"
            )
        return kind, where, pitch, rows, x, y, z, self._device_of(side, where)

    def _device_of(self, side: str, where: Any) -> int:
        return -1

    def _copy(self, stream: StreamLike, wait: bool) -> None:
        box = (
            non_negative(self.width_in_bytes, "width_in_bytes"),
            non_negative(self.height, "height"),
            non_negative(self.depth, "depth") if self._depth else 1,
        )
        ends = (*self._ends.values(), self.dst_device, self.src_device)
        copy(self._end("dst"), self._end("src"), box, stream, wait, self._name, ends)


def _is_switch(value: object) -> bool:
    """Report whether a value is the flag `aligned`, which has no effect, and not a stream."""
    return value is None or isinstance(value, (bool, int, np.bool_))


class Memcpy2D(_Box):
    """A copy of a rectangle: `height` rows of `width_in_bytes`.

    Set the source, the destination and the fields, then call the object. ``copy()`` and
    ``copy(aligned)`` wait; ``copy(stream)`` does not, and the memory must live until the stream is
    done (the object keeps its owners alive). A call raises LogicError if a source or a destination
    is not set, or if the rectangle does not fit.

    Attributes
    ----------
    src_x_in_bytes, src_y, dst_x_in_bytes, dst_y : int
        First byte of a row and first row of the rectangle.
    src_pitch, dst_pitch : int
        Distance of two rows in bytes. An Array has no pitch; a single row needs none.
    src_memory_type, dst_memory_type : memory_type
        Kinds of memory, which the setters set.
    width_in_bytes, height : int
        Extents of the rectangle.

    >>> source, result = np.arange(6, dtype=np.int8).reshape(2, 3), np.zeros((2, 2), np.int8)
    >>> copy = drv.Memcpy2D()
    >>> copy.set_src_device(drv.to_device(source))
    >>> copy.set_dst_host(result)
    >>> copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = 3, 2, 2, 2
    >>> copy()
    >>> result
    array([[0, 1],
           [3, 4]], dtype=int8)
    """

    def __call__(self, aligned: StreamLike | bool = None, *, stream: StreamLike = None) -> None:
        if not _is_switch(aligned):
            stream = aligned
        self._copy(stream, stream is None)


class Memcpy3D(_Box):
    """A copy of a cuboid: `depth` slices of `height` rows of `width_in_bytes`.

    It has the fields of :class:`Memcpy2D` as well.

    Attributes
    ----------
    src_z, dst_z : int
        First slice of the cuboid.
    src_height, dst_height : int
        Distance of two slices in rows.
    depth : int
        Number of slices.

    >>> source, result = np.arange(8, dtype=np.int8), np.zeros((2, 1, 2), np.int8)
    >>> copy = drv.Memcpy3D()
    >>> copy.set_src_device(drv.to_device(source))
    >>> copy.set_dst_host(result)
    >>> copy.src_pitch = copy.dst_pitch = copy.src_height = copy.width_in_bytes = copy.depth = 2
    >>> copy.dst_height = copy.height = 1
    >>> copy()
    >>> result
    array([[[0, 1]],
    <BLANKLINE>
           [[4, 5]]], dtype=int8)
    """

    _name = "Memcpy3D"
    _depth = True
    _fields = "x_in_bytes y z lod pitch height memory_type device"
    src_z: int
    dst_z: int
    src_lod: int
    dst_lod: int
    src_height: int
    dst_height: int

    def __call__(self, stream: StreamLike = None) -> None:
        self._copy(stream, stream is None)


class Memcpy3DPeer(Memcpy3D):
    """A copy of a cuboid between two devices.

    Each device is that of the context that is set, otherwise the owner of the memory.

    >>> context = drv.Device(0).retain_primary_context()
    >>> target, copy = drv.mem_alloc(4), drv.Memcpy3DPeer()
    >>> copy.set_src_device(drv.to_device(np.arange(4, dtype=np.int8)))
    >>> copy.set_dst_device(target)
    >>> copy.set_src_context(context)
    >>> copy.set_dst_context(context)
    >>> copy.width_in_bytes, copy.height, copy.depth = 4, 1, 1
    >>> copy()
    >>> drv.from_device(target, 4, np.int8)
    array([0, 1, 2, 3], dtype=int8)
    """

    _name = "Memcpy3DPeer"

    def __init__(self) -> None:
        super().__init__()
        self._contexts: dict[str, Any] = {"src": None, "dst": None}

    def set_src_context(self, ctx: Any) -> None:
        """Set the device of the source.

        :param Context ctx: Context of the device.
        """
        self._contexts["src"] = _context(ctx)

    def set_dst_context(self, ctx: Any) -> None:
        """Set the device of the destination.

        :param Context ctx: Context of the device.
        """
        self._contexts["dst"] = _context(ctx)

    def _device_of(self, side: str, where: Any) -> int:
        types = {int(self.src_memory_type), int(self.dst_memory_type)}
        if not types <= {_DEVICE, _ARRAY}:  # one end is host memory: a plain copy
            return -1
        context = self._contexts[side]
        if context is not None:
            return int(context.device._ordinal)
        if isinstance(where, core._Array):
            return int(where._device)
        found = errors.check(core.cudaPointerGetAttributes(where), f"{self._name}: {side}")
        if found["type"] not in (2, 3):  # not device memory: the copy itself reports that
            return errors.check(core.cudaGetDevice(), "cudaGetDevice")
        return int(found["device"])


def _context(ctx: Any) -> Any:
    if not hasattr(getattr(ctx, "device", None), "_ordinal"):
        raise TypeError(f"ctx: expected a Context, got {type(ctx).__name__}")
    return ctx


docstrings.complete(__name__)
