"""Scans: prefix sums with any associative operation. The names of ``pycuda.scan``."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import compiler
from PyGPU._kernels.text import scan as scan_text
from PyGPU._kernels.text import scan_tiles
from PyGPU._runtime import beside_first, core, errors, require_array, state, streams

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, DTypeLike, StreamLike

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]


def _in_order(stream, scratch, work):
    core._keep_for_others_graph(scratch, stream)
    streams.in_order(stream, [scratch], work)


def _with_room(nbytes, stream, work):
    """Call `work(room)`, which enqueues launches that use so much memory of the pool."""
    room = core.GPUArray((nbytes,), np.uint8)
    _in_order(stream, room, lambda: work(room))


def _tiles(scan, tile, options):
    """A scan in one pass over tiles, on a GPU."""
    text = scan_tiles.text(scan, tile)
    module = compiler.SourceModule(text, options=options, no_extern_c=True)
    multiprocessors = state.device_attribute(core.cudaDevAttrMultiProcessorCount)
    function = module.get_function(f"{scan.name}_tiles").prepare("qPqPqPI")
    return core._ScanLauncher(
        *(function, scan.dtype),
        *(tile.size, tile.words, tile.threads, tile.delays(multiprocessors)),
    )


class _Chunks:
    """A scan by a thread for each of a few long chunks: one a core of the host machine."""

    _SHORTEST = 1 << 18  # bytes that are worth another chunk

    def __init__(self, scan, options):
        text = scan_text.chunks(scan)
        module = compiler.SourceModule(text, options=options, no_extern_c=True)
        self._totals = module.get_function(f"{scan.name}_totals").prepare("qqPqP")
        self._chunks = module.get_function(f"{scan.name}_chunks").prepare("qqPqPqP")
        self._most = state.device_attribute(core.cudaDevAttrMultiProcessorCount)
        self._itemsize = max(scan.dtype.itemsize, 4)  # a float holds the total of halves

    def launch(self, stream, source, target, is_checked=False):
        """As core._ScanLauncher does; the arrays must always be looked at."""
        if not is_checked:
            return False
        size, step = source._size, source.strides[0]
        most = min(self._most, size * source.itemsize // self._SHORTEST)
        length = -(-size // max(most, 1))
        count, block = -(-size // length), (1, 1, 1)
        launch = ((count, 1), block, stream, size, length, source, step)
        launch += (target, target.strides[0])
        if count == 1:
            self._chunks.prepared_async_call(*launch, 0)
            return True

        def both(totals):
            self._totals.prepared_async_call(
                *((count - 1, 1), block, stream, size, length, source, step, totals)
            )
            self._chunks.prepared_async_call(*launch, totals)

        _with_room(count * self._itemsize, stream, both)
        return True


def _build(scan, options):
    """The scan on the current device."""
    tile = scan_tiles.tile_for(
        scan.dtype.itemsize,
        state.device_attribute(core.cudaDevAttrWarpSize),
        state.device_attribute(core.cudaDevAttrMaxSharedMemoryPerMultiprocessor),
    )
    if core.target == "host" or tile is None:
        return _Chunks(scan, options)
    return _tiles(scan, tile, options)


def _goes_as(dtype, own):
    """Can elements of one dtype be read as the other: are they the same, but for a sign?"""
    return dtype == own or (
        dtype.kind in "iu" and own.kind in "iu" and dtype.itemsize == own.itemsize
    )


def _checked(name, ary, dtype):
    """What the kernels can take: elements of `dtype`, or of its other sign, along one axis."""
    require_array(name, ary)
    if not _goes_as(ary.dtype, dtype):
        raise TypeError(f"{name}: its dtype is {ary.dtype}, the kernel's {dtype}")
    if ary.ndim != 1:
        raise ValueError(f"{name}: its shape is {ary.shape}, expected one axis")
    if ary._size and (ary._address | ary.strides[0]) % dtype.alignment:
        raise ValueError(
            f"{name}: its elements lie {ary.strides[0]} bytes apart from {ary._address:#x} on, "
            f"expected multiples of {dtype.alignment}"
        )
    return ary


def _in_the_way(source, target):
    """Would results be written over elements that are yet to be read?"""
    if (source._address, source.strides) == (target._address, target.strides):
        return False
    return core._overlap(source, target)


class _ScanKernel:
    """What the two kinds of scan share."""

    def __init__(
        self,
        dtype: DTypeLike,
        scan_expr: str,
        neutral: object = None,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: object = None,
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.neutral = neutral
        if not isinstance(scan_expr, str):
            raise TypeError(f"scan_expr: expected C text over a and b, got {scan_expr!r}")
        if not isinstance(name_prefix, str) or not re.fullmatch(r"[A-Za-z_]\w*", name_prefix):
            raise ValueError(f"name_prefix={name_prefix!r}: expected a C identifier")
        start = self._start()
        self._scan = scan_text.Scan(self.dtype, scan_expr, start, name_prefix, str(preamble))
        self._options = options
        self._forms: dict[int, Any] = {}  # by device
        self._form()

    def _start(self):
        """C text of what comes before the first element, or None."""
        return None

    def _form(self):
        here = core._here()
        if here not in self._forms:
            self._forms[here] = _build(self._scan, self._options)
        return self._forms[here]

    def __call__(
        self,
        input_ary: core.GPUArray,
        output_ary: core.GPUArray | str | None = None,
        allocator: AllocatorLike | None = None,
        stream: StreamLike = None,
    ) -> core.GPUArray:
        """Scan an array of one axis, of any stride. Integers of the kernel's size but of the other
        sign are read, and written, as the kernel's.

        Parameters
        ----------
        input_ary : GPUArray
        output_ary : GPUArray or "new", optional
            Where the result goes; `input_ary` itself by default.
        allocator : callable, optional
            Of a new array; that of `input_ary` by default.
        stream : Stream, optional

        Returns
        -------
        GPUArray
            The output.

        Raises
        ------
        TypeError
            For what is no GPUArray of the kernel's dtype, or of the same integers with another
            sign.
        ValueError
            For another number of axes, another shape, elements that are not aligned or, in the
            output, overlap.
        """
        target: Any = input_ary if output_ary is None else output_ary
        if self._form().launch(stream, input_ary, target):
            return target
        return self._look_and_scan(input_ary, output_ary, allocator, stream)

    def _look_and_scan(self, input_ary, output_ary, allocator, stream):
        source = _checked("input_ary", input_ary, self.dtype)
        if output_ary is None:
            target = source
        elif isinstance(output_ary, str) and output_ary == "new":
            target = _new_beside(source, allocator or source.allocator)
        else:
            target = _checked("output_ary", output_ary, self.dtype)
            if target.shape != source.shape:
                raise errors.ShapeError(
                    f"output_ary: its shape is {target.shape}, that of input_ary {source.shape}"
                )
        if source._size == 0:
            return target
        step = target.strides[0]
        if abs(step) < self.dtype.itemsize and source._size > 1:
            raise ValueError(f"output_ary: its elements overlap, {step} bytes apart")
        _scan(source, self, target, stream)
        return target

    def _scan_to(self, source, target, stream):
        if target is source or not _in_the_way(source, target):
            self._form().launch(stream, source, target, True)
            return
        copy = core.GPUArray(source.shape, source.dtype)

        def scan_copy():
            copy.set_async(source, stream=stream)
            self._form().launch(stream, copy, target, True)

        _in_order(stream, copy, scan_copy)


@beside_first
def _new_beside(source, allocator):
    return core.GPUArray(source.shape, source.dtype, allocator=allocator)


@beside_first
def _scan(source, kernel, target, stream):
    work = functools.partial(kernel._scan_to, source, target, stream)
    streams.in_order(stream, [source, target], work)


class InclusiveScanKernel(_ScanKernel):
    """``out[i] = x[0] op x[1] op ... op x[i]``, for any associative operation.

    Parameters
    ----------
    dtype : numpy.dtype
        Any that has a C type, registered structures too. float16 is computed in float.
    scan_expr : str
        The operation: C text over ``a``, all that comes before, and ``b``. The order is kept, so
        it need not be commutative.
    neutral : optional
        Not used by this kind.
    name_prefix : str
        Of the kernel's names.
    options : list of str, optional
        For the compiler.
    preamble : str
        C text that stands before: functions and types that the operation uses.
    devices
        Taken for PyCUDA's sake.

    Raises
    ------
    CompileError
        For text that does not compile.
    """


class ExclusiveScanKernel(_ScanKernel):
    """``out[i] = neutral op x[0] op ... op x[i - 1]``, for any associative operation.

    The parameters are those of :class:`InclusiveScanKernel`, but that `neutral` is needed: a
    number, or C text. It comes first once, so it may as well be a start that is not neutral.

    Raises
    ------
    ValueError
        Without a neutral.
    """

    def _start(self):
        if self.neutral is None:
            raise ValueError("neutral: an exclusive scan needs one, got None")
        return scan_text.literal(self.neutral, self.dtype)
