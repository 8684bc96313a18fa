"""Copies of boxes between pitched host memory, pitched device memory and arrays: Memcpy2D,
Memcpy3D and Memcpy3DPeer, and the one-dimensional copies that reach into arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._driver import enums
from PyGPU._runtime import core, device_address, errors

if TYPE_CHECKING:
    from PyGPU._types import Address, Block, BufferLike, Int, StreamLike

__all__ = [
    "Memcpy2D",
    "Memcpy3D",
    "Memcpy3DPeer",
]

_HOST, _DEVICE = enums.memory_type.HOST, enums.memory_type.DEVICE
_ARRAY, _UNIFIED = enums.memory_type.ARRAY, enums.memory_type.UNIFIED


#: (memory_type, what it is, pitch, rows of a slice, x in bytes, y, z, device or -1)
End = tuple[enums.memory_type, Any, int, int, int, int, int, int]


class Buffer:
    """Host memory: its address, and the bytes from there on that belong to the object.

    Parameters
    ----------
    buffer : buffer
        Of any strides; the address is that of its first element.
    """

    def __init__(
        self, buffer: BufferLike, name: str, writable: bool, contiguous: bool = False
    ) -> None:
        if isinstance(buffer, (str, list, tuple, core.GPUArray)):
            raise TypeError(f"{name}: expected a host buffer, got {type(buffer).__name__}")
        if isinstance(buffer, (np.ndarray, np.generic)):
            array = np.asarray(buffer)
        else:
            try:
                array = np.asarray(memoryview(buffer))
            except (TypeError, ValueError):
                kind = type(buffer).__name__
                raise TypeError(f"{name}: expected a host buffer, got {kind}") from None
        if writable and not array.flags.writeable:
            raise BufferError(f"{name}: the buffer is read-only")
        if contiguous and not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise ValueError(f"{name}: the buffer is not contiguous")
        self._exported = array  # while it is, the buffer stays where it is
        self.address = array.__array_interface__["data"][0]
        ahead = sum((n - 1) * step for n, step in zip(array.shape, array.strides) if step > 0)
        self.nbytes = ahead + array.itemsize if array.size else 0


def whole(value: Int, name: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {value!r}") from None
    if number < 0:
        raise OverflowError(f"{name}={number}: expected no negative number")
    return number


def copy(
    dst: End,
    src: End,
    box: Block,
    stream: StreamLike = None,
    wait: bool = True,
    what: str = "copy",
    kept: object = None,
) -> None:
    """Copy a box between two ends.

    Parameters
    ----------
    dst, src : End
        Of a Buffer, an address or an Array.
    box : tuple
        Width in bytes, height, depth.
    kept : object, optional
        What the ends need besides.
    """
    if not all(box):
        return
    core._keep_for_graph((dst[1], src[1], kept))
    sides: list[tuple[Any, ...]] = []
    for side, (kind, where, *numbers) in (("dst", dst), ("src", src)):
        if kind != _ARRAY:
            _check_pitch(what, side, numbers, box)
        if isinstance(where, Buffer):
            _check_bounds(what, side, where, numbers, box)
            where = where.address
        sides.append((where, *numbers))
    status = core._copy_box(sides[0], sides[1], *box, _direction(dst[0], src[0]), stream, wait)
    errors.check(status, what)


def _check_pitch(what: str, side: str, numbers: Sequence[int], box: Block) -> None:
    pitch, rows, x, y, z, _ = numbers
    width, height, depth = box
    if (height > 1 or depth > 1 or y or z) and x + width > pitch:
        raise errors.LogicError(
            f"{what} failed: {side}_pitch={pitch}: the rows that are copied need {x + width} bytes"
        )
    if (depth > 1 or z) and y + height > rows:
        raise errors.LogicError(
            f"{what} failed: {side}_height={rows}: the slices that are copied need "
            f"{y + height} rows"
        )


def _check_bounds(what: str, side: str, buffer: Buffer, numbers: Sequence[int], box: Block) -> None:
    pitch, rows, x, y, z, _ = numbers
    width, height, depth = box
    first = x + pitch * (y + rows * z)
    end = first + pitch * (height - 1 + rows * (depth - 1)) + width
    if end > buffer.nbytes:
        raise errors.LogicError(
            f"{what} failed: {side}: the host buffer has {buffer.nbytes} bytes from its first "
            f"element on, and the copy reaches to byte {end}"
        )


def _direction(dst: Int, src: Int) -> int:
    """CUDA's kind of copy."""
    if _UNIFIED in (dst, src):
        return 4
    return {(False, False): 0, (False, True): 1, (True, False): 2, (True, True): 3}[
        src != _HOST, dst != _HOST
    ]


class _Box:
    """What the descriptions share: fields that are set, then a call that copies."""

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
        """Copy from a host buffer of any strides; its first element is where counting begins."""
        self._set("src", _HOST, Buffer(buffer, "src", False))

    def set_dst_host(self, buffer: BufferLike) -> None:
        """Copy to a writable host buffer."""
        self._set("dst", _HOST, Buffer(buffer, "dst", True))

    def set_src_array(self, array: core._Array) -> None:
        """Copy from an Array."""
        self._set("src", _ARRAY, array_in(array, "src"))

    def set_dst_array(self, array: core._Array) -> None:
        self._set("dst", _ARRAY, array_in(array, "dst"))

    def set_src_device(self, devptr: Address) -> None:
        """Copy from device memory: an address or anything that stands for one."""
        self.src_device = device_address(devptr, "src")
        self._set("src", _DEVICE, devptr)

    def set_dst_device(self, devptr: Address) -> None:
        self.dst_device = device_address(devptr, "dst")
        self._set("dst", _DEVICE, devptr)

    def set_src_unified(self, buffer: BufferLike) -> None:
        """Copy from a contiguous buffer whose address tells the runtime where it lies."""
        self._set("src", _UNIFIED, Buffer(buffer, "src", False, contiguous=True))

    def set_dst_unified(self, buffer: BufferLike) -> None:
        self._set("dst", _UNIFIED, Buffer(buffer, "dst", True, contiguous=True))

    def _end(self, side: str) -> End:
        try:
            kind = enums.memory_type(int(getattr(self, f"{side}_memory_type")))
        except ValueError:
            kind = None
        where = self._ends.get((side, kind)) if kind else None
        if kind == _DEVICE:  # programs also set the field by itself
            where = device_address(getattr(self, f"{side}_device"), f"{side}_device") or None
        if kind is None or where is None:
            raise errors.LogicError(
                f"{self._name} failed: no {side}: call set_{side}_host, set_{side}_device, "
                f"set_{side}_array or set_{side}_unified before"
            )
        pitch, rows, x, y, z, lod = (
            whole(getattr(self, f"{side}_{name}", 0), f"{side}_{name}")
            for name in ("pitch", "height", "x_in_bytes", "y", "z", "lod")
        )
        if lod:
            raise errors.LogicError(f"{self._name} failed: {side}_lod: arrays have no mipmaps")
        return kind, where, pitch, rows, x, y, z, self._device_of(side, where)

    def _device_of(self, side: str, where: Any) -> int:
        return -1

    def _copy(self, stream: StreamLike, wait: bool) -> None:
        box = (
            whole(self.width_in_bytes, "width_in_bytes"),
            whole(self.height, "height"),
            whole(self.depth, "depth") if self._depth else 1,
        )
        ends = (*self._ends.values(), self.dst_device, self.src_device)
        copy(self._end("dst"), self._end("src"), box, stream, wait, self._name, ends)


def array_in(array: core._Array, name: str) -> core._Array:
    if not isinstance(array, core._Array):
        raise TypeError(f"{name}: expected an Array, got {type(array).__name__}")
    return array


def _is_switch(value: object) -> bool:
    """Is it for `aligned`, which runtimes have no use for, rather than a stream?"""
    return value is None or isinstance(value, (bool, int, np.bool_))


class Memcpy2D(_Box):
    """A copy of `height` rows of `width_in_bytes`.

    Attributes
    ----------
    src_x_in_bytes, src_y, src_pitch, dst_x_in_bytes, dst_y, dst_pitch : int
        Where the box begins on either side, and the bytes from a row to the next. An array has no
        pitch; a box of one row needs none.
    src_memory_type, dst_memory_type : memory_type
        Set by the setters.
    width_in_bytes, height : int

    Calling it copies: ``copy()`` and ``copy(aligned)`` wait, ``copy(stream)`` does not; what both
    ends are must then stay until the stream is done (the description holds them).

    Raises
    ------
    LogicError
        For a side that was not set, or a box that does not fit one.
    """

    def __call__(self, aligned: StreamLike | bool = None, *, stream: StreamLike = None) -> None:
        if not _is_switch(aligned):
            stream = aligned
        self._copy(stream, stream is None)


class Memcpy3D(_Box):
    """A copy of `depth` slices of `height` rows of `width_in_bytes`. See Memcpy2D.

    Attributes
    ----------
    src_z, dst_z : int
        The first slice.
    src_height, dst_height : int
        Rows from a slice to the next.
    depth : int
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
    """A Memcpy3D between two devices: those of the contexts, or of the memory where none is set."""

    _name = "Memcpy3DPeer"

    def __init__(self) -> None:
        super().__init__()
        self._contexts: dict[str, Any] = {"src": None, "dst": None}

    def set_src_context(self, ctx: Any) -> None:
        """Say which device the source is on."""
        self._contexts["src"] = _context(ctx)

    def set_dst_context(self, ctx: Any) -> None:
        self._contexts["dst"] = _context(ctx)

    def _device_of(self, side: str, where: Any) -> int:
        types = {int(self.src_memory_type), int(self.dst_memory_type)}
        if not types <= {_DEVICE, _ARRAY}:  # the host is no peer: a plain copy
            return -1
        context = self._contexts[side]
        if context is not None:
            return int(context.device._ordinal)
        if isinstance(where, core._Array):
            return int(where._device)
        found = errors.check(core.cudaPointerGetAttributes(where), f"{self._name}: {side}")
        if found["type"] not in (2, 3):  # no memory of a device: the copy itself will say so
            return errors.check(core.cudaGetDevice(), "cudaGetDevice")
        return int(found["device"])


def _context(ctx: Any) -> Any:
    if not hasattr(getattr(ctx, "device", None), "_ordinal"):
        raise TypeError(f"expected a Context, got {type(ctx).__name__}")
    return ctx
