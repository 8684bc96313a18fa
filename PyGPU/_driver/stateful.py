"""PyCUDA's deprecated launches, as in CUDA before 4: the function stores its launch parameters."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from PyGPU._runtime import core, docstrings, errors, integer, warn

if TYPE_CHECKING:
    from PyGPU._types import BytesLike, Int, StreamLike


class _State:
    """Parameters of the next launch."""

    def __init__(self) -> None:
        self.block: tuple[int, int, int] | None = None
        self.shared = 0
        self.arguments: tuple[Any, ...] | None = None  # from param_set; None: the bytes of `data`
        self.data = bytearray()
        self.is_set = bytearray()  # 1 for each byte of `data` that is set
        self.size: int | None = None

    def put(self, offset: int, data: bytes) -> None:
        if offset < 0:
            raise errors.ArgumentError(f"offset={offset}: expected 0 or more bytes")
        end = offset + len(data)
        for buffer in (self.data, self.is_set):
            buffer.extend(bytes(max(0, end - len(buffer))))
        self.data[offset:end] = data
        self.is_set[offset:end] = b"\1" * len(data)
        self.arguments = None


class StatefulFunction(core._Function):
    """Kernel with PyCUDA's deprecated launches: set the parameters, then call ``launch_grid()``.

    Argument bytes have C's layout: each argument is at a multiple of its alignment.
    """

    _state: _State

    def _launch_state(self, name: str) -> _State:
        warn(
            f"Function.{name} is deprecated: call the function, or prepare() it",
            DeprecationWarning,
        )
        if "_state" not in self.__dict__:
            self._state = _State()
        return self._state

    def set_block_shape(self, x: Int, y: Int, z: Int) -> None:
        """Set the threads of a block. Deprecated: pass ``block=`` to a call.

        :param x: Threads along x.
        :param y: Threads along y.
        :param z: Threads along z.
        """
        state = self._launch_state("set_block_shape")
        state.block = (integer("x", x), integer("y", y), integer("z", z))

    def set_shared_size(self, bytes: Int) -> None:
        """Set the dynamic shared memory. Deprecated: pass ``shared=`` to a call.

        :param bytes: Bytes of a block.
        """
        self._launch_state("set_shared_size").shared = integer("bytes", bytes)

    def param_set(self, *args: Any) -> None:
        """Set all arguments. Deprecated: call the function.

        :param object *args: Arguments as of a call.
        """
        self._launch_state("param_set").arguments = args

    def param_set_size(self, bytes: Int) -> None:
        """Set the size of all arguments. Deprecated: call the function.

        :param bytes: Total size in bytes.
        """
        self._launch_state("param_set_size").size = integer("bytes", bytes)

    def param_seti(self, offset: Int, value: Int) -> None:
        """Set an integer argument of four bytes. Deprecated: call the function.

        :param offset: Position of the argument in bytes.
        :param value: The argument.
        """
        state, number = self._launch_state("param_seti"), integer("value", value)
        if not -(1 << 31) <= number < 1 << 32:
            raise errors.ArgumentError(
                f"param_seti: value={number}: expected 32 bits; pass addresses to param_set(*args)"
            )
        state.put(integer("offset", offset), (number % (1 << 32)).to_bytes(4, "little"))

    def param_setf(self, offset: Int, value: float) -> None:
        """Set a float argument of four bytes. Deprecated: call the function.

        :param offset: Position of the argument in bytes.
        :param value: The argument.
        """
        self._launch_state("param_setf").put(integer("offset", offset), struct.pack("<f", value))

    def param_setv(self, offset: Int, buffer: BytesLike) -> None:
        """Set the bytes of arguments. Deprecated: call the function.

        :param offset: Position in bytes.
        :param buffer: The bytes.
        """
        state = self._launch_state("param_setv")
        state.put(integer("offset", offset), memoryview(buffer).tobytes())

    def launch(self) -> None:
        """Launch one block. Deprecated: call the function."""
        self._launch(self._launch_state("launch"), (1, 1), None)

    def launch_grid(self, width: Int, height: Int) -> None:
        """Launch a grid of blocks. Deprecated: call the function.

        :param width: Blocks along x.
        :param height: Blocks along y.
        """
        grid = (integer("width", width), integer("height", height))
        self._launch(self._launch_state("launch_grid"), grid, None)

    def launch_grid_async(self, width: Int, height: Int, stream: StreamLike) -> None:
        """Launch a grid of blocks on a stream. Deprecated: call the function.

        :param width: Blocks along x.
        :param height: Blocks along y.
        :param stream: Stream of the launch; None is the null stream.
        """
        grid = (integer("width", width), integer("height", height))
        self._launch(self._launch_state("launch_grid_async"), grid, stream)

    def _launch(self, state: _State, grid: tuple[int, int], stream: StreamLike) -> None:
        if state.block is None:
            raise errors.LogicError(f"{self.name}: no block shape is set; call set_block_shape()")
        arguments = self._from_bytes(state) if state.arguments is None else state.arguments
        self(*arguments, block=state.block, grid=grid, stream=stream, shared=state.shared)

    def _from_bytes(self, state: _State) -> list[Any]:
        """Return the arguments, read from the bytes that were set."""
        parameters = self._parameter_offsets
        if parameters is None:
            raise errors.ArgumentError(
                f"{self.name}: the offsets of its parameters are unknown; call param_set(*args)"
            )
        end = max((offset + nbytes for offset, nbytes, *_ in parameters), default=0)
        if max(len(state.data), state.size or 0) > end or (state.size or end) < end:
            raise errors.ArgumentError(
                f"{self.name}: {max(len(state.data), state.size or 0)} bytes of arguments were "
                f"set, its parameters have {end}"
            )
        return [_argument(self.name, state, *numbered) for numbered in enumerate(parameters)]


def _argument(
    kernel: str, state: _State, index: int, parameter: tuple[int, int, str, str]
) -> int | bytes:
    offset, nbytes, kind, name = parameter
    end = offset + nbytes
    if state.is_set[offset:end] != b"\1" * nbytes:
        raise errors.ArgumentError(
            f"{kernel}: parameter #{index} (0-based) '{name}' occupies the bytes {offset} to "
            f"{end - 1}, which were not all set"
        )
    data = bytes(state.data[offset:end])
    return int.from_bytes(data, "little") if kind == "P" else data


docstrings.complete(__name__)
