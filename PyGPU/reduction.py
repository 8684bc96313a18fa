"""Reductions by expression: the names of ``pycuda.reduction``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import compiler, errors
from PyGPU._compile.signature import split_top
from PyGPU._kernels.stages import get_reduction_kernel_and_types, get_reduction_module
from PyGPU._kernels.text.common import Element
from PyGPU._kernels.text.folding import limit
from PyGPU._kernels.text.indexed import is_always_used_by_element
from PyGPU._kernels.text.reduction import user_source
from PyGPU._kernels.text.scan import literal
from PyGPU._kernels.types import (
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
    parse_c_arg,
    require_elements,
)
from PyGPU._runtime import (
    beside_first,
    context_dependent_memoize,
    core,
    require_array,
)

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, DTypeLike, StreamLike

__all__ = [
    *("ReductionKernel", "ScalarArg", "VectorArg", "context_dependent_memoize", "dtype_to_ctype"),
    *("get_all_kernel", "get_any_kernel", "get_dot_kernel", "get_minmax_kernel"),
    *("get_minmax_neutral", "get_subset_dot_kernel", "get_subset_minmax_kernel"),
    "get_reduction_kernel_and_types",
    "get_reduction_module",
    *("get_subset_sum_kernel", "get_sum_kernel"),
]


def _neutral_text(neutral, dtype):
    """C for a number that the dtype holds; others are the compiler's to convert, or to refuse."""
    try:
        return literal(neutral, dtype)
    except ValueError:
        return f"({dtype_to_ctype(dtype)})({neutral})"


class ReductionKernel:
    """A reduction of ``map_expr`` over all elements, by ``reduce_expr``.

    Parameters
    ----------
    dtype_out : numpy.dtype
        Of the result and of what is accumulated; a structure must be registered
        (:func:`PyGPU.tools.get_or_register_dtype`) and defined in `preamble`.
    neutral : str or number
        The result for no elements, as C.
    reduce_expr : str
        C of two values `a` and `b` of the type ``out_type``. Neither order nor grouping of the
        elements is promised.
    map_expr : str, optional
        C of the index `i` and of the arguments; ``in[i]`` by default.
    arguments : str or sequence of VectorArg and ScalarArg
        As C, with at least one pointer: ``const float *x, float factor``.
    name : str
        Of the kernels.
    keep : bool
        Leave the text and the image in a folder whose name is printed.
    options : list of str, optional
        Of the compiler.
    preamble : str
        C++ before the kernels, after ``<pycuda-complex.hpp>``.

    Raises
    ------
    CompileError
        For expressions that are no C++.
    ValueError
        For arguments that cannot be read, and for types without a C name.
    """

    def __init__(
        self,
        dtype_out: DTypeLike,
        neutral: str | complex,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[VectorArg | ScalarArg] | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
    ) -> None:
        self.dtype_out = np.dtype(dtype_out)
        self._arguments = _parsed(arguments)
        self._map = map_expr or "in[i]"
        self._vectors = [
            (place, one.dtype, is_always_used_by_element(one.name, self._map))
            for place, one in enumerate(self._arguments)
            if isinstance(one, VectorArg)
        ]
        if not self._vectors:
            raise AssertionError(
                f"arguments={arguments!r}: expected at least one pointer, such as 'const float *x'"
            )
        self.block_size = core._reduction_block(self.dtype_out.itemsize)
        self._unroll = 8 if self.dtype_out.itemsize <= 8 else 4
        out = VectorArg(self.dtype_out, "out")
        size = ScalarArg(np.dtype(np.uint64), "n")
        chunk = ScalarArg(np.dtype(np.uint64), "chunk")
        parts = VectorArg(self.dtype_out, "parts")
        result = VectorArg(self.dtype_out, "result")
        done = VectorArg(np.dtype(np.uint32), "done")
        self._first_types = [out, *self._arguments, chunk, size, result, done]
        self._last_types = [out, parts, *self._arguments, chunk, size]
        out_type, neutral = dtype_to_ctype(self.dtype_out), _neutral_text(neutral, self.dtype_out)
        text = arguments if isinstance(arguments, str) else _declared(self._arguments)
        self._source = user_source(
            *(name, out_type, neutral, reduce_expr, self._map, text, preamble),
            [Element(one.dtype) for one in self._first_types if one.dtype.kind != "V"],
            self.block_size,
            self._unroll,
        )
        self._name, self._options = name, options
        self._of_stages = (out_type, self.block_size, neutral, reduce_expr), text, preamble
        self._launchers: dict[int, Any] = {}  # core._here() -> core._ReductionLauncher
        self._launcher(keep)

    def _launcher(self, keep=False):
        """The launcher of the current device."""
        here = core._here()
        found = self._launchers.get(here)
        if found is None:
            module = compiler.SourceModule(
                self._source, options=self._options, keep=keep, no_extern_c=True
            )
            first, last = (
                module.get_function(f"{self._name}_{stage}").prepare(_promises(types))
                for stage, types in (
                    ("first", self._first_types),
                    ("last", self._last_types),
                )
            )
            made = core._ReductionLauncher(
                *(first, last, len(self._arguments), self._vectors),
                *(self.dtype_out, first.num_regs, self._unroll),
            )
            found = self._launchers.setdefault(here, made)  # another thread may have been faster
        return found

    # For programs that launch PyCUDA's stages themselves; this kernel goes another way.

    @functools.cached_property
    def _stages(self):
        """PyCUDA's two kernels on the current device, each with the types of its arguments."""
        first, arguments, preamble = self._of_stages
        return [
            get_reduction_kernel_and_types(
                *(number, *first, self._map if number == 1 else None, arguments),
                *(f"{self._name}_stage{number}", False, self._options, preamble),
            )
            for number in (1, 2)
        ]

    @functools.cached_property
    def stage1_func(self) -> Callable[..., None]:
        """``f(grid, block, stream, out, *arguments, seq_count, n, shared_size=0)`` launches a first
        stage: see :func:`get_reduction_kernel_and_types`. Compiled when it is first asked for, for
        the current device."""
        return self._stages[0][0].prepared_async_call

    @functools.cached_property
    def stage2_func(self) -> Callable[..., None]:
        """``f(grid, block, stream, out, parts, *arguments, seq_count, n, shared_size=0)``: the
        second stage, of what the first has left."""
        return self._stages[1][0].prepared_async_call

    @functools.cached_property
    def stage1_arg_types(self) -> list[str]:
        """struct's characters of the arguments of the first stage, but for its last two."""
        return self._stages[0][1]

    @functools.cached_property
    def stage2_arg_types(self) -> list[str]:
        """struct's characters of the arguments of the second stage, but for its last two."""
        return self._stages[1][1]

    def __call__(
        self,
        *args: Any,
        stream: StreamLike = None,
        out: core.GPUArray | None = None,
        allocator: AllocatorLike | None = None,
        kernel_wrapper: Callable[[Any], Any] | None = None,
    ) -> core.GPUArray:
        """Queue the reduction.

        Parameters
        ----------
        *args
            GPUArrays for pointers, numbers for the rest. The first array says how many elements
            there are; all arrays must be contiguous, and in the same order.
        stream : Stream, optional
        out : GPUArray, optional
            Its first element takes the result.
        allocator : callable(nbytes), optional
            The first array's by default.
        kernel_wrapper : callable, optional
            Called with each launching function, gives what is called in its place.

        Returns
        -------
        GPUArray
            `out`, or a new one without axes.

        Raises
        ------
        RuntimeError
            For arrays that are not contiguous, or in different orders.
        ValueError
            For an `out` of another dtype, or without elements.
        """
        if out is not None:
            if require_array("out", out).dtype != self.dtype_out:
                raise ValueError(f"out: expected dtype {self.dtype_out}, got {out.dtype}")
            if out.size == 0:
                raise ValueError("out: it has no element to take the result")
        rest = (stream, args, out, allocator, kernel_wrapper)
        result = self._launcher().launch(*rest)
        return self._launch_checked(*rest) if result is None else result

    def _launch_checked(self, stream, args, *rest):
        if len(args) != len(self._arguments):
            raise errors.ArgumentError(
                f"{self._name} takes {len(self._arguments)} arguments, not {len(args)}"
            )
        vectors = [args[place] for place, *_ in self._vectors]
        self._check(vectors)
        return _launch(vectors, self, stream, args, *rest)

    def _check(self, vectors):
        for (place, dtype, always), value in zip(self._vectors, vectors):
            name = f"{self._name}: {self._arguments[place].name}"
            require_array(name, value)
            if not value.flags.forc:
                raise RuntimeError(
                    f"{name}: only contiguous arrays may be used, got shape "
                    f"{value.shape} with strides {value.strides}; copy() it"
                )
            require_elements(name, value, dtype, vectors[0]._size if always else 0)
        if len(vectors) > 1:
            flags = [value.flags for value in vectors]
            if not all(f.c_contiguous for f in flags) and not all(f.f_contiguous for f in flags):
                raise RuntimeError(
                    f"{self._name}: arrays in C order and in Fortran order: elements of the same "
                    "index would not meet"
                )


@beside_first
def _launch(vectors, kernel, *arguments):
    return kernel._launcher().launch(*arguments, True)


def _parsed(arguments):
    if isinstance(arguments, str):
        return [parse_c_arg(text) for text in split_top(arguments)]
    return list(arguments or ())


def _declared(arguments):
    return ", ".join(one.declarator() for one in arguments)


def _promises(types):
    """What Function.prepare takes: a pointer, or a scalar's dtype."""
    return ["P" if isinstance(one, VectorArg) else one.dtype for one in types]


def _of(dtype, name):
    return f"const {dtype_to_ctype(dtype)} *{name}"


def _common(dtype_out, *dtypes):
    """`dtype_out`, or else what the others that are given promote to."""
    if dtype_out is not None:
        return np.dtype(dtype_out)
    return np.result_type(*(np.dtype(one) for one in dtypes if one is not None))


@context_dependent_memoize
def get_sum_kernel(dtype_out: DTypeLike | None, dtype_in: DTypeLike) -> ReductionKernel:
    """The kernel ``kernel(in)`` of a sum, in `dtype_out`; None: in `dtype_in`."""
    out = _common(dtype_out, dtype_in)
    return ReductionKernel(out, "0", "a + b", arguments=_of(dtype_in, "in"), name="sum")


def _truth(dtype):
    """C for: the element is not zero."""
    return f"in[i] != ({dtype_to_ctype(dtype)})0"


@context_dependent_memoize
def get_any_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """The kernel ``kernel(in)``: is an element not zero?"""
    arguments = _of(dtype_in, "in")
    return ReductionKernel(dtype_out, "false", "a || b", _truth(dtype_in), arguments, "any")


@context_dependent_memoize
def get_all_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """The kernel ``kernel(in)``: is no element zero?"""
    arguments = _of(dtype_in, "in")
    return ReductionKernel(dtype_out, "true", "a && b", _truth(dtype_in), arguments, "all")


@context_dependent_memoize
def get_subset_sum_kernel(
    dtype_out: DTypeLike | None, dtype_subset: DTypeLike, dtype_in: DTypeLike
) -> ReductionKernel:
    """The kernel ``kernel(lookup_tbl, in)``: the sum of ``in[lookup_tbl]``."""
    return ReductionKernel(
        _common(dtype_out, dtype_in),
        "0",
        "a + b",
        "in[lookup_tbl[i]]",
        f"{_of(dtype_subset, 'lookup_tbl')}, {_of(dtype_in, 'in')}",
        "subset_sum",
    )


@context_dependent_memoize
def get_dot_kernel(
    dtype_out: DTypeLike | None, dtype_a: DTypeLike | None = None, dtype_b: DTypeLike | None = None
) -> ReductionKernel:
    """The kernel ``kernel(a, b)`` of a sum of products, in `dtype_out`."""
    out = _common(dtype_out, dtype_a, dtype_b)
    a, b = _pair(out, dtype_a, dtype_b)
    return ReductionKernel(
        out, "0", "a + b", _product("a[i]", "b[i]"), f"{_of(a, 'a')}, {_of(b, 'b')}", "dot"
    )


@context_dependent_memoize
def get_subset_dot_kernel(
    dtype_out: DTypeLike | None,
    dtype_subset: DTypeLike,
    dtype_a: DTypeLike | None = None,
    dtype_b: DTypeLike | None = None,
) -> ReductionKernel:
    """The kernel ``kernel(lookup_tbl, a, b)`` of a sum of products of what `lookup_tbl` names."""
    out = _common(dtype_out, dtype_a, dtype_b)
    a, b = _pair(out, dtype_a, dtype_b)
    return ReductionKernel(
        out,
        "0",
        "a + b",
        _product("a[lookup_tbl[i]]", "b[lookup_tbl[i]]"),
        f"{_of(dtype_subset, 'lookup_tbl')}, {_of(a, 'a')}, {_of(b, 'b')}",
        "subset_dot",
    )


def _pair(out, dtype_a, dtype_b):
    """The operands' dtypes; one that is not given is the other's, or else the result's."""
    a = dtype_a if dtype_a is not None else dtype_b if dtype_b is not None else out
    return a, dtype_b if dtype_b is not None else a


def _product(*factors):
    return " * ".join(f"out_type({factor})" for factor in factors)


def get_minmax_neutral(what: str, dtype: DTypeLike) -> str:
    """C for the number of a dtype that gives way to all others in "min" or "max"."""
    if what not in ("min", "max"):
        raise ValueError(f"what={what!r}: expected 'min' or 'max'")
    dtype = np.dtype(dtype)
    if dtype.kind not in "biuf":
        raise TypeError(f"unsupported dtype specified: {dtype}")
    return limit(what, dtype)


def _smaller(what, dtype):
    sign = "<" if what == "min" else ">"
    return f"b {sign} a || a != a ? b : a" if dtype.kind == "f" else f"b {sign} a ? b : a"


@context_dependent_memoize
def get_minmax_kernel(what: str, dtype: DTypeLike) -> ReductionKernel:
    """The kernel ``kernel(in)`` of the smallest or largest element; not-a-number gives way.

    Raises
    ------
    TypeError
        For complex numbers.
    """
    dtype = np.dtype(dtype)
    neutral = get_minmax_neutral(what, dtype)
    return ReductionKernel(
        dtype, neutral, _smaller(what, dtype), arguments=_of(dtype, "in"), name=what
    )


@context_dependent_memoize
def get_subset_minmax_kernel(
    what: str, dtype: DTypeLike, dtype_subset: DTypeLike
) -> ReductionKernel:
    """The kernel ``kernel(lookup_tbl, in)``: the smallest or largest of ``in[lookup_tbl]``."""
    dtype = np.dtype(dtype)
    return ReductionKernel(
        dtype,
        get_minmax_neutral(what, dtype),
        _smaller(what, dtype),
        "in[lookup_tbl[i]]",
        f"{_of(dtype_subset, 'lookup_tbl')}, {_of(dtype, 'in')}",
        f"subset_{what}",
    )
