"""Reductions of arrays: operands and results checked, kernels made once, launches.

The kernels' text is in _reduction_text.py, the layout of their launches in _reduction_plan.py.
"""

import struct
import threading

import numpy as np

from PyGPU import compiler
from PyGPU._arrays import reduction_plan as plan
from PyGPU._arrays.reduction_text import Form, accumulator, source
from PyGPU._kernels import dtype_to_ctype, packed
from PyGPU._runtime import (
    beside_first,
    context_dependent_memoize,
    core,
    errors,
    require_array,
    streams,
)

_BOOL = np.dtype(np.bool_)


class _Kernels:
    """The kernels of a form on the current device."""

    def __init__(self, form):
        module = compiler.SourceModule(source(form), options=[], no_extern_c=True)
        loop = f"{8 * (4 + 2 * form.kept + 2 * form.reduced)}sP"
        linear = "P" * len(form.inputs + form.tables) + "qqq"
        first = module.get_function("first").prepare(loop + "PPq" if form.kept else linear + "PPqP")
        last = module.get_function("last").prepare("PqqPq")
        self.first, self.last = first.prepared_async_call, last.prepared_async_call
        self.accumulator = accumulator(form.operation, form.compute)
        self.figures = plan.figures()
        self.launches = plan.Linear(self.figures, self.accumulator.itemsize, first.num_regs)
        # What launches on the null stream have in common, which run one after the other: a place
        # for parts, and the number of blocks that are done, 0 between launches.
        self.lock, self._parts = threading.Lock(), None
        counts = core.target != "host" and not form.kept
        self.done = core.zeros((1,), np.uint32) if counts else None

    def parts(self, blocks):
        if self._parts is None or self._parts.size < blocks:
            self._parts = core.GPUArray((blocks,), self.accumulator)
        return self._parts.ptr


_kernels = context_dependent_memoize(_Kernels)


class _Linear:
    """A reduction of all elements of operands that are packed alike, on the current device.

    The form's width is chosen at each call, by the addresses.
    """

    def __init__(self, form):
        self._form = form
        self._itemsizes = [dtype.itemsize for dtype in form.inputs]
        self._width = 1 if form.tables else 16 // max(self._itemsizes)
        self._packs = [self._width * itemsize for itemsize in self._itemsizes]
        self._made = {}  # kernels by their width
        self.dtype = form.result

    def _make(self, width):
        made = self._made[width] = _kernels(self._form._replace(width=width))
        return made

    def _head(self, addresses):
        """Elements before the first that all operands can load a pack from; -1: none can."""
        heads = {
            -address // itemsize % self._width if address % itemsize == 0 else -1
            for address, itemsize in zip(addresses, self._itemsizes)
        }
        return heads.pop() if len(heads) == 1 else -1

    def __call__(self, addresses, n, out, stream, allocator):
        width, head = self._width, 0
        for address, nbytes in zip(addresses, self._packs):
            if address % nbytes:
                head = self._head(addresses)
                break
        if head < 0:
            width, head = 1, 0
        head = min(head, n)
        kernels = self._made.get(width) or self._make(width)
        block, (blocks, chunk) = kernels.launches.block, kernels.launches((n - head) // width)
        operands = (*addresses, n, head, chunk)
        if blocks == 1:
            kernels.first((1, 1), block, stream, *operands, 0, out.ptr, n, 0)
        elif stream is None and kernels.lock.acquire(blocking=False):
            try:
                parts = kernels.parts(blocks)
                self._fold(kernels, blocks, operands, parts, out, None, kernels.done)
            finally:
                kernels.lock.release()
        else:  # another thread, or what Python calls in the midst of this one, may be at it
            parts = core.GPUArray((blocks,), kernels.accumulator, allocator)
            with streams.using(stream, parts):
                self._fold(kernels, blocks, operands, parts.ptr, out, stream, None)

    def _fold(self, kernels, blocks, operands, parts, out, stream, done):
        """Launch several blocks, and what folds their parts: with a counter and all blocks at once
        the last of them; or else a kernel, as each block would keep the next one from its place
        while it is counted."""
        launches, count = kernels.launches, operands[-3]
        counts = done is not None and blocks <= launches.at_once
        counter = done.ptr if counts else 0
        grid = (blocks, 1)
        kernels.first(grid, launches.block, stream, *operands, parts, out.ptr, count, counter)
        if not counts:
            grid, block = plan.last(kernels.figures, blocks, 1)
            kernels.last(grid, block, stream, parts, blocks, 1, out.ptr, count)


@context_dependent_memoize
def _linear(operation, inputs, tables, compute):
    return _Linear(Form(operation, inputs, tables, compute, compute))


@context_dependent_memoize
def _of_all(operation, dtype, asked):
    """The _Linear for an array's dtype and the dtype that the caller asks for."""
    return _linear(operation, (dtype,), (), _compute_dtype(operation, dtype, asked, None))


def _strided(form, problem, out, stream, allocator):
    """Fold axes of an array of any strides."""
    outputs, folded = problem.outputs, problem.folded
    count, results, itemsize = folded.size, outputs.size, form.inputs[0].itemsize
    packed = len(folded.shape) == 1 and folded.strides[0] == itemsize
    if results == 1 and (packed or count < 2):
        linear = _linear(form.operation, form.inputs, (), form.compute)
        return linear((problem.address,), count, out, stream, allocator)
    width = plan.pack_width(problem.address, folded, outputs, itemsize)
    axes = {"kept": len(outputs.shape), "reduced": len(folded.shape)}
    wide = plan.is_wide(results, count)
    kernels = _kernels(form._replace(width=width, wide=wide, **axes))
    steps = [abs(stride) for stride in outputs.strides if stride]
    by_output = bool(steps) and min(steps) < folded.strides[-1]
    launch = plan.strided(kernels.figures, results, count // width, by_output, itemsize)
    loop = (results, count // width, launch.share, by_output, *outputs.shape, *outputs.strides)
    loop += (*folded.shape[:-1], folded.shape[-1] // width)
    loop += (*folded.strides[:-1], folded.strides[-1] * width)
    arguments = (launch.grid, launch.block, stream, struct.pack(f"{len(loop)}q", *loop))
    arguments += (problem.address,)
    rows = launch.grid[1]
    if rows == 1:
        return kernels.first(*arguments, 0, out.ptr, count)
    parts = core.GPUArray((rows * results,), kernels.accumulator, allocator)
    with streams.using(stream, parts):
        kernels.first(*arguments, parts.ptr, 0, count)
        grid, block = plan.last(kernels.figures, rows, results)
        kernels.last(grid, block, stream, parts.ptr, rows, results, out.ptr, count)


def _compute_dtype(operation, dtype, asked, out):
    """The dtype of the computation. ValueError for what has no C type, TypeError for what has no
    arithmetic or no order."""
    for one in (dtype, dtype if asked is None else asked):
        dtype_to_ctype(one)
        if one.kind not in "biufc":
            raise TypeError(f"{operation}: not defined for dtype {one}")
    if operation in ("any", "all"):
        return _BOOL
    if operation in ("min", "max"):
        if dtype.kind == "c":
            raise TypeError(f"{operation}: complex numbers have no order")
        return dtype
    if asked is not None:
        return asked
    if out is not None:
        return out.dtype
    return np.dtype(np.float64) if operation == "mean" and dtype.kind in "biu" else dtype


def _check_out(out, shape, dtype):
    require_array("out", out)
    if out.dtype != dtype:
        raise ValueError(f"out: expected dtype {dtype}, got {out.dtype}")
    if out.shape != shape:
        raise errors.ShapeError(f"out: expected shape {shape}, got {out.shape}")


def _fill_out(out, result, stream):
    out.set_async(result, stream=stream)
    return out


def _aligned(array, stream):
    """The array, or a packed copy of one whose elements are not at multiples of their size."""
    part = array.itemsize // 2 if array.dtype.kind == "c" else array.itemsize
    if array.ptr % part == 0 and (
        array._is_packed or not any(stride % part for stride in array.strides)
    ):
        return array
    return _fill_out(core.empty_like(array), array, stream)


def _fold_all(linear, operands, tables, stream, allocator, out=None, shape=()):
    """Fold all elements of operands that are packed alike, or what they choose from `tables`."""
    if allocator is None:
        allocator = (tables or operands)[0].allocator
    if out is None:
        out = core.empty(shape, linear.dtype, allocator)
    else:
        _check_out(out, shape, linear.dtype)
    addresses = [array.ptr for array in operands + tables]
    linear(addresses, operands[0].size, out, stream, allocator)
    return out


@beside_first
def reduce(a, operation, dtype, stream, allocator, axis, out, keepdims):
    """Fold all elements of an array, or those along some axes.

    Parameters
    ----------
    a : GPUArray
        Of any strides.
    operation : str
        sum, prod, mean, min, max, any or all.
    dtype : numpy.dtype, optional
        Of the computation and of the result, where that is the caller's choice.
    axis : int or tuple of int, optional
    out : GPUArray, optional
    keepdims : bool
        Leave the axes in, of length one.

    Returns
    -------
    GPUArray
        `out`, or a new one, packed in the order of the kept axes' strides.
    """
    require_array("a", a)
    a = _aligned(a, stream)
    dtype = None if dtype is None else np.dtype(dtype)
    if axis is None and out is None and not keepdims and a._is_packed and a.size:  # most calls
        linear = _of_all(operation, a.dtype, dtype)
        return streams.run(stream, _fold_all, linear, (a,), (), stream, allocator)
    compute = _compute_dtype(operation, a.dtype, dtype, out)
    shape = a.shape
    axes = plan.normal_axes(axis, len(shape))
    if operation in ("min", "max") and a.size == 0 and any(shape[i] == 0 for i in axes):
        raise ValueError(f"{operation}: zero elements have none: shape {shape}, axis={axis}")
    whole = len(axes) == len(shape)
    result_shape = tuple(
        [1 if i in axes else n for i, n in enumerate(shape) if keepdims or i not in axes]
    )
    if whole and a._is_packed:
        linear = _linear(operation, (a.dtype,), (), compute)
        arguments = (linear, (a,), (), stream, allocator, out, result_shape)
        return streams.run(stream, _fold_all, *arguments)
    if out is not None:
        _check_out(out, result_shape, compute)
    if allocator is None:
        allocator = a.allocator
    problem = plan.problem(a, axes)
    strides = [
        problem.steps.get(i, 1) * compute.itemsize
        for i in range(len(shape))
        if keepdims or i not in axes
    ]
    direct = out is not None and list(out.strides) == strides and not core._overlap(out, a)
    result = out if direct else core.GPUArray(result_shape, compute, allocator, strides=strides)
    form = Form(operation, (a.dtype,), (), compute, compute)

    def work():
        if result.size:
            _strided(form, problem, result, stream, allocator)
        return result if out is None or direct else _fill_out(out, result, stream)

    return streams.run(stream, work)


def _packed(array, stream):
    """The array in C order."""
    return array if array.flags.c_contiguous else packed(array, stream)


@beside_first
def dot(a, b, dtype, stream, allocator, out):
    """The sum of products of elements, without conjugation."""
    require_array("a", a)
    require_array("b", b)
    a, b = _aligned(a, stream), _aligned(b, stream)
    if a.size != b.size:
        raise errors.ShapeError(f"dot: sizes differ: shapes {a.shape} and {b.shape}")
    if dtype is None and out is None:
        dtype = np.promote_types(a.dtype, b.dtype)
    compute = _compute_dtype("dot", a.dtype, None if dtype is None else np.dtype(dtype), out)
    dtype_to_ctype(b.dtype)
    linear = _linear("dot", (a.dtype, b.dtype), (), compute)
    alike = a.shape == b.shape and a.flags.f_contiguous and b.flags.f_contiguous

    def work():
        operands = (a, b) if alike else (_packed(a, stream), _packed(b, stream))
        return _fold_all(linear, operands, (), stream, allocator, out)

    return streams.run(stream, work)


@beside_first
def subset(chosen, operation, tables, dtype, stream, allocator):
    """Fold elements of `tables`, seen flat in C order, at the indices `chosen`."""
    require_array("subset", chosen)
    for name, table in zip("ab", tables):
        require_array(name, table)
    if chosen.dtype.kind not in "iu":
        raise TypeError(f"subset: expected indices, got dtype {chosen.dtype}")
    if chosen.size == 0 and operation in ("min", "max"):
        raise ValueError(f"subset_{operation}: subset has no elements")
    if len({table.size for table in tables}) > 1:
        raise errors.ShapeError(f"subset_{operation}: sizes differ: {[t.shape for t in tables]}")
    asked = None if dtype is None else np.dtype(dtype)
    compute = _compute_dtype(operation, tables[0].dtype, asked, None)
    linear = _linear(operation, (chosen.dtype,), tuple([t.dtype for t in tables]), compute)

    def work():
        operands = [_packed(_aligned(table, stream), stream) for table in (chosen, *tables)]
        return _fold_all(linear, operands[:1], operands[1:], stream, allocator)

    return streams.run(stream, work)
