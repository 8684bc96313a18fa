"""Scan kernels: prefix sums of any associative operation."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._kernels.text import scan as scan_text
from PyGPU._kernels.text import scan_tiles
from PyGPU._runtime import (
    Rebuilt,
    capabilities,
    core,
    docstrings,
    errors,
    in_order,
    on_device_of_first,
    require_array,
    state,
)

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, DType, DTypeLike, StreamLike


def _in_order(stream: StreamLike, scratch: core.GPUArray, work: Callable[[], object]) -> None:
    """Call `work`, which uses the array `scratch`, in the order of the stream."""
    core._keep_for_callers_graph(scratch, stream)
    in_order(stream, [scratch], work)


def _with_scratch(nbytes: int, stream: StreamLike, work: Callable[[core.GPUArray], object]) -> None:
    """Call `work(scratch)`, which enqueues launches that use so many bytes of pool memory."""
    scratch = core.GPUArray((nbytes,), np.uint8)
    _in_order(stream, scratch, lambda: work(scratch))


def _tiles(
    scan: scan_text.Scan, tile: scan_tiles.Tile, options: Sequence[str] | None
) -> core._ScanLauncher:
    """Compile a scan that makes one pass over tiles, for a GPU."""
    from PyGPU._driver import SourceModule

    text = scan_tiles.text(scan, tile)
    module = SourceModule(text, options=options, no_extern_c=True)
    multiprocessors = state.device_attribute(core.cudaDevAttrMultiProcessorCount)
    function = module.get_function(f"{scan.name}_tiles").prepare("qPqPqPI")
    return core._ScanLauncher(
        function,
        scan.dtype,
        tile.size,
        tile.words,
        tile.threads,
        tile.delays(multiprocessors),
    )


class _Chunks:
    """A scan that divides the array into a few long chunks, one thread each.

    It serves the host machine, where each core gets a chunk.
    """

    _SHORTEST = 1 << 18  # bytes; shorter chunks do not pay for a thread

    def __init__(self, scan: scan_text.Scan, options: Sequence[str] | None) -> None:
        from PyGPU._driver import SourceModule

        text = scan_text.chunks(scan)
        module = SourceModule(text, options=options, no_extern_c=True)
        self._totals = module.get_function(f"{scan.name}_totals").prepare("qqPqP")
        self._chunks = module.get_function(f"{scan.name}_chunks").prepare("qqPqPqP")
        self._most = state.device_attribute(core.cudaDevAttrMultiProcessorCount)
        self._itemsize = max(scan.dtype.itemsize, 4)  # totals of float16 are stored as float

    def launch(
        self, stream: StreamLike, source: Any, target: Any, is_checked: bool = False
    ) -> bool:
        """Launch the scan as core._ScanLauncher does.

        It returns False unless `is_checked`: it does not check the arrays itself.
        """
        if not is_checked:
            return False
        size, step = source._size, source.strides[0]
        most = min(self._most, size * source.itemsize // self._SHORTEST)
        length = -(-size // max(most, 1))
        count, block = -(-size // length), (1, 1, 1)
        places = source, step, target, target.strides[0]
        launch = ((count, 1), block, stream, size, length, *places)
        if count == 1:
            self._chunks.prepared_async_call(*launch, 0)
            return True

        def both(totals: core.GPUArray) -> None:
            self._totals.prepared_async_call(
                *((count - 1, 1), block, stream, size, length, source, step, totals)
            )
            self._chunks.prepared_async_call(*launch, totals)

        _with_scratch(count * self._itemsize, stream, both)
        return True


def _build(scan: scan_text.Scan, options: Sequence[str] | None) -> _Chunks | core._ScanLauncher:
    """Compile the scan for the current device."""
    tile = scan_tiles.tile_for(
        scan.dtype.itemsize,
        state.device_attribute(core.cudaDevAttrWarpSize),
        state.device_attribute(core.cudaDevAttrMaxSharedMemoryPerMultiprocessor),
    )
    if capabilities.runs_threads_serially or tile is None:
        return _Chunks(scan, options)
    return _tiles(scan, tile, options)


def _is_same_but_sign(dtype: DType, own: DType) -> bool:
    """Test whether two dtypes are equal, or integers of one size that differ in sign only."""
    return dtype == own or (
        dtype.kind in "iu" and own.kind in "iu" and dtype.itemsize == own.itemsize
    )


def _checked(name: str, ary: object, dtype: DType) -> core.GPUArray:
    """Check an array: elements of `dtype`, or of the same size with another sign, on one axis."""
    ary = require_array(name, ary)
    if not _is_same_but_sign(ary.dtype, dtype):
        raise TypeError(
            f"{name}: expected dtype {dtype}, that of the kernel, got {ary.dtype}; "
            f"use {name}.astype({str(dtype)!r})"
        )
    if ary.ndim != 1:
        raise ValueError(f"{name}: expected an array with one axis, got shape {ary.shape}")
    if ary._size and (ary._address | ary.strides[0]) % dtype.alignment:
        raise ValueError(
            f"{name}: its elements begin at {ary._address:#x}, {ary.strides[0]} bytes apart; "
            f"expected multiples of {dtype.alignment}"
        )
    return ary


def _would_overwrite(source: core.GPUArray, target: core.GPUArray) -> bool:
    """Test whether results would overwrite elements before they are read."""
    if (source._address, source.strides) == (target._address, target.strides):
        return False
    return core._overlap(source, target)


class _ScanKernel(Rebuilt):
    """The common base of inclusive and exclusive scans."""

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
        # By core._current_device_key().
        self._launchers: dict[int, _Chunks | core._ScanLauncher] = {}
        self._launcher()
        self._remember(*(_ScanKernel, dtype, scan_expr, neutral, name_prefix, options, preamble))

    def _start(self) -> str | None:
        """Return C for the value before the first element, or None."""
        return None

    def _launcher(self) -> _Chunks | core._ScanLauncher:
        here = core._current_device_key()
        if here not in self._launchers:
            self._launchers[here] = _build(self._scan, self._options)
        return self._launchers[here]

    def __call__(
        self,
        input_ary: core.GPUArray,
        output_ary: core.GPUArray | str | None = None,
        allocator: AllocatorLike | None = None,
        stream: StreamLike = None,
    ) -> core.GPUArray:
        """Scan an array with one axis, of any stride.

        Integers of the kernel's size but the other sign are read and written as the kernel's dtype.

        :param input_ary: Array to scan.
        :param GPUArray or "new" output_ary: Array for the result, or "new" for a new array;
            `input_ary` itself by default.
        :param callable allocator: Allocator of a new array; that of `input_ary` by default.
        :param stream: Stream to launch on; the null stream by default.
        :returns: The array with the result.
        :raises TypeError: An argument is not a GPUArray of the kernel's dtype, or of that dtype
            with another sign.
        :raises ValueError: An array has not one axis, the shapes differ, elements are not aligned,
            or elements of the output overlap.
        """
        # The launcher rejects targets that are no arrays.
        target: core.GPUArray = input_ary if output_ary is None else output_ary  # type: ignore[assignment]
        if self._launcher().launch(stream, input_ary, target):
            return target
        return self._check_and_scan(input_ary, output_ary, allocator, stream)

    def _check_and_scan(
        self,
        input_ary: object,
        output_ary: object,
        allocator: AllocatorLike | None,
        stream: StreamLike,
    ) -> core.GPUArray:
        source = _checked("input_ary", input_ary, self.dtype)
        if output_ary is None:
            target = source
        elif isinstance(output_ary, str) and output_ary == "new":
            target = _new_like(source, allocator or source.allocator)
        else:
            target = _checked("output_ary", output_ary, self.dtype)
            if target.shape != source.shape:
                raise errors.ShapeError(
                    f"output_ary: expected shape {source.shape}, that of input_ary, got "
                    f"{target.shape}"
                )
        if source._size == 0:
            return target
        step = target.strides[0]
        if abs(step) < self.dtype.itemsize and source._size > 1:
            raise ValueError(f"output_ary: its elements overlap, {step} bytes apart")
        _scan(source, self, target, stream)
        return target

    def _scan_to(self, source: core.GPUArray, target: core.GPUArray, stream: StreamLike) -> None:
        if target is source or not _would_overwrite(source, target):
            self._launcher().launch(stream, source, target, True)
            return
        copy = core.GPUArray(source.shape, source.dtype)

        def scan_copy() -> None:
            copy.set_async(source, stream=stream)
            self._launcher().launch(stream, copy, target, True)

        _in_order(stream, copy, scan_copy)


@on_device_of_first
def _new_like(source: core.GPUArray, allocator: AllocatorLike | None) -> core.GPUArray:
    return core.GPUArray(source.shape, source.dtype, allocator=allocator)


@on_device_of_first
def _scan(
    source: core.GPUArray, kernel: _ScanKernel, target: core.GPUArray, stream: StreamLike
) -> None:
    work = functools.partial(kernel._scan_to, source, target, stream)
    in_order(stream, [source, target], work)


class InclusiveScanKernel(_ScanKernel):
    """Inclusive scan of any associative operation: element ``i`` combines all up to ``x[i]``.

    Parameters
    ----------
    dtype : numpy.dtype
        Dtype of the elements: any dtype with a type in C, registered structures included.
        float16 is computed in float.
    scan_expr : str
        The operation: a C expression of ``a``, the result for all elements before, and ``b``. The
        order of elements is kept, so the operation need not be commutative.
    neutral : optional
        Not used by inclusive scans.
    name_prefix : str
        Prefix of the kernels' names.
    options : list of str, optional
        Options for the compiler.
    preamble : str
        C text before the kernels: functions and types that the operation uses.
    devices : optional
        Ignored; PyCUDA has this parameter.

    Raises
    ------
    CompileError
        The text does not compile.

    See Also
    --------
    ExclusiveScanKernel : Scan without the element itself.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> from PyGPU.scan import InclusiveScanKernel
    >>> cumulative_sum = InclusiveScanKernel(np.int64, "a + b")
    >>> cumulative_sum(gpuarray.to_gpu(np.array([1, 2, 3])))
    array([1, 3, 6])
    """


class ExclusiveScanKernel(_ScanKernel):
    """Exclusive scan of any associative operation: element ``i`` combines all before ``x[i]``.

    Parameters
    ----------
    dtype : numpy.dtype
        Dtype of the elements: any dtype with a type in C, registered structures included.
        float16 is computed in float.
    scan_expr : str
        The operation: a C expression of ``a``, the result for all elements before, and ``b``. The
        order of elements is kept, so the operation need not be commutative.
    neutral : number or str
        First value of the scan, as a number or C text. It is used once, so it may be any start
        value.
    name_prefix : str
        Prefix of the kernels' names.
    options : list of str, optional
        Options for the compiler.
    preamble : str
        C text before the kernels: functions and types that the operation uses.
    devices : optional
        Ignored; PyCUDA has this parameter.

    Raises
    ------
    CompileError
        The text does not compile.
    ValueError
        `neutral` is missing.

    See Also
    --------
    InclusiveScanKernel : Scan with the element itself.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> from PyGPU.scan import ExclusiveScanKernel
    >>> offsets = ExclusiveScanKernel(np.int64, "a + b", neutral=0)
    >>> offsets(gpuarray.to_gpu(np.array([1, 2, 3])))
    array([0, 1, 3])
    """

    def _start(self) -> str:
        if self.neutral is None:
            raise ValueError("neutral=None: an exclusive scan needs a number or C text")
        return scan_text.literal(self.neutral, self.dtype)


docstrings.complete(__name__)
