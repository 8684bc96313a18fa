"""Launches whose block, arguments and shared memory the function remembers, as in CUDA before 4."""

from __future__ import annotations

import struct
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from PyGPU._runtime import core, errors, integer

if TYPE_CHECKING:
    from PyGPU._types import BytesLike, Int, StreamLike


@dataclass
class _State:
    """What the next launch is made with."""

    block: tuple[int, int, int] | None = None
    shared: int = 0
    arguments: tuple[Any, ...] | None = None  # of param_set; else the bytes count
    data: bytearray = field(default_factory=bytearray)
    is_set: bytearray = field(default_factory=bytearray)  # which of the bytes were given
    size: int | None = None

    def put(self, offset: int, data: bytes) -> None:
        if offset < 0:
            raise errors.ArgumentError(f"offset={offset}: expected a number of bytes, 0 or more")
        end = offset + len(data)
        for buffer in (self.data, self.is_set):
            buffer.extend(bytes(max(0, end - len(buffer))))
        self.data[offset:end] = data
        self.is_set[offset:end] = b"\1" * len(data)
        self.arguments = None


class StatefulFunction(core._Function):
    """A kernel with PyCUDA's deprecated launches: state first, and then ``launch_grid()``.

    Bytes of arguments lie where C puts them: each at a multiple of its alignment.
    """

    _state: _State

    def _remembered(self, name: str) -> _State:
        warnings.warn(
            f"Function.{name} is deprecated: call the function, or prepare() it",
            DeprecationWarning,
            stacklevel=3,
        )
        if "_state" not in self.__dict__:
            self._state = _State()
        return self._state

    def set_block_shape(self, x: Int, y: Int, z: Int) -> None:
        """The threads of a block. Deprecated: ``block=`` of a call."""
        state = self._remembered("set_block_shape")
        state.block = (integer("x", x), integer("y", y), integer("z", z))

    def set_shared_size(self, bytes: Int) -> None:
        """The dynamic shared memory. Deprecated: ``shared=`` of a call."""
        self._remembered("set_shared_size").shared = integer("bytes", bytes)

    def param_set(self, *args: Any) -> None:
        """All arguments, as a call takes them. Deprecated: call the function."""
        self._remembered("param_set").arguments = args

    def param_set_size(self, bytes: Int) -> None:
        """How many bytes the arguments have. Deprecated."""
        self._remembered("param_set_size").size = integer("bytes", bytes)

    def param_seti(self, offset: Int, value: Int) -> None:
        """An integer of four bytes. Deprecated."""
        state, number = self._remembered("param_seti"), integer("value", value)
        if not -(1 << 31) <= number < 1 << 32:
            raise errors.ArgumentError(
                f"param_seti: value={number}: expected 32 bits; param_set(*args) takes addresses"
            )
        state.put(integer("offset", offset), (number % (1 << 32)).to_bytes(4, "little"))

    def param_setf(self, offset: Int, value: float) -> None:
        """A float of four bytes. Deprecated."""
        self._remembered("param_setf").put(integer("offset", offset), struct.pack("<f", value))

    def param_setv(self, offset: Int, buffer: BytesLike) -> None:
        """The bytes of a buffer. Deprecated."""
        state = self._remembered("param_setv")
        state.put(integer("offset", offset), memoryview(buffer).tobytes())

    def launch(self) -> None:
        """One block. Deprecated."""
        self._launch(self._remembered("launch"), (1, 1), None)

    def launch_grid(self, width: Int, height: Int) -> None:
        """A grid of blocks. Deprecated."""
        grid = (integer("width", width), integer("height", height))
        self._launch(self._remembered("launch_grid"), grid, None)

    def launch_grid_async(self, width: Int, height: Int, stream: StreamLike) -> None:
        """A grid of blocks, on a stream. Deprecated."""
        grid = (integer("width", width), integer("height", height))
        self._launch(self._remembered("launch_grid_async"), grid, stream)

    def _launch(self, state: _State, grid: tuple[int, int], stream: StreamLike) -> None:
        if state.block is None:
            raise errors.LogicError(f"{self.name}: the size of a block is needed: set_block_shape")
        arguments = self._from_bytes(state) if state.arguments is None else state.arguments
        self(*arguments, block=state.block, grid=grid, stream=stream, shared=state.shared)

    def _from_bytes(self, state: _State) -> list[Any]:
        """The arguments that lie in the bytes."""
        places = self._places
        if places is None:
            raise errors.ArgumentError(
                f"{self.name}: the places of its parameters are not known here: use param_set"
            )
        end = max((offset + nbytes for offset, nbytes, *_ in places), default=0)
        if max(len(state.data), state.size or 0) > end or (state.size or end) < end:
            raise errors.ArgumentError(
                f"{self.name}: its parameters take {end} bytes, and "
                f"{max(len(state.data), state.size or 0)} were set"
            )
        return [_argument(self.name, state, *place) for place in enumerate(places)]


def _argument(
    kernel: str, state: _State, index: int, place: tuple[int, int, str, str]
) -> int | bytes:
    offset, nbytes, kind, name = place
    end = offset + nbytes
    if state.is_set[offset:end] != b"\1" * nbytes:
        raise errors.ArgumentError(
            f"{kernel}: parameter #{index} (0-based) '{name}' is at the bytes {offset} to {end - 1}"
            ", which were not all set"
        )
    data = bytes(state.data[offset:end])
    return int.from_bytes(data, "little") if kind == "P" else data
