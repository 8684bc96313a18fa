"""How a reduction is laid out on a device: its axes, its blocks, its place among streams."""

import operator
from typing import NamedTuple

import numpy as np

from PyGPU._arrays.reduction_text import BLOCK_THREADS, MOST_THREADS, UNROLL, UNROLL_LINEAR
from PyGPU._runtime import context_dependent_memoize, core, errors, state

AxisError = getattr(np, "exceptions", np).AxisError

_NARROW = 2**31 - 2**20  # below: counted in 32 bits, with room for a step
_MOST_ROWS = 65535  # of blocks
_SHARED_BYTES = 32768
_WAVES = 8


class Figures(NamedTuple):
    """What a device has."""

    threads: int  # of a block
    multiprocessors: int
    resident_threads: int  # on a multiprocessor
    registers: int  # of a multiprocessor


@context_dependent_memoize
def figures():
    """Those of the current device.

    The host machine runs a block's threads one after the other: one that reads all of its block's
    memory in order is the fastest.
    """
    device = state.current_device()
    numbers = [
        errors.check(core.cudaDeviceGetAttribute(number, device), "cudaDeviceGetAttribute")
        for number in (16, 39, 82)
    ]
    return Figures(1 if core.target == "host" else BLOCK_THREADS, *numbers)


def threads_for(itemsize):
    """Threads of a block that have a place each in shared memory for a value of that size."""
    threads = BLOCK_THREADS
    while threads > 1 and threads * itemsize > _SHARED_BYTES:
        threads //= 2
    return threads


class Linear:
    """Launches over linear operands, in packs of at most 16 bytes.

    On a GPU the blocks go through the memory side by side. There are several times as many as run
    at once, so that a slow multiprocessor does not keep the others waiting; a whole number of
    times, so that the last ones do not run alone.

    Parameters
    ----------
    figures : Figures
    itemsize : int
        Of what is accumulated, for which each thread has a place in shared memory.
    registers : int
        Of a thread.
    unroll : int
        Packs that a thread has on their way at once.
    """

    def __init__(self, figures, itemsize, registers, unroll=UNROLL_LINEAR):
        threads = min(figures.threads, threads_for(itemsize))
        registers = -(-max(registers, 1) // 8) * 8  # how they are given out
        resident = min(figures.resident_threads, figures.registers // registers) // threads
        self.block = (threads, 1, 1)
        self.at_once = max(resident, 1) * figures.multiprocessors  # blocks
        self._most = _WAVES * self.at_once
        self._tile = unroll * threads
        self._quick = 4096 if threads == 1 else 2 * self._tile

    def __call__(self, packs):
        """(blocks, packs that each takes at once)"""
        if packs <= self._quick:
            return 1, max(packs, 1)
        if self.block[0] == 1:
            blocks = min(-(-packs // self._quick), 4096)
            return blocks, -(-packs // blocks)
        return min(-(-packs // self._tile), self._most), self._tile


class Axes(NamedTuple):
    """What stays of an array's axes, the outermost first; neighbours that merge are one."""

    shape: "tuple[int, ...]"
    strides: "tuple[int, ...]"  # bytes

    @property
    def size(self):
        size = 1
        for length in self.shape:
            size *= length
        return size


def _merged(pairs):
    """Axes of (length, stride) pairs, sorted by falling stride."""
    shape, strides = [], []
    for length, stride in pairs:
        if length == 1:
            continue
        if shape and strides[-1] == stride * length:
            shape[-1] *= length
            strides[-1] = stride
        else:
            shape.append(length)
            strides.append(stride)
    return Axes(tuple(shape) or (1,), tuple(strides) or (0,))


class Problem(NamedTuple):
    """A reduction over some axes of an array."""

    address: int
    outputs: Axes
    folded: Axes
    steps: "dict[int, int]"  # from one result to the next along each axis that is kept


def problem(array, axes):
    """The axes that `array` keeps and those that are folded. Results are packed in the order of the
    kept axes' strides."""
    shape, strides, address = array.shape, array.strides, array.ptr
    folded = []
    for axis in axes:
        length, stride = shape[axis], strides[axis]
        if stride < 0 and length:
            address += stride * (length - 1)
            stride = -stride
        folded.append((length, stride))
    folded.sort(key=lambda pair: -pair[1])
    kept = (axis for axis in range(len(shape)) if axis not in axes)
    by_stride = sorted(kept, key=lambda axis: -abs(strides[axis]))
    outputs = _merged([(shape[axis], strides[axis]) for axis in by_stride])
    steps, step = {}, 1
    for axis in reversed(by_stride):
        steps[axis] = step
        step *= max(shape[axis], 1)
    return Problem(address, outputs, _merged(folded), steps)


def pack_width(address, axes, others, itemsize):
    """Elements that can be loaded at once along the last of `axes`: 16 bytes, or one element."""
    width = 16 // itemsize if 16 % itemsize == 0 else 1
    nbytes = width * itemsize
    fits = (
        axes.strides[-1] == itemsize
        and axes.shape[-1] % width == 0
        and address % nbytes == 0
        and not any(stride % nbytes for stride in axes.strides[:-1] + others.strides)
    )
    return width if fits else 1


def is_wide(*sizes):
    return any(size > _NARROW for size in sizes)


def _up(number):
    """The power of two that is not below a number."""
    return 1 << max(number - 1, 0).bit_length()


class Grid(NamedTuple):
    """The launch over a strided operand."""

    grid: "tuple[int, int]"
    block: "tuple[int, int, int]"
    share: int  # elements of an output, or packs of them, for each row of blocks


def strided(figures, outputs, length, by_output, itemsize):
    """The launch for `outputs` results of `length` elements each.

    Few outputs have their elements shared among rows of blocks, and so have the very long: no
    thread adds more than some thousand numbers one to another.
    """
    most, multiprocessors = figures.threads, figures.multiprocessors
    if by_output:
        many = min(_up(outputs), most, max(32, 128 // itemsize))
        if outputs >= 4 * most * multiprocessors:
            many = most
        lanes = min(most // many, _up(length))
    else:
        lanes = min(most, max(_up(-(-length // UNROLL)), min(32, _up(length))))
        many = min(most // lanes, _up(outputs))
    columns = max(-(-outputs // many), 1)
    if most == 1:  # one output after the other: by columns, as many elements as stay in the cache
        rows = length // (512 if by_output else 4096)
    else:
        rows = min(8 * multiprocessors // columns, length // (4 * UNROLL * lanes))
        rows = max(rows, length // (16384 * lanes))
    share = max(-(-length // max(min(rows, _MOST_ROWS), 1)), 1)
    rows = max(-(-length // share), 1)
    block = (many, lanes, 1) if by_output else (lanes, many, 1)
    return Grid((columns, rows), block, share)


def last(figures, rows, outputs):
    """Grid and block of the kernel that folds `rows` parts of each output."""
    most = 1 if figures.threads == 1 else MOST_THREADS
    many = min(_up(outputs), 32, most)
    lanes = min(most // many, _up(rows))
    return (-(-outputs // many), 1), (many, lanes, 1)


def normal_axes(axis, ndim):
    """The axes that an argument names, in ascending order; None: all.

    Raises
    ------
    AxisError
        NumPy's: a ValueError and an IndexError.
    ValueError
        For an axis that is named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if ndim == 0 and axis in (0, -1):  # as NumPy has it
        return ()
    axes = []
    for one in axis if isinstance(axis, (tuple, list)) else (axis,):
        number = operator.index(one)
        if not -ndim <= number < ndim:
            raise AxisError(number, ndim, "axis")
        axes.append(number % ndim)
    if len(set(axes)) != len(axes):
        raise ValueError(f"axis={axis!r}: an axis is named twice")
    return tuple(sorted(axes))
